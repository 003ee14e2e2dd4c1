//! Seconds under load out of a run file's ticks: what takes longest to read.

mod older;

use std::collections::HashMap;

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::{Phase, PhaseId, Point, PointId, Second, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row};

use super::outcomes::{decode_counts, take_times};
use super::reader::{BadRow, meaningless, rows};

/// The schema in which a tick has its outcomes with it.
const SINCE: i32 = 6;

/// Of each phase under load, how many transaction types its point has.
pub(super) type Types = HashMap<PhaseId, usize>;

pub(super) fn types(phases: &[Phase], points: &[Point]) -> Types {
    let by_point: HashMap<PointId, usize> = points
        .iter()
        .map(|point| (point.id, point.txns.len()))
        .collect();
    phases
        .iter()
        .filter_map(|phase| Some((phase.id, *by_point.get(&phase.point?)?)))
        .collect()
}

/// A row for every tick and type: a type without outcomes has zeros, not a gap.
pub(super) fn seconds(db: &Connection, types: &Types, schema: i32) -> Result<Vec<Second>, BadRow> {
    if schema < SINCE {
        return older::seconds(db, types, schema);
    }
    let mut seconds: Vec<Second> = Vec::new();
    let mut outcomes = Vec::new();
    let sql =
        "SELECT phase, subject, start_ns, end_ns, in_flight, counts, times FROM tick ORDER BY id";
    rows(db, sql, |row| {
        let first = seconds.len();
        add_empty(row, types, &mut seconds)?;
        put_outcomes(row, &mut outcomes, &mut seconds[first..])
    })
    .map(|_: Vec<()>| seconds)
}

/// A second without outcomes for each type of the tick's point.
fn add_empty(row: &Row<'_>, types: &Types, seconds: &mut Vec<Second>) -> rusqlite::Result<()> {
    let empty = empty_second(row)?;
    let types = types.get(&empty.phase).copied().unwrap_or_default();
    seconds.extend((0..types).map(|txn| Second {
        txn: txn as u32,
        ..empty.clone()
    }));
    Ok(())
}

/// The outcomes of a tick, into its rows.
fn put_outcomes(
    row: &Row<'_>,
    outcomes: &mut Vec<(usize, Counts)>,
    own: &mut [Second],
) -> rusqlite::Result<()> {
    let text = row.get_ref(5)?.as_str()?;
    decode_counts(text, outcomes).ok_or_else(|| meaningless("counts", text))?;
    let mut times = row.get_ref(6)?.as_blob_or_null()?.unwrap_or_default();
    for (txn, counts) in outcomes.drain(..) {
        let second = own.get_mut(txn).ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts;
        (second.response, second.service) =
            take_times(&mut times).map_err(|what| meaningless("times", what))?;
    }
    if times.is_empty() {
        Ok(())
    } else {
        Err(meaningless("times", "more than the types of its counts"))
    }
}

/// Columns as [`seconds`] selects them.
fn empty_second(row: &Row<'_>) -> rusqlite::Result<Second> {
    Ok(Second {
        phase: PhaseId(row.get(0)?),
        subject: SubjectId(row.get(1)?),
        txn: 0,
        start: Nanos(row.get(2)?),
        end: Nanos(row.get(3)?),
        counts: Counts::default(),
        in_flight: row.get(4)?,
        response: CoarseHist::default(),
        service: None,
    })
}
