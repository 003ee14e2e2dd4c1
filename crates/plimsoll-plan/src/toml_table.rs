//! Tables whose keys stay in the order in which they are written as TOML.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::size;
use crate::toml_text::{quoted, toml_key};
use crate::units::{Bytes, Nanos};

/// A table, in the order of its keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TomlTable(Vec<(String, TomlItem)>);

/// A value of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TomlItem {
    Text(String),
    Whole(u64),
    Decimal(f64),
    Bool(bool),
    List(Vec<TomlItem>),
    /// A list with each item in a line of its own.
    Lines(Vec<TomlItem>),
    /// In braces.
    Inline(TomlTable),
    /// Below a heading: `[system.db]`.
    Table(TomlTable),
    /// Each below a heading: `[[step]]`.
    Tables(Vec<TomlTable>),
}

impl TomlTable {
    pub fn new() -> Self {
        Self::default()
    }

    /// Values, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &TomlItem)> {
        self.0.iter().map(|(key, item)| (key.as_str(), item))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn with(mut self, key: &str, item: impl Into<TomlItem>) -> Self {
        self.0.push((key.to_owned(), item.into()));
        self
    }

    /// With the key, unless there is no value.
    #[must_use]
    pub fn with_some(self, key: &str, item: Option<impl Into<TomlItem>>) -> Self {
        match item {
            Some(item) => self.with(key, item),
            None => self,
        }
    }

    /// With the key, unless the text is empty.
    #[must_use]
    pub fn with_text(self, key: &str, text: &str) -> Self {
        self.with_some(key, (!text.is_empty()).then_some(text))
    }

    /// With the key, unless the list is empty.
    #[must_use]
    pub fn with_list<T: Into<TomlItem>>(self, key: &str, list: Vec<T>) -> Self {
        self.with_some(key, (!list.is_empty()).then_some(list))
    }

    /// With the key, if it is true.
    #[must_use]
    pub fn with_flag(self, key: &str, is_set: bool) -> Self {
        self.with_some(key, is_set.then_some(true))
    }

    /// With the table below a heading, unless it is empty.
    #[must_use]
    pub fn with_table(self, key: &str, table: Self) -> Self {
        let table = (!table.is_empty()).then_some(TomlItem::Table(table));
        self.with_some(key, table)
    }

    /// With the tables below headings, if there are any.
    #[must_use]
    pub fn with_tables(self, key: &str, tables: impl Iterator<Item = Self>) -> Self {
        let tables: Vec<Self> = tables.collect();
        self.with_some(
            key,
            (!tables.is_empty()).then_some(TomlItem::Tables(tables)),
        )
    }

    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

impl<K: Into<String>, V: Into<TomlItem>> FromIterator<(K, V)> for TomlTable {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        Self(
            entries
                .map(|(key, item)| (key.into(), item.into()))
                .collect(),
        )
    }
}

impl Serialize for TomlTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, item) in &self.0 {
            map.serialize_entry(key, item)?;
        }
        map.end()
    }
}

/// The whole document.
impl fmt::Display for TomlTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "")
    }
}

impl TomlTable {
    /// Values first, then the tables below their headings.
    fn write(&self, f: &mut fmt::Formatter<'_>, path: &str) -> fmt::Result {
        for (key, item) in &self.0 {
            if !item.has_heading() {
                writeln!(f, "{} = {item}", toml_key(key))?;
            }
        }
        for (key, item) in &self.0 {
            let key = toml_key(key);
            let path = match path {
                "" => key,
                path => format!("{path}.{key}"),
            };
            match item {
                TomlItem::Table(table) => {
                    // Tables that hold nothing but tables have none.
                    if !table.0.iter().all(|(_, item)| item.has_heading()) {
                        writeln!(f, "\n[{path}]")?;
                    }
                    table.write(f, &path)?;
                }
                TomlItem::Tables(tables) => {
                    for table in tables {
                        writeln!(f, "\n[[{path}]]")?;
                        table.write(f, &path)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl TomlItem {
    fn has_heading(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Tables(_))
    }
}

/// The value as it stands behind `=`.
impl fmt::Display for TomlItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number:?}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::List(items) => write!(f, "[{}]", joined(items)),
            Self::Lines(items) => {
                writeln!(f, "[")?;
                for item in items {
                    writeln!(f, "    {item},")?;
                }
                f.write_str("]")
            }
            Self::Inline(table) | Self::Table(table) => {
                let entries: Vec<String> = table
                    .entries()
                    .map(|(key, item)| format!("{} = {item}", toml_key(key)))
                    .collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
            Self::Tables(tables) => {
                let tables: Vec<Self> = tables.iter().cloned().map(Self::Inline).collect();
                write!(f, "[{}]", joined(&tables))
            }
        }
    }
}

fn joined(items: &[TomlItem]) -> String {
    let items: Vec<String> = items.iter().map(TomlItem::to_string).collect();
    items.join(", ")
}

/// Declares how values become items.
macro_rules! from_values {
    ($($value:ident: $type:ty => $item:expr;)*) => {$(
        impl From<$type> for TomlItem {
            fn from($value: $type) -> Self {
                $item
            }
        }
    )*};
}

from_values! {
    text: &str => Self::Text(text.to_owned());
    text: String => Self::Text(text);
    time: Nanos => Self::Text(time.to_string());
    size: Bytes => Self::Text(size::write(size));
    number: u64 => Self::Whole(number);
    number: u32 => Self::Whole(number.into());
    // Whole numbers stand without a point.
    number: f64 => match number.fract() == 0.0 && (0.0..1e15).contains(&number) {
        true => Self::Whole(number as u64),
        false => Self::Decimal(number),
    };
    value: bool => Self::Bool(value);
    table: TomlTable => Self::Inline(table);
}

impl<T: Into<TomlItem>> From<Vec<T>> for TomlItem {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let table = TomlTable::new()
            .with("text", "a \"b\" \\ c\n")
            .with("largest", u64::MAX >> 1)
            .with("whole", 2.0)
            .with("exact", TomlItem::Decimal(2.0))
            .with("small", 1e-7)
            .with("list", vec![TomlTable::new().with("a key", true)])
            .with("lines", TomlItem::Lines(vec![1u64.into(), 2u64.into()]))
            .with_table(
                "größe.x",
                TomlTable::new().with_table("y", TomlTable::new().with("z", Nanos(0))),
            )
            .with_tables(
                "step",
                [
                    TomlTable::new().with("n", 1u32),
                    TomlTable::new().with("n", 2u32),
                ]
                .into_iter(),
            );
        let read: serde_json::Value = toml::from_str(&table.to_string()).unwrap();
        assert_eq!(read, serde_json::to_value(&table).unwrap(), "{table}");
    }
}
