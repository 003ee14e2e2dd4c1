//! A run file while it is written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::WaitState;
use crate::metric::Metric;
use rusqlite::{Connection, ToSql, params_from_iter};

use super::RunFileError;
use super::columns::{Columns, NewRow};

/// Rows of `wait_event` by what they name.
pub(super) type WaitEvents = HashMap<(WaitState, String), i64>;

/// A run file being written. Nothing is on disk for certain before [`RunFile::commit`], which is called once a second.
pub struct RunFile {
    pub(super) path: PathBuf,
    pub(super) db: Connection,
    pub(super) layouts: RefCell<HashMap<Vec<Metric>, i64>>,
    pub(super) wait_events: RefCell<WaitEvents>,
}

pub(super) type Result<T> = std::result::Result<T, RunFileError>;

impl RunFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> RunFileError {
        write_error(&self.path, error)
    }

    pub(super) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        let mut statement = self.db.prepare_cached(sql).map_err(|e| self.error(e))?;
        statement.execute(params).map_err(|e| self.error(e))?;
        Ok(())
    }

    /// Inserts a row: `into` begins the statement, `INSERT INTO event`.
    pub(super) fn insert(&self, into: &str, record: &impl Columns) -> Result<()> {
        let mut row = NewRow::default();
        record.write("", &mut row).map_err(|e| self.error(e))?;
        self.insert_row(into, &row)
    }

    pub(super) fn insert_row(&self, into: &str, row: &NewRow<'_>) -> Result<()> {
        let columns: Vec<(&str, &dyn ToSql)> = row
            .0
            .iter()
            .map(|(name, value)| (*name, value as &dyn ToSql))
            .collect();
        self.insert_columns(into, &columns)
    }

    pub(super) fn insert_columns(&self, into: &str, columns: &[(&str, &dyn ToSql)]) -> Result<()> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!("{into} ({}) VALUES ({marks})", names.join(", "));
        self.execute(
            &sql,
            params_from_iter(columns.iter().map(|(_, value)| *value)),
        )
    }

    /// Id of the row that was inserted last.
    pub(super) fn last_id(&self) -> i64 {
        self.db.last_insert_rowid()
    }

    /// Makes everything written so far part of the file.
    pub fn commit(&self) -> Result<()> {
        self.db
            .execute_batch("COMMIT; BEGIN")
            .map_err(|e| self.error(e))
    }
}

pub(super) fn write_error(path: &Path, error: impl std::fmt::Display) -> RunFileError {
    RunFileError::Write {
        path: path.into(),
        why: error.to_string(),
    }
}
