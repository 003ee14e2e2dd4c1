//! Reads a run file, also one that was not closed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread::ScopedJoinHandle;

use crate::hist::{CoarseHist, Hist};
use crate::message::EventKind;
use crate::{
    APPLICATION_ID, Check, Event, Fact, Integrity, Phase, PhaseId, Point, PointId, PointPurpose,
    Record, RunInfo, RunStatus, SCHEMA_VERSION, Second, Series, Severity, Subject, SubjectId,
    SubjectKind, WaitRow, Window,
};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Interference, RecordedPlan};
use rusqlite::{Connection, OpenFlags, Row};
use serde::de::DeserializeOwned;

use super::{
    RunFileError, backup, block, database, digest, drive, outage, reported, seconds, series, waits,
};

/// Why a row cannot be used; the caller adds the path.
pub(super) type BadRow = String;

/// Opens a run file and reads all of it.
pub fn read(path: &Path) -> Result<Record, RunFileError> {
    let (db, schema) = open_run_file(path)?;
    let is_closed = info(&db).is_ok_and(|run| run.status != RunStatus::Unfinished);
    if !is_closed {
        // Of a run that goes on, all is read as it is at one moment.
        let measurements = Measurements {
            windows: windows(&db).map_err(|what| damaged(path, what))?,
            series: series::series(&db, schema).map_err(|what| damaged(path, what))?,
            waits: waits::waits(&db, schema).map_err(|what| damaged(path, what))?,
            integrity: digest::integrity(&db, path, schema)?,
        };
        return read_record(&db, schema, measurements).map_err(|what| damaged(path, what));
    }
    // Slow reads of what is no longer written, on other processors.
    std::thread::scope(|scope| {
        let windows = scope.spawn(|| beside(path, windows));
        let series = scope.spawn(|| beside(path, |db| series::series(db, schema)));
        let waits = scope.spawn(|| beside(path, |db| waits::waits(db, schema)));
        let integrity = scope.spawn(|| digest::integrity(&open_run_file(path)?.0, path, schema));
        let record = read_record(&db, schema, Measurements::default());
        let mut record = record.map_err(|what| damaged(path, what))?;
        record.windows.splice(..0, joined(path, windows)?);
        record.series = joined(path, series)?;
        record.waits = joined(path, waits)?;
        record.integrity = joined(path, integrity)?;
        Ok(record)
    })
}

/// The record, unless its file changed after the run or lost its digest: nothing is concluded from such a one.
pub fn require_intact(path: &Path, record: Record) -> Result<Record, RunFileError> {
    match record.integrity {
        Integrity::Changed { .. } => Err(RunFileError::Changed { path: path.into() }),
        Integrity::NoDigest => Err(RunFileError::NoDigest { path: path.into() }),
        Integrity::Intact { .. } | Integrity::Open | Integrity::Older { .. } => Ok(record),
    }
}

/// Large tables that are read beside each other.
#[derive(Default)]
struct Measurements {
    windows: Vec<Window>,
    series: Vec<Series>,
    waits: Vec<WaitRow>,
    integrity: Integrity,
}

pub(super) fn damaged(path: &Path, what: BadRow) -> RunFileError {
    RunFileError::Damaged {
        path: path.into(),
        what,
    }
}

fn joined<T>(
    path: &Path,
    thread: ScopedJoinHandle<'_, Result<T, RunFileError>>,
) -> Result<T, RunFileError> {
    thread
        .join()
        .map_err(|_| damaged(path, "a part of it cannot be read".into()))?
}

/// Reads with a connection of its own.
fn beside<T>(
    path: &Path,
    read: impl FnOnce(&Connection) -> Result<T, BadRow>,
) -> Result<T, RunFileError> {
    let (db, _) = open_run_file(path)?;
    read(&db).map_err(|what| damaged(path, what))
}

/// A run file and the version of its schema.
pub(super) fn open_run_file(path: &Path) -> Result<(Connection, i32), RunFileError> {
    let open = |why: String| RunFileError::Open {
        path: path.into(),
        why,
    };
    if !path.is_file() {
        return Err(open("there is no such file".into()));
    }
    // Each connection stays with the thread that opened it, so that nothing has to be locked for each column of a row.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| open(e.to_string()))?;
    let schema = expect_run_file(&db, path)?;
    // One transaction, so that of a run that goes on all tables are read as they were at one moment.
    db.execute_batch("BEGIN").map_err(|e| open(e.to_string()))?;
    Ok((db, schema))
}

