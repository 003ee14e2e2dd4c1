//! Seconds under load out of a run file's ticks: what takes longest to read.

mod older;

use std::collections::{HashMap, HashSet};

use plimsoll_model::hist::CoarseHist;
use plimsoll_model::lane::Counts;
use plimsoll_model::plan::resolved::TPCC_TXNS;
use plimsoll_model::record::{Phase, PhaseId, Point, Second, SubjectId};
use plimsoll_model::schedule::PhaseKind;
use plimsoll_model::units::Nanos;
use rusqlite::{Connection, Row};

use super::outcomes;
use super::reader::{Broken, Parts, meaningless, rows};

/// The schema in which a tick has its outcomes with it.
const SINCE: i32 = 6;

/// Of each phase under load, the types whose seconds' histograms are read; as many as its point has.
pub(super) type Wanted = HashMap<PhaseId, Vec<bool>>;

/// Without its own windows a phase's percentiles come from its seconds.
pub(super) fn wanted(db: &Connection, phases: &[Phase], points: &[Point], parts: Parts) -> Result<Wanted, Broken> {
    let closed = rows(db, "SELECT DISTINCT phase FROM window", |row| row.get(0).map(PhaseId))?;
    let closed: HashSet<PhaseId> = closed.into_iter().collect();
    let of = |phase: &Phase| {
        let point = points.iter().find(|point| Some(point.id) == phase.point)?;
        let tpcc = point.txns == TPCC_TXNS;
        let counts = |txn: usize| if tpcc { txn == 0 } else { point.is_counted(txn) };
        let is_wanted = |txn: usize| match parts {
            Parts::All => true,
            _ if !closed.contains(&phase.id) => true,
            Parts::Audit => false,
            Parts::Comparison => phase.kind == PhaseKind::Measure && counts(txn),
        };
        Some((phase.id, (0..point.txns.len()).map(is_wanted).collect()))
    };
    Ok(phases.iter().filter_map(of).collect())
}

/// A row for every tick and type: a type without outcomes has zeros, not a gap.
pub(super) fn seconds(db: &Connection, wanted: &Wanted, schema: i32) -> Result<Vec<Second>, Broken> {
    if schema < SINCE {
        return older::seconds(db, wanted, schema);
    }
    let mut seconds: Vec<Second> = Vec::new();
    // What nobody wants is not even looked up.
    let times = if wanted.values().flatten().any(|wanted| *wanted) { "times" } else { "NULL" };
    let sql = format!("SELECT phase, subject, start_ns, end_ns, in_flight, counts, {times} FROM tick ORDER BY id");
    rows(db, &sql, |row| {
        let empty = empty_second(row)?;
        let wanted = wanted.get(&empty.phase).map_or(&[][..], Vec::as_slice);
        let first = seconds.len();
        seconds.extend((0..wanted.len()).map(|txn| Second { txn: txn as u32, ..empty.clone() }));
        put_outcomes(row, wanted, &mut seconds[first..])
    })
    .map(|_: Vec<()>| seconds)
}

/// The outcomes of a tick, into its rows.
fn put_outcomes(row: &Row<'_>, wanted: &[bool], own: &mut [Second]) -> rusqlite::Result<()> {
    let counts = row.get_ref(5)?.as_str()?;
    let mut times = if wanted.contains(&true) { row.get_ref(6)?.as_blob_or_null()? } else { None };
    for (txn, counts) in outcomes::decode_counts(counts).map_err(|error| meaningless("counts", error))? {
        let second = own.get_mut(txn).ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts;
        if let Some(times) = &mut times {
            let read = outcomes::take_times(times, wanted[txn]).map_err(|what| meaningless("times", what))?;
            (second.response, second.service) = read.unwrap_or_default();
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
