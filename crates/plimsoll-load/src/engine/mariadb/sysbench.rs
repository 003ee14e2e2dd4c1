//! Sessions of sysbench's OLTP scripts on MariaDB.

use super::dialect::SYSBENCH;
use plimsoll_plan::resolved::Sysbench;

use super::session::{MariadbSession, MariadbWork, error, without_begin};
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::Param;
use crate::workload::sysbench::input::{Bracket, NewRow};
use crate::workload::sysbench::sql::{Prepared, SysbenchStmt};
use crate::workload::sysbench::transactions::SysbenchConnection;

impl MariadbSession {
    /// Opens a connection with the script's statements prepared, and keeps loaders out of the schema as long as it lives.
    pub async fn open_sysbench(
        conninfo: &str,
        schema: &str,
        sysbench: &Sysbench,
    ) -> Result<Self, LoadError> {
        let texts = Prepared::new(sysbench);
        let has_transactions = Bracket::of(sysbench.script) != Bracket::Autocommit;
        Self::prepare(conninfo, schema, "sysbench", async |wire| {
            let mut statements = Vec::new();
            for text in texts.texts(&SYSBENCH) {
                statements.push(wire.prepare(&text).await?);
            }
            if has_transactions {
                // sysbench sends a BEGIN, and in InnoDB nothing begins before the next statement then either.
                without_begin(wire).await?;
            }
            Ok(MariadbWork::Sysbench {
                prepared: texts,
                statements,
            })
        })
        .await
    }
}

impl SysbenchConnection for MariadbSession {
    /// Due to `autocommit = 0` the next statement begins it.
    async fn begin(&mut self, _: bool) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.control("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.control("ROLLBACK").await
    }

    async fn execute(
        &mut self,
        stmt: SysbenchStmt,
        table: u32,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let Self {
            wire,
            work:
                MariadbWork::Sysbench {
                    prepared,
                    statements,
                },
            round_trips,
            ..
        } = self
        else {
            return Err(SessionError::other_work());
        };
        *round_trips += 1;
        let statement = &mut statements[prepared.place(stmt, table)];
        let done = wire.execute(statement, params.iter().copied(), |_, _| Ok(()));
        done.await.map(drop).map_err(error)
    }

    async fn insert_next(&mut self, table: u32, row: &NewRow) -> Result<(), SessionError> {
        let sql = SYSBENCH.insert_next(table, row);
        self.control(&sql).await
    }
}
