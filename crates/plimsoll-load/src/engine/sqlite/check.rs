//! The consistency conditions, and the facts a report states about the engine.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_record::receipt::CommitCounts;
use rusqlite::{Connection, OptionalExtension, Row};

use super::connection::{apply, explain, has_log, open, open_read_only, read};
use crate::engine::ConditionResult;
use crate::error::LoadError;
use crate::workload::tpcc::books;
use crate::workload::tpcc::consistency::{
    CONDITIONS, Condition, ConditionRows, Violation, lacking, sizes_sql,
};
use crate::workload::tpcc::rows::Table;

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
        LoadError::Foreign { what, next: _ } => LoadError::Missing {
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
    if let Some(lacking) = whole(snapshot, path)? {
        return Ok(CONDITIONS
            .iter()
            .map(|condition| condition.not_evaluated(&lacking))
            .collect());
    }
    CONDITIONS
        .iter()
        .map(|condition| {
            let found = snapshot
                .query_row(&condition.sql(), [], |row| found(row, condition))
                .map_err(|error| {
                    explain(
                        path,
                        &format!("checking condition {} in", condition.clause),
                        &error,
                    )
                })?;
            Ok(condition.verdict(&found))
        })
        .collect()
}

/// Opens a database that a crash has left, which makes SQLite recover its log (wal.html, "Recovery").
pub fn recover(path: &Path, pragmas: &BTreeMap<String, String>) -> Result<(), LoadError> {
    let recovered =
        open(path, pragmas)?.query_row("SELECT count(*) FROM warehouse", [], |_| Ok(()));
    recovered.map_err(|error| explain(path, "recovering", &error))
}

/// What is in the database by place (see [`plimsoll_record::receipt`]).
pub fn books(path: &Path, pragmas: &BTreeMap<String, String>) -> Result<CommitCounts, LoadError> {
    let connection = open(path, pragmas)?;
    let failed = |error: rusqlite::Error| explain(path, "counting transactions in", &error);
    let mut statement = connection.prepare(books::SQL).map_err(failed)?;
    let count = |row: &Row<'_>| {
        Ok((
            (row.get(0)?, row.get(1)?),
            row.get::<_, i64>(2)?.unsigned_abs(),
        ))
    };
    let counts = statement
        .query_map([], count)
        .map_err(failed)?
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    Ok(CommitCounts::from_counts(counts))
}

/// New-Orders since the load.
pub fn orders_added(path: &Path, pragmas: &BTreeMap<String, String>) -> Result<u64, LoadError> {
    let count = open(path, pragmas)?.query_row(books::ORDERS_ADDED, [], |row| row.get::<_, i64>(0));
    count
        .map(i64::unsigned_abs)
        .map_err(|error| explain(path, "counting orders in", &error))
}

/// What the database lacks, going by what was loaded into it.
fn whole(snapshot: &Connection, path: &Path) -> Result<Option<String>, LoadError> {
    let failed = |error: rusqlite::Error| explain(path, "counting rows of", &error);
    let marker = "SELECT warehouses FROM plimsoll_load";
    let warehouses = snapshot
        .query_row(marker, [], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    let Some(warehouses) = warehouses else {
        return Err(LoadError::Missing {
            what: format!("a finished load in {}", path.display()),
            searched: "table plimsoll_load is empty".into(),
            next: "Remove the file and load it again: plimsoll run.".into(),
        });
    };
    let counts = |row: &Row<'_>| {
        (0..Table::ALL.len())
            .map(|i| row.get(i))
            .collect::<Result<Vec<i64>, _>>()
    };
    Ok(lacking(
        warehouses,
        &snapshot
            .query_row(&sizes_sql(), [], counts)
            .map_err(failed)?,
    ))
}

fn found(row: &Row<'_>, condition: &Condition) -> rusqlite::Result<ConditionRows> {
    let side = |i| {
        row.get(i)
            .map(|text: String| if condition.money { amount(&text) } else { text })
    };
    let violation = match row.get::<_, Option<i64>>(1)? {
        Some(count) => Some(Violation {
            count,
            key: row.get(2)?,
            left: side(3)?,
            right: side(4)?,
        }),
        None => None,
    };
    Ok(ConditionRows {
        of: row.get(0)?,
        violation,
    })
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
