//! What is known of something that has figures: a map from figures to estimates, or to the reason why there is none.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::estimate::Estimate;
use super::figure::FigureId;
use super::latency::LatencySummary;
use super::ratio::{Ratio, RatioSet};
use super::stats::Interval;
use crate::missing::{Known, Missing};

/// What is known of a load, or of something else that has figures: an estimate for each, or why there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigureSet(BTreeMap<FigureId, Known<Estimate>>);

impl FigureSet {
    /// A set in which every figure is missing for one reason.
    pub fn missing(why: Missing) -> Self {
        Self(
            FigureId::ALL
                .iter()
                .map(|figure| (*figure, Err(why)))
                .collect(),
        )
    }

    pub fn known(&self, figure: FigureId) -> Known<Estimate> {
        let known = self.0.get(&figure).copied();
        known.unwrap_or(Err(figure.info().missing))
    }

    /// The estimate without what is known about its error.
    pub fn read(&self, figure: FigureId) -> Known<f64> {
        self.known(figure).map(|estimate| estimate.value)
    }

    /// Figures that are nothing without each other; else the reason for the first that is missing.
    pub fn read_all<const N: usize>(&self, figures: [FigureId; N]) -> Known<[f64; N]> {
        let mut values = [0.0; N];
        for (value, figure) in values.iter_mut().zip(figures) {
            *value = self.read(figure)?;
        }
        Ok(values)
    }

    pub fn get(&self, figure: FigureId) -> Option<Estimate> {
        self.known(figure).ok()
    }

    /// As [`Self::read`], without the reason.
    pub fn value(&self, figure: FigureId) -> Option<f64> {
        self.read(figure).ok()
    }

    /// Figures that have an estimate.
    pub fn ids(&self) -> impl Iterator<Item = FigureId> {
        let known = self.0.iter().filter(|(_, known)| known.is_ok());
        known.map(|(figure, _)| *figure)
    }

    /// Puts a value without what is known about its error, or the reason why it is missing.
    pub fn put(&mut self, figure: FigureId, value: Known<f64>) {
        match value {
            Ok(value) => self.set(figure, Estimate::single(value, None)),
            Err(why) => self.miss(figure, why),
        }
    }

    /// Puts a value where there is one.
    pub fn put_some(&mut self, figure: FigureId, value: Option<f64>) {
        if let Some(value) = value {
            self.put(figure, Ok(value));
        }
    }

    pub fn miss(&mut self, figure: FigureId, why: Missing) {
        self.0.insert(figure, Err(why));
    }

    /// Takes over figures that are nothing without `first`, or the reason why that is missing.
    pub fn put_all(&mut self, first: FigureId, group: Known<Self>) {
        match group {
            Ok(group) => self.0.extend(group.0),
            Err(why) => self.miss(first, why),
        }
    }

    #[cfg(test)]
    pub(crate) fn get_mut(&mut self, figure: FigureId) -> Option<&mut Estimate> {
        self.0.get_mut(&figure)?.as_mut().ok()
    }

    /// NOPM and the rate of all transactions.
    #[cfg(test)]
    pub(crate) fn rates_mut(&mut self) -> impl Iterator<Item = &mut Estimate> {
        let rates = [FigureId::Nopm, FigureId::Transactions];
        let all = self.0.iter_mut();
        all.filter(move |(figure, _)| rates.contains(figure))
            .filter_map(|(_, known)| known.as_mut().ok())
    }

    pub fn set(&mut self, figure: FigureId, estimate: Option<Estimate>) {
        match estimate {
            Some(estimate) => self.0.insert(figure, Ok(estimate)),
            None => self.0.remove(&figure),
        };
    }

    pub fn with(mut self, figure: FigureId, estimate: Option<Estimate>) -> Self {
        self.set(figure, estimate);
        self
    }

    /// The figures of response times.
    pub fn with_times(self, latency: Option<LatencySummary>) -> Self {
        LatencySummary::times().fold(self, |figures, figure| {
            figures.with(
                figure,
                latency.and_then(|own| Estimate::single(own.ms(figure)?, None)),
            )
        })
    }

