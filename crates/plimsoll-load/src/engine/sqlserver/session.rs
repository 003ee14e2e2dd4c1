//! One virtual user's connection.

use futures_util::TryStreamExt;
use tiberius::{QueryItem, ToSql};

use super::client::rows;
use super::connect::{Tds, connect};
use super::dialect::{DIALECT, TABLE_SYNTAX, try_lock};
use super::failure::{DUPLICATES, SqlserverFailure};
use super::statements::text;
use super::values::{RpcParam, value};
use crate::engine::ServerConnection;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::{Param, Rows, SqlSession, TableSyntax, TxnAccess};
use crate::workload::work::{SessionWork, WorkKind};

/// Fails where the procedures or their tables are not.
const PROBE: &str = "EXEC plimsoll_stock_level 1, 1, 10";

/// Ends what an error may have left open.
const ROLL_BACK: &str = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION";
/// From now on a transaction begins with its first statement, without a round trip of its own.
const WITHOUT_BEGIN: &str = "SET IMPLICIT_TRANSACTIONS ON";

/// A connection with what its work needs.
pub struct SqlserverSession {
    pub(super) client: Tds,
    /// By their numbers.
    texts: Vec<String>,
    /// See [`SessionWork::retries_duplicates`].
    retries_duplicates: bool,
    /// That of the last transaction.
    isolation: Isolation,
    /// That of transactions that only read: they see one state of the data.
    pub(super) of_readers: Isolation,
    pub(super) round_trips: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isolation {
    ReadCommitted,
    RepeatableRead,
    Snapshot,
}

impl Isolation {
    fn text(self) -> &'static str {
        match self {
            Self::ReadCommitted => "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            Self::RepeatableRead => "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            Self::Snapshot => "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
        }
    }
}

/// Fails where the work has nothing to work on.
fn probe(work: &SessionWork) -> String {
    if matches!(work.kind, WorkKind::TpccProcedures) {
        return PROBE.into();
    }
    let tables = work.tables.iter();
    tables
        .map(|table| format!("SELECT TOP (1) 1 FROM {table};"))
        .collect()
}

impl ServerConnection for SqlserverSession {
    async fn connect(conninfo: &str, schema: &str, work: &SessionWork) -> Result<Self, LoadError> {
        let mut client = connect(conninfo).await?;
        keep(&mut client, schema).await?;
        let mut session = Self {
            client,
            texts: work.statements.iter().map(text).collect(),
            retries_duplicates: work.retries_duplicates,
            isolation: Isolation::ReadCommitted,
            of_readers: Isolation::RepeatableRead,
            round_trips: 0,
        };
        let unprepared = |failure: SqlserverFailure| {
            let error = failure.classify();
            error.of_preparing(|searched| not_loaded(work.data, schema, searched))
        };
        let used = DIALECT.of_schema(DIALECT.use_schema, schema);
        for sql in [&used, Isolation::ReadCommitted.text(), &probe(work)] {
            session.batch(sql).await.map_err(unprepared)?;
        }
        session.of_readers = readers(&mut session.client).await?;
        if work.has_transactions {
            session.batch(WITHOUT_BEGIN).await.map_err(unprepared)?;
        }
        session.round_trips = 0;
        Ok(session)
    }

    #[cfg(test)]
    async fn connection_id(&mut self) -> u32 {
        let rows = rows(&mut self.client, "testing", "SELECT CAST(@@SPID AS int)").await;
        rows.expect("an answer")[0].get(0).expect("a number")
    }
}

