//! Whether rounds have become steady: the criterion of SNIA's Solid State Storage Performance Test Specification 2.0.2.
//!
//! The last rounds (there: five of a minute) are steady when the largest and the smallest of them differ by at most a
//! share of their mean (20 %), and the least-squares line through them rises or falls by at most another share of it
//! (10 %) from the first of them to the last. Both limits apply: what drifts slowly has a small range, and what oscillates
//! has a line that is nearly level.

use serde::{Deserialize, Serialize};

/// When rounds are enough. The defaults are those of SNIA's Solid State Storage Performance Test Specification 2.0.2:
/// of the last five rounds, the range is at most 20 % of the mean, and the least-squares line over them rises or falls by
/// at most 10 % of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyRule {
    pub window: u32,
    pub range: f64,
    pub slope: f64,
}

impl SteadyRule {
    pub const SNIA: Self = Self {
        window: 5,
        range: 0.20,
        slope: 0.10,
    };
    /// At most so many rounds (SNIA PTS 2.0.2).
    pub const SNIA_ROUNDS: u32 = 25;
}

/// The last rounds, and the least-squares line through them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// The window's first round, from 0.
    pub from: u32,
    pub mean: f64,
    /// Largest less smallest, in percent of the mean.
    pub range_percent: f64,
    /// Change along the line from the window's first round to its last, in percent of the mean.
    pub slope_percent: f64,
    /// The line at the window's first and last round.
    pub line_from: f64,
    pub line_to: f64,
    pub steady: bool,
}

/// A little slack: 11 is not exactly 10 % above 10.
const SLACK: f64 = 1.0 + 1e-9;

/// The last `rule.window` of `rounds`, each a rate. `None` with fewer rounds or a window of less than two, and where all
/// rates are 0.
pub fn fit(rounds: &[f64], rule: &SteadyRule) -> Option<Fit> {
    let from = rounds.len().checked_sub(rule.window as usize)?;
    let window = &rounds[from..];
    let n = window.len();
    let mean = window.iter().sum::<f64>() / n as f64;
    if n < 2 || !mean.is_finite() || mean <= 0.0 {
        return None;
    }
    let (low, high) = window
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| {
            (low.min(*r), high.max(*r))
        });
    // Least squares over offsets counted from the window's middle: Σ x·y / Σ x², and n − 1 steps from first to last.
    let offsets = (0..n).map(|i| i as f64 - (n - 1) as f64 / 2.0);
    let squares: f64 = offsets.clone().map(|x| x * x).sum();
    let change = offsets.zip(window).map(|(x, y)| x * y).sum::<f64>() / squares * (n - 1) as f64;
    let range = (high - low) / mean;
    let slope = change / mean;
    Some(Fit {
        from: u32::try_from(from).ok()?,
        mean,
        range_percent: range * 100.0,
        slope_percent: slope * 100.0,
        line_from: mean - change / 2.0,
        line_to: mean + change / 2.0,
        steady: range <= rule.range * SLACK && slope.abs() <= rule.slope * SLACK,
    })
}

/// The first round, from 0, with which the rounds up to it are steady, and its fit.
pub fn first_steady(rounds: &[f64], rule: &SteadyRule) -> Option<(u32, Fit)> {
    (0..rounds.len()).find_map(|last| {
        let fit = fit(&rounds[..=last], rule).filter(|fit| fit.steady)?;
        Some((u32::try_from(last).ok()?, fit))
    })
}

/// The first round, from 0, with which all of several series are steady at once; of no series there is none.
pub fn all_steady<S: AsRef<[f64]>>(series: &[S], rule: &SteadyRule) -> Option<u32> {
    let rounds = series.iter().map(|rounds| rounds.as_ref().len()).min()?;
    (0..rounds)
        .find(|last| {
            series
                .iter()
                .all(|rounds| fit(&rounds.as_ref()[..=*last], rule).is_some_and(|fit| fit.steady))
        })
        .and_then(|last| u32::try_from(last).ok())
}

#[cfg(test)]
mod tests;
