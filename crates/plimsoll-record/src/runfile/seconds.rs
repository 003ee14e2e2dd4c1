//! Seconds under load out of a run file's ticks: what takes longest to read.

mod older;

use std::collections::{HashMap, HashSet};

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::{Phase, PhaseId, Point, Second, SubjectId};
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row};

use super::outcomes::{decode_counts, take_times};
use super::reader::{Broken, Parts, meaningless, rows};

/// The schema in which a tick has its outcomes with it.
const SINCE: i32 = 6;

/// Of each phase under load, what is read of the histograms of each type of its point.
pub(super) type Wanted = HashMap<PhaseId, Vec<Times>>;

/// What is read of a second's histograms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    Nothing,
    Response,
    Both,
}

/// Phases that have windows: those that were not closed have none.
pub(super) fn closed(db: &Connection) -> Result<HashSet<PhaseId>, Broken> {
    Ok(rows(db, "SELECT DISTINCT phase FROM window", |row| {
        row.get(0).map(PhaseId)
    })?
    .into_iter()
    .collect())
}

/// Without its own windows a phase's percentiles come from its seconds.
pub(super) fn wanted(
    db: &Connection,
    phases: &[Phase],
    points: &[Point],
    parts: Parts,
) -> Result<Wanted, Broken> {
    let closed = closed(db)?;
    let of = |phase: &Phase| {
        let point = points.iter().find(|point| Some(point.id) == phase.point)?;
        let tpcc = point.txns == TPCC_TXNS;
        let counts = |txn: usize| {
            if tpcc {
                txn == 0
            } else {
                point.is_counted(txn)
            }
        };
        let wanted = |txn: usize| match parts {
            Parts::All => Times::Both,
            _ if !closed.contains(&phase.id) => Times::Both,
            Parts::Comparison if phase.kind == PhaseKind::Measure && counts(txn) => Times::Response,
            // Whether an open loop was steady shows in its response times.
            Parts::Audit
                if phase.kind == PhaseKind::Measure
                    && point.offered_per_second.is_some()
                    && counts(txn) =>
            {
                Times::Response
            }
            Parts::Comparison | Parts::Audit => Times::Nothing,
        };
        Some((phase.id, (0..point.txns.len()).map(wanted).collect()))
    };
    Ok(phases.iter().filter_map(of).collect())
}

/// A row for every tick and type: a type without outcomes has zeros, not a gap.
pub(super) fn seconds(
    db: &Connection,
    wanted: &Wanted,
    schema: i32,
) -> Result<Vec<Second>, Broken> {
    if schema < SINCE {
        return older::seconds(db, wanted, schema);
    }
    let mut seconds: Vec<Second> = Vec::new();
    let mut outcomes = Vec::new();
    // What is not wanted is not looked up.
    let times = if wanted
        .values()
        .flatten()
        .any(|wanted| *wanted != Times::Nothing)
    {
        "times"
    } else {
        "NULL"
    };
    let sql = format!(
        "SELECT phase, subject, start_ns, end_ns, in_flight, counts, {times} FROM tick ORDER BY id"
    );
    rows(db, &sql, |row| {
        let empty = empty_second(row)?;
        let wanted = wanted.get(&empty.phase).map_or(&[][..], Vec::as_slice);
        let first = seconds.len();
        seconds.extend((0..wanted.len()).map(|txn| Second {
            txn: txn as u32,
            ..empty.clone()
        }));
        put_outcomes(row, wanted, &mut outcomes, &mut seconds[first..])
    })
    .map(|_: Vec<()>| seconds)
}

/// The outcomes of a tick, into its rows.
fn put_outcomes(
    row: &Row<'_>,
    wanted: &[Times],
    outcomes: &mut Vec<(usize, Counts)>,
    own: &mut [Second],
) -> rusqlite::Result<()> {
    let text = row.get_ref(5)?.as_str()?;
    decode_counts(text, outcomes).ok_or_else(|| meaningless("counts", text))?;
    let any = wanted.iter().any(|wanted| *wanted != Times::Nothing);
    let mut times = if any {
        row.get_ref(6)?.as_blob_or_null()?
    } else {
        None
    };
    for (txn, counts) in outcomes.drain(..) {
        let second = own.get_mut(txn).ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts;
        if let Some(times) = &mut times {
            let read = take_times(times, wanted[txn]).map_err(|what| meaningless("times", what))?;
            (second.response, second.service) = read;
        }
    }
    match times {
        Some([_, ..]) => Err(meaningless("times", "more than the types of its counts")),
        _ => Ok(()),
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
