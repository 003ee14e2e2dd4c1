//! Seconds under load out of a run file's ticks: what takes longest to read.

use std::collections::HashMap;

use crate::lane::{Counts, TickPlace};
use crate::{PackedTick, PackedTimes, Phase, PhaseId, Point, PointId, Second, Seconds, SubjectId};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row};

use super::outcomes::{decode_counts, take_earlier, take_times};
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
pub(super) fn seconds(db: &Connection, phases: &LoadPhases) -> Result<Seconds, BadRow> {
    let mut seconds = Seconds::default();
    let mut lanes = LaneTicks::default();
    let mut outcomes = Vec::new();
    let mut earlier = EarlierRows::default();
    let sql =
        "SELECT phase, subject, start_ns, end_ns, in_flight, counts, times FROM tick ORDER BY id";
    let mut budget = ValueBudget::of_file(db)?;
    rows(db, sql, |row| {
        let tick = tick(row)?;
        let phase = phases.get(&tick.phase);
        let types = phase.map_or(0, |phase| phase.types);
        budget.take("txns", types)?;
        let lane = phase.filter(|_| types > 0).map(|phase| {
            let lane = LaneKey {
                point: phase.point,
                system: tick.subject,
            };
            lanes.add(lane, phase.kind, seconds.ticks().len());
            seconds.begin(&tick);
            lane
        });
        let mut times = row.get_ref(6)?.as_blob_or_null()?.unwrap_or_default();
        let of_types = outcomes_of_types(row, types, &mut times, &mut outcomes)?;
        for (txn, outcome) in of_types.iter().enumerate() {
            seconds.push_row(txn as u32, outcome.counts, outcome.times);
        }
        while let Some(late) =
            take_earlier(&mut times).map_err(|what| meaningless("times", what))?
        {
            let tick = lane.and_then(|lane| lanes.tick(lane, late.place));
            let tick = tick.filter(|_| late.txn < types);
            let tick = tick.ok_or_else(|| meaningless("times", "of a second without a row"))?;
            earlier.add(tick, late.txn as u32, late.times);
        }
        Ok(())
    })
    .map(|_: Vec<()>| earlier.add_to(seconds))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LaneKey {
    point: PointId,
    system: SubjectId,
}

/// Places of a lane's ticks.
#[derive(Default)]
struct LaneTicks(HashMap<(LaneKey, PhaseKind), Vec<usize>>);

impl LaneTicks {
    fn add(&mut self, lane: LaneKey, phase: PhaseKind, tick: usize) {
        self.0.entry((lane, phase)).or_default().push(tick);
    }

    fn tick(&self, lane: LaneKey, place: TickPlace) -> Option<usize> {
        let ticks = self.0.get(&(lane, place.phase))?;
        ticks.get(place.ordinal as usize).copied()
    }
}

/// Times of what was due in earlier ticks, packed.
#[derive(Default)]
struct EarlierRows {
    rows: Vec<EarlierRow>,
    times: Vec<u8>,
}

struct EarlierRow {
    /// The place of its tick.
    tick: usize,
    txn: u32,
    /// Where its times begin.
    times: usize,
}

impl EarlierRows {
    fn add(&mut self, tick: usize, txn: u32, times: PackedTimes<'_>) {
        self.rows.push(EarlierRow {
            tick,
            txn,
            times: self.times.len(),
        });
        times.put(&mut self.times);
    }

    /// The seconds with these times.
    fn add_to(mut self, seconds: Seconds) -> Seconds {
        if self.rows.is_empty() {
            return seconds;
        }
        self.rows.sort_by_key(|row| (row.tick, row.txn));
        let mut left = self.rows.iter().peekable();
        let mut whole = Seconds::default();
        for (place, tick) in seconds.ticks().iter().enumerate() {
            whole.begin(tick);
            for row in seconds.rows_of(tick) {
                let mut sum = None;
                while let Some(more) =
                    left.next_if(|more| (more.tick, more.txn) == (place, row.txn))
                {
                    let times = PackedTimes::take(&mut &self.times[more.times..]);
                    let second = sum.get_or_insert_with(|| row.to_second());
                    add_times(second, times.unwrap_or_default());
                }
                match sum {
                    Some(second) => whole.push(second),
                    None => whole.push_row(row.txn, row.counts, row.times),
                }
            }
        }
        whole
    }
}

/// Adds times of transactions that ended later.
fn add_times(second: &mut Second, times: PackedTimes<'_>) {
    let response = times.response();
    let service = times.service();
    if service.is_some() || second.service.is_some() {
        second
            .service
            .get_or_insert_with(|| second.response.clone())
            .merge(service.as_ref().unwrap_or(&response));
    }
    second.response.merge(&response);
}

/// What ended in a tick of one type.
#[derive(Clone, Copy, Default)]
struct TypeOutcome<'b> {
    counts: Counts,
    times: PackedTimes<'b>,
}

/// The outcomes of a tick by type; what is left of `times` is of ticks before.
fn outcomes_of_types<'b>(
    row: &Row<'_>,
    types: usize,
    times: &mut &'b [u8],
    outcomes: &mut Vec<(usize, Counts)>,
) -> rusqlite::Result<Vec<TypeOutcome<'b>>> {
    let text = row.get_ref(5)?.as_str()?;
    decode_counts(text, outcomes).ok_or_else(|| meaningless("counts", text))?;
    let mut of_types = vec![TypeOutcome::default(); types];
    for (txn, counts) in outcomes.drain(..) {
        let outcome = of_types
            .get_mut(txn)
            .ok_or_else(|| meaningless("txn", txn))?;
        let times = take_times(times).map_err(|what| meaningless("times", what))?;
        *outcome = TypeOutcome { counts, times };
    }
    Ok(of_types)
}

/// Columns as [`seconds`] selects them.
fn tick(row: &Row<'_>) -> rusqlite::Result<PackedTick> {
    Ok(PackedTick {
        phase: row.get(0)?,
        subject: row.get(1)?,
        start: Nanos(row.get(2)?),
        end: Nanos(row.get(3)?),
        in_flight: row.get(4)?,
        rows: 0..0,
    })
}
