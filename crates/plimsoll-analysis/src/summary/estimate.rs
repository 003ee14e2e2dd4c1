//! The value of a figure, and what is known about its error.

use serde::Serialize;

use super::ratio::Ratio;
use super::stats::{self, Interval};

/// A figure, of one measurement or over repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The median of all repeats that have the figure.
    #[serde(rename = "median")]
    pub value: f64,
    /// 95 %, and the geometric mean. Of three repeats or more: by Student's t. Of a single one: of its window, rates only.
    pub interval: Option<Interval>,
    /// The lowest and the highest of the repeats.
    pub min: f64,
    pub max: f64,
}

impl Estimate {
    /// Of one measurement; `None` of what is no number.
    pub fn single(value: f64, interval: Option<Interval>) -> Option<Self> {
        Self::of(std::iter::once(Some((value, interval))))
    }

    /// The median over repeats. Of a single one its own interval stays.
    pub(crate) fn over(repeats: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        Self::of(repeats.map(|own| own.map(|own| (own.value, own.interval))))
    }

    /// How many times `first` it is.
    pub fn ratio_to(self, first: Self) -> Option<Ratio> {
        Ratio::of(self.value, self.interval, first.value, first.interval)
    }

    /// In another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            interval: self.interval.map(|own| own.scaled(factor)),
            min: self.min * factor,
            max: self.max * factor,
        }
    }

    /// Of values of which the only one has an interval of its own.
    pub(crate) fn of(
        values: impl Iterator<Item = Option<(f64, Option<Interval>)>>,
    ) -> Option<Self> {
        let all: Vec<(f64, Option<Interval>)> = values
            .flatten()
            .filter(|(value, _)| value.is_finite())
            .collect();
        let mut sorted: Vec<f64> = all.iter().map(|(value, _)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let min = *sorted.first()?;
        let max = *sorted.last()?;
        let interval = match all.as_slice() {
            [(_, own)] => *own,
            _ => stats::of_repeats(&sorted),
        };
        let value = stats::quantile(&sorted, 0.5);
        Some(Self {
            value,
            interval: interval.map(|own| Interval {
                low: own.low.min(value),
                high: own.high.max(value),
                ..own
            }),
            min,
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(values: &[f64]) -> Estimate {
        Estimate::of(values.iter().map(|v| Some((*v, None)))).unwrap()
    }

    #[test]
    fn repeats_give_median_spread_and_interval() {
        let three = figure(&[7.0, 3.0, 4.0]);
        assert_eq!((three.value, three.min, three.max), (4.0, 3.0, 7.0));
        let interval = three.interval.unwrap();
        assert!(
            interval.low < 2.0
                && interval.high > 10.0
                && (interval.mean.powi(3) - 84.0).abs() < 1e-9
        );
        let two = figure(&[7.0, 3.0]);
        assert_eq!(
            (two.value, two.min, two.max, two.interval),
            (5.0, 3.0, 7.0, None)
        );
        assert_eq!(Estimate::of([None, None].into_iter()), None);
    }

    #[test]
    fn a_single_point_keeps_its_own_interval() {
        let own = Some(Interval::new(5.0, 4.0, 6.0));
        assert_eq!(
            Estimate::of([Some((5.0, own))].into_iter())
                .unwrap()
                .interval,
            own
        );
        assert_eq!(figure(&[5.0]).interval, None);
    }

    #[test]
    fn intervals_of_repeats_cover_the_truth() {
        for repeats in [3, 5] {
            let trials = 400;
            let covers = |seed: &u64| {
                let interval = figure(&plimsoll_stats::made::series(*seed, repeats, 0.0, 0.02))
                    .interval
                    .unwrap();
                interval.low <= 1000.0 && 1000.0 <= interval.high
            };
            let held = (0..trials).filter(covers).count();
            assert!(
                (372..=392).contains(&held),
                "{repeats} repeats: {held} of {trials}"
            );
        }
    }
}
