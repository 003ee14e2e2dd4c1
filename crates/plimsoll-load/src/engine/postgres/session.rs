//! One virtual user's connection.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::codec::SqlParam;
use super::connect::server_error;
use super::dialect::{TABLE_SYNTAX, search_path, try_lock};
use super::failure::PostgresFailure;
use super::protocol::{PostgresStatement, PostgresWire};
use super::stream::{FIRST_ANSWER_OF_SESSION, Login};
use crate::engine::ServerConnection;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::{
    Param, Rows, SqlSession, Statement, StatementKind, TableSyntax, TakenRow, TxnAccess,
};
use crate::workload::work::{SessionWork, WorkKind};

/// The functions' calls, in the order of [`plimsoll_plan::resolved::TPCC_TXNS`].
const CALLS: [&str; 5] = [
    "SELECT plimsoll_new_order($1, $2, $3, $4, $5, $6)",
    "SELECT plimsoll_payment($1, $2, $3, $4, $5, $6, $7)",
    "SELECT plimsoll_order_status($1, $2, $3, $4)",
    "SELECT plimsoll_delivery($1, $2)",
    "SELECT plimsoll_stock_level($1, $2, $3)",
];

/// Statements that begin and end transactions, prepared as all others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TxnControl {
    Begin,
    /// What only reads sees one snapshot, as the STABLE functions do: an order and its lines belong together.
    BeginReadOnly,
    Commit,
    Rollback,
}

impl TxnControl {
    const ALL: [Self; 4] = [
        Self::Begin,
        Self::BeginReadOnly,
        Self::Commit,
        Self::Rollback,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Begin => "BEGIN",
            Self::BeginReadOnly => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
        }
    }
}

/// A connection with all statements of its work prepared.
pub struct PostgresSession {
    wire: PostgresWire,
    /// See [`SessionWork::retries_duplicates`].
    retries_duplicates: bool,
    /// Those of [`TxnControl`], and then the work's.
    prepared: Vec<PostgresStatement>,
    /// The BEGIN that is due, which goes out together with the transaction's first statement.
    begin_due: Option<TxnControl>,
    round_trips: u64,
}

/// Where the work's statements begin.
const OF_WORK: usize = TxnControl::ALL.len();

