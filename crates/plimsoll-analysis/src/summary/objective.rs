//! Whether one point meets an objective: the same rule for the search that chooses the next load and for the report.

use serde::Serialize;

use super::finding::FAILED_LIMIT;
use super::stats::{Batch, joined};
use super::steady::Steady;
use crate::search::{Attempt, AttemptResult};
use plimsoll_plan::objective::{BEYOND, Objective, Quantile};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;

/// Fewer transactions do not show that 1 % of them failed, or waited.
const FEWEST: u64 = 100;

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
    pub limit_ms: f64,
    /// Completed transactions that the objective is about, and how long their window was.
    pub samples: u64,
    pub measured_s: f64,
    /// Why the point does not meet the objective; empty if it does.
    pub shortfalls: Vec<Shortfall>,
}

/// What one repeat shows of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatVerdict {
    Met,
    Missed,
    /// Nothing: too few transactions.
    TooFew,
}

impl ObjectiveResult {
    pub fn verdict(&self) -> RepeatVerdict {
        match self.shortfalls.as_slice() {
            [] => RepeatVerdict::Met,
            [Shortfall::TooFew { .. }] => RepeatVerdict::TooFew,
            _ => RepeatVerdict::Missed,
        }
    }

    /// The figure as a share of the limit, where the load has no other shortfall.
    fn excess(&self) -> Option<f64> {
        let carried = matches!(self.shortfalls.as_slice(), [] | [Shortfall::Slow]);
        Some(self.figure_ms? / self.limit_ms).filter(|_| carried)
    }

    /// Whether the figure so far is beyond the limit.
    pub fn is_above(&self) -> bool {
        self.figure_ms.is_some_and(|figure| figure > self.limit_ms)
    }
}

/// A load by its repeats. `longest`: no window may be longer.
pub fn load_result(load: f64, repeats: &[ObjectiveResult], longest: Nanos) -> AttemptResult {
    let mut excess: Vec<f64> = repeats.iter().filter_map(ObjectiveResult::excess).collect();
    excess.sort_by(f64::total_cmp);
    let middle = excess.get(excess.len() / 2).copied();
    AttemptResult {
        load,
        attempt: attempt(repeats, longest),
        excess: middle.filter(|_| excess.len() == repeats.len()),
    }
}

fn attempt(repeats: &[ObjectiveResult], longest: Nanos) -> Attempt {
    let met = count(repeats, RepeatVerdict::Met);
    let missed = count(repeats, RepeatVerdict::Missed);
    match (count(repeats, RepeatVerdict::TooFew), met, missed) {
        (0, 1.., 0) => Attempt::Met,
        (0, 0, 1..) => Attempt::Failed,
        (0, 1.., 1..) => Attempt::Mixed,
        // The last second of a window may be a little short.
        _ if repeats
            .iter()
            .all(|own| own.measured_s >= longest.as_secs_f64() * 0.99) =>
        {
            Attempt::TooFew
        }
        _ => Attempt::Short,
    }
}

fn count(repeats: &[ObjectiveResult], wanted: RepeatVerdict) -> usize {
    let verdicts = repeats.iter().map(ObjectiveResult::verdict);
    verdicts.filter(|verdict| *verdict == wanted).count()
}

/// A reason why a point does not meet an objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "shortfall", rename_all = "snake_case")]
pub enum Shortfall {
    /// Too few transactions for the figure.
    TooFew { samples: u64, needed: u64 },
    /// The window ended early.
    Incomplete,
    /// The figure is beyond the limit.
    Slow,
    /// More than 1 % of what settled had failed.
    Failed { percent: f64 },
    /// Some intents were dropped before they started.
    Dropped { intents: u64 },
    /// Some had no answer when the load was over.
    Unfinished { intents: u64 },
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
            Self::TooFew { .. } => "too_few",
            Self::Incomplete => "incomplete",
            Self::Slow => "slow",
            Self::Failed { .. } => "failed",
            Self::Dropped { .. } => "dropped",
            Self::Unfinished { .. } => "unfinished",
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
    // Those count with their age, which may end below the limit, and they may not.
    let unfinished = times.unfinished().map_or(0, |own| own.count);
    let mut counts = Counts::default();
    ticks.iter().for_each(|(_, tick)| counts.add(tick));
    let mut shortfalls: Vec<Shortfall> = speed(objective, &times).into_iter().collect();
    if !complete {
        shortfalls.push(Shortfall::Incomplete);
    }
    if counts.failed as f64 > counts.settled() as f64 * FAILED_LIMIT && counts.settled() >= FEWEST {
        shortfalls.push(Shortfall::Failed {
            percent: counts.failed as f64 * 100.0 / counts.settled() as f64,
        });
    }
    if open && counts.dropped > 0 {
        shortfalls.push(Shortfall::Dropped {
            intents: counts.dropped,
        });
    }
    if unfinished > 0 {
        shortfalls.push(Shortfall::Unfinished {
            intents: unfinished,
        });
    }
    if let Some(intents) = backlog(&counts).filter(|_| open && counts.offered >= FEWEST) {
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
    let measured: Nanos = ticks.iter().map(|(length, _)| *length).sum();
    ObjectiveResult {
        figure_ms: times.figure(objective.quantile).map(Nanos::as_millis_f64),
        limit_ms: objective.limit.as_millis_f64(),
        samples: times.count(),
        measured_s: measured.as_secs_f64(),
        shortfalls,
    }
}

/// What response times say against a load. Few are enough where so many of them are beyond the limit that more cannot
/// change it: as many as lie beyond the percentile of a window with enough of them.
fn speed(objective: &Objective, times: &Hist) -> Option<Shortfall> {
    let needed = objective.quantile.needed_samples();
    let samples = times.count();
    let enough = match objective.quantile {
        Quantile::Mean => samples >= needed,
        Quantile::Max => samples >= needed || times.count_above(objective.limit) > 0,
        _ => samples >= needed || times.count_above(objective.limit) >= BEYOND,
    };
    if !enough {
        return Some(Shortfall::TooFew { samples, needed });
    }
    let figure = times.figure(objective.quantile)?;
    (figure > objective.limit).then_some(Shortfall::Slow)
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
            let all = [(Nanos::from_millis(ms), 1000)];
            Hist::of_buckets(all, 0, Nanos::from_millis(ms))
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
        assert_eq!(of(&good(), &objective(20, Some("c")), true), ["too_few"]);
    }

