//! sysbench's OLTP scripts on PostgreSQL: loading, sessions, checking.

mod load;

use futures_util::future::try_join_all;
use plimsoll_model::plan::resolved::Sysbench;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row};

use super::codec::SqlParam;
use super::connect::{connect, error_text, server_error};
use super::guard::{self, Use};
use super::session::{PostgresSession, Work};
use super::{blocking, search_path};
use crate::engine::ConditionResult;
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::sysbench::check::{self, TableCheck};
use crate::workload::sysbench::input::NewRow;
use crate::workload::sysbench::sql::{Dialect, Prepared, Stmt};
use crate::workload::sysbench::transactions::Connection;
use crate::workload::tpcc::statement::Param;

pub use load::load;

impl PostgresSession {
    /// Opens a connection with the script's statements prepared, and keeps loaders out of the schema as long as it lives.
    pub async fn open_sysbench(
        conninfo: &str,
        schema: &str,
        sysbench: &Sysbench,
    ) -> Result<Self, LoadError> {
        let prepared = Prepared::new(sysbench);
        let texts = prepared.texts(Dialect::Postgres);
        Self::prepare(conninfo, schema, &texts, Work::Sysbench(prepared)).await
    }

    /// A transaction that deletes a row and puts it back meets another one that does the same: it finds nothing to delete
    /// and a row where its own should go. sysbench tries again then as well (`src/drivers/pgsql/drv_pgsql.c`).
    fn conflict(&self, error: &Error) -> SessionError {
        match error.code() {
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => {
                SessionError::Retry(error_text(error))
            }
            _ => self.error(error),
        }
    }
}

impl Connection for PostgresSession {
    /// As sysbench does, also for what only reads.
    async fn begin(&mut self, _: bool) -> Result<(), SessionError> {
        self.begin_with("BEGIN");
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.end("ROLLBACK").await
    }

    async fn execute(
        &mut self,
        stmt: Stmt,
        table: u32,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let Work::Sysbench(prepared) = &self.work else {
            return Err(SessionError::other_work());
        };
        let place = prepared.place(stmt, table);
        let done = self
            .first(async |client, prepared| {
                client
                    .execute_raw(&prepared[place], params.iter().copied().map(SqlParam))
                    .await
            })
            .await;
        done.map(drop).map_err(|error| self.conflict(&error))
    }

    async fn insert_next(&mut self, table: u32, row: &NewRow) -> Result<(), SessionError> {
        let sql = Dialect::Postgres.insert_next(table, row);
        let done = self
            .first(async |client, _| client.batch_execute(&sql).await)
            .await;
        done.map_err(|error| self.conflict(&error))
    }
}

/// Tables that are checked at the same time.
const CHECKERS: usize = 2;

/// What holds of the tables in `schema` after the plan's script; see [`check::verdicts`]. No other session should write meanwhile.
/// Blocks the calling thread.
pub fn check(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
) -> Result<Vec<ConditionResult>, LoadError> {
    blocking(|| async {
        let tables: Vec<u32> = (1..=sysbench.tables).collect();
        let share = tables.len().div_ceil(CHECKERS);
        let halves = tables
            .chunks(share)
            .map(|tables| found_in(conninfo, schema, sysbench, tables));
        Ok(check::verdicts(
            sysbench,
            &try_join_all(halves).await?.concat(),
        ))
    })
}

async fn found_in(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
    tables: &[u32],
) -> Result<Vec<TableCheck>, LoadError> {
    let client = connect(conninfo).await?;
    let error = |e: Error| server_error("checking sysbench's tables", &e);
    client
        .batch_execute(&search_path(schema))
        .await
        .map_err(error)?;
    guard::take(&client, schema, Use::Keep).await?;
    let mut all = Vec::new();
    for &table in tables {
        all.push(found(&client, sysbench, table).await.map_err(error)?);
    }
    Ok(all)
}

async fn found(client: &Client, sysbench: &Sysbench, table: u32) -> Result<TableCheck, Error> {
    let row: Row = client
        .query_one(&check::sql(sysbench, table, Dialect::Postgres), &[])
        .await?;
    Ok(TableCheck {
        rows: row.try_get(0)?,
        loaded: row.try_get(1)?,
        sum: row.try_get(2)?,
        whole: row.try_get(3)?,
    })
}