const NO_PARAMS: [SqlParam<'static>; 0] = [];

/// The statement as PostgreSQL takes it.
fn text(statement: &Statement) -> String {
    let sql = match statement.kind {
        StatementKind::TakeFirst => {
            TakenRow::parse(&statement.sql).map(|row| row.delete_returning())
        }
        StatementKind::Plain | StatementKind::Latest | StatementKind::GivesId => None,
    };
    let sql = sql.unwrap_or_else(|| statement.sql.to_string());
    sql.replace("{now}", "now()")
}

impl ServerConnection for PostgresSession {
    async fn connect(conninfo: &str, schema: &str, work: &SessionWork) -> Result<Self, LoadError> {
        const WHAT: &str = "preparing a session";
        let mut login = Login::open(conninfo, FIRST_ANSWER_OF_SESSION).await?;
        login
            .carry(async |client| client.batch_execute(&search_path(schema)).await)
            .await
            .map_err(|error| server_error(WHAT, &error))?;
        keep(&mut login, schema).await?;
        let stream = login.done();
        let stream = stream.ok_or_else(|| LoadError::other(WHAT, "the driver kept the stream"))?;
        let mut wire = PostgresWire::new(stream);
        let texts: Vec<String> = match work.kind {
            WorkKind::TpccProcedures => CALLS.map(str::to_owned).into(),
            WorkKind::TpccStatements | WorkKind::Sysbench(_) => {
                work.statements.iter().map(text).collect()
            }
        };
        let control = TxnControl::ALL.iter().map(|control| control.text());
        let prepared = wire
            .prepare(control.chain(texts.iter().map(String::as_str)))
            .await
            .map_err(|failure| {
                let error = failure.classify();
                error.of_preparing(|searched| not_loaded(work.data, schema, searched))
            })?;
        Ok(Self {
            wire,
            retries_duplicates: work.retries_duplicates,
            prepared,
            begin_due: None,
            round_trips: 0,
        })
    }

    #[cfg(test)]
    async fn connection_id(&mut self) -> u32 {
        let rows = self.rows_of("SELECT pg_backend_pid()", &[]).await;
        match rows.expect("an answer")[0][0] {
            crate::workload::statement::Value::Int(pid) => pid as u32,
            ref other => panic!("{other:?} is no number"),
        }
    }
}

impl PostgresSession {
    /// Calls the function of this number; its result is received and left unread.
    pub(super) async fn send_call(
        &mut self,
        txn: usize,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<(), PostgresFailure> {
        self.round_trips += 1;
        let statement = &self.prepared[OF_WORK + txn];
        self.wire.execute(statement, params.iter().copied())?;
        self.wire.changed().await.map(drop)
    }

    /// Writes BEGIN if it is due, and counts the round trip that follows.
    fn set_out(&mut self) -> Result<(), PostgresFailure> {
        self.round_trips += 1;
        match self.begin_due.take() {
            Some(begin) => self.wire.execute(&self.prepared[begin as usize], NO_PARAMS),
            None => Ok(()),
        }
    }

    fn write(&mut self, statement: usize, params: &[Param<'_>]) -> Result<(), PostgresFailure> {
        self.set_out()?;
        let statement = &self.prepared[OF_WORK + statement];
        self.wire
            .execute(statement, params.iter().copied().map(SqlParam))
    }

    async fn end(&mut self, end: TxnControl) -> Result<(), SessionError> {
        if self.begin_due.take().is_some() {
            return Ok(());
        }
        self.round_trips += 1;
        let sent = self.wire.execute(&self.prepared[end as usize], NO_PARAMS);
        let ended = match sent {
            Ok(()) => self.wire.changed().await,
            Err(failure) => Err(failure),
        };
        ended.map(drop).map_err(error)
    }

    /// A failed statement of the work.
    fn failed(&self, failure: PostgresFailure) -> SessionError {
        if self.retries_duplicates && failure.is(SqlState::UNIQUE_VIOLATION.code()) {
            SessionError::Retry(failure.text)
        } else {
            error(failure)
        }
    }
}

pub(super) fn error(failure: PostgresFailure) -> SessionError {
    failure.classify().of_session()
}

#[cfg(test)]
impl PostgresSession {
    /// A statement of a test's own.
    pub(super) async fn rows_of(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Rows, PostgresFailure> {
        let statement = self.wire.prepare([sql]).await?.remove(0);
        self.wire
            .execute(&statement, params.iter().copied().map(SqlParam))?;
        self.wire.rows(&statement).await
    }
}

/// Keeps loaders out of the schema as long as the connection lives.
async fn keep(login: &mut Login, schema: &str) -> Result<(), LoadError> {
    let lock = try_lock(schema, Use::Keep);
    let patience = guard::LockPatience::new();
    loop {
        let locked = login
            .carry(async |client| client.query_one(&lock, &[]).await)
            .await;
        let locked = locked.and_then(|row| row.try_get(0));
        if locked.map_err(|error: Error| server_error(&guard::what(schema), &error))? {
            return Ok(());
        }
        patience.wait(schema, Use::Keep).await?;
    }
}

impl SqlSession for PostgresSession {
    /// BEGIN goes out together with the next statement, without waiting for its answer in between.
    async fn begin(&mut self, access: TxnAccess) -> Result<(), SessionError> {
        self.begin_due = Some(match access {
            // sysbench begins what only reads in the same way.
            TxnAccess::Write | TxnAccess::Read => TxnControl::Begin,
            TxnAccess::ReadSnapshot => TxnControl::BeginReadOnly,
        });
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end(TxnControl::Commit).await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.end(TxnControl::Rollback).await
    }

    async fn query(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<Rows, SessionError> {
        let statement = statement.into();
        let rows = match self.write(statement, params) {
            Ok(()) => self.wire.rows(&self.prepared[OF_WORK + statement]).await,
            Err(failure) => Err(failure),
        };
        rows.map_err(|failure| self.failed(failure))
    }

    async fn execute(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let changed = match self.write(statement.into(), params) {
            Ok(()) => self.wire.changed().await,
            Err(failure) => Err(failure),
        };
        changed.map(drop).map_err(|failure| self.failed(failure))
    }

    async fn execute_text(&mut self, sql: &str) -> Result<(), SessionError> {
        let written = self.set_out().and_then(|()| self.wire.query(sql));
        let changed = match written {
            Ok(()) => self.wire.changed().await,
            Err(failure) => Err(failure),
        };
        changed.map(drop).map_err(|failure| self.failed(failure))
    }

    fn table_syntax(&self) -> &'static TableSyntax {
        &TABLE_SYNTAX
    }

    /// Waits for the server. BEGIN and the statement that it travels with are one.
    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}