/// What is known about the run itself.
pub(super) fn info(db: &Connection) -> Result<RunInfo, BadRow> {
    let ends = lasted(db)?;
    db.query_row("SELECT * FROM run", [], |row| run_info(row, ends))
        .map_err(|e| e.to_string())
}

/// The version of its schema.
fn expect_run_file(db: &Connection, path: &Path) -> Result<i32, RunFileError> {
    let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    // A file that is no database at all fails here, and so does what is left of one.
    match pragma("application_id") {
        Ok(APPLICATION_ID) => {}
        Err(error) if has_run_file_header(path) => {
            return Err(RunFileError::Damaged {
                path: path.into(),
                what: error.to_string(),
            });
        }
        Ok(_) | Err(_) => return Err(RunFileError::Foreign { path: path.into() }),
    }
    let schema = pragma("user_version").unwrap_or_default();
    if schema > SCHEMA_VERSION {
        let version = db.query_row("SELECT plimsoll_version FROM run", [], |row| row.get(0));
        let version = version.unwrap_or_else(|_| "of a later version".into());
        return Err(RunFileError::Newer {
            path: path.into(),
            version,
            schema,
            known: SCHEMA_VERSION,
        });
    }
    Ok(schema)
}

/// Whether the file begins as a run file does: SQLite's magic string, and the application's id at offset 68.
fn has_run_file_header(path: &Path) -> bool {
    let mut header = [0; 72];
    let is_read = File::open(path)
        .and_then(|mut file| file.read_exact(&mut header))
        .is_ok();
    is_read
        && header.starts_with(b"SQLite format 3\0")
        && header[68..] == APPLICATION_ID.to_be_bytes()
}

pub(super) fn rows<T>(
    db: &Connection,
    sql: &str,
    mut read: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> Result<Vec<T>, BadRow> {
    let mut statement = db.prepare_cached(sql).map_err(|e| e.to_string())?;
    let rows = statement
        .query_map([], |row| read(row))
        .map_err(|e| e.to_string())?;
    rows.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

/// Whether the file has a table, which one of an earlier version may lack.
pub(super) fn has_table(db: &Connection, name: &str) -> Result<bool, BadRow> {
    let sql = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = ?1";
    db.query_row(sql, [name], |row| row.get(0))
        .map_err(|error| error.to_string())
}

pub(super) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Nanos> {
    row.get(column).map(Nanos)
}

/// A value that has no meaning here, as an error of the row that holds it.
pub(super) fn meaningless(column: &str, value: impl std::fmt::Display) -> rusqlite::Error {
    let text = format!("{column} holds {value}");
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, text.into())
}

pub(super) fn named<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    parse(&name).ok_or_else(|| meaningless(column, name))
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| meaningless(column, error))
}

pub(super) fn subject(row: &Row<'_>) -> rusqlite::Result<SubjectId> {
    row.get("subject").map(SubjectId)
}

