//! The table that records what plimsoll loaded into a schema.

use super::client::TextRow;
use super::dialect::{Dialect, STANDARD_BOOLEAN};
use crate::error::LoadError;

/// A marker's state while tables are made and filled.
pub(crate) const STARTED: &str = "started";
/// A marker's state when everything is in the tables.
pub(crate) const FINISHED: &str = "finished";

/// A table that records what was loaded. Its second column is `state`, its last one, not listed here, the time.
#[derive(Debug)]
pub(super) struct MarkerTable {
    pub name: &'static str,
    /// Names and types; a `boolean` is the dialect's.
    pub columns: &'static [(&'static str, &'static str)],
    /// The tables that a load with this row made or was going to make.
    pub tables: fn(&TextRow) -> Result<Vec<String>, LoadError>,
    /// Names of the columns of such a table.
    pub columns_of: fn(&str) -> &'static [&'static str],
    /// Names of the load's procedures.
    pub procedures: &'static [&'static str],
}

impl MarkerTable {
    pub fn unfinished(&self) -> String {
        format!("UPDATE {} SET state = '{STARTED}'", self.name)
    }

    pub fn create(&self, dialect: &Dialect) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|(name, kind)| {
                let kind = kind.replace(STANDARD_BOOLEAN.kind, dialect.boolean.kind);
                format!("{} {kind}", dialect.identifier(name))
            })
            .collect();
        let columns = columns.join(", ");
        let timestamp = dialect.timestamp;
        format!("CREATE TABLE {} ({columns}, since {timestamp})", self.name)
    }

    /// Names and types of all columns as the server's catalog shows them.
    pub fn catalog_columns(&self, dialect: &Dialect) -> Vec<(&'static str, &'static str)> {
        let types = &dialect.catalog_types;
        let columns = self.columns.iter().map(|(name, kind)| match *kind {
            "integer" => (*name, types.integer),
            "boolean" => (*name, types.boolean),
            _ => (*name, types.text),
        });
        columns.chain([("since", types.timestamp)]).collect()
    }

    pub fn select(&self, dialect: &Dialect) -> String {
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| dialect.identifier(name))
            .collect();
        format!("SELECT {} FROM {}", names.join(", "), self.name)
    }
}