    /// Medians over repeats, with the range of these: see [`Estimate::over`].
    pub fn over<'a>(repeats: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let known = repeats.clone().flat_map(Self::ids);
        let mut figures = Self::default();
        for figure in known {
            if !figures.0.contains_key(&figure) {
                let values = repeats.clone().map(|own| own.get(figure));
                figures.set(figure, Estimate::over(values));
            }
        }
        figures
    }

    /// The figure that loads of one kind are ranked by.
    pub fn main_figure(&self) -> Option<FigureId> {
        let rates = [FigureId::Nopm, FigureId::Transactions, FigureId::Iops];
        rates.into_iter().find(|figure| self.get(*figure).is_some())
    }

    pub fn main_rate(&self) -> Option<Estimate> {
        self.get(self.main_figure()?)
    }

    /// How many times the figure of `first` this one is.
    pub fn ratio(&self, figure: FigureId, first: &Self) -> Option<Ratio> {
        self.get(figure)?.ratio_to(first.get(figure)?)
    }

    /// The mean of each figure over repeats: of times that of the repeats' own quantiles would be none, so these are medians.
    pub(super) fn mean_over<'a>(repeats: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let medians = Self::over(repeats.clone());
        let figures = medians.ids().filter_map(|figure| {
            let own = medians.get(figure)?;
            let values = repeats.clone().filter_map(|repeat| repeat.value(figure));
            let value = match figure.is_time() {
                true => own.value,
                false => values.sum::<f64>() / own.n as f64,
            };
            let interval = own.interval.map(|interval| interval.with(value));
            Some((
                figure,
                Ok(Estimate {
                    value,
                    interval,
                    ..own
                }),
            ))
        });
        Self(figures.collect())
    }

    /// How many times those of `first` these figures are, where both sides have them.
    pub fn ratios(&self, figures: &[FigureId], first: &Self) -> RatioSet {
        let both = figures.iter().copied();
        both.filter_map(|figure| Some((figure, self.ratio(figure, first)?)))
            .collect()
    }
}

impl FigureSet {
    /// How many times those of `first` these figures are, where each repeat (`pairs`) was measured on both sides soon after
    /// each other: the interval is by Student's t over the logarithms of the repeats' own ratios, so that what drifts drops
    /// out. Of a single pair it is that of two independent windows.
    pub(super) fn paired_ratios(&self, first: &Self, pairs: &[[Self; 2]]) -> RatioSet {
        let paired = self.ids().filter_map(|figure| {
            let plain = self.ratio(figure, first)?;
            if pairs.len() == 1 {
                return Some((figure, plain));
            }
            let ratios = pairs
                .iter()
                .map(|[first, second]| Some(second.value(figure)? / first.value(figure)?))
                .collect::<Option<Vec<f64>>>();
            let interval = ratios.and_then(|ratios| Interval::of_values(&ratios));
            let ratio = Ratio {
                interval: interval.map(|own| own.moved_to(plain.ratio)),
                ..plain
            };
            Some((figure, ratio))
        });
        paired.collect()
    }
}

/// By [`FigureId::key`]; figures that are missing are left out.
impl Serialize for FigureSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = self.0.iter();
        serializer.collect_map(known.filter_map(|(figure, own)| Some((figure.key(), own.ok()?))))
    }
}

impl FromIterator<(FigureId, f64)> for FigureSet {
    fn from_iter<I: IntoIterator<Item = (FigureId, f64)>>(values: I) -> Self {
        let mut figures = Self::default();
        figures.extend(values);
        figures
    }
}

impl Extend<(FigureId, f64)> for FigureSet {
    fn extend<I: IntoIterator<Item = (FigureId, f64)>>(&mut self, values: I) {
        for (figure, value) in values {
            self.put(figure, Ok(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_over_repeats_is_that_of_those_that_have_it() {
        let one = |iops, p99: Option<f64>| {
            let p99 = p99.and_then(|p99| Estimate::single(p99, None));
            FigureSet::default()
                .with(FigureId::Iops, Estimate::single(iops, None))
                .with(FigureId::P99, p99)
        };
        let repeats = [one(10.0, None), one(30.0, Some(4.0)), one(20.0, Some(2.0))];
        let all = FigureSet::over(repeats.iter());
        assert_eq!(
            (all.value(FigureId::Iops), all.value(FigureId::P99)),
            (Some(20.0), Some(3.0))
        );
        assert_eq!(all.main_rate(), all.get(FigureId::Iops));
        assert_eq!(
            all.ratio(FigureId::Iops, &one(5.0, None))
                .map(|own| own.ratio),
            Some(4.0)
        );
        assert_eq!(all.get(FigureId::Nopm), None);
    }

    #[test]
    fn a_figure_that_is_missing_has_a_reason() {
        let mut figures = FigureSet::from_iter([(FigureId::Tpm, 2.0)]);
        assert_eq!(
            figures.read(FigureId::Nopm),
            Err(Missing::NoTpm),
            "its row's"
        );
        figures.miss(FigureId::Nopm, Missing::TooFew);
        let both = [FigureId::Tpm, FigureId::Nopm];
        assert_eq!(figures.read_all(both), Err(Missing::TooFew));
        figures.put(FigureId::Nopm, Ok(1.0));
        assert_eq!(figures.read_all(both), Ok([2.0, 1.0]));
        figures.put_all(FigureId::Tpm, Err(Missing::NothingMeasured));
        assert_eq!(figures.read(FigureId::Tpm), Err(Missing::NothingMeasured));
    }
}
