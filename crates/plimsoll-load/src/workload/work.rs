//! What a connection is opened for: a workload's statements, and how its inputs run on them.

use plimsoll_plan::resolved::{TxnMode, Workload};

use super::statement::{SqlSession, Statement};
use super::sysbench::input::Bracket;
use super::sysbench::sql::{Prepared, table_name};
use super::tpcc::input::TpccInput;
use super::tpcc::rows::TpccTable;
use super::tpcc::sql::TpccStmt;
use super::{Input, sysbench, tpcc};
use crate::session::{SessionError, TxnEnd};

/// What an engine prepares for a workload.
#[derive(Debug, Clone)]
pub struct SessionWork {
    pub kind: WorkKind,
    /// The workload's name in messages.
    pub data: &'static str,
    /// The tables that it works on.
    pub tables: Vec<String>,
    /// None where the engine's stored procedures do the work.
    pub statements: Vec<Statement>,
    /// Whether its database transactions are of several statements.
    pub has_transactions: bool,
    /// Whether a row that is there already means that another transaction was faster.
    pub retries_duplicates: bool,
}

/// How inputs run.
#[derive(Debug, Clone)]
pub enum WorkKind {
    TpccStatements,
    TpccProcedures,
    Sysbench(Prepared),
}

/// TPC-C's stored procedures on a connection. An engine that has none keeps the default.
#[allow(async_fn_in_trait)]
pub trait TpccProcedures {
    /// Runs one attempt: one call, one round trip, one database transaction.
    async fn call(&mut self, _input: &TpccInput) -> Result<TxnEnd, SessionError> {
        Err(SessionError::other_work())
    }
}

impl SessionWork {
    pub fn new(workload: &Workload) -> Self {
        match workload {
            Workload::Tpcc(tpcc) => Self::tpcc(tpcc.mode),
            Workload::Sysbench(sysbench) => Self::sysbench(sysbench),
        }
    }

    fn tpcc(mode: TxnMode) -> Self {
        let statements = mode == TxnMode::Statements;
        Self {
            kind: match mode {
                TxnMode::Statements => WorkKind::TpccStatements,
                TxnMode::Procedures => WorkKind::TpccProcedures,
            },
            data: "TPC-C",
            tables: TpccTable::ALL
                .iter()
                .map(|table| table.name().to_owned())
                .collect(),
            statements: match mode {
                TxnMode::Statements => TpccStmt::ALL.iter().map(|stmt| stmt.statement()).collect(),
                TxnMode::Procedures => Vec::new(),
            },
            has_transactions: statements,
            retries_duplicates: false,
        }
    }

    /// A transaction that deletes a row and puts it back meets another one that does the same: it finds nothing to delete
    /// and a row where its own should go. sysbench tries again then as well (`src/drivers/pgsql/drv_pgsql.c`).
    fn sysbench(sysbench: &plimsoll_plan::resolved::Sysbench) -> Self {
        let prepared = Prepared::new(sysbench);
        Self {
            data: "sysbench",
            tables: (1..=sysbench.tables).map(table_name).collect(),
            statements: prepared.statements(),
            has_transactions: Bracket::of(sysbench.script) != Bracket::Autocommit,
            retries_duplicates: true,
            kind: WorkKind::Sysbench(prepared),
        }
    }
}

impl WorkKind {
    /// Runs one attempt of one input.
    pub async fn run<S: SqlSession + TpccProcedures>(
        &self,
        session: &mut S,
        input: &Input,
    ) -> Result<TxnEnd, SessionError> {
        match (self, input) {
            (Self::TpccStatements, Input::Tpcc(input)) => {
                tpcc::transactions::run(session, input).await
            }
            (Self::TpccProcedures, Input::Tpcc(input)) => session.call(input).await,
            (Self::Sysbench(prepared), Input::Sysbench(input)) => {
                sysbench::transactions::run(session, prepared, input).await
            }
            (Self::TpccStatements | Self::TpccProcedures, Input::Sysbench(_))
            | (Self::Sysbench(_), Input::Tpcc(_)) => Err(SessionError::other_work()),
        }
    }
}
