//! Whether a series rises or falls throughout, rather than in steps.

use serde::Serialize;

use super::ChangePoint;
use super::draws::Draws;
use super::mean::mean;

/// Fewer values show a line by chance.
const FEWEST: usize = 8;
const PERMUTATIONS: usize = 199;

/// A straight line through a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trend {
    /// Of the mean, from one value to the next.
    pub percent_per_value: f64,
    /// From the first value to the last.
    pub percent_in_all: f64,
    /// Share of permutations with as steep a line.
    pub p: f64,
}

struct LeastSquaresLine {
    slope: f64,
    /// Sum of squared residuals.
    left: f64,
}

fn line(values: &[f64]) -> LeastSquaresLine {
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = mean(values);
    let slope = values
        .iter()
        .enumerate()
        .map(|(i, value)| (i as f64 - middle) * (value - mean))
        .sum::<f64>()
        * 12.0
        / (n * (n * n - 1.0));
    LeastSquaresLine {
        slope,
        left: values
            .iter()
            .enumerate()
            .map(|(i, value)| (value - mean - slope * (i as f64 - middle)).powi(2))
            .sum(),
    }
}

/// A line that at most `significance` of all permutations are as steep as, where it describes the series better than the
/// steps that were found, and than any one step: Schwarz's criterion (Annals of Statistics 6, 1978), with an index and a
/// level for each step. A step that too few values show is no drift.
pub fn trend(values: &[f64], steps: &[ChangePoint], significance: f64) -> Option<Trend> {
    if values.len() < FEWEST || values.iter().any(|value| !value.is_finite()) || mean(values) <= 0.0
    {
        return None;
    }
    let own = line(values);
    let mut draws = Draws::new(values.len() as u64);
    let mut shuffled = values.to_vec();
    let mut as_steep = 0;
    for _ in 0..PERMUTATIONS {
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, draws.below(i + 1));
        }
        as_steep += usize::from(line(&shuffled).slope.abs() >= own.slope.abs() * (1.0 - 1e-12));
    }
    let p = (as_steep + 1) as f64 / (PERMUTATIONS + 1) as f64;
    let n = values.len() as f64;
    let criterion = |left: f64, parameters: usize| {
        n * (left / n).max(f64::MIN_POSITIVE).ln() + parameters as f64 * n.ln()
    };
    let by_steps = criterion(left_by_steps(values, steps), 2 * steps.len() + 1);
    let one_step = (1..values.len()).map(|at| left_by_levels(values, &[at]));
    let by_one_step = one_step.map(|left| criterion(left, 3)).reduce(f64::min);
    let by_steps = by_one_step.map_or(by_steps, |one| one.min(by_steps));
    let percent_per_value = own.slope / mean(values) * 100.0;
    let found = Trend {
        percent_per_value,
        percent_in_all: percent_per_value * (n - 1.0),
        p,
    };
    (p <= significance && criterion(own.left, 2) < by_steps).then_some(found)
}

fn left_by_steps(values: &[f64], steps: &[ChangePoint]) -> f64 {
    let starts: Vec<usize> = steps.iter().map(|step| step.at).collect();
    left_by_levels(values, &starts)
}

/// Squared distances from the level of each segment. `next`: where the segments after the first begin.
fn left_by_levels(values: &[f64], next: &[usize]) -> f64 {
    let starts = std::iter::once(0).chain(next.iter().copied());
    let ends = next.iter().copied().chain([values.len()]);
    let segments = starts.zip(ends).map(|(start, end)| &values[start..end]);
    segments
        .map(|own| {
            own.iter()
                .map(|value| (value - mean(own)).powi(2))
                .sum::<f64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::{change_points, made};
    use super::*;

    fn found(values: &[f64]) -> Option<Trend> {
        trend(values, &change_points(values, 0.01), 0.01)
    }

    #[test]
    fn a_drift_differs_from_a_step_and_from_noise() {
        let of = |seed: u64, level: fn(usize) -> f64| {
            let noise = made::series(seed, 60, 0.0, 0.02);
            found(
                &noise
                    .iter()
                    .enumerate()
                    .map(|(i, x)| x * level(i))
                    .collect::<Vec<_>>(),
            )
        };
        let drifts = (0..20)
            .filter_map(|seed| of(seed, |i| 1.0 + 0.1 * i as f64 / 59.0))
            .collect::<Vec<_>>();
        assert!(drifts.len() >= 18, "{} of 20", drifts.len());
        let off = |drift: &Trend| (drift.percent_in_all - 9.5).abs();
        assert!(
            drifts
                .iter()
                .all(|drift| off(drift) < 3.0 && drift.p <= 0.01),
            "{drifts:?}"
        );
        let steps = (0..20)
            .filter(|seed| of(*seed, |i| if i < 30 { 1.0 } else { 0.9 }).is_some())
            .count();
        let noise = (0..40).filter(|seed| of(*seed, |_| 1.0).is_some()).count();
        assert!(
            steps == 0 && noise <= 2,
            "{steps} steps and {noise} times noise"
        );
    }

    #[test]
    fn a_clean_step_is_no_drift_however_few_values_show_it() {
        for (before, after) in [(4, 4), (3, 5), (5, 4), (4, 5), (7, 3), (2, 8), (5, 5)] {
            for seed in 0..20 {
                let noise = made::series(seed, before + after, 0.0, 0.02);
                let level = |i: usize| if i < before { 1.0 } else { 0.683 };
                let values: Vec<f64> = noise
                    .iter()
                    .enumerate()
                    .map(|(i, x)| x * level(i))
                    .collect();
                assert_eq!(found(&values), None, "{before} and {after}, {seed}");
            }
        }
    }

    #[test]
    fn few_values_have_no_trend_and_a_perfect_line_has() {
        let line = |n: u32| (0..n).map(|i| 100.0 + f64::from(i)).collect::<Vec<_>>();
        assert_eq!(found(&line(7)), None);
        let ten = found(&line(10)).expect("a trend");
        assert!(
            (ten.percent_per_value - 100.0 / 104.5).abs() < 1e-9,
            "{ten:?}"
        );
        assert_eq!(found(&[100.0; 20]), None);
    }
}
