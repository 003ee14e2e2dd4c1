//! One virtual user's connection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll_plan::resolved::Workload;
use plimsoll_virtual::costs::CpuUse;
use plimsoll_virtual::fiber;
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, StatementStatus};

use super::connection::{explain, open_timed, session_error};
use super::insight;
use super::queue::{WriteTurn, WriterQueue};
use crate::engine::Session;
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, Rows, Statements, Value};
use crate::workload::sysbench::sql::Prepared;
use crate::workload::tpcc::sql::TpccStmt;
use crate::workload::tpcc::transactions;
use crate::workload::{Input, sysbench};

/// Microseconds since 1970 (to the millisecond, which is as exact as SQLite's clock is).
const NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// A connection to a loaded database. It blocks its thread while it works and while it waits for its turn to write.
#[derive(Debug)]
pub struct SqliteSession {
    connection: Connection,
    path: PathBuf,
    writers: WriterQueue,
    turn: Option<WriteTurn>,
    /// By [`TpccStmt`]'s number, or as the sysbench script has them.
    texts: Vec<String>,
    pub(super) sysbench: Option<Prepared>,
    round_trips: u64,
}

/// In SQLite's dialect, and as short as it can be: the text is hashed for each execution.
pub fn dialect(stmt: TpccStmt) -> String {
    let text = stmt.sql().replace('$', "?").replace("{now}", NOW);
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

impl SqliteSession {
    /// As [`Self::open_timed`], for transactions derived from TPC-C in real time.
    #[cfg(test)]
    pub fn open(
        path: &Path,
        pragmas: &BTreeMap<String, String>,
        writers: WriterQueue,
    ) -> Result<Self, LoadError> {
        Self::prepare(
            open_timed(path, pragmas, None)?,
            path,
            writers,
            tpcc_texts(),
            None,
        )
    }

    /// Opens the database with WAL, synchronous=FULL and then the plan's PRAGMAs; in virtual time with the VFS of this name. All
    /// sessions on a file share `writers`.
    pub fn open_timed(
        path: &Path,
        pragmas: &BTreeMap<String, String>,
        vfs: Option<&str>,
        writers: WriterQueue,
        workload: &Workload,
    ) -> Result<Self, LoadError> {
        let connection = open_timed(path, pragmas, vfs)?;
        match workload {
            Workload::Tpcc(_) => Self::prepare(connection, path, writers, tpcc_texts(), None),
            Workload::Sysbench(sysbench) => {
                Self::prepare_sysbench(connection, path, writers, sysbench)
            }
        }
    }

    pub(super) fn prepare(
        mut connection: Connection,
        path: &Path,
        writers: WriterQueue,
        texts: Vec<String>,
        sysbench: Option<Prepared>,
    ) -> Result<Self, LoadError> {
        insight::count(&mut connection, path, &writers)
            .map_err(|error| explain(path, "opening", &error))?;
        connection.set_prepared_statement_cache_capacity(texts.len() + 8);
        Ok(Self {
            connection,
            path: path.to_owned(),
            writers,
            turn: None,
            texts,
            sysbench,
            round_trips: 0,
        })
    }

    /// A transaction that waits its turn before it begins if it writes.
    pub(super) fn open_transaction(&mut self, writes: bool) -> Result<(), SessionError> {
        if !writes {
            return self.control("BEGIN");
        }
        // A turn that was never ended would be waited for by the very session that has it.
        self.turn = None;
        self.turn = Some(self.writers.wait());
        let begun = self.control("BEGIN IMMEDIATE");
        if begun.is_err() {
            self.turn = None;
        }
        begun
    }

    /// After a failure the transaction is still open, and so is the turn: [`Self::undo`] ends both.
    pub(super) fn end(&mut self) -> Result<(), SessionError> {
        self.control("COMMIT")?;
        self.turn = None;
        Ok(())
    }

    pub(super) fn undo(&mut self) -> Result<(), SessionError> {
        // On some errors (disk full, I/O) SQLite has rolled back by itself.
        let result = if self.connection.is_autocommit() {
            Ok(())
        } else {
            self.control("ROLLBACK")
        };
        self.turn = None;
        result
    }

    /// Waits for a turn to write one statement, unless a transaction has it already.
    pub(super) fn turn_to_write(&self) -> Option<WriteTurn> {
        self.turn.is_none().then(|| self.writers.wait())
    }

    fn control(&mut self, sql: &str) -> Result<(), SessionError> {
        self.round_trips += 1;
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let result = statement.raw_execute();
                charge(&statement);
                result
            })
            .map(drop)
            .map_err(|error| session_error(&self.path, sql, &error))
    }

    /// A statement whose text is of no further use.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), SessionError> {
        self.round_trips += 1;
        self.connection
            .execute_batch(sql)
            .map_err(|error| session_error(&self.path, "a statement", &error))
    }

    /// Prepares (once) and binds, then hands the statement to `work`.
    pub(super) fn with<T>(
        &mut self,
        place: usize,
        name: impl std::fmt::Debug,
        params: &[Param<'_>],
        work: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, SessionError> {
        self.round_trips += 1;
        let text = &self.texts[place];
        let result = self
            .connection
            .prepare_cached(text)
            .and_then(|mut statement| {
                for (i, param) in params.iter().enumerate() {
                    match *param {
                        Param::Null => statement.raw_bind_parameter(i + 1, rusqlite::types::Null),
                        Param::Int(n) | Param::Cents(n) => statement.raw_bind_parameter(i + 1, n),
                        Param::Text(text) => statement.raw_bind_parameter(i + 1, text),
                    }?;
                }
                fiber::charge(CpuUse::Value, params.len() as f64);
                let result = work(&mut statement);
                charge(&statement);
                result
            });
        result.map_err(|error| session_error(&self.path, &format!("{name:?}"), &error))
    }
}

fn tpcc_texts() -> Vec<String> {
    TpccStmt::ALL.iter().copied().map(dialect).collect()
}

/// In virtual time, lets the CPU time pass that a statement took.
fn charge(statement: &CachedStatement<'_>) {
    if !fiber::is_inside() {
        return;
    }
    let steps = f64::from(statement.reset_status(StatementStatus::VmStep));
    fiber::charge(CpuUse::Statement, 1.0);
    fiber::charge(CpuUse::VmStep, steps);
    fiber::settle();
}

fn value(column: ValueRef<'_>) -> rusqlite::Result<Value> {
    Ok(match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => Value::Int(n),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            return Err(rusqlite::Error::FromSqlConversionFailure(
                0,
                column.data_type(),
                "the tables hold integers and text only".into(),
            ));
        }
    })
}

impl Statements<TpccStmt> for SqliteSession {
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError> {
        self.open_transaction(writes)
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end()
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.undo()
    }

    async fn query(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<Rows, SessionError> {
        self.with(id as usize, id, params, |statement| {
            let columns = statement.column_count();
            let mut rows = statement.raw_query();
            let mut out = Rows::new();
            while let Some(row) = rows.next()? {
                out.push(
                    (0..columns)
                        .map(|i| value(row.get_ref(i)?))
                        .collect::<Result<_, _>>()?,
                );
            }
            fiber::charge(CpuUse::Value, (out.len() * columns) as f64);
            Ok(out)
        })
    }

    async fn execute(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<u64, SessionError> {
        self.with(id as usize, id, params, |statement| statement.raw_execute())
            .map(|changed| changed as u64)
    }
}

impl Session for SqliteSession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        match (input, &self.sysbench) {
            (Input::Tpcc(input), None) => transactions::run(self, input).await,
            (Input::Sysbench(input), Some(_)) => sysbench::transactions::run(self, input).await,
            (Input::Tpcc(_), Some(_)) | (Input::Sysbench(_), None) => {
                Err(SessionError::other_work())
            }
        }
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}
