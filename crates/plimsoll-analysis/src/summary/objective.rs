//! Whether one point meets an objective: the same rule for the search that chooses the next load and for the report.

use serde::Serialize;

use super::finding::FAILED_LIMIT;
use super::stats::{Batch, joined};
use super::steady::Steady;
use plimsoll_plan::objective::Objective;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;

/// What was measured in a point's measure phase.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredPoint {
    /// Length of each tick and what ended in it, over all types.
    pub ticks: Vec<(Nanos, Counts)>,
    /// Response times of the window by transaction type.
    pub response: Vec<Hist>,
    /// Whether the window was measured to its planned end.
    pub complete: bool,
}

impl MeasuredPoint {
    /// Adds what another lane of the same point measured, second by second. The window is complete if both are.
    pub fn merge(&mut self, other: &Self) {
        let Self {
            ticks,
            response,
            complete,
        } = other;
        if self.ticks.is_empty() && self.response.is_empty() {
            *self = other.clone();
            return;
        }
        for (sum, (_, counts)) in self.ticks.iter_mut().zip(ticks) {
            sum.1.add(counts);
        }
        self.response
            .iter_mut()
            .zip(response)
            .for_each(|(sum, hist)| sum.merge(hist));
        self.complete &= complete;
    }
}

/// One point against an objective.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ObjectiveResult {
    /// The objective's figure; `None` where no transaction of that type completed.
    pub figure_ms: Option<f64>,
    /// Why the point does not meet the objective; empty if it does.
    pub shortfalls: Vec<Shortfall>,
}

impl ObjectiveResult {
    pub fn is_met(&self) -> bool {
        self.shortfalls.is_empty()
    }
}

/// A reason why a point does not meet an objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "shortfall", rename_all = "snake_case")]
pub enum Shortfall {
    /// There is no figure.
    NothingMeasured,
    /// The window ended early.
    Incomplete,
    /// The figure is beyond the limit.
    Slow,
    /// More than 1 % of what settled had failed.
    Failed { percent: f64 },
    /// Some intents were dropped before they started.
    Dropped { intents: u64 },
    /// More than 1 % of what was offered in the window was not settled in it.
    Behind { percent: f64 },
    /// The rate was not steady over the window.
    Unsteady {
        range_percent: f64,
        slope_percent: f64,
    },
}

impl Shortfall {
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingMeasured => "nothing_measured",
            Self::Incomplete => "incomplete",
            Self::Slow => "slow",
            Self::Failed { .. } => "failed",
            Self::Dropped { .. } => "dropped",
            Self::Behind { .. } => "behind",
            Self::Unsteady { .. } => "unsteady",
        }
    }
}

/// Evaluates one point against an objective. `txns` are the names of its transaction types; `open`: a rate was offered,
/// which the system has to keep up with as well.
pub fn evaluate(
    objective: &Objective,
    txns: &[String],
    open: bool,
    measured: &MeasuredPoint,
) -> ObjectiveResult {
    let MeasuredPoint {
        ticks,
        response,
        complete,
    } = measured;
    let wanted = response
        .iter()
        .zip(txns)
        .filter(|(_, txn)| objective.of.as_ref().is_none_or(|of| of == *txn));
    let mut times = Hist::new();
    wanted.for_each(|(hist, _)| times.merge(hist));
    let figure = times.figure(objective.quantile);
    let mut counts = Counts::default();
    ticks.iter().for_each(|(_, tick)| counts.add(tick));
    let mut shortfalls = Vec::new();
    match figure {
        None => shortfalls.push(Shortfall::NothingMeasured),
        Some(figure) if figure > objective.limit => shortfalls.push(Shortfall::Slow),
        Some(_) => {}
    }
    if !complete {
        shortfalls.push(Shortfall::Incomplete);
    }
    if counts.failed as f64 > counts.settled() as f64 * FAILED_LIMIT {
        shortfalls.push(Shortfall::Failed {
            percent: counts.failed as f64 * 100.0 / counts.settled() as f64,
        });
    }
    if open && counts.dropped > 0 {
        shortfalls.push(Shortfall::Dropped {
            intents: counts.dropped,
        });
    }
    if let Some(intents) = backlog(&counts).filter(|_| open) {
        shortfalls.push(Shortfall::Behind {
            percent: intents as f64 * 100.0 / counts.offered as f64,
        });
    }
    let batches = ticks.iter().map(|(length, tick)| Batch {
        n: tick.completed(),
        seconds: length.as_secs_f64(),
    });
    if let Steady::No {
        range_percent,
        slope_percent,
    } = Steady::of(&joined(batches))
    {
        shortfalls.push(Shortfall::Unsteady {
            range_percent,
            slope_percent,
        });
    }
    ObjectiveResult {
        figure_ms: figure.map(Nanos::as_millis_f64),
        shortfalls,
    }
}

