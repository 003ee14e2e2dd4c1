//! The consistency conditions, and counts of what transactions have left.

use std::collections::BTreeMap;
use std::thread;

use plimsoll_plan::resolved::Sysbench;
use plimsoll_record::message::CheckDetail;
use plimsoll_record::receipt::{CommitCounts, CommitPlace};

use super::guard::{self, Use};
use super::marker::FINISHED;
use super::tpcc::MARKER;
use super::{Dialect, ServerClient, SqlClient, TextRow};
use crate::engine::ConditionResult;
use crate::engine::server::target::Target;
use crate::error::LoadError;
use crate::workload::sysbench::check::{self, TableCheck};
use crate::workload::sysbench::sql::table_name;
use crate::workload::tpcc::commit_counts;
use crate::workload::tpcc::consistency::{
    CONDITIONS, Condition, ConditionRows, Violation, lacking, sizes_sql,
};
use crate::workload::tpcc::rows::TpccTable;

/// Connections that check at the same time.
const CHECKERS: usize = 2;

/// Verifies the conditions of clause 3.3.2, in their order. No other session should write meanwhile: every condition
/// sees a snapshot of its own.
pub(crate) fn tpcc(target: &Target) -> Result<Vec<ConditionResult>, LoadError> {
    let mut client = open(target, "TPC-C")?;
    if let Some(lacking) = missing_rows(target, client.as_mut())? {
        return Ok(not_evaluated(&lacking));
    }
    // Those with odd and those with even numbers on a connection each.
    let shares: Vec<Vec<&Condition>> = (0..CHECKERS)
        .map(|first| CONDITIONS.iter().skip(first).step_by(CHECKERS).collect())
        .collect();
    let results = side_by_side(&shares, |share| {
        let mut client = open(target, "TPC-C")?;
        let results = share
            .iter()
            .map(|condition| verify(client.as_mut(), target.dialect(), condition));
        results.collect()
    })?;
    let mut shares: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
    let in_order = (0..CONDITIONS.len()).filter_map(|i| shares[i % CHECKERS].next());
    Ok(in_order.collect())
}

/// What holds of sysbench's tables after the plan's script; see [`check::verdicts`]. No other session should write
/// meanwhile.
pub(crate) fn sysbench(
    target: &Target,
    sysbench: &Sysbench,
) -> Result<Vec<ConditionResult>, LoadError> {
    let tables: Vec<u32> = (1..=sysbench.tables).collect();
    let shares: Vec<&[u32]> = tables
        .chunks(tables.len().div_ceil(CHECKERS).max(1))
        .collect();
    let found = side_by_side(&shares, |tables| {
        let mut client = open(target, "sysbench")?;
        let there = target.relations(client.as_mut())?;
        let found = tables.iter().map(|&table| {
            let name = table_name(table);
            if !there.contains(&name) {
                return Err(target.not_loaded("sysbench", &format!("there is no table {name}")));
            }
            let sql = check::sql(sysbench, table, target.dialect().table_syntax);
            table_check(&client.row("checking sysbench's tables", &sql)?)
        });
        found.collect()
    })?;
    Ok(check::verdicts(sysbench, &found.concat()))
}

