//! Sessions of sysbench's OLTP scripts on PostgreSQL.

use super::dialect::SYSBENCH;
use plimsoll_plan::resolved::Sysbench;
use tokio_postgres::error::SqlState;

use super::failure::PostgresFailure;
use super::session::{PostgresSession, PostgresWork, TxnControl, error};
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::Param;
use crate::workload::sysbench::input::NewRow;
use crate::workload::sysbench::sql::{Prepared, SysbenchStmt};
use crate::workload::sysbench::transactions::SysbenchConnection;

impl PostgresSession {
    /// Opens a connection with the script's statements prepared, and keeps loaders out of the schema as long as it lives.
    pub async fn open_sysbench(
        conninfo: &str,
        schema: &str,
        sysbench: &Sysbench,
    ) -> Result<Self, LoadError> {
        let prepared = Prepared::new(sysbench);
        let texts = prepared.texts(&SYSBENCH);
        Self::prepare(conninfo, schema, &texts, PostgresWork::Sysbench(prepared)).await
    }
}

/// A transaction that deletes a row and puts it back meets another one that does the same: it finds nothing to delete
/// and a row where its own should go. sysbench tries again then as well (`src/drivers/pgsql/drv_pgsql.c`).
fn conflict(failure: PostgresFailure) -> SessionError {
    if failure.is(SqlState::UNIQUE_VIOLATION.code()) {
        SessionError::Retry(failure.text)
    } else {
        error(failure)
    }
}

impl SysbenchConnection for PostgresSession {
    /// As sysbench does, also for what only reads.
    async fn begin(&mut self, _: bool) -> Result<(), SessionError> {
        self.begin_with(TxnControl::Begin);
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end(TxnControl::Commit).await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.end(TxnControl::Rollback).await
    }

    async fn execute(
        &mut self,
        stmt: SysbenchStmt,
        table: u32,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let PostgresWork::Sysbench(prepared) = &self.work else {
            return Err(SessionError::other_work());
        };
        let place = prepared.place(stmt, table);
        let done = self.change(place, params).await;
        done.map(drop).map_err(conflict)
    }

    async fn insert_next(&mut self, table: u32, row: &NewRow) -> Result<(), SessionError> {
        let sql = SYSBENCH.insert_next(table, row);
        self.text(&sql).await.map_err(conflict)
    }
}
