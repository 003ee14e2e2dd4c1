//! The connection for everything that is not measured.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::connection::explain;
use crate::engine::sql::{SqlClient, TextRow};
use crate::error::LoadError;

/// Uses a connection to the database at this path.
pub struct SqliteClient<'a> {
    pub connection: &'a Connection,
    pub path: &'a Path,
}

impl SqlClient for SqliteClient<'_> {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        let rows = self.connection.prepare(sql).and_then(|mut statement| {
            let columns = statement.column_count();
            statement
                .query_map([], |row| {
                    let texts = (0..columns).map(|i| row.get_ref(i).and_then(text));
                    texts.collect::<Result<_, _>>().map(TextRow)
                })?
                .collect()
        });
        rows.map_err(|error| explain(self.path, &format!("{doing} in"), &error))
    }
}

fn text(value: ValueRef<'_>) -> rusqlite::Result<Option<String>> {
    Ok(match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(n) => Some(n.to_string()),
        other => Some(other.as_str()?.to_owned()),
    })
}
