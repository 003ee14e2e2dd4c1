//! Load that ran before the first point, of which no figures are taken: its length and how its rate changed.

use serde::Serialize;

use super::index::Index;
use super::stats::{self, Batch};
use super::tick::TickRows;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::lane::Counts;
use plimsoll_record::{OfferedLoad, Phase, Point, PointPurpose};

/// Load that brought drive and database into the state that they have in long use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreconditionSummary {
    pub step: String,
    pub system: String,
    pub medium: Option<String>,
    #[serde(flatten)]
    pub load: OfferedLoad,
    /// Time under load, and whether that is as long as planned.
    pub lasted_s: f64,
    pub complete: bool,
    pub completed: u64,
    pub failed: u64,
    /// Transactions per second over the whole time, its first tenth and its last tenth.
    pub completed_per_second: Option<f64>,
    pub first_per_second: Option<f64>,
    pub last_per_second: Option<f64>,
    /// The last tenth against the first.
    pub change_percent: Option<f64>,
}

pub(super) fn of_run(index: &Index) -> Vec<PreconditionSummary> {
    let points = index
        .record
        .points
        .iter()
        .filter(|point| point.purpose == PointPurpose::Precondition && !point.is_block());
    points.map(|point| of(index, point)).collect()
}

fn of(index: &Index, point: &Point) -> PreconditionSummary {
    let phases: Vec<&Phase> = index
        .load_phases(point)
        .into_iter()
        .filter(|phase| phase.kind == PhaseKind::Warm)
        .collect();
    let ticks: Vec<TickRows<'_>> = phases
        .iter()
        .flat_map(|phase| index.ticks.of_phase(phase))
        .collect();
    let mut counts = Counts::default();
    ticks.iter().for_each(|tick| counts.add(&tick.total()));
    let seconds = stats::joined(ticks.iter().map(|tick| Batch {
        n: tick.total().completed(),
        seconds: tick.seconds(),
    }));
    let tenth = seconds.len().div_ceil(10);
    let first = stats::total(&seconds[..tenth]).rate();
    let last = stats::total(&seconds[seconds.len() - tenth..]).rate();
    PreconditionSummary {
        step: point.step.clone(),
        system: index.name(point.system),
        medium: point.medium.map(|medium| index.name(medium)),
        load: point.load(),
        lasted_s: seconds.iter().map(|tick| tick.seconds).sum(),
        complete: !phases.is_empty() && phases.iter().all(|phase| phase.complete),
        completed: counts.completed(),
        failed: counts.failed + counts.dropped,
        completed_per_second: stats::total(&seconds).rate(),
        first_per_second: first,
        last_per_second: last,
        change_percent: first
            .zip(last)
            .filter(|(first, _)| *first > 0.0)
            .map(|(a, b)| (b / a - 1.0) * 100.0),
    }
}
