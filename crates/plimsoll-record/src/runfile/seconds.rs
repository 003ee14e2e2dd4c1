//! Seconds under load out of a run file's ticks: what takes longest to read.

mod empty;

use std::collections::HashMap;

use crate::lane::{Counts, TickPlace};
use crate::{PointId, Second, SubjectId};
use rusqlite::{Connection, Row};

pub(super) use empty::load_phases;
use empty::{LoadPhases, add_empty};
use plimsoll_plan::schedule::PhaseKind;

use super::outcomes::{EarlierTimes, decode_counts, take_earlier, take_times};
use super::row::{BadRow, ValueBudget, meaningless, rows};

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
    own: &mut [Second],
) -> rusqlite::Result<()> {
    let text = row.get_ref(5)?.as_str()?;
    decode_counts(text, outcomes).ok_or_else(|| meaningless("counts", text))?;
    for (txn, counts) in outcomes.drain(..) {
        let second = own.get_mut(txn).ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts;
        (second.response, second.service) =
            take_times(times).map_err(|what| meaningless("times", what))?;
    }
    Ok(())
}
