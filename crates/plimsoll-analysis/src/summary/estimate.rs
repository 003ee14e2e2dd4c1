//! The value of a figure, and what is known about its error.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::ratio::Ratio;
use super::stats::{self, Interval};

/// A figure, of one measurement or over repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median of all repeats that have the figure; of operations in groups, and of rates with and without noise, their
    /// mean; of a side of `compare` all that was counted by all time.
    pub value: f64,
    /// 95 %, and the geometric mean. Of three repeats or more: by Student's t. Of a single one: of its window, rates only.
    pub interval: Option<Interval>,
    /// The lowest and the highest of the repeats.
    pub min: f64,
    pub max: f64,
    /// How many of them there are.
    pub n: u64,
}

/// What one measurement has not is left out: its range is its value.
impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("value", &self.value)?;
        if let Some(interval) = &self.interval {
            fields.serialize_entry("interval", interval)?;
        }
        if self.n > 1 {
            fields.serialize_entry("min", &self.min)?;
            fields.serialize_entry("max", &self.max)?;
            fields.serialize_entry("n", &self.n)?;
        }
        fields.end()
    }
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

    /// The mean of operations in groups: those of one group came about together and are not independent, groups are. The
    /// interval is by Student's t over the logarithms of the groups' means, of two groups or more. `None` without operations.
    pub(super) fn of_groups(groups: &[Vec<f64>]) -> Option<Self> {
        let all = groups.concat();
        let value = mean(&all)?;
        let means: Vec<f64> = groups.iter().filter_map(|group| mean(group)).collect();
        Some(Self {
            value,
            interval: Interval::of_values(&means),
            min: all.iter().copied().reduce(f64::min)?,
            max: all.iter().copied().reduce(f64::max)?,
            n: all.len() as u64,
        })
    }

    /// How many times `first` it is.
    pub fn ratio_to(self, first: Self) -> Option<Ratio> {
        Ratio::of(self.value, self.interval, first.value, first.interval)
    }

    /// Highest less lowest of the repeats in percent of the figure. `None` of one.
    pub fn spread_percent(self) -> Option<f64> {
        let is_spread = self.n > 1 && self.value > 0.0;
        is_spread.then(|| (self.max - self.min) * 100.0 / self.value)
    }

    /// Whether its interval is too wide for an answer.
    pub fn is_uncertain(self) -> bool {
        Ratio {
            ratio: self.value,
            interval: self.interval,
        }
        .is_uncertain()
    }

    /// In another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            interval: self.interval.map(|own| own.scaled(factor)),
            min: self.min * factor,
            max: self.max * factor,
            n: self.n,
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
            n: all.len() as u64,
        })
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
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
    fn operations_of_a_group_are_not_independent() {
        // Groups 10 and 13 (of 12 and 14): their logarithms deviate by ln 1.3/√2, so half is 12.706·ln 1.3/2.
        let got = Estimate::of_groups(&[vec![10.0], vec![12.0, 14.0], vec![]]).unwrap();
        assert_eq!((got.n, got.value, got.min, got.max), (3, 12.0, 10.0, 14.0));
        let interval = got.interval.unwrap();
        let half = 12.706_205 * 1.3f64.ln() / 2.0;
        assert!(
            ((interval.high / interval.mean).ln() - half).abs() < 1e-5,
            "{interval:?}"
        );
        assert!((interval.mean - 130f64.sqrt()).abs() < 1e-9);
        let one = Estimate::of_groups(&[vec![5.0, 7.0]]).unwrap();
        assert_eq!((one.interval, one.value), (None, 6.0));
        assert_eq!(Estimate::of_groups(&[vec![]]), None);
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
