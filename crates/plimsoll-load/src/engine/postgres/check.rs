//! The twelve consistency conditions against a PostgreSQL.

use futures_util::future::try_join;
use plimsoll_model::receipt::CommitCounts;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row};

use super::connect::{connect, error_text, server_error};
use super::guard::{self, Use};
use super::load::{FINISHED, MARKER};
use super::{blocking, search_path};
use crate::engine::ConditionResult;
use crate::error::LoadError;
use crate::workload::tpcc::books;
use crate::workload::tpcc::consistency::{
    CONDITIONS, ConditionRows, Violation, lacking, sizes_sql,
};

/// Every condition reads its tables as a whole. The planner takes a GROUP BY over three correlated columns for one row,
/// and would then run the other side of the join once for each row: hours instead of seconds.
const PLANNER: &str = "SET enable_nestloop = off";

/// Verifies the conditions of clause 3.3.2 in `schema`, in their order. No other session should write meanwhile: every condition
/// sees a snapshot of its own. Blocks the calling thread.
pub fn check(conninfo: &str, schema: &str) -> Result<Vec<ConditionResult>, LoadError> {
    blocking(|| async {
        let (first, second) = try_join(open(conninfo, schema), open(conninfo, schema)).await?;
        if let Some(lacking) = whole(&first, schema).await? {
            return Ok(CONDITIONS
                .iter()
                .map(|condition| condition.not_evaluated(&lacking))
                .collect());
        }
        // Those with odd and those with even numbers on a connection each.
        let (odd, even) = try_join(half(&first, 0), half(&second, 1)).await?;
        Ok(odd
            .into_iter()
            .zip(even)
            .flat_map(|(a, b)| [a, b])
            .collect())
    })
}

async fn open(conninfo: &str, schema: &str) -> Result<Client, LoadError> {
    let client = connect(conninfo).await?;
    let setup = format!("{}; {PLANNER}", search_path(schema));
    client
        .batch_execute(&setup)
        .await
        .map_err(|e| server_error("checking", &e))?;
    guard::take(&client, schema, Use::Keep).await?;
    Ok(client)
}

async fn half(client: &Client, first: usize) -> Result<Vec<ConditionResult>, LoadError> {
    let mut verdicts = Vec::new();
    for condition in CONDITIONS.iter().skip(first).step_by(2) {
        let row = client.query_one(&condition.sql(), &[]).await;
        let found = row.and_then(|row| found(&row));
        let what = || format!("checking condition {}", condition.clause);
        verdicts.push(condition.verdict(&found.map_err(|e| server_error(&what(), &e))?));
    }
    Ok(verdicts)
}

/// What is in the database by place (see [`plimsoll_model::receipt`]).
pub fn books(conninfo: &str, schema: &str) -> Result<CommitCounts, LoadError> {
    blocking(|| async {
        let client = open(conninfo, schema).await?;
        let error = |e: Error| server_error("counting transactions", &e);
        let rows = client.query(books::SQL, &[]).await.map_err(error)?;
        let count = |row: &Row| {
            let [txn, at, n] = [row.try_get::<_, i64>(0)?, row.try_get(1)?, row.try_get(2)?];
            Ok(((txn as u8, at as u32), n.unsigned_abs()))
        };
        rows.iter()
            .map(count)
            .collect::<Result<_, _>>()
            .map(CommitCounts::from_counts)
            .map_err(error)
    })
}

/// New-Orders since the load.
pub fn orders_added(conninfo: &str, schema: &str) -> Result<u64, LoadError> {
    blocking(|| async {
        let error = |e: Error| server_error("counting orders", &e);
        let row = open(conninfo, schema)
            .await?
            .query_one(books::ORDERS_ADDED, &[])
            .await
            .map_err(error)?;
        row.try_get(0).map(i64::unsigned_abs).map_err(error)
    })
}

/// What the schema lacks, going by its marker; an error when it holds no finished load.
async fn whole(client: &Client, schema: &str) -> Result<Option<String>, LoadError> {
    let missing = |searched: String| LoadError::Missing {
        what: format!("Finished TPC-C data in schema {schema}"),
        searched,
        next: "Load it first: plimsoll run.".into(),
    };
    let error = |error: Error| match error.code() {
        Some(code) if *code == SqlState::UNDEFINED_TABLE => missing(error_text(&error)),
        _ => server_error("inspecting the loaded data", &error),
    };
    let marker = format!("SELECT state, warehouses FROM {MARKER}");
    let Some(row) = client.query_opt(&marker, &[]).await.map_err(error)? else {
        return Err(missing(format!("table {MARKER} is empty")));
    };
    let (state, warehouses): (String, i32) = (
        row.try_get(0).map_err(error)?,
        row.try_get(1).map_err(error)?,
    );
    if state != FINISHED {
        return Err(missing(format!("its load has only {state}")));
    }
    let row = client.query_one(&sizes_sql(), &[]).await.map_err(error)?;
    let rows: Vec<i64> = (0..row.len())
        .map(|i| row.try_get(i))
        .collect::<Result<_, _>>()
        .map_err(error)?;
    Ok(lacking(i64::from(warehouses), &rows))
}

fn found(row: &Row) -> Result<ConditionRows, Error> {
    let violation = match row.try_get::<_, Option<i64>>(1)? {
        Some(count) => Some(Violation {
            count,
            key: row.try_get(2)?,
            left: row.try_get(3)?,
            right: row.try_get(4)?,
        }),
        None => None,
    };
    Ok(ConditionRows {
        of: row.try_get(0)?,
        violation,
    })
}
