//! The consistency conditions, and the facts a report states about the engine.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_record::receipt::CommitCounts;
use rusqlite::Connection;

use super::client::SqliteClient;
use super::connection::{apply, explain, has_log, open, open_read_only, open_timed, read};
use crate::engine::ConditionResult;
use crate::engine::sql::{SqlClient, check};
use crate::error::LoadError;
use crate::workload::tpcc::commit_counts;
use crate::workload::tpcc::consistency::{CONDITIONS, Condition};

/// Pages' memory while checking, in KiB.
const CHECK_CACHE: &str = "-65536";

/// Verifies all twelve conditions of clause 3.3.2 in one snapshot. The database and its journal mode stay as they are.
pub fn check(path: &Path) -> Result<Vec<ConditionResult>, LoadError> {
    let quiet = !has_log(path);
    let mut connection = open_read_only(path).map_err(not_loaded)?;
    apply(
        &connection,
        path,
        &BTreeMap::from([("cache_size".to_owned(), CHECK_CACHE.to_owned())]),
    )?;
    let snapshot = connection
        .transaction()
        .map_err(|error| explain(path, "checking", &error))?;
    let verdicts = verdicts(&snapshot, path);
    if quiet && has_log(path) {
        let next = "another process began to write to it meanwhile; check it again when none does";
        return Err(LoadError::other(
            format!("checking {}", path.display()),
            next,
        ));
    }
    verdicts
}

/// Nothing is written here: a file that is not plimsoll's only means that there is nothing to check.
fn not_loaded(error: LoadError) -> LoadError {
    match error {
        LoadError::Foreign { what, .. } => LoadError::Missing {
            what: format!("TPC-C data in {what}"),
            searched: "plimsoll did not load this file".into(),
            next: "Name a database that `plimsoll run` has loaded.".into(),
        },
        other => other,
    }
}

pub(super) fn verdicts(
    snapshot: &Connection,
    path: &Path,
) -> Result<Vec<ConditionResult>, LoadError> {
    let mut client = SqliteClient {
        connection: snapshot,
        path,
    };
    let marker = client.rows("counting rows", "SELECT warehouses FROM plimsoll_load")?;
    let Some(marker) = marker.first() else {
        return Err(LoadError::Missing {
            what: format!("a finished load in {}", path.display()),
            searched: "table plimsoll_load is empty".into(),
            next: "Remove the file and load it again: plimsoll run.".into(),
        });
    };
    if let Some(lacking) = check::lacks(&mut client, marker.get(0)?)? {
        return Ok(check::not_evaluated(&lacking));
    }
    CONDITIONS
        .iter()
        .map(|condition| verify(&mut client, condition))
        .collect()
}

fn verify(
    client: &mut SqliteClient<'_>,
    condition: &Condition,
) -> Result<ConditionResult, LoadError> {
    let doing = format!("checking condition {}", condition.clause);
    let mut found = check::condition_rows(&client.row(&doing, &condition.sql())?)?;
    if let Some(violation) = found.violation.as_mut().filter(|_| condition.money) {
        violation.left = amount(&violation.left);
        violation.right = amount(&violation.right);
    }
    Ok(condition.verdict(&found))
}

/// Opens a database that a crash has left, which makes SQLite recover its log (wal.html, "Recovery").
pub fn recover(path: &Path, pragmas: &BTreeMap<String, String>) -> Result<(), LoadError> {
    recover_timed(path, pragmas, None)
}

/// As [`recover`], through a VFS of virtual time.
pub fn recover_timed(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
    vfs: Option<&str>,
) -> Result<(), LoadError> {
    let recovered =
        open_timed(path, pragmas, vfs)?.query_row("SELECT count(*) FROM warehouse", [], |_| Ok(()));
    recovered.map_err(|error| explain(path, "recovering", &error))
}

/// What is in the database by place (see [`plimsoll_record::receipt`]).
pub fn commit_counts(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
) -> Result<CommitCounts, LoadError> {
    let connection = &open(path, pragmas)?;
    let rows =
        SqliteClient { connection, path }.rows("counting transactions", commit_counts::SQL)?;
    check::counts_of(&rows)
}

/// New-Orders since the load.
pub fn orders_added(path: &Path, pragmas: &BTreeMap<String, String>) -> Result<u64, LoadError> {
    let connection = &open(path, pragmas)?;
    SqliteClient { connection, path }
        .row("counting orders", commit_counts::ORDERS_ADDED)?
        .get(0)
}

/// Cents as an amount; anything else as it is.
fn amount(cents: &str) -> String {
    match cents.parse::<i64>() {
        Ok(n) => format!(
            "{}{}.{:02}",
            if n < 0 { "-" } else { "" },
            n.unsigned_abs() / 100,
            n.unsigned_abs() % 100
        ),
        Err(_) => cents.to_owned(),
    }
}

/// PRAGMAs that change what is measured.
const MEASURED_PRAGMAS: [&str; 12] = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "wal_autocheckpoint",
    "mmap_size",
    "temp_store",
    "locking_mode",
    "auto_vacuum",
    "busy_timeout",
    "journal_size_limit",
    "fullfsync",
];

/// SQLite's version and every setting that matters, as a session with these PRAGMAs sees them, and those PRAGMAs.
pub fn facts(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, LoadError> {
    let connection = open(path, pragmas)?;
    let mut facts = vec![("sqlite_version".to_owned(), rusqlite::version().to_owned())];
    let others = pragmas
        .keys()
        .map(String::as_str)
        .filter(|name| !MEASURED_PRAGMAS.contains(name));
    for name in MEASURED_PRAGMAS.into_iter().chain(others) {
        let value = read(&connection, name)
            .map_err(|error| explain(path, &format!("reading PRAGMA {name} of"), &error))?;
        let value = value.map(|value| {
            if name == "synchronous" {
                synchronous(&value)
            } else {
                value
            }
        });
        facts.extend(value.map(|value| (name.to_owned(), value)));
    }
    Ok(facts)
}

fn synchronous(value: &str) -> String {
    match value {
        "0" => "OFF",
        "1" => "NORMAL",
        "2" => "FULL",
        "3" => "EXTRA",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_read_as_amounts() {
        assert_eq!(
            ["30000000", "-5", "-12345", "none"].map(amount),
            ["300000.00", "-0.05", "-123.45", "none"]
        );
    }
}
