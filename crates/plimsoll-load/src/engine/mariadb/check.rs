//! The twelve consistency conditions against a MariaDB.

use std::thread;

use mysql::prelude::Queryable;
use mysql::{Conn, Error, Row};
use plimsoll_model::receipt::CommitCounts;

use super::connect::{UNKNOWN_TABLE, code, connect_to, error_text, not_loaded, server_error};
use super::guard::{self, Use};
use super::load::{FINISHED, MARKER};
use crate::engine::ConditionResult;
use crate::error::LoadError;
use crate::workload::tpcc::books;
use crate::workload::tpcc::consistency::{
    CONDITIONS, ConditionRows, Violation, lacking, sizes_sql,
};

/// Every condition reads its tables as a whole. The optimizer would compute the sums anew for each customer: hours instead
/// of seconds.
const OPTIMIZER: &str = "SET SESSION optimizer_switch = 'split_materialized=off'";

/// Verifies the conditions of clause 3.3.2 in `schema`, in their order. No other session should write meanwhile: every condition
/// sees a snapshot of its own.
pub fn check(conninfo: &str, schema: &str) -> Result<Vec<ConditionResult>, LoadError> {
    let (mut first, second) = (open(conninfo, schema)?, open(conninfo, schema)?);
    if let Some(lacking) = whole(&mut first, schema)? {
        return Ok(CONDITIONS
            .iter()
            .map(|condition| condition.not_evaluated(&lacking))
            .collect());
    }
    // Those with odd and those with even numbers on a connection each.
    let (odd, even) = thread::scope(|scope| {
        let even = scope.spawn(|| half(second, 1));
        let odd = half(first, 0);
        (
            odd,
            even.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    });
    Ok(odd?
        .into_iter()
        .zip(even?)
        .flat_map(|(a, b)| [a, b])
        .collect())
}

fn open(conninfo: &str, schema: &str) -> Result<Conn, LoadError> {
    let mut conn = connect_to(conninfo, schema)?;
    conn.query_drop(OPTIMIZER)
        .map_err(|e| server_error("checking", &e))?;
    guard::take(&mut conn, schema, Use::Keep)?;
    Ok(conn)
}

/// Types that a CAST can name here.
fn dialect(sql: &str) -> String {
    sql.replace(" AS TEXT)", " AS CHAR)")
        .replace(" AS bigint)", " AS SIGNED)")
}

fn half(mut conn: Conn, first: usize) -> Result<Vec<ConditionResult>, LoadError> {
    let mut verdicts = Vec::new();
    for condition in CONDITIONS.iter().skip(first).step_by(2) {
        let what = || format!("checking condition {}", condition.clause);
        let row: Option<Row> = conn
            .query_first(dialect(&condition.sql()))
            .map_err(|e| server_error(&what(), &e))?;
        let found = row
            .and_then(found)
            .ok_or_else(|| LoadError::other(what(), "the server's answer cannot be read"))?;
        verdicts.push(condition.verdict(&found));
    }
    Ok(verdicts)
}

fn found(row: Row) -> Option<ConditionRows> {
    let (of, count, key, left, right): (
        i64,
        Option<i64>,
        Option<String>,
        Option<String>,
        Option<String>,
    ) = mysql::from_row_opt(row).ok()?;
    let violation = match count {
        Some(count) => Some(Violation {
            count,
            key: key?,
            left: left?,
            right: right?,
        }),
        None => None,
    };
    Some(ConditionRows { of, violation })
}

/// What is in the database by place (see [`plimsoll_model::receipt`]).
pub fn books(conninfo: &str, schema: &str) -> Result<CommitCounts, LoadError> {
    let mut conn = open(conninfo, schema)?;
    let rows: Vec<(u8, u32, u64)> = conn
        .query(dialect(books::SQL))
        .map_err(|e| server_error("counting transactions", &e))?;
    Ok(CommitCounts::from_counts(
        rows.into_iter()
            .map(|(txn, at, n)| ((txn, at), n))
            .collect(),
    ))
}

/// New-Orders since the load.
pub fn orders_added(conninfo: &str, schema: &str) -> Result<u64, LoadError> {
    let count: Result<Option<u64>, Error> =
        open(conninfo, schema)?.query_first(dialect(books::ORDERS_ADDED));
    Ok(count
        .map_err(|e| server_error("counting orders", &e))?
        .unwrap_or_default())
}

/// What the schema lacks, going by its marker; an error when it holds no finished load.
fn whole(conn: &mut Conn, schema: &str) -> Result<Option<String>, LoadError> {
    let error = |error: Error| match code(&error) {
        Some(UNKNOWN_TABLE) => not_loaded(schema, &error_text(&error)),
        _ => server_error("inspecting the loaded data", &error),
    };
    let marker: Option<(String, i64)> = conn
        .query_first(format!("SELECT state, warehouses FROM {MARKER}"))
        .map_err(error)?;
    let Some((state, warehouses)) = marker else {
        return Err(not_loaded(schema, &format!("table {MARKER} is empty")));
    };
    if state != FINISHED {
        return Err(not_loaded(schema, &format!("its load has only {state}")));
    }
    let row: Option<Row> = conn.query_first(sizes_sql()).map_err(error)?;
    let sizes = row.map(Row::unwrap).unwrap_or_default();
    let sizes: Vec<i64> = sizes
        .into_iter()
        .map(|size| mysql::from_value_opt(size).unwrap_or_default())
        .collect();
    Ok(lacking(warehouses, &sizes))
}
