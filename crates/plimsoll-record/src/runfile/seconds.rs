//! Seconds under load out of a run file's ticks: what takes longest to read.

use std::collections::HashMap;

use crate::hist::CoarseHist;
use crate::lane::{Counts, TickPlace};
use crate::{Phase, PhaseId, Point, PointId, Second, SubjectId};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row};

use super::outcomes::{EarlierTimes, decode_counts, take_earlier, take_times};
use super::row::{BadRow, ValueBudget, meaningless, rows};

/// A phase under load.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadPhase {
    pub point: PointId,
    pub kind: PhaseKind,
    /// How many transaction types its point has.
    types: usize,
}

pub(super) type LoadPhases = HashMap<PhaseId, LoadPhase>;

pub(super) fn load_phases(phases: &[Phase], points: &[Point]) -> LoadPhases {
    let by_point: HashMap<PointId, usize> = points
        .iter()
        .map(|point| (point.id, point.txns.len()))
        .collect();
    phases
        .iter()
        .filter_map(|phase| {
            let point = phase.point?;
            let load_phase = LoadPhase {
                point,
                kind: phase.kind,
                types: *by_point.get(&point)?,
            };
            Some((phase.id, load_phase))
        })
        .collect()
}

/// A row for every tick and type: a type without outcomes has zeros, not a gap.
pub(super) fn seconds(db: &Connection, phases: &LoadPhases) -> Result<Vec<Second>, BadRow> {
    let mut seconds: Vec<Second> = Vec::new();
    let mut lanes = LaneTicks::default();
    let mut outcomes = Vec::new();
    let sql =
        "SELECT phase, subject, start_ns, end_ns, in_flight, counts, times FROM tick ORDER BY id";
    let mut budget = ValueBudget::of_file(db)?;
    rows(db, sql, |row| {
        let first = seconds.len();
        add_empty(row, phases, &mut seconds, &mut budget)?;
        let lane = seconds.get(first).and_then(|second| {
            let phase = phases.get(&second.phase)?;
            Some((phase.point, second.subject, phase.kind))
        });
        if let Some((point, system, phase)) = lane {
            let key = LaneKey { point, system };
            lanes.add(key, phase, first);
        }
        let mut times = row.get_ref(6)?.as_blob_or_null()?.unwrap_or_default();
        put_outcomes(row, &mut times, &mut outcomes, &mut seconds[first..])?;
        while let Some(earlier) =
            take_earlier(&mut times).map_err(|what| meaningless("times", what))?
        {
            let key = lane.map(|(point, system, _)| LaneKey { point, system });
            put_earlier(
                &earlier,
                key.and_then(|key| lanes.first(key, earlier.place)),
                &mut seconds,
            )?;
        }
        Ok(())
    })
    .map(|_: Vec<()>| seconds)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LaneKey {
    point: PointId,
    system: SubjectId,
}

/// Where the rows of a lane's ticks begin.
#[derive(Default)]
struct LaneTicks(HashMap<(LaneKey, PhaseKind), Vec<usize>>);

impl LaneTicks {
    fn add(&mut self, lane: LaneKey, phase: PhaseKind, first: usize) {
        self.0.entry((lane, phase)).or_default().push(first);
    }

    fn first(&self, lane: LaneKey, place: TickPlace) -> Option<usize> {
        let ticks = self.0.get(&(lane, place.phase))?;
        ticks.get(place.ordinal as usize).copied()
    }
}

/// Times of what was due in an earlier tick, into the rows of that, which begin at `first`.
fn put_earlier(
    earlier: &EarlierTimes,
    first: Option<usize>,
    seconds: &mut [Second],
) -> rusqlite::Result<()> {
    let EarlierTimes {
        place: _,
        txn,
        response,
        service,
    } = earlier;
    let row = first.and_then(|first| seconds.get_mut(first..)?.get_mut(*txn));
    let second = row
        .filter(|second| second.txn as usize == *txn)
        .ok_or_else(|| meaningless("times", "of a second without a row"))?;
    second.add_times(response, service.as_ref());
    Ok(())
}

/// The outcomes of a tick, into its rows; what is left of `times` is of ticks before.
fn put_outcomes(
    row: &Row<'_>,
    times: &mut &[u8],
    outcomes: &mut Vec<(usize, Counts)>,
    seconds: &mut [Second],
) -> rusqlite::Result<()> {
    let text = row.get_ref(5)?.as_str()?;
    decode_counts(text, outcomes).ok_or_else(|| meaningless("counts", text))?;
    for (txn, counts) in outcomes.drain(..) {
        let second = seconds
            .get_mut(txn)
            .ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts;
        (second.response, second.service) =
            take_times(times).map_err(|what| meaningless("times", what))?;
    }
    Ok(())
}

/// A second without outcomes for each type of the tick's point.
fn add_empty(
    row: &Row<'_>,
    phases: &LoadPhases,
    seconds: &mut Vec<Second>,
    budget: &mut ValueBudget,
) -> rusqlite::Result<()> {
    let empty = empty_second(row)?;
    let types = phases.get(&empty.phase).map_or(0, |phase| phase.types);
    budget.take("txns", types)?;
    seconds.extend((0..types).map(|txn| Second {
        txn: txn as u32,
        ..empty.clone()
    }));
    Ok(())
}

/// Columns as [`seconds`] selects them.
fn empty_second(row: &Row<'_>) -> rusqlite::Result<Second> {
    Ok(Second {
        phase: row.get(0)?,
        subject: row.get(1)?,
        txn: 0,
        start: Nanos(row.get(2)?),
        end: Nanos(row.get(3)?),
        counts: Counts::default(),
        in_flight: row.get(4)?,
        response: CoarseHist::default(),
        service: None,
    })
}