/// Works on each share on a thread of its own.
fn side_by_side<S: Sync, T: Send>(
    shares: &[S],
    work: impl Fn(&S) -> Result<Vec<T>, LoadError> + Sync,
) -> Result<Vec<Vec<T>>, LoadError> {
    thread::scope(|scope| {
        let threads: Vec<_> = shares
            .iter()
            .map(|share| scope.spawn(|| work(share)))
            .collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// A connection to the schema that keeps loaders out of it as long as it lives.
fn open(target: &Target, data: &str) -> Result<Box<dyn ServerClient>, LoadError> {
    let mut client = target.open(data)?;
    client.execute("checking", target.dialect().check_setup)?;
    guard::take(client.as_mut(), target.dialect(), &target.schema, Use::Keep)?;
    Ok(client)
}

/// What the schema lacks, going by its marker; an error when it holds no finished load.
fn missing_rows(
    target: &Target,
    client: &mut dyn ServerClient,
) -> Result<Option<CheckDetail>, LoadError> {
    let not_loaded = |searched: &str| Err(target.not_loaded("Finished TPC-C", searched));
    if !target.relations(client)?.iter().any(|name| name == MARKER) {
        return not_loaded(&format!("there is no table {MARKER}"));
    }
    let marker = format!("SELECT state, warehouses FROM {MARKER}");
    let rows = client.rows("inspecting the loaded data", &marker);
    let rows = rows.map_err(|error| match error {
        // The catalog shows it to everybody.
        LoadError::Refused { .. } | LoadError::Other { .. } => LoadError::Refused {
            what: guard::what(&target.schema),
            why: error.reason(),
            next: "Another user loaded it: connect as that one, or let it GRANT USAGE on the schema and SELECT on its tables."
                .into(),
        },
        error => error,
    })?;
    let Some(marker) = rows.first() else {
        return not_loaded(&format!("table {MARKER} is empty"));
    };
    match marker.text(0) {
        Some(FINISHED) => lacks(client, marker.get(1)?),
        state => not_loaded(&format!("its load has only {}", state.unwrap_or_default())),
    }
}

/// What a database that was loaded with so many warehouses lacks.
pub(crate) fn lacks(
    client: &mut (impl SqlClient + ?Sized),
    warehouses: i64,
) -> Result<Option<CheckDetail>, LoadError> {
    let row = client.row("counting rows", &sizes_sql())?;
    let sizes: Vec<i64> = (0..TpccTable::ALL.len())
        .map(|column| row.get(column))
        .collect::<Result<_, _>>()?;
    Ok(lacking(warehouses, &sizes))
}

pub(crate) fn not_evaluated(lacking: &CheckDetail) -> Vec<ConditionResult> {
    CONDITIONS
        .iter()
        .map(|condition| condition.result(lacking.clone()))
        .collect()
}

fn verify(
    client: &mut dyn ServerClient,
    dialect: &Dialect,
    condition: &Condition,
) -> Result<ConditionResult, LoadError> {
    let doing = format!("checking condition {}", condition.clause);
    let row = client.row(&doing, &dialect.translated(&condition.sql()))?;
    condition_rows(&row).map(|found| condition.verdict(&found))
}

/// What a condition's query found.
pub(crate) fn condition_rows(row: &TextRow) -> Result<ConditionRows, LoadError> {
    let violation = match row.text(1) {
        Some(_) => Some(Violation {
            count: row.get(1)?,
            key: row.get(2)?,
            left: row.get(3)?,
            right: row.get(4)?,
        }),
        None => None,
    };
    Ok(ConditionRows {
        of: row.get(0)?,
        violation,
    })
}

pub(crate) fn table_check(row: &TextRow) -> Result<TableCheck, LoadError> {
    Ok(TableCheck {
        rows: row.get(0)?,
        loaded: row.get(1)?,
        sum: row.get(2)?,
        whole: row.get(3)?,
    })
}

/// What is in the database by place (see [`plimsoll_record::receipt`]).
pub(crate) fn commit_counts(target: &Target) -> Result<CommitCounts, LoadError> {
    let sql = target.dialect().translated(commit_counts::SQL);
    let rows = open(target, "TPC-C")?.rows("counting transactions", &sql)?;
    counts_of(&rows)
}

pub(crate) fn counts_of(rows: &[TextRow]) -> Result<CommitCounts, LoadError> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let place = CommitPlace {
            txn: row.get(0)?,
            place: row.get(1)?,
        };
        counts.insert(place, row.get(2)?);
    }
    Ok(CommitCounts::from_counts(counts))
}

/// New-Orders since the load.
pub(crate) fn orders_added(target: &Target) -> Result<u64, LoadError> {
    let sql = target.dialect().translated(commit_counts::ORDERS_ADDED);
    open(target, "TPC-C")?.row("counting orders", &sql)?.get(0)
}
