//! Sessions of sysbench's OLTP scripts on SQL Server.

use super::dialect::SYSBENCH;
use plimsoll_plan::resolved::Sysbench;

use super::failure::{DUPLICATES, SqlserverFailure};
use super::session::{Opening, SqlserverSession, SqlserverWork, error, probe};
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::Param;
use crate::workload::sysbench::input::{Bracket, NewRow};
use crate::workload::sysbench::sql::{Prepared, SysbenchStmt, table_name};
use crate::workload::sysbench::transactions::SysbenchConnection;

impl SqlserverSession {
    /// Opens a connection for the script, and keeps loaders out of the schema as long as it lives.
    pub async fn open_sysbench(
        conninfo: &str,
        schema: &str,
        sysbench: &Sysbench,
    ) -> Result<Self, LoadError> {
        let prepared = Prepared::new(sysbench);
        let texts = prepared.texts(&SYSBENCH);
        let opening = Opening {
            work: SqlserverWork::Sysbench { prepared, texts },
            probe: probe((1..=sysbench.tables).map(table_name)),
            has_transactions: Bracket::of(sysbench.script) != Bracket::Autocommit,
        };
        Self::prepare(conninfo, schema, opening).await
    }
}

/// A transaction that deletes a row and puts it back meets another one that does the same, as on PostgreSQL.
fn conflict(failure: SqlserverFailure) -> SessionError {
    match failure.code {
        Some(code) if DUPLICATES.contains(&code) => SessionError::Retry(failure.text),
        _ => error(failure),
    }
}

impl SysbenchConnection for SqlserverSession {
    /// The next statement begins it.
    async fn begin(&mut self, _: bool) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end("COMMIT TRANSACTION").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.roll_back().await
    }

    async fn execute(
        &mut self,
        stmt: SysbenchStmt,
        table: u32,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let SqlserverWork::Sysbench { prepared, .. } = &self.work else {
            return Err(SessionError::other_work());
        };
        let place = prepared.place(stmt, table);
        let done = self.read(place, params).await;
        done.map(drop).map_err(conflict)
    }

    async fn insert_next(&mut self, table: u32, row: &NewRow) -> Result<(), SessionError> {
        let sql = SYSBENCH.insert_next(table, row);
        self.batch(&sql).await.map_err(conflict)
    }
}
