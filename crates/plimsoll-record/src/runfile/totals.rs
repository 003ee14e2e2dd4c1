//! Everything that a run that goes on has added to its file, type by type: for counters, which miss no second.

use std::collections::BTreeMap;
use std::path::Path;

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::{DriveRow, Point, PointId, RunStatus, Subject, SubjectId, SubjectKind};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row, params};

use super::RunFileError;
use super::columns::table;
use super::drive::drive_rows_from;
use super::live::{LivePhase, LiveSample, open_live, open_phases, under_load};
use super::open::damaged;
use super::outcomes::{decode_counts, take_earlier, take_times};
use super::row::{BadRow, meaningless, parsed, rows};
use super::series::{Layouts, decode, layout, layouts};

/// Rows that hold the latest sample of each subject.
const LATEST_SAMPLES: u64 = 1_000;

/// How far a file has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TotalsCursor {
    second: u64,
    /// The earliest begin of a second of each emulated drive that was not read.
    drives: BTreeMap<SubjectId, Nanos>,
}

/// The state of a run, and the rows that emulated drives have added.
#[derive(Debug)]
pub struct TotalsRows {
    pub run_id: String,
    pub title: String,
    pub status: RunStatus,
    pub subjects: Vec<Subject>,
    pub points: Vec<Point>,
    /// Open ones.
    pub phases: Vec<LivePhase>,
    /// How long systems were warmed up and measured so far.
    pub under_load: Nanos,
    /// The latest of each subject.
    pub samples: Vec<LiveSample>,
    pub drives: Vec<DriveRow>,
}

/// Transactions of one type of a system in a second.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedSecond {
    pub system: SubjectId,
    pub point: Option<PointId>,
    /// Index into [`Point::txns`].
    pub txn: usize,
    pub counts: Counts,
    pub response: CoarseHist,
}

/// Reads all that was added since `cursor`, which moves on; `add` gets each second, of which a long run has many.
pub fn read_added(
    path: &Path,
    cursor: &mut TotalsCursor,
    mut add: impl FnMut(AddedSecond),
) -> Result<TotalsRows, RunFileError> {
    let db = open_live(path)?;
    added(&db, cursor, &mut add).map_err(|what| damaged(path, what))
}

fn added(
    db: &Connection,
    cursor: &mut TotalsCursor,
    add: &mut dyn FnMut(AddedSecond),
) -> Result<TotalsRows, BadRow> {
    let mut read = TotalsRows {
        run_id: String::new(),
        title: String::new(),
        status: RunStatus::Unfinished,
        subjects: table(db, "subject ORDER BY id")?,
        points: table(db, "point ORDER BY id")?,
        phases: open_phases(db)?,
        under_load: under_load(db)?,
        samples: latest_samples(db)?,
        drives: Vec::new(),
    };
    db.query_row("SELECT id, title, status FROM run", [], |row| {
        read.run_id = row.get(0)?;
        read.title = row.get(1)?;
        read.status = parsed(row, "status")?;
        Ok(())
    })
    .map_err(|error| error.to_string())?;
    cursor.second = seconds(db, cursor.second, add)?;
    let media = read.subjects.iter();
    for medium in media.filter(|subject| subject.kind == SubjectKind::Medium) {
        let from = cursor.drives.entry(medium.id).or_default();
        let new = drive_rows_from(db, medium.id, *from)?;
        *from = new.last().map_or(*from, |row| row.start + Nanos(1));
        read.drives.extend(new);
    }
    Ok(read)
}

/// The number of the last row.
fn seconds(db: &Connection, after: u64, add: &mut dyn FnMut(AddedSecond)) -> Result<u64, BadRow> {
    let sql = "SELECT tick.id, tick.subject, phase.point, counts, times
               FROM tick JOIN phase ON phase.id = tick.phase WHERE tick.id > ?1 ORDER BY tick.id";
    let mut statement = db.prepare_cached(sql).map_err(|error| error.to_string())?;
    let mut new = statement
        .query(params![after])
        .map_err(|error| error.to_string())?;
    let mut last = after;
    while let Some(row) = new.next().map_err(|error| error.to_string())? {
        last = add_second(row, add).map_err(|error| error.to_string())?;
    }
    Ok(last)
}

fn add_second(row: &Row<'_>, add: &mut dyn FnMut(AddedSecond)) -> rusqlite::Result<u64> {
    let text = row.get_ref(3)?.as_str()?;
    let mut of_types = Vec::new();
    decode_counts(text, &mut of_types).ok_or_else(|| meaningless("counts", text))?;
    let mut times = row.get_ref(4)?.as_blob_or_null()?.unwrap_or_default();
    for (txn, counts) in of_types {
        let of_type = take_times(&mut times).map_err(|what| meaningless("times", what))?;
        add(AddedSecond {
            system: row.get(1)?,
            point: row.get(2)?,
            txn,
            counts,
            response: of_type.response(),
        });
    }
    while let Some(earlier) = take_earlier(&mut times).map_err(|what| meaningless("times", what))? {
        add(AddedSecond {
            system: row.get(1)?,
            point: row.get(2)?,
            txn: earlier.txn,
            counts: Counts::default(),
            response: earlier.times.response(),
        });
    }
    row.get(0)
}

fn latest_samples(db: &Connection) -> Result<Vec<LiveSample>, BadRow> {
    let layouts = layouts(db)?;
    let sql = format!(
        "SELECT kind, name, layout, data FROM sample JOIN subject ON subject.id = sample.subject WHERE sample.rowid IN
         (SELECT max(rowid) FROM sample WHERE rowid > (SELECT max(rowid) FROM sample) - {LATEST_SAMPLES} GROUP BY subject)
         ORDER BY subject.id"
    );
    let of_subjects = rows(db, &sql, |row| subject_samples(row, &layouts))?;
    Ok(of_subjects.into_iter().flatten().collect())
}

/// All metrics of one row.
fn subject_samples(row: &Row<'_>, layouts: &Layouts) -> rusqlite::Result<Vec<LiveSample>> {
    let metrics = layout(layouts, row.get(2)?)?;
    let mut values = Vec::new();
    decode(row.get_ref(3)?.as_blob()?, metrics, &mut values)?;
    let mut all = Vec::new();
    for (metric, value) in metrics.iter().zip(values) {
        if let Some(metric) = *metric {
            all.push(LiveSample {
                subject: parsed(row, "kind")?,
                name: row.get(1)?,
                metric,
                value,
            });
        }
    }
    Ok(all)
}
