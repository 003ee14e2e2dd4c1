//! Reads a run file, also one that was not closed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::thread::ScopedJoinHandle;

use crate::hist::CoarseHist;
use crate::{
    Event, Integrity, Phase, PhaseId, Point, Record, RunStatus, Seconds, Series, SubjectId,
    WaitRow, Window,
};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::units::Nanos;
use rusqlite::Connection;

use super::columns::table;
use super::open::{OpenedRun, RunFileSource, damaged, info, lasted, open_run_file};
use super::row::{BadRow, ValueBudget, full_hist, parsed, rows, time};
use super::{RunFileError, block, digest, drive, seconds, series, waits};

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

/// The record of a run that goes on, as it is at one moment.
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
    let points: Vec<Point> = table(db, "point ORDER BY id")?;
    let phases = phases(db, ends)?;
    let seconds = seconds::seconds(db, &seconds::load_phases(&phases, &points))?;
    let mut windows = measurements.windows;
    windows.extend(merged_windows(&closed_phases(db)?, &phases, &seconds));
    Ok(Record {
        run: info(db)?,
        plan_written: plan.remove("written").unwrap_or_default(),
        plan: RecordedPlan::from_text(&plan.remove("resolved").unwrap_or_default()),
        subjects: table(db, "subject ORDER BY id")?,
        facts: table(db, "fact ORDER BY subject, key")?,
        points,
        phases,
        seconds,
        windows,
        series: measurements.series,
        events: events(db)?,
        checks: table(db, "consistency ORDER BY rowid")?,
        drive: drive::drive_rows(db)?,
        cuts: drive::power_cuts(db)?,
        searches: table(db, "search ORDER BY rowid")?,
        resets: table(db, "reset ORDER BY phase")?,
        waits: measurements.waits,
        blocks: table(db, "block_point ORDER BY point")?,
        shares: block::block_shares(db)?,
        steady: table(db, "steady ORDER BY rowid")?,
        diagnoses: table(db, "diagnosis ORDER BY rowid")?,
        backups: table(db, "backup ORDER BY start_ns, rowid")?,
        outages: table(db, "outage ORDER BY rowid")?,
        reported: table(db, "reported ORDER BY rowid")?,
        integrity: measurements.integrity,
    })
}

fn events(db: &Connection) -> Result<Vec<Event>, BadRow> {
    let mut events: Vec<Event> = table(db, "event ORDER BY rowid")?;
    events.sort_by_key(|event| event.at);
    Ok(events)
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
            id: row.get("id")?,
            point: row.get("point")?,
            step: row.get("step")?,
            kind: parsed(row, "kind")?,
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
                phase: row.get("phase")?,
                subject: row.get("subject")?,
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
    let closed = rows(db, "SELECT DISTINCT phase FROM window", |row| row.get(0))?;
    Ok(closed.into_iter().collect())
}

#[derive(Default)]
struct MergedSeconds {
    response: CoarseHist,
    service: CoarseHist,
    differs: bool,
}

/// Windows of phases that were not closed, merged from their seconds.
fn merged_windows(closed: &HashSet<PhaseId>, phases: &[Phase], seconds: &Seconds) -> Vec<Window> {
    // Mostly there is nothing to do, which is known without reading a million seconds.
    let is_open = |phase: &Phase| phase.point.is_some() && !closed.contains(&phase.id);
    if !phases
        .iter()
        .any(|phase| phase.kind.is_under_load() && is_open(phase))
    {
        return Vec::new();
    }
    let mut merged: BTreeMap<(PhaseId, SubjectId, u32), MergedSeconds> = BTreeMap::new();
    let ticks = seconds.ticks().iter();
    let open = ticks.filter(|tick| !closed.contains(&tick.phase));
    for second in open.flat_map(|tick| seconds.rows_of(tick)) {
        let window = merged
            .entry((second.phase, second.subject, second.txn))
            .or_default();
        let response = second.response();
        let service = second.service();
        window.response.merge(&response);
        window.service.merge(service.as_ref().unwrap_or(&response));
        window.differs |= service.is_some();
    }
    // A phase whose seconds hold no times has no distribution, coarse or not.
    merged.retain(|_, window| window.response.count() > 0);
    merged
        .into_iter()
        .map(|((phase, subject, txn), window)| Window {
            phase,
            subject,
            txn,
            response: window.response.to_hist(),
            service: window.differs.then(|| window.service.to_hist()),
            coarse: true,
        })
        .collect()
}
