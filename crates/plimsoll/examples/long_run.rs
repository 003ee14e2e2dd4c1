//! Makes a long run of a short one: `long_run RUN LONG MINUTES`. All that is under load is repeated until it lasts so
//! long, as if the plan had asked for more repeats. It measures how long plimsoll takes to read, audit, compare
//! and report, and nothing about a drive. For `cargo xtask bench audit`.

use std::error::Error;
use std::path::Path;

use plimsoll_record::runfile::{RunFile, RunFileError, read};
use rusqlite::Connection;

/// Columns that differ from one repeat to the next, and by how much.
type Shifts<'a> = &'a [(&'a str, i64)];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, minutes] = words.as_slice() else {
        return Err("usage: long_run RUN LONG MINUTES".into());
    };
    if Path::new(to).exists() {
        return Err(format!("{to} exists already").into());
    }
    let repeated = format!("{to}.repeated");
    // So that a run of an older schema is long in the newest.
    write_anew(from, &repeated)?;
    let minutes = repeat(&repeated, minutes.parse()?)?;
    // The digest is of the whole run.
    write_anew(&repeated, to)?;
    std::fs::remove_file(repeated)?;
    println!("{minutes} minutes");
    Ok(())
}

fn write_anew(from: &str, to: &str) -> Result<(), RunFileError> {
    let record = read(Path::new(from))?;
    let file = RunFile::of_record(Path::new(to), &record)?;
    file.finish(
        record.run.status,
        record.run.failure.as_deref(),
        record.run.lasted,
    )
    .map(drop)
}

/// Repeats what is under load; how many minutes it lasts then.
fn repeat(path: &str, minutes: i64) -> rusqlite::Result<i64> {
    let db = Connection::open(path)?;
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let (begin, end) = (
        number("SELECT min(start_ns) FROM phase WHERE point IS NOT NULL")?,
        number("SELECT max(end_ns) FROM phase WHERE point IS NOT NULL")?,
    );
    let lasts = end - begin;
    let wanted = minutes * 60_000_000_000;
    let more = (wanted + lasts - 1) / lasts - 1;
    let [points, phases, ticks] =
        ["point", "phase", "tick"].map(|table| number(&format!("SELECT max(id) FROM {table}")));
    let (points, phases, ticks) = (points?, phases?, ticks?);
    let repeats = number("SELECT max(repeat) + 1 FROM point")?;
    let rows = |table: &str| number(&format!("SELECT coalesce(max(rowid), 0) FROM {table}"));
    let (samples, waits, checks) = (rows("sample")?, rows("wait")?, rows("consistency")?);
    db.execute_batch("BEGIN")?;
    // What comes after the load comes later.
    let later = more * lasts;
    db.execute(
        &format!("UPDATE phase SET start_ns = start_ns + {later}, end_ns = end_ns + {later} WHERE start_ns >= {end}"),
        [],
    )?;
    db.execute(
        &format!("UPDATE run SET lasted_ns = lasted_ns + {later}"),
        [],
    )?;
    let beside = format!("BETWEEN {begin} AND {end}");
    for k in 1..=more {
        let (point, phase, tick, time) = (k * points, k * phases, k * ticks, k * lasts);
        let copies: [(&str, Shifts<'_>, String); 8] = [
            (
                "point",
                &[("id", point), ("repeat", k * repeats)],
                format!("id <= {points}"),
            ),
            (
                "phase",
                &[
                    ("id", phase),
                    ("point", point),
                    ("start_ns", time),
                    ("end_ns", time),
                ],
                format!("id <= {phases} AND point IS NOT NULL"),
            ),
            (
                "tick",
                &[
                    ("id", tick),
                    ("phase", phase),
                    ("start_ns", time),
                    ("end_ns", time),
                ],
                format!("id <= {ticks}"),
            ),
            ("window", &[("phase", phase)], format!("phase <= {phases}")),
            (
                "consistency",
                &[("point", point)],
                format!("rowid <= {checks} AND point IS NOT NULL"),
            ),
            (
                "sample",
                &[("at_ns", time)],
                format!("rowid <= {samples} AND at_ns {beside}"),
            ),
            (
                "wait",
                &[("start_ns", time)],
                format!("rowid <= {waits} AND start_ns {beside}"),
            ),
            (
                "drive",
                &[("start_ns", time), ("end_ns", time)],
                format!("start_ns {beside}"),
            ),
        ];
        for (table, shifts, of) in copies {
            copy(&db, table, shifts, &of)?;
        }
    }
    db.execute_batch("COMMIT")?;
    Ok((more + 1) * lasts / 60_000_000_000)
}

fn copy(db: &Connection, table: &str, shifts: Shifts<'_>, of: &str) -> rusqlite::Result<()> {
    let mut columns =
        db.prepare_cached(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let columns = columns
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<Result<Vec<_>, _>>()?;
    let values =
        columns.iter().map(
            |column| match shifts.iter().find(|(name, _)| name == column) {
                Some((_, by)) => format!("{column} + {by}"),
                None => column.clone(),
            },
        );
    let (values, names) = (values.collect::<Vec<_>>().join(", "), columns.join(", "));
    db.execute(
        &format!("INSERT INTO {table} ({names}) SELECT {values} FROM {table} WHERE {of}"),
        [],
    )
    .map(drop)
}
