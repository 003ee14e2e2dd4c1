//! Whether response times were steady over the window of an open loop. Its rate is that of the arrivals, and shows
//! nothing about the system as long as the system keeps up.
//!
//! The rule is SNIA's for the average latency (PTS 2.0.2, latency test): as [`super::Steady`], of the mean response times
//! of the window's five parts.

use super::stats::{self, BATCHES};
use super::steady::{RANGE_BY_CHANCE, SLOPE_BY_CHANCE};
use super::tick::TickRows;
use plimsoll_record::Point;
use plimsoll_stats::rounds;
use plimsoll_stats::rounds::SteadyRule;

/// Fewer seconds in a part do not show how they scatter.
const FEWEST_IN_PART: usize = 2;

/// Mean response times of the window's five parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Responses {
    /// Highest less lowest, and the change along the line through them, in percent of their mean.
    pub range_percent: f64,
    pub slope_percent: f64,
    /// What they reach by chance, as single seconds scatter within the parts.
    pub range_by_chance_percent: f64,
    pub slope_by_chance_percent: f64,
    /// Half the 95 % interval of the mean, in percent of it. `None` of a window too short for one.
    pub half_interval_percent: Option<f64>,
}

/// Of one second: so many response times, and their mean in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    pub n: u64,
    pub mean: f64,
}

impl Times {
    /// Of the types that the point's latencies are of. `main`: only of the first.
    pub fn of(tick: TickRows<'_>, point: &Point, main: bool) -> Self {
        let own = tick.rows().filter(|row| match main {
            true => row.txn == 0,
            false => point.is_counted(row.txn as usize),
        });
        let sums = own.filter_map(|row| {
            let response = row.response();
            Some((response.count(), response.mean()?.as_secs_f64()))
        });
        let (n, sum) = sums.fold((0, 0.0), |all, (n, mean)| {
            (all.0 + n, all.1 + n as f64 * mean)
        });
        Self {
            n,
            mean: if n > 0 { sum / n as f64 } else { 0.0 },
        }
    }
}

impl Responses {
    /// `None` where a part holds fewer than two seconds with a response time.
    pub(super) fn of(seconds: &[Times], measured_s: f64) -> Option<Self> {
        let parts: Option<Vec<PartMean>> = (0..BATCHES)
            .map(|i| PartMean::of(stats::part(seconds, i)))
            .collect();
        let parts = parts?;
        let means: Vec<f64> = parts.iter().map(|part| part.mean).collect();
        let fit = rounds::fit(&means, &SteadyRule::SNIA)?;
        let error = (parts.iter().map(|part| part.variance).sum::<f64>() / BATCHES as f64).sqrt()
            / fit.mean
            * 100.0;
        Some(Self {
            range_percent: fit.range_percent,
            slope_percent: fit.slope_percent,
            range_by_chance_percent: RANGE_BY_CHANCE * error,
            slope_by_chance_percent: SLOPE_BY_CHANCE * error,
            half_interval_percent: half_interval_percent(seconds, measured_s),
        })
    }
}

/// The five parts are not independent, so their scatter gives no interval.
fn half_interval_percent(seconds: &[Times], measured_s: f64) -> Option<f64> {
    let sums: Vec<(f64, f64)> = seconds
        .iter()
        .map(|second| (second.mean * second.n as f64, second.n as f64))
        .collect();
    plimsoll_stats::mean_interval(&sums, measured_s)
        .ok()?
        .relative()
        .map(|half| half * 100.0)
}

struct PartMean {
    mean: f64,
    /// Of that mean.
    variance: f64,
}

impl PartMean {
    fn of(seconds: &[Times]) -> Option<Self> {
        let used: Vec<Times> = seconds
            .iter()
            .copied()
            .filter(|second| second.n > 0)
            .collect();
        if used.len() < FEWEST_IN_PART {
            return None;
        }
        let n: u64 = used.iter().map(|second| second.n).sum();
        let mean = used
            .iter()
            .map(|second| second.mean * second.n as f64)
            .sum::<f64>()
            / n as f64;
        let deviation =
            stats::deviation(&used.iter().map(|second| second.mean).collect::<Vec<_>>())?;
        Some(Self {
            mean,
            variance: deviation.powi(2) / used.len() as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(means: &[f64]) -> Option<Responses> {
        Responses::of(
            &means
                .iter()
                .map(|mean| Times {
                    n: 100,
                    mean: *mean,
                })
                .collect::<Vec<_>>(),
            means.len() as f64,
        )
    }

    #[test]
    fn a_change_between_the_parts_differs_from_scatter_within_them() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        // Parts of 10, 10, 10, 20 and 20 ms: mean 14; slope (−2·10 − 10 + 20 + 2·20) / 10 · 4 = 12.
        let changed = of(&[0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.02, 0.02, 0.02, 0.02]).unwrap();
        near(changed.range_percent, 1000.0 / 14.0);
        near(changed.slope_percent, 1200.0 / 14.0);
        near(changed.range_by_chance_percent, 0.0);
        // Each part has 10 and 30: deviation 10·√2, of the mean of two 10.
        let noisy = of(&[0.01, 0.03, 0.01, 0.03, 0.01, 0.03, 0.01, 0.03, 0.01, 0.03]).unwrap();
        near(noisy.range_percent, 0.0);
        near(noisy.range_by_chance_percent, 6.2 * 50.0);
        assert_eq!(
            of(&[0.01; 9]),
            None,
            "a second alone does not show how it scatters"
        );
        assert_eq!(Responses::of(&[Times { n: 0, mean: 0.0 }; 20], 20.0), None);
    }

    #[test]
    fn the_interval_of_the_mean_needs_five_minutes_and_covers_the_truth() {
        let window = |seed: u64, seconds: usize| {
            let noise = plimsoll_stats::made::series(seed, seconds, 0.95, 0.05);
            of(&noise
                .into_iter()
                .map(|level| level / 1e5)
                .collect::<Vec<_>>())
            .unwrap()
        };
        assert_eq!(window(1, 299).half_interval_percent, None);
        let covers = |seed: &u64| {
            let noise = plimsoll_stats::made::series(*seed, 300, 0.95, 0.05);
            let mean = noise.iter().sum::<f64>() / 300.0;
            window(*seed, 300)
                .half_interval_percent
                .is_some_and(|half| (1000.0 / mean - 1.0).abs() * 100.0 <= half)
        };
        let covered = (0..400).filter(covers).count();
        assert!(covered >= 368, "{covered} of 400");
    }
}
