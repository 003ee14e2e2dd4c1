//! The error of a mean over one window, whose seconds are not independent.
//!
//! Drives clean up and databases write checkpoints, so neighboring seconds correlate; and where counts are small,
//! their own scatter hides it, so that no test on the seconds can prove that they do not. Nothing is therefore estimated
//! from how seconds correlate. The error comes from the slowest movements that the window contains: the first few terms of its
//! cosine transform, which are nearly independent of each other and of the mean, each with the mean's variance (Müller,
//! A Theory of Robust Long-Run Variance Estimation, Journal of Econometrics 141, 2007; Lazarus, Lewis, Stock and Watson,
//! HAR Inference, Journal of Business and Economic Statistics 36, 2018). With so many degrees of freedom Student's factor is
//! large: the price of not estimating the correlation.
//!
//! One term for each two and a half minutes, and five minutes at least, cover 93 to 97 % where correlation decays with a time
//! constant of up to 20 s (`cargo xtask bench intervals`). A shorter window has no interval: how long its movements last
//! is unknown.

use super::interval::Interval;
use super::mean::mean;

/// Shorter windows have no interval.
pub const SHORTEST_S: f64 = 300.0;
/// A term for so many seconds.
const SECONDS_PER_TERM: f64 = 150.0;
const FEWEST_TERMS: usize = 2;
const MOST_TERMS: usize = 12;
/// The terms that are used, and five times as many to detect movements that become larger the slower they are.
const TERMS_SEEN: usize = 6;
/// Terms are not infinitely slow: where correlation is long they have a little less than the variance of the mean.
const MARGIN: f64 = 1.04;
/// Cells for each term that is used.
const CELLS_PER_TERM: usize = 8;
/// Slow terms by faster ones, in power. Movements with a time constant of 20 s give 2 to 3; a steady rise gives hundreds.
const STEEPEST: f64 = 40.0;

/// Why a figure of one window has no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TooShort {
    /// Less than [`SHORTEST_S`] was measured.
    Window,
    /// Enough was measured, in too few parts.
    Parts,
    /// One movement over the whole window: it is too short to show how the mean scatters.
    Correlated,
    /// Nothing was completed, or too few values lie beyond a percentile.
    Nothing,
}

/// The standard error of a sum over a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumError {
    pub error: f64,
    pub degrees: f64,
}

/// A rate: amounts and seconds of the consecutive parts of a window, or of several windows one after the other.
pub fn rate_interval(parts: &[(f64, f64)]) -> Result<Interval, TooShort> {
    mean_interval(parts, parts.iter().map(|part| part.1).sum())
}

/// A mean over a window of `seconds`: sums of values, and how many they are, of its consecutive parts of equal length.
pub fn mean_interval(parts: &[(f64, f64)], seconds: f64) -> Result<Interval, TooShort> {
    let sum: f64 = parts.iter().map(|part| part.0).sum();
    let count: f64 = parts.iter().map(|part| part.1).sum();
    if sum <= 0.0 || count <= 0.0 {
        return Err(TooShort::Nothing);
    }
    let mean = sum / count;
    let excess: Vec<f64> = parts.iter().map(|part| part.0 - mean * part.1).collect();
    let SumError { error, degrees } = sum_error(&excess, seconds, sum)?;
    Interval::of_error(mean, error / sum, degrees).ok_or(TooShort::Nothing)
}

/// Of values that sum to 0, in parts of equal length; errors below a billionth of `scale` are none.
pub fn sum_error(values: &[f64], seconds: f64, scale: f64) -> Result<SumError, TooShort> {
    let terms = ((seconds / SECONDS_PER_TERM).round() as usize).clamp(FEWEST_TERMS, MOST_TERMS);
    // The clock may cut a window by a fraction of a second.
    if seconds + 0.5 < SHORTEST_S {
        return Err(TooShort::Window);
    }
    if values.len() < CELLS_PER_TERM * terms {
        return Err(TooShort::Parts);
    }
    let power: Vec<f64> = (1..=TERMS_SEEN * terms)
        .map(|term| cosine(values, term).powi(2))
        .collect();
    let slow = mean(&power[..terms]);
    let faster = mean(&power[terms..]);
    if slow.sqrt() <= 1e-9 * scale {
        return Ok(SumError {
            error: 0.0,
            degrees: terms as f64,
        });
    }
    if slow > STEEPEST * faster {
        return Err(TooShort::Correlated);
    }
    Ok(SumError {
        error: MARGIN * slow.sqrt(),
        degrees: terms as f64,
    })
}

/// A term of the cosine transform, scaled to the standard error of the sum.
fn cosine(values: &[f64], term: usize) -> f64 {
    let step = std::f64::consts::PI * term as f64 / values.len() as f64;
    let parts = values
        .iter()
        .enumerate()
        .map(|(i, value)| value * (step * (i as f64 + 0.5)).cos());
    parts.sum::<f64>() * std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    fn seconds(rates: &[f64]) -> Vec<(f64, f64)> {
        rates.iter().map(|rate| (*rate, 1.0)).collect()
    }

    #[test]
    fn independent_seconds_give_the_textbook_error() {
        // 10 % of 1000 over 9000 s: 0.1 / √9000 of the rate; the mean of twelve squares is within half of it.
        let interval = rate_interval(&seconds(&made::series(3, 9000, 0.0, 0.1))).unwrap();
        let error = interval.relative().unwrap() / 2.178_813;
        assert!(
            (error * 9000f64.sqrt() / 0.1 - 1.0).abs() < 0.5 && interval.degrees == 12.0,
            "{interval:?}"
        );
    }

    #[test]
    fn a_window_without_an_interval_has_a_reason() {
        assert_eq!(
            rate_interval(&seconds(&made::series(1, 299, 0.0, 0.1))),
            Err(TooShort::Window)
        );
        assert_eq!(
            rate_interval(&[(1000.0, 30.0); 15]),
            Err(TooShort::Parts),
            "too few parts"
        );
        let rises: Vec<f64> = (0..400).map(f64::from).collect();
        assert_eq!(rate_interval(&seconds(&rises)), Err(TooShort::Correlated));
        assert_eq!(rate_interval(&seconds(&[0.0; 300])), Err(TooShort::Nothing));
        assert!(rate_interval(&seconds(&made::series(1, 300, 0.9, 0.1))).is_ok());
    }

    #[test]
    fn what_does_not_change_is_exact() {
        let exact = rate_interval(&seconds(&[1000.0 / 3.0; 300])).unwrap();
        assert!(exact.high / exact.low - 1.0 < 1e-9, "{exact:?}");
    }
}