impl SqlserverSession {
    /// Statements that are executed as they are; their results are received and left unread.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), SqlserverFailure> {
        self.round_trips += 1;
        let answer = self.client.simple_query(sql).await;
        let mut answer = answer.map_err(|error| SqlserverFailure::from(&error))?;
        while let Some(_item) = received(answer.try_next().await)? {}
        Ok(())
    }

    async fn read(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<Rows, SqlserverFailure> {
        self.round_trips += 1;
        let text = &self.texts[statement];
        let params: Vec<RpcParam<'_>> = params.iter().copied().map(RpcParam).collect();
        let answer = self.client.query(text.as_str(), &dynamic(&params)).await;
        let mut answer = answer.map_err(|error| SqlserverFailure::from(&error))?;
        let mut rows = Rows::new();
        while let Some(item) = received(answer.try_next().await)? {
            if let QueryItem::Row(row) = item {
                rows.push(row.into_iter().map(value).collect::<Result<_, _>>()?);
            }
        }
        Ok(rows)
    }

    async fn change(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<(), SqlserverFailure> {
        self.round_trips += 1;
        let text = &self.texts[statement];
        let params: Vec<RpcParam<'_>> = params.iter().copied().map(RpcParam).collect();
        received(self.client.execute(text.as_str(), &dynamic(&params)).await).map(drop)
    }

    async fn end(&mut self, sql: &str) -> Result<(), SessionError> {
        self.batch(sql).await.map_err(error)
    }

    async fn roll_back(&mut self) -> Result<(), SessionError> {
        self.end(ROLL_BACK).await
    }

    /// A failed statement of the work.
    fn classify(&self, failure: SqlserverFailure) -> SessionError {
        let duplicate = failure.code.is_some_and(|code| DUPLICATES.contains(&code));
        if self.retries_duplicates && duplicate {
            SessionError::Retry(failure.text)
        } else {
            error(failure)
        }
    }

    /// Whatever went wrong with a call, the next attempt begins outside of a transaction.
    pub(super) async fn failed_call(&mut self, failure: SqlserverFailure) -> SessionError {
        match error(failure) {
            lost @ SessionError::Lost(_) => lost,
            other => self.roll_back().await.err().unwrap_or(other),
        }
    }
}

fn dynamic<'a>(params: &'a [RpcParam<'a>]) -> Vec<&'a dyn ToSql> {
    params.iter().map(|own| own as &dyn ToSql).collect()
}

pub(super) fn received<T>(answer: tiberius::Result<T>) -> Result<T, SqlserverFailure> {
    answer.map_err(|error| SqlserverFailure::from(&error))
}

/// A database that keeps versions of rows lets readers see one snapshot; in others they lock what they have read.
async fn readers(client: &mut Tds) -> Result<Isolation, LoadError> {
    let sql =
        "SELECT CAST(snapshot_isolation_state AS int) FROM sys.databases WHERE name = DB_NAME()";
    let state = rows(client, "preparing a session", sql).await?;
    Ok(match state.first().and_then(|row| row.text(0)) {
        Some("1") => Isolation::Snapshot,
        _ => Isolation::RepeatableRead,
    })
}

/// Keeps loaders out of the schema as long as the connection lives.
async fn keep(client: &mut Tds, schema: &str) -> Result<(), LoadError> {
    let lock = try_lock(schema, Use::Keep);
    let patience = guard::LockPatience::new();
    loop {
        let got = rows(client, &guard::what(schema), &lock).await?;
        if got.first().is_some_and(|row| row.flag(0)) {
            return Ok(());
        }
        patience.wait(schema, Use::Keep).await?;
    }
}

pub(super) fn error(failure: SqlserverFailure) -> SessionError {
    failure.classify().of_session()
}

impl SqlSession for SqlserverSession {
    /// The first statement begins it.
    async fn begin(&mut self, access: TxnAccess) -> Result<(), SessionError> {
        let wanted = match access {
            TxnAccess::Write | TxnAccess::Read => Isolation::ReadCommitted,
            TxnAccess::ReadSnapshot => self.of_readers,
        };
        if self.isolation != wanted {
            self.end(wanted.text()).await?;
            self.isolation = wanted;
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end("COMMIT TRANSACTION").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.roll_back().await
    }

    async fn query(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<Rows, SessionError> {
        let rows = self.read(statement.into(), params).await;
        rows.map_err(|failure| self.classify(failure))
    }

    async fn execute(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let changed = self.change(statement.into(), params).await;
        changed.map_err(|failure| self.classify(failure))
    }

    async fn execute_text(&mut self, sql: &str) -> Result<(), SessionError> {
        let done = self.batch(sql).await;
        done.map_err(|failure| self.classify(failure))
    }

    fn table_syntax(&self) -> &'static TableSyntax {
        &TABLE_SYNTAX
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}
