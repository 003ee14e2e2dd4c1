//! sysbench's OLTP scripts on MariaDB: loading, sessions, checking.

mod load;

use std::thread;

use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use plimsoll_model::plan::resolved::Sysbench;

use super::connect::{UNKNOWN_TABLE, code, error_text, not_loaded, server_error};
use super::dialect::param;
use super::session::{MariadbSession, Work, open, send, unprepared, without_begin};
use crate::engine::ConditionResult;
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::sysbench::check::{self, TableCheck};
use crate::workload::sysbench::input::{Bracket, NewRow};
use crate::workload::sysbench::sql::{Dialect, Prepared, Stmt};
use crate::workload::sysbench::transactions::Connection;
use crate::workload::tpcc::statement::Param;

pub use load::load;

impl MariadbSession {
    /// Opens a connection with the script's statements prepared, and keeps loaders out of the schema as long as it lives.
    pub fn open_sysbench(
        conninfo: &str,
        schema: &str,
        sysbench: &Sysbench,
    ) -> Result<Self, LoadError> {
        let mut conn = open(conninfo, schema)?;
        let prepared = Prepared::new(sysbench);
        let texts = prepared.texts(Dialect::Mariadb);
        let statements = texts
            .iter()
            .map(|text| conn.prep(text))
            .collect::<Result<_, _>>();
        let statements = statements.map_err(|e| unprepared(schema, &e))?;
        if Bracket::of(sysbench.script) != Bracket::Autocommit {
            // sysbench sends a BEGIN, and in InnoDB nothing begins before the next statement then either.
            without_begin(&mut conn).map_err(|e| unprepared(schema, &e))?;
        }
        Ok(Self::new(
            conn,
            Work::Sysbench {
                prepared,
                statements,
            },
        ))
    }
}

impl Connection for MariadbSession {
    /// Due to `autocommit = 0` the next statement begins it.
    async fn begin(&mut self, _: bool) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.control("COMMIT")
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.control("ROLLBACK")
    }

    async fn execute(
        &mut self,
        stmt: Stmt,
        table: u32,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let Self {
            conn,
            work:
                Work::Sysbench {
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
        let bound = params.iter().copied().map(param).collect();
        send(
            conn,
            &statements[prepared.place(stmt, table)],
            bound,
            |_| Ok(()),
        )
        .map(drop)
    }

    async fn insert_next(&mut self, table: u32, row: &NewRow) -> Result<(), SessionError> {
        self.control(&Dialect::Mariadb.insert_next(table, row))
    }
}

/// Tables that are checked at the same time.
const CHECKERS: usize = 2;

/// What holds of the tables in `schema` after the plan's script; see [`check::verdicts`]. No other session should write meanwhile.
pub fn check(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
) -> Result<Vec<ConditionResult>, LoadError> {
    let tables: Vec<u32> = (1..=sysbench.tables).collect();
    let shares = tables.chunks(tables.len().div_ceil(CHECKERS).max(1));
    let found = thread::scope(|scope| {
        let halves =
            shares.map(|tables| scope.spawn(|| found_in(conninfo, schema, sysbench, tables)));
        let halves: Vec<_> = halves.collect();
        let halves = halves.into_iter().map(|half| half.join());
        halves
            .map(|half| half.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<_>, _>>()
    });
    Ok(check::verdicts(sysbench, &found?.concat()))
}

fn found_in(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
    tables: &[u32],
) -> Result<Vec<TableCheck>, LoadError> {
    let mut conn = open(conninfo, schema)?;
    let found = tables
        .iter()
        .map(|&table| found(&mut conn, sysbench, table));
    found.collect::<Result<_, _>>().map_err(|e| match code(&e) {
        Some(UNKNOWN_TABLE) => not_loaded(schema, &error_text(&e)),
        _ => server_error("checking sysbench's tables", &e),
    })
}

fn found(conn: &mut Conn, sysbench: &Sysbench, table: u32) -> Result<TableCheck, Error> {
    let row = conn.query_first(check::sql(sysbench, table, Dialect::Mariadb))?;
    let (rows, loaded, sum, whole) = row.unwrap_or_default();
    Ok(TableCheck {
        rows,
        loaded,
        sum,
        whole,
    })
}
