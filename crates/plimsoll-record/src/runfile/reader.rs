//! Reads a run file, also one that was not closed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::thread::ScopedJoinHandle;

use crate::hist::CoarseHist;
use crate::message::{self, CheckDetail, EventKind};
use crate::{
    Check, Event, Fact, Integrity, Phase, PhaseId, Point, PointId, Record, RunStatus, Second,
    Series, Subject, SubjectId, WaitRow, Window,
};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row};

use super::open::{OpenedRun, RunFileSource, damaged, info, lasted, open_run_file};
use super::row::{BadRow, ValueBudget, full_hist, json, named, parsed, rows, subject, time};
use super::{
    RunFileError, backup, block, database, digest, drive, outage, reported, seconds, series, waits,
};

/// Opens a run file and reads all of it.
pub fn read(path: &Path) -> Result<Record, RunFileError> {
    let OpenedRun { db, source } = open_run_file(path)?;
    let is_closed = info(&db).is_ok_and(|run| run.status != RunStatus::Unfinished);
    if !is_closed {
        let mut record = unfinished(&db).map_err(|what| damaged(path, what))?;
        record.integrity = digest::integrity(&db, &source)?;
        return Ok(record);
    }
    // Slow reads of what is no longer written, on other processors.
    std::thread::scope(|scope| {
        let windows = scope.spawn(|| beside(&source, windows));
        let series = scope.spawn(|| beside(&source, series::series));
        let waits = scope.spawn(|| beside(&source, waits::waits));
        let integrity = scope.spawn(|| digest::integrity(&source.connect()?, &source));
        let record = read_record(&db, Measurements::default());
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
        Integrity::Intact { .. } | Integrity::Open => Ok(record),
    }
}

/// Of a run that goes on: all is read as it is at one moment.
pub(super) fn unfinished(db: &Connection) -> Result<Record, BadRow> {
    let measurements = Measurements {
        windows: windows(db)?,
        series: series::series(db)?,
        waits: waits::waits(db)?,
        integrity: Integrity::Open,
    };
    read_record(db, measurements)
}

/// Large tables that are read beside each other.
#[derive(Default)]
struct Measurements {
    windows: Vec<Window>,
    series: Vec<Series>,
    waits: Vec<WaitRow>,
    integrity: Integrity,
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
    source: &RunFileSource,
    read: impl FnOnce(&Connection) -> Result<T, BadRow>,
) -> Result<T, RunFileError> {
    read(&source.connect()?).map_err(|what| damaged(source.path(), what))
}

fn read_record(db: &Connection, measurements: Measurements) -> Result<Record, BadRow> {
    let ends = lasted(db)?;
    let mut plan: HashMap<String, String> = rows(db, "SELECT form, text FROM plan", |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?
    .into_iter()
    .collect();
    let points = rows(db, "SELECT * FROM point ORDER BY id", point)?;
    let phases = phases(db, ends)?;
    let seconds = seconds::seconds(db, &seconds::load_phases(&phases, &points))?;
    let mut windows = measurements.windows;
    windows.extend(merged_windows(&closed_phases(db)?, &phases, &seconds));
    Ok(Record {
        run: info(db)?,
        plan_written: plan.remove("written").unwrap_or_default(),
        plan: RecordedPlan::from_text(&plan.remove("resolved").unwrap_or_default()),
        subjects: rows(db, "SELECT * FROM subject ORDER BY id", |row| {
            Ok(Subject {
                id: SubjectId(row.get("id")?),
                kind: parsed(row, "kind")?,
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
        events: events(db)?,
        checks: rows(db, "SELECT * FROM consistency ORDER BY rowid", |row| {
            Ok(Check {
                point: row.get::<_, Option<u32>>("point")?.map(PointId),
                subject: subject(row)?,
                clause: row.get("clause")?,
                holds: row.get("holds")?,
                detail: message::of_column(row.get("detail")?, CheckDetail::stored),
            })
        })?,
        drive: drive::drive_rows(db)?,
        cuts: drive::power_cuts(db)?,
        searches: database::searches(db)?,
        resets: database::resets(db)?,
        waits: measurements.waits,
        blocks: block::block_points(db)?,
        shares: block::block_shares(db)?,
        steady: block::steady(db)?,
        diagnoses: block::diagnoses(db)?,
        backups: backup::backups(db)?,
        outages: outage::outages(db)?,
        reported: reported::reported(db)?,
        integrity: measurements.integrity,
    })
}

pub(super) fn point(row: &Row<'_>) -> rusqlite::Result<Point> {
    Ok(Point {
        id: PointId(row.get("id")?),
        step: row.get("step")?,
        step_index: row.get("step_index")?,
        ordinal: row.get("ordinal")?,
        system: SubjectId(row.get("system")?),
        medium: row.get::<_, Option<u32>>("medium")?.map(SubjectId),
        workload: row.get("workload")?,
        mode: row.get("mode")?,
        users: row.get("users")?,
        connections: row.get("connections")?,
        offered_per_second: row.get("offered_per_second")?,
        offered_to_per_second: row.get("offered_to_per_second")?,
        repeat: row.get("repeat")?,
        purpose: parsed(row, "purpose")?,
        scene: parsed(row, "scene")?,
        txns: json(row, "txns")?,
        parameters: json(row, "parameters")?,
    })
}

fn events(db: &Connection) -> Result<Vec<Event>, BadRow> {
    let mut events = rows(db, "SELECT * FROM event ORDER BY rowid", event)?;
    events.sort_by_key(|event| event.at);
    Ok(events)
}

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        at: time(row, "at_ns")?,
        subject: row.get::<_, Option<u32>>("subject")?.map(SubjectId),
        severity: parsed(row, "severity")?,
        kind: EventKind::from_columns(row.get("code")?, row.get("args")?),
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

fn windows(db: &Connection) -> Result<Vec<Window>, BadRow> {
    let mut budget = ValueBudget::of_file(db)?;
    rows(
        db,
        "SELECT * FROM window ORDER BY phase, subject, txn",
        |row| {
            let service = row.get_ref("service")?.as_blob_or_null()?;
            let response = row.get_ref("response")?.as_blob()?;
            Ok(Window {
                phase: PhaseId(row.get("phase")?),
                subject: subject(row)?,
                txn: row.get("txn")?,
                response: full_hist("response", response, &mut budget)?,
                service: service
                    .map(|bytes| full_hist("service", bytes, &mut budget))
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