/// In an open loop, what was offered in the window and not settled. Beyond [`FAILED_LIMIT`] of what was offered the
/// figures describe a queue that grows for as long as one measures. Independent arrivals scatter by √offered, so less
/// than that may be chance.
pub(super) fn backlog(counts: &Counts) -> Option<u64> {
    let intents = counts.offered.checked_sub(counts.settled())?;
    let offered = counts.offered as f64;
    (intents as f64 > (offered * FAILED_LIMIT).max(offered.sqrt())).then_some(intents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::objective::Quantile;

    fn objective(limit_ms: u64, of: Option<&str>) -> Objective {
        Objective {
            quantile: Quantile::Max,
            limit: Nanos::from_millis(limit_ms),
            of: of.map(str::to_owned),
        }
    }

    /// Ten seconds of 1000, all within 8 ms, of which those of the second type take 20 ms.
    fn good() -> MeasuredPoint {
        let counts = Counts {
            offered: 1000,
            committed: 1000,
            ..Counts::default()
        };
        let hist = |ms| {
            let mut hist = Hist::new();
            hist.record(Nanos::from_millis(ms));
            hist
        };
        MeasuredPoint {
            ticks: vec![(Nanos::SECOND, counts); 10],
            response: vec![hist(8), hist(20)],
            complete: true,
        }
    }

    fn of(measured: &MeasuredPoint, objective: &Objective, open: bool) -> Vec<&'static str> {
        let txns = ["a".to_owned(), "b".to_owned()];
        evaluate(objective, &txns, open, measured)
            .shortfalls
            .into_iter()
            .map(Shortfall::name)
            .collect()
    }

    #[test]
    fn the_figure_is_of_the_type_that_the_objective_names() {
        assert!(
            of(&good(), &objective(8, Some("a")), true).is_empty(),
            "met up to and including the limit"
        );
        assert_eq!(of(&good(), &objective(8, Some("b")), true), ["slow"]);
        assert_eq!(of(&good(), &objective(19, None), true), ["slow"]);
        assert!(of(&good(), &objective(20, None), true).is_empty());
        assert_eq!(
            of(&good(), &objective(20, Some("c")), true),
            ["nothing_measured"]
        );
    }

    #[test]
    fn speed_alone_does_not_meet_an_objective() {
        let (limit, mut measured) = (objective(20, None), good());
        measured.complete = false;
        measured.ticks[9].1 = Counts {
            offered: 1130,
            committed: 1000,
            failed: 120,
            dropped: 1,
            ..Counts::default()
        };
        assert_eq!(
            of(&measured, &limit, true),
            ["incomplete", "failed", "dropped"]
        );
        measured.ticks[9].1 = Counts {
            offered: 1200,
            committed: 1000,
            dropped: 10,
            ..Counts::default()
        };
        assert_eq!(
            of(&measured, &limit, true),
            ["incomplete", "dropped", "behind"]
        );
        assert_eq!(
            of(&measured, &limit, false),
            ["incomplete"],
            "a closed loop offers only what the system keeps up with"
        );
        measured.complete = true;
        for (i, (_, counts)) in measured.ticks.iter_mut().enumerate() {
            *counts = Counts {
                offered: 1000 + i as u64 * 50,
                committed: 1000 + i as u64 * 50,
                ..Counts::default()
            };
        }
        assert_eq!(of(&measured, &limit, true), ["unsteady"]);
    }
}
