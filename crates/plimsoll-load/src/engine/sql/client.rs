//! A connection for what is not measured.

use std::str::FromStr;

use super::part::TablePart;
use crate::engine::LoadControl;
use crate::error::LoadError;

/// Blocks its caller while the database works. `doing` names the work in the message of an error.
pub(crate) trait SqlClient {
    /// The rows of a statement; of several, those of one that has any.
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError>;

    fn execute(&mut self, doing: &str, sql: &str) -> Result<(), LoadError> {
        self.rows(doing, sql).map(drop)
    }

    fn row(&mut self, doing: &str, sql: &str) -> Result<TextRow, LoadError> {
        let row = self.rows(doing, sql)?.into_iter().next();
        row.ok_or_else(|| LoadError::other(doing, "the database answered without a row"))
    }
}

/// A connection to a server.
pub(crate) trait ServerClient: SqlClient + Send {
    /// The number by which another connection can end what this one is doing.
    fn id(&mut self) -> Result<u32, LoadError>;

    /// What is known about the way to the server.
    fn route(&self) -> ClientRoute {
        ClientRoute::default()
    }

    /// Puts the rows of a part into its table, and counts those that the server has taken.
    fn fill(&mut self, part: &TablePart, control: &LoadControl) -> Result<(), LoadError>;
}

/// The way to a server, as its login showed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientRoute {
    /// The number that the connection was given. A pooler gives one of its own.
    pub announced_id: Option<u32>,
    /// Why it is not encrypted, where TLS was tried.
    pub without_tls: Option<String>,
}

/// A row as the database prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextRow(pub Vec<Option<String>>);

impl TextRow {
    /// `None` where the column is NULL or missing.
    pub fn text(&self, column: usize) -> Option<&str> {
        self.0.get(column)?.as_deref()
    }

    pub fn get<T: FromStr>(&self, column: usize) -> Result<T, LoadError> {
        let text = self.text(column);
        text.and_then(|text| text.parse().ok()).ok_or_else(|| {
            let why = format!("column {} is {text:?}", column + 1);
            LoadError::other("the database's answer cannot be read", why)
        })
    }

    /// A boolean, which databases print as a letter or as a digit.
    pub fn flag(&self, column: usize) -> bool {
        matches!(self.text(column), Some("t" | "1"))
    }

    pub fn into_texts(self) -> impl Iterator<Item = String> {
        self.0.into_iter().flatten()
    }
}
