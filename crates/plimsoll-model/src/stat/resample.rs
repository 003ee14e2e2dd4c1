//! Resampling of figures, and intervals of what two of them have between them.
//!
//! From three repeats on a figure is resampled by repeats: they hold all that changes from one time to the next, what
//! changes within a window included (Davison and Hinkley, Bootstrap Methods and their Application, 1997, §3.8: resample
//! the upper level only). Below that the parts of the windows are resampled in blocks, because neighbouring seconds are
//! not independent (see [`super::block`]).
//!
//! Percentile intervals from few values are too narrow: resampled variances are too small by (m − 1)/m, and a normal
//! quantile stands where Student's belongs. So they are stretched about the estimate by √(m/(m−1)) · t / z, after
//! Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69 (2015), with the degrees of
//! freedom of Welch and Satterthwaite for two sides.

use super::student::{Z_975, t_975};
use crate::draws::split_mix;
use crate::summary::Interval;

/// Resamples of a figure.
pub const RESAMPLES: usize = 2000;

/// A figure of one side, and the same figure of resamples of what it was computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct Resampled {
    pub estimate: f64,
    /// [`RESAMPLES`] of them.
    pub values: Vec<f64>,
    /// How many independent parts the figure rests on: repeats, or blocks.
    pub parts: f64,
}

impl Resampled {
    /// The variance of the estimate: of the resamples, less their narrowness.
    fn variance(&self) -> f64 {
        variance(&self.values) * self.parts / (self.parts - 1.0)
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { estimate: f(self.estimate), values: self.values.iter().map(|v| f(*v)).collect(), parts: self.parts }
    }

    /// 95 % interval of the figure itself.
    pub fn interval(&self) -> Option<Interval> {
        let degrees = self.parts - 1.0;
        let stretch = (self.parts / degrees).sqrt() * t_975(degrees) / Z_975;
        stretched(self.estimate, self.values.clone(), stretch)
    }

    /// This by `other`, with its 95 % interval, computed on logarithms so that it is that of `other` by this turned over.
    /// `None` where one of them is not positive or rests on less than two parts.
    pub fn ratio_to(&self, other: &Self) -> Option<Interval> {
        let positive = |side: &Self| side.estimate > 0.0 && side.values.iter().all(|value| *value > 0.0);
        if !positive(self) || !positive(other) {
            return None;
        }
        let Interval { mean, low, high } = self.map(f64::ln).less(&other.map(f64::ln))?;
        Some(Interval { mean: mean.exp(), low: low.exp(), high: high.exp() })
    }

    /// This less `other`, with its 95 % interval.
    pub fn less(&self, other: &Self) -> Option<Interval> {
        let estimate = self.estimate - other.estimate;
        let values: Vec<f64> = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        let (own, others) = (self.variance(), other.variance());
        let resampled = variance(&self.values) + variance(&other.values);
        if resampled == 0.0 {
            let exact = Interval { mean: estimate, low: estimate, high: estimate };
            return (self.parts > 1.0 && other.parts > 1.0).then_some(exact);
        }
        // Welch and Satterthwaite.
        let degrees =
            (own + others).powi(2) / (own.powi(2) / (self.parts - 1.0) + others.powi(2) / (other.parts - 1.0));
        let stretch = ((own + others) / resampled).sqrt() * t_975(degrees) / Z_975;
        stretched(estimate, values, stretch)
    }
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n
}

/// The percentile interval of `values`, with its distance from the estimate multiplied.
fn stretched(estimate: f64, mut values: Vec<f64>, stretch: f64) -> Option<Interval> {
    if !stretch.is_finite() || !estimate.is_finite() || values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let at = |q: f64| estimate + stretch * (crate::summary::quantile(&values, q) - estimate);
    let (low, high) = (at(0.025), at(0.975));
    Some(Interval { mean: estimate, low: low.min(estimate), high: high.max(estimate) })
}

/// Draws that are the same for ever, apart for each side and figure.
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    pub fn new(stream: u64) -> Self {
        let mut state = stream;
        Self(split_mix(&mut state))
    }

    /// In `0..n`; `n` is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        // Multiply and shift (Lemire 2019); the bias is below n / 2^64.
        ((u128::from(split_mix(&mut self.0)) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    fn of(values: &[f64], stream: u64) -> Resampled {
        super::super::sample::Sample::of_repeats(values.iter().map(|v| (*v, 1.0)).collect()).resampled(stream).unwrap()
    }

    #[test]
    fn an_interval_of_repeats_is_students() {
        // Of a mean, the bootstrap's normal limit with the stretch is mean ± t·s/√n.
        let values: Vec<f64> = made::series(3, 40, 0.0, 0.01);
        let mean = values.iter().sum::<f64>() / 40.0;
        let s = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 39.0).sqrt();
        let half = t_975(39.0) * s / 40f64.sqrt();
        let interval = of(&values, 1).interval().unwrap();
        assert!(((interval.high - interval.low) / 2.0 / half - 1.0).abs() < 0.08, "{interval:?} {half}");
        assert!((interval.mean - mean).abs() < 1e-9);
    }

    #[test]
    fn turning_sides_over_turns_the_ratio_over() {
        let (a, b) = (of(&[100.0, 102.0, 99.0, 101.0], 1), of(&[140.0, 143.0, 139.0], 2));
        let (there, back) = (b.ratio_to(&a).unwrap(), a.ratio_to(&b).unwrap());
        assert!((there.mean * back.mean - 1.0).abs() < 1e-12);
        assert!((there.low * back.high - 1.0).abs() < 1e-9 && (there.high * back.low - 1.0).abs() < 1e-9);
        assert!(there.low > 1.3 && there.high < 1.5, "{there:?}");
    }

    #[test]
    fn what_never_changes_has_an_exact_ratio_and_nothing_has_none() {
        let (a, b) = (of(&[100.0; 3], 1), of(&[103.0; 3], 2));
        let ratio = b.ratio_to(&a).unwrap();
        assert!((ratio.low - 1.03).abs() < 1e-12 && (ratio.high - 1.03).abs() < 1e-12);
        let nothing = Resampled { estimate: 0.0, values: vec![0.0; 9], parts: 3.0 };
        assert_eq!(nothing.ratio_to(&a), None);
        let one = Resampled { estimate: 1.0, values: vec![1.0; 9], parts: 1.0 };
        assert_eq!((one.ratio_to(&a), one.interval()), (None, None), "one part says nothing");
    }

    /// Coverage is what an interval promises: 95 of 100 hold the truth.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let trials = 200;
        for repeats in [3, 5] {
            let side = |seed: u64| of(&made::series(seed, repeats, 0.0, 0.02), seed);
            let holds = |seed: &u64| {
                let ratio = side(seed * 2 + 1).ratio_to(&side(seed * 2)).unwrap();
                ratio.low <= 1.0 && 1.0 <= ratio.high
            };
            let held = (0..trials).filter(holds).count();
            assert!(held * 100 >= trials as usize * 93, "{repeats} repeats: {held} of {trials}");
        }
    }
}
