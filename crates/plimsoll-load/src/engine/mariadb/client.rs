//! The connection for everything that is not measured.

use std::io;

use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler, Row, Value};

use super::connect::{connect, server_error};
use super::tsv::TsvSink;
use crate::engine::LoadControl;
use crate::engine::sql::part::TablePart;
use crate::engine::sql::{ServerClient, SqlClient, TextRow};
use crate::error::LoadError;

/// What LOAD DATA names; its content is made in memory.
const FILE: &str = "part";

pub struct MariadbClient(pub Conn);

impl MariadbClient {
    pub fn connect(conninfo: &str) -> Result<Self, LoadError> {
        connect(conninfo).map(Self)
    }
}

impl SqlClient for MariadbClient {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        let rows: Vec<Row> = self
            .0
            .query(sql)
            .map_err(|error| server_error(doing, &error))?;
        Ok(rows.into_iter().map(text_row).collect())
    }
}

/// Without parameters the server sends texts.
fn text_row(row: Row) -> TextRow {
    TextRow(
        Row::unwrap(row)
            .into_iter()
            .map(|value| match value {
                Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                _ => None,
            })
            .collect(),
    )
}

impl ServerClient for MariadbClient {
    fn id(&mut self) -> Result<u32, LoadError> {
        Ok(self.0.connection_id())
    }

    /// One LOAD DATA.
    fn fill(&mut self, part: &TablePart, control: &LoadControl) -> Result<(), LoadError> {
        let table = part.table();
        let columns = part.columns().join(", ");
        let load = format!(
            "LOAD DATA LOCAL INFILE '{FILE}' INTO TABLE {table} CHARACTER SET latin1 ({columns})"
        );
        let part = part.clone();
        let control = control.clone();
        let rows = LocalInfileHandler::new(move |name, to| {
            // A server that asks for anything else gets nothing.
            if name != FILE.as_bytes() {
                return Err(io::Error::other("the server asked for a file"));
            }
            let mut rows = TsvSink::new(to, &control);
            part.fill(&mut rows);
            rows.end()
        });
        self.0.set_local_infile_handler(Some(rows));
        let loaded = self.0.query_drop(load);
        self.0.set_local_infile_handler(None);
        loaded.map_err(|error| server_error(&format!("filling table {table}"), &error))
    }
}
