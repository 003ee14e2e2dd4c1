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
use super::schema::TABLE_SYNTAX;
use crate::engine::WorkSession;
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::{
    Param, Rows, SqlSession, Statement, StatementKind, TableSyntax, TakenRow, TxnAccess, Value,
};
use crate::workload::work::{SessionWork, TpccProcedures};

/// Microseconds since 1970 (to the millisecond, which is as exact as SQLite's clock is).
const NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// A connection to a loaded database. It blocks its thread while it works and while it waits for its turn to write.
#[derive(Debug)]
pub struct SqliteSession {
    connection: Connection,
    path: PathBuf,
    writers: WriterQueue,
    turn: Option<WriteTurn>,
    /// By their numbers.
    statements: Vec<CachedText>,
    round_trips: u64,
}

#[derive(Debug)]
struct CachedText {
    sql: String,
    writes: bool,
}

impl CachedText {
    /// In SQLite's dialect, and as short as it can be: the text is hashed for each execution.
    fn new(statement: &Statement) -> Self {
        let sql = statement.compact();
        let sql = match (statement.kind, TakenRow::parse(&sql)) {
            (StatementKind::TakeFirst, Some(row)) => row.delete_returning(),
            _ => sql,
        };
        Self {
            sql: sql.replace('$', "?").replace("{now}", NOW),
            writes: !statement.is_select(),
        }
    }
}

impl SqliteSession {
    /// Opens the database with WAL, synchronous=FULL and then the plan's PRAGMAs; in virtual time with the VFS of this name. All
    /// sessions on a file share `writers`.
    pub fn open(
        path: &Path,
        pragmas: &BTreeMap<String, String>,
        vfs: Option<&str>,
        writers: WriterQueue,
        workload: &Workload,
    ) -> Result<WorkSession<Self>, LoadError> {
        let work = SessionWork::new(workload);
        let mut connection = open_timed(path, pragmas, vfs)?;
        insight::count(&mut connection, path, &writers)
            .map_err(|error| explain(path, "opening", &error))?;
        connection.set_prepared_statement_cache_capacity(work.statements.len() + 8);
        let session = Self {
            connection,
            path: path.to_owned(),
            writers,
            turn: None,
            statements: work.statements.iter().map(CachedText::new).collect(),
            round_trips: 0,
        };
        Ok(WorkSession::new(session, work))
    }

    /// Waits for a turn to write one statement, unless a transaction has it already.
    fn turn_to_write(&self) -> Option<WriteTurn> {
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

    /// Prepares (once) and binds, then hands the statement to `work`.
    fn with<T>(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
        work: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, SessionError> {
        self.round_trips += 1;
        let text = &self.statements[statement];
        let _turn = text.writes.then(|| self.turn_to_write());
        let result = self
            .connection
            .prepare_cached(&text.sql)
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
        result.map_err(|error| session_error(&self.path, first_words(&text.sql), &error))
    }
}

/// A statement's beginning, for messages.
fn first_words(sql: &str) -> &str {
    const SHOWN: usize = 48;
    let end = match sql.get(..SHOWN) {
        Some(shown) => shown.rfind(' ').unwrap_or(SHOWN),
        None => sql.len(),
    };
    &sql[..end]
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

impl SqlSession for SqliteSession {
    /// One that writes waits its turn first: one that read first could not go on once another had written in between
    /// (lang_transaction.html).
    async fn begin(&mut self, access: TxnAccess) -> Result<(), SessionError> {
        if access != TxnAccess::Write {
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

    /// After a failure the transaction is still open, and so is the turn: [`Self::rollback`] ends both.
    async fn commit(&mut self) -> Result<(), SessionError> {
        self.control("COMMIT")?;
        self.turn = None;
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        // On some errors (disk full, I/O) SQLite has rolled back by itself.
        let result = if self.connection.is_autocommit() {
            Ok(())
        } else {
            self.control("ROLLBACK")
        };
        self.turn = None;
        result
    }

    async fn query(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<Rows, SessionError> {
        self.with(statement.into(), params, |statement| {
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

    async fn execute(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        self.with(statement.into(), params, |statement| {
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    async fn execute_text(&mut self, sql: &str) -> Result<(), SessionError> {
        let _turn = self.turn_to_write();
        self.round_trips += 1;
        self.connection
            .execute_batch(sql)
            .map_err(|error| session_error(&self.path, "a statement", &error))
    }

    fn table_syntax(&self) -> &'static TableSyntax {
        &TABLE_SYNTAX
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}

/// SQLite has no stored procedures.
impl TpccProcedures for SqliteSession {}
