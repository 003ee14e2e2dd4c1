//! Rows that a run that goes on has added to its file, read by another process while plimsoll writes it.
//!
//! In WAL mode a reader never makes the writer wait. The file is opened for a moment only: a reader that kept it open
//! would keep the end of the run from folding the WAL in.

use std::path::Path;

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::metric::Metric;
use crate::{Event, Point, PointId, RunStatus, Severity, SubjectId, SubjectKind};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row, params};

use super::RunFileError;
use super::columns::{record, table};
use super::open::{damaged, open_run_file};
use super::outcomes::{decode_counts, take_earlier, take_times};
use super::row::{BadRow, meaningless, parsed, rows};
use super::series::{Layouts, decode, layout, layouts};

/// Most seconds that are read at once: ten minutes of twelve systems.
const MOST_SECONDS: u64 = 7_200;
/// Most rows of samples: a few seconds of a large machine. Only the latest of each subject counts.
const MOST_SAMPLES: u64 = 200;
const MOST_EVENTS: u64 = 50;

/// How far a file has been read: the last row of each table that grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCursor {
    second: u64,
    sample: u64,
    event: u64,
}

/// Rows that were added, and the state of the run.
#[derive(Debug)]
pub struct LiveRows {
    pub run_id: String,
    pub title: String,
    pub status: RunStatus,
    /// Those that have been under load.
    pub systems: Vec<LiveSystem>,
    /// Open ones.
    pub phases: Vec<LivePhase>,
    /// Those of open phases.
    pub points: Vec<Point>,
    /// How long systems were warmed up and measured so far; those side by side count once.
    pub under_load: Nanos,
    pub seconds: Vec<LiveSecond>,
    pub samples: Vec<LiveSample>,
    /// Warnings and errors.
    pub events: Vec<Event>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSystem {
    pub id: SubjectId,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePhase {
    pub point: Option<PointId>,
    pub step: String,
    pub kind: PhaseKind,
    pub start: Nanos,
}

/// One second of one system, all types of transactions together.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSecond {
    /// Rises with each row, over all systems.
    pub ordinal: u64,
    pub system: SubjectId,
    pub point: Option<PointId>,
    pub phase: PhaseKind,
    pub start: Nanos,
    pub end: Nanos,
    pub counts: Counts,
    pub response: CoarseHist,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LiveSample {
    pub subject: SubjectKind,
    pub name: String,
    pub metric: Metric,
    pub value: f32,
}

/// The plan of a run, which does not change while it lasts.
pub fn read_plan(path: &Path) -> Result<RecordedPlan, RunFileError> {
    let db = open_live(path)?;
    let sql = "SELECT text FROM plan WHERE form = 'resolved'";
    let text: String = db
        .query_row(sql, [], |row| row.get(0))
        .map_err(|error| damaged(path, error.to_string()))?;
    Ok(RecordedPlan::from_text(&text))
}

/// Rows that were added since `cursor`, which moves on; of a long run that nothing was read of, the latest part.
pub fn read_live(path: &Path, cursor: &mut LiveCursor) -> Result<LiveRows, RunFileError> {
    let db = open_live(path)?;
    live_rows(&db, cursor).map_err(|what| damaged(path, what))
}

pub(super) fn open_live(path: &Path) -> Result<Connection, RunFileError> {
    open_run_file(path).map(|run| run.db)
}

fn live_rows(db: &Connection, cursor: &mut LiveCursor) -> Result<LiveRows, BadRow> {
    let seconds = seconds(db, cursor.second)?;
    let new_samples = new_samples(db, cursor.sample)?;
    let new_events = new_events(db, cursor.event)?;
    let mut read = LiveRows {
        run_id: String::new(),
        title: String::new(),
        status: RunStatus::Unfinished,
        systems: systems(db)?,
        phases: open_phases(db)?,
        points: open_points(db)?,
        under_load: under_load(db)?,
        seconds,
        samples: latest(new_samples.rows),
        events: new_events.rows,
    };
    db.query_row("SELECT id, title, status FROM run", [], |row| {
        read.run_id = row.get(0)?;
        read.title = row.get(1)?;
        read.status = parsed(row, "status")?;
        Ok(())
    })
    .map_err(|error| error.to_string())?;
    let last = read.seconds.last().map(|second| second.ordinal);
    cursor.second = last.unwrap_or(cursor.second);
    cursor.sample = new_samples.last.unwrap_or(cursor.sample);
    cursor.event = new_events.last.unwrap_or(cursor.event);
    Ok(read)
}

fn systems(db: &Connection) -> Result<Vec<LiveSystem>, BadRow> {
    let sql = "SELECT id, name FROM subject WHERE id IN (SELECT system FROM point) ORDER BY id";
    rows(db, sql, |row| {
        Ok(LiveSystem {
            id: row.get(0)?,
            name: row.get(1)?,
        })
    })
}

pub(super) fn open_phases(db: &Connection) -> Result<Vec<LivePhase>, BadRow> {
    let sql = "SELECT point, step, kind, start_ns FROM phase WHERE end_ns IS NULL ORDER BY id";
    rows(db, sql, |row| {
        Ok(LivePhase {
            point: row.get(0)?,
            step: row.get(1)?,
            kind: parsed(row, "kind")?,
            start: Nanos(row.get(3)?),
        })
    })
}

fn open_points(db: &Connection) -> Result<Vec<Point>, BadRow> {
    table(
        db,
        "point WHERE id IN (SELECT point FROM phase WHERE end_ns IS NULL) ORDER BY id",
    )
}

/// The time that warm-ups and measurements cover; how long the last transactions take is in no plan. Of an open one, up to its last second.
pub(super) fn under_load(db: &Connection) -> Result<Nanos, BadRow> {
    let sql = "SELECT start_ns, coalesce(end_ns, (SELECT end_ns FROM tick ORDER BY id DESC LIMIT 1), start_ns)
               FROM phase WHERE kind IN ('warm', 'measure') ORDER BY start_ns";
    let mut covered = Nanos::ZERO;
    let mut until = Nanos::ZERO;
    rows(db, sql, |row| {
        let start = until.max(Nanos(row.get(0)?));
        let end = until.max(Nanos(row.get(1)?));
        covered += end.saturating_sub(start);
        until = end;
        Ok(())
    })
    .map(|_: Vec<()>| covered)
}

fn seconds(db: &Connection, after: u64) -> Result<Vec<LiveSecond>, BadRow> {
    let sql = "SELECT tick.id, tick.subject, phase.point, phase.kind, tick.start_ns, tick.end_ns, counts, times
               FROM tick JOIN phase ON phase.id = tick.phase
               WHERE tick.id > max(?1, coalesce((SELECT max(id) FROM tick), 0) - ?2) ORDER BY tick.id";
    let mut statement = db.prepare_cached(sql).map_err(|error| error.to_string())?;
    let found = statement
        .query_map(params![after, MOST_SECONDS], live_second)
        .map_err(|error| error.to_string())?;
    found
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

fn live_second(row: &Row<'_>) -> rusqlite::Result<LiveSecond> {
    let text = row.get_ref(6)?.as_str()?;
    let mut of_types = Vec::new();
    decode_counts(text, &mut of_types).ok_or_else(|| meaningless("counts", text))?;
    let mut times = row.get_ref(7)?.as_blob_or_null()?.unwrap_or_default();
    let mut counts = Counts::default();
    let mut response = CoarseHist::default();
    for (_, added) in &of_types {
        counts.add(added);
        let of_type = take_times(&mut times).map_err(|what| meaningless("times", what))?;
        response.merge(&of_type.response());
    }
    // What ended in this second, whenever it was due.
    while let Some(earlier) = take_earlier(&mut times).map_err(|what| meaningless("times", what))? {
        response.merge(&earlier.times.response());
    }
    Ok(LiveSecond {
        ordinal: row.get(0)?,
        system: row.get(1)?,
        point: row.get(2)?,
        phase: parsed(row, "kind")?,
        start: Nanos(row.get(4)?),
        end: Nanos(row.get(5)?),
        counts,
        response,
    })
}

/// New rows of a table, and the number of the last.
struct NewRows<T> {
    rows: Vec<T>,
    last: Option<u64>,
}

/// How busy the machine and its devices were.
fn new_samples(db: &Connection, after: u64) -> Result<NewRows<LiveSample>, BadRow> {
    let layouts = layouts(db)?;
    let sql = "SELECT sample.rowid, kind, name, layout, data FROM sample JOIN subject ON subject.id = sample.subject
               WHERE sample.rowid > max(?1, coalesce((SELECT max(rowid) FROM sample), 0) - ?2)
               AND kind IN ('host', 'device') ORDER BY sample.rowid";
    let mut found = NewRows {
        rows: Vec::new(),
        last: None,
    };
    let mut values = Vec::new();
    let mut statement = db.prepare_cached(sql).map_err(|error| error.to_string())?;
    let mut new = statement
        .query(params![after, MOST_SAMPLES])
        .map_err(|error| error.to_string())?;
    while let Some(row) = new.next().map_err(|error| error.to_string())? {
        add_samples(row, &layouts, &mut values, &mut found).map_err(|error| error.to_string())?;
    }
    Ok(found)
}

fn add_samples(
    row: &Row<'_>,
    layouts: &Layouts,
    values: &mut Vec<f32>,
    found: &mut NewRows<LiveSample>,
) -> rusqlite::Result<()> {
    found.last = Some(row.get(0)?);
    let metrics = layout(layouts, row.get(3)?)?;
    decode(row.get_ref(4)?.as_blob()?, metrics, values)?;
    for (metric, value) in metrics.iter().zip(values.iter()) {
        let Some(metric @ (Metric::CpuIdle | Metric::DeviceBusy)) = *metric else {
            continue;
        };
        found.rows.push(LiveSample {
            subject: parsed(row, "kind")?,
            name: row.get(2)?,
            metric,
            value: *value,
        });
    }
    Ok(())
}

/// The last sample of each subject and metric.
fn latest(samples: Vec<LiveSample>) -> Vec<LiveSample> {
    let mut latest: Vec<LiveSample> = Vec::new();
    for sample in samples {
        latest.retain(|other| (&other.name, other.metric) != (&sample.name, sample.metric));
        latest.push(sample);
    }
    latest
}

fn new_events(db: &Connection, after: u64) -> Result<NewRows<Event>, BadRow> {
    let sql = "SELECT rowid, * FROM event WHERE rowid > max(?1, coalesce((SELECT max(rowid) FROM event), 0) - ?2)
               ORDER BY rowid";
    let mut found = NewRows {
        rows: Vec::new(),
        last: None,
    };
    let mut statement = db.prepare_cached(sql).map_err(|error| error.to_string())?;
    let mut new = statement
        .query(params![after, MOST_EVENTS])
        .map_err(|error| error.to_string())?;
    while let Some(row) = new.next().map_err(|error| error.to_string())? {
        found.last = row.get(0).map_err(|error| error.to_string())?;
        let event: Event = record(row).map_err(|error| error.to_string())?;
        if event.severity != Severity::Note {
            found.rows.push(event);
        }
    }
    Ok(found)
}
