//! What a table consists of, apart from rows: what tests check of every table.

use super::unit::Unit;
use super::value_type::ValueType;
use crate::message::Messages;

/// A column: who reads it under which name.
#[derive(Debug)]
pub struct DeclaredColumn {
    pub id: String,
    pub unit: Unit,
    pub value_type: ValueType,
    /// Ids of its headings in text and on a page.
    pub headings: Vec<String>,
    /// Its name in CSV and JSON.
    pub key: Option<String>,
}

/// A table by its name.
#[derive(Debug)]
pub struct Declaration {
    pub name: &'static str,
    pub columns: Vec<DeclaredColumn>,
}

impl Declaration {
    /// Headings that the catalog does not have, ids and keys that are not names, and keys of two columns.
    pub fn faults(&self, m: &Messages) -> Vec<String> {
        let mut faults = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            // Some have a figure's name in them.
            let figure = [("figure", String::new())];
            let headings = column.headings.iter();
            let missing = headings.filter(|id| m.text_with(id, &figure) == **id);
            faults.extend(missing.map(|id| format!("{}: no heading {id}", self.name)));
            if !column.headings.is_empty() && !is_name(&column.id, '-') {
                faults.push(format!("{}: id {:?}", self.name, column.id));
            }
            let key = column.key.as_deref();
            if key.is_some_and(|key| !is_name(key, '_')) {
                faults.push(format!("{}: key {key:?}", self.name));
            }
            let earlier = &self.columns[..place];
            if key.is_some() && earlier.iter().any(|other| other.key.as_deref() == key) {
                faults.push(format!("{}: two columns have the key {key:?}", self.name));
            }
        }
        if self.columns.is_empty() {
            faults.push(format!("{}: no columns", self.name));
        }
        faults
    }
}

fn is_name(text: &str, between: char) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == between)
}