fn read_record(db: &Connection, schema: i32, measurements: Measurements) -> Result<Record, BadRow> {
    let ends = lasted(db)?;
    let mut plan: HashMap<String, String> = rows(db, "SELECT form, text FROM plan", |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?
    .into_iter()
    .collect();
    let points = rows(db, "SELECT * FROM point ORDER BY id", |row| {
        point(row, schema)
    })?;
    let phases = phases(db, ends)?;
    let seconds = seconds::seconds(db, &seconds::types(&phases, &points), schema)?;
    let mut windows = measurements.windows;
    windows.extend(merged_windows(&closed_phases(db)?, &phases, &seconds));
    Ok(Record {
        run: info(db)?,
        plan_written: plan.remove("written").unwrap_or_default(),
        plan: RecordedPlan::from_text(&plan.remove("resolved").unwrap_or_default()),
        subjects: rows(db, "SELECT * FROM subject ORDER BY id", |row| {
            Ok(Subject {
                id: SubjectId(row.get("id")?),
                kind: named(row, "kind", SubjectKind::parse)?,
                name: row.get("name")?,
            })
        })?,
        facts: rows(db, "SELECT * FROM fact ORDER BY subject, key", |row| {
            Ok(Fact {
                subject: subject(row)?,
                key: row.get("key")?,
                value: row.get("value")?,
            })
        })?,
        points,
        phases,
        seconds,
        windows,
        series: measurements.series,
        events: rows(db, "SELECT * FROM event ORDER BY at_ns, rowid", |row| {
            event(row, schema)
        })?,
        checks: rows(db, "SELECT * FROM consistency ORDER BY rowid", |row| {
            Ok(Check {
                point: row.get::<_, Option<u32>>("point")?.map(PointId),
                subject: subject(row)?,
                clause: row.get("clause")?,
                holds: row.get("holds")?,
                detail: row.get("detail")?,
            })
        })?,
        drive: drive::drive_rows(db, schema)?,
        cuts: drive::power_cuts(db, schema)?,
        searches: database::searches(db, schema)?,
        resets: database::resets(db, schema)?,
        waits: measurements.waits,
        blocks: block::block_points(db, schema)?,
        shares: block::block_shares(db, schema)?,
        steady: block::steady(db, schema)?,
        diagnoses: block::diagnoses(db, schema)?,
        backups: backup::backups(db, schema)?,
        outages: outage::outages(db)?,
        reported: reported::reported(db)?,
        integrity: measurements.integrity,
    })
}

/// The latest time in the file.
fn lasted(db: &Connection) -> Result<Nanos, BadRow> {
    // A closed run has its length; only of a run that was not closed all rows are read.
    let recorded =
        "SELECT lasted_ns FROM run WHERE NOT EXISTS (SELECT 1 FROM phase WHERE end_ns IS NULL)";
    if let Some(Some(lasted)) = rows(db, recorded, |row| row.get::<_, Option<u64>>(0))?.first() {
        return Ok(Nanos(*lasted));
    }
    let sql = "SELECT max(coalesce((SELECT max(end_ns) FROM tick), 0), coalesce((SELECT max(at_ns) FROM sample), 0),
                          coalesce((SELECT max(end_ns) FROM phase), 0), coalesce((SELECT max(start_ns) FROM phase), 0))";
    db.query_row(sql, [], |row| row.get(0))
        .map(Nanos)
        .map_err(|e| e.to_string())
}

fn run_info(row: &Row<'_>, ends: Nanos) -> rusqlite::Result<RunInfo> {
    Ok(RunInfo {
        id: row.get("id")?,
        title: row.get("title")?,
        plimsoll_version: row.get("plimsoll_version")?,
        plimsoll_commit: row.get("plimsoll_commit")?,
        command: row.get("command")?,
        seed: named(row, "seed", |text| text.parse().ok())?,
        started_at: row.get("started_at")?,
        lasted: row.get::<_, Option<u64>>("lasted_ns")?.map_or(ends, Nanos),
        status: named(row, "status", RunStatus::parse)?,
        failure: row.get("failure")?,
    })
}

/// The schema in which points have parameters.
const PARAMETERS_SINCE: i32 = 7;

fn point(row: &Row<'_>, schema: i32) -> rusqlite::Result<Point> {
    let users = row.get("users")?;
    // Before, every user had a connection, rates stayed, and all points were loads of ladders gone through once.
    let known = schema >= database::SINCE;
    Ok(Point {
        id: PointId(row.get("id")?),
        step: row.get("step")?,
        step_index: row.get("step_index")?,
        ordinal: row.get("ordinal")?,
        system: SubjectId(row.get("system")?),
        medium: row.get::<_, Option<u32>>("medium")?.map(SubjectId),
        workload: row.get("workload")?,
        mode: row.get("mode")?,
        users,
        connections: if known {
            row.get("connections")?
        } else {
            users
        },
        offered_per_second: row.get("offered_per_second")?,
        offered_to_per_second: if known {
            row.get("offered_to_per_second")?
        } else {
            None
        },
        repeat: if known { row.get("repeat")? } else { 0 },
        purpose: if known {
            named(row, "purpose", PointPurpose::parse)?
        } else {
            PointPurpose::Ladder
        },
        scene: if schema < backup::SINCE {
            Interference::Alone
        } else {
            named(row, "scene", Interference::parse)?
        },
        txns: json(row, "txns")?,
        parameters: if schema < PARAMETERS_SINCE {
            BTreeMap::new()
        } else {
            json(row, "parameters")?
        },
    })
}