    fn p99(limit_ms: u64) -> Objective {
        Objective {
            quantile: Quantile::P99,
            ..objective(limit_ms, Some("a"))
        }
    }

    /// So many responses of the first type take 8 ms, and so many 40.
    fn responses(fast: u64, slow: u64) -> MeasuredPoint {
        let [short, long] = [8, 40].map(Nanos::from_millis);
        MeasuredPoint {
            response: vec![
                Hist::of_buckets([(short, fast), (long, slow)], 0, long),
                Hist::new(),
            ],
            ..good()
        }
    }

    #[test]
    fn a_percentile_needs_samples_beyond_it() {
        let p99 = p99(20);
        assert_eq!(of(&responses(1_999, 0), &p99, true), ["too_few"]);
        assert!(of(&responses(1_980, 20), &p99, true).is_empty());
        assert_eq!(of(&responses(1_979, 21), &p99, true), ["slow"]);
        assert_eq!(of(&responses(0, 0), &p99, true), ["too_few"]);
        assert_eq!(of(&responses(300, 19), &p99, true), ["too_few"]);
        assert_eq!(
            of(&responses(300, 20), &p99, true),
            ["slow"],
            "more fast ones could not hide these"
        );
    }

    #[test]
    fn a_window_without_transactions_shows_nothing() {
        let empty = MeasuredPoint {
            ticks: vec![(Nanos::SECOND, Counts::default()); 10],
            response: vec![Hist::new(), Hist::new()],
            complete: true,
        };
        let txns = ["a".to_owned(), "b".to_owned()];
        let mut one = empty.clone();
        one.ticks[3].1.offered = 2;
        for measured in [empty, one] {
            let result = evaluate(&p99(20), &txns, true, &measured);
            assert_eq!(result.verdict(), RepeatVerdict::TooFew, "{result:?}");
            let at = |longest| {
                load_result(
                    1.0,
                    std::slice::from_ref(&result),
                    Nanos::from_secs(longest),
                )
            };
            assert_eq!(at(20).attempt, Attempt::Short);
            assert_eq!(at(10).attempt, Attempt::TooFew);
        }
    }

    #[test]
    fn an_attempt_is_of_all_repeats() {
        let repeats = |shortfalls: &[Option<Shortfall>]| {
            let of = |shortfall: &Option<Shortfall>| ObjectiveResult {
                figure_ms: Some(1.5),
                limit_ms: 1.0,
                shortfalls: shortfall.iter().copied().collect(),
                ..ObjectiveResult::default()
            };
            shortfalls.iter().map(of).collect::<Vec<_>>()
        };
        let few = Some(Shortfall::TooFew {
            samples: 1,
            needed: 2,
        });
        let slow = Some(Shortfall::Slow);
        let load = |of: &[Option<Shortfall>], longest: bool| {
            load_result(9.0, &repeats(of), Nanos::from_secs(u64::from(!longest)))
        };
        let attempt = |of: &[Option<Shortfall>], longest| load(of, longest).attempt;
        assert_eq!(attempt(&[None, None], false), Attempt::Met);
        assert_eq!(attempt(&[None, slow], false), Attempt::Mixed);
        assert_eq!(attempt(&[slow], true), Attempt::Failed);
        assert_eq!(attempt(&[slow, few], false), Attempt::Short);
        assert_eq!(attempt(&[few], true), Attempt::TooFew);
        assert_eq!(attempt(&[], true), Attempt::TooFew, "nothing shows nothing");
        let excess = |of: &[Option<Shortfall>]| load(of, true).excess;
        assert_eq!(excess(&[slow, slow]), Some(1.5));
        let dropped = Some(Shortfall::Dropped { intents: 3 });
        assert_eq!(excess(&[slow, dropped]), None, "not carried");
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