fn event(row: &Row<'_>, schema: i32) -> rusqlite::Result<Event> {
    let args = if schema < 8 { None } else { row.get("args")? };
    Ok(Event {
        at: time(row, "at_ns")?,
        subject: row.get::<_, Option<u32>>("subject")?.map(SubjectId),
        severity: named(row, "severity", Severity::parse)?,
        kind: EventKind::of_columns(row.get("code")?, args, row.get("text")?),
    })
}

/// A phase that was not closed ends with its last second, or where the run ended if it has none.
fn phases(db: &Connection, ends: Nanos) -> Result<Vec<Phase>, BadRow> {
    // One pass over the seconds, and only where it is needed: a run of hours has hundreds of thousands.
    let last = "SELECT phase, max(end_ns) FROM tick WHERE phase IN (SELECT id FROM phase WHERE end_ns IS NULL) GROUP BY phase";
    let last: HashMap<u32, u64> = rows(db, last, |row| Ok((row.get(0)?, row.get(1)?)))?
        .into_iter()
        .collect();
    rows(db, "SELECT * FROM phase ORDER BY id", |row| {
        let end = row
            .get::<_, Option<u64>>("end_ns")?
            .or(last.get(&row.get("id")?).copied());
        let start = time(row, "start_ns")?;
        Ok(Phase {
            id: PhaseId(row.get("id")?),
            point: row.get::<_, Option<u32>>("point")?.map(PointId),
            step: row.get("step")?,
            kind: named(row, "kind", PhaseKind::parse)?,
            start,
            end: end.map_or(ends, Nanos).max(start),
            complete: row.get("complete")?,
        })
    })
}

pub(super) fn hist<T>(
    column: &str,
    bytes: &[u8],
    decode: fn(&[u8]) -> Result<T, crate::hist::HistError>,
) -> rusqlite::Result<T> {
    decode(bytes).map_err(|error| meaningless(column, error))
}

fn windows(db: &Connection) -> Result<Vec<Window>, BadRow> {
    rows(
        db,
        "SELECT * FROM window ORDER BY phase, subject, txn",
        |row| {
            let service = row.get_ref("service")?.as_blob_or_null()?;
            Ok(Window {
                phase: PhaseId(row.get("phase")?),
                subject: subject(row)?,
                txn: row.get("txn")?,
                response: hist(
                    "response",
                    row.get_ref("response")?.as_blob()?,
                    Hist::decode,
                )?,
                service: service
                    .map(|bytes| hist("service", bytes, Hist::decode))
                    .transpose()?,
                coarse: false,
            })
        },
    )
}

/// Phases that have windows: those that were not closed have none.
fn closed_phases(db: &Connection) -> Result<HashSet<PhaseId>, BadRow> {
    let closed = rows(db, "SELECT DISTINCT phase FROM window", |row| {
        row.get(0).map(PhaseId)
    })?;
    Ok(closed.into_iter().collect())
}

#[derive(Default)]
struct MergedSeconds {
    response: CoarseHist,
    service: CoarseHist,
    differs: bool,
}

/// Of phases that were not closed, windows merged from their seconds.
fn merged_windows(closed: &HashSet<PhaseId>, phases: &[Phase], seconds: &[Second]) -> Vec<Window> {
    // Mostly there is nothing to do, which is known without reading a million seconds.
    let is_open = |phase: &Phase| phase.point.is_some() && !closed.contains(&phase.id);
    if !phases
        .iter()
        .any(|phase| phase.kind.is_under_load() && is_open(phase))
    {
        return Vec::new();
    }
    let mut merged: BTreeMap<(PhaseId, SubjectId, u32), MergedSeconds> = BTreeMap::new();
    for second in seconds {
        if closed.contains(&second.phase) {
            continue;
        }
        let own = merged
            .entry((second.phase, second.subject, second.txn))
            .or_default();
        own.response.merge(&second.response);
        own.service
            .merge(second.service.as_ref().unwrap_or(&second.response));
        own.differs |= second.service.is_some();
    }
    // A phase whose seconds hold no times has no distribution, coarse or not.
    merged.retain(|_, own| own.response.count() > 0);
    merged
        .into_iter()
        .map(|((phase, subject, txn), own)| Window {
            phase,
            subject,
            txn,
            response: own.response.to_hist(),
            service: own.differs.then(|| own.service.to_hist()),
            coarse: true,
        })
        .collect()
}
