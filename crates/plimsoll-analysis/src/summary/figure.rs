//! Figures: what a load is judged by. Each is a row of [`FigureId::info`]; a load has a map from figures to estimates.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use plimsoll_record::metric::Better;

use super::estimate::Estimate;
use super::latency::LatencySummary;
use super::ratio::{Ratio, RatioSet};
use super::stats::Interval;

/// Name, unit, direction and source of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureInfo {
    /// In JSON and CSV. Of times without their unit.
    pub name: &'static str,
    pub unit: FigureUnit,
    pub better: Better,
    /// What is counted over what.
    pub source: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    PerMinute,
    PerSecond,
    /// MB are 10⁶ bytes.
    MbPerSecond,
    /// Held in milliseconds.
    Time,
    Seconds,
    Percent,
    PerTransaction,
}

macro_rules! figures {
    ($($variant:ident, $name:literal, $unit:ident, $better:ident, $source:literal;)*) => {
        /// Every figure there is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FigureId { $($variant),* }

        impl FigureId {
            pub fn info(self) -> FigureInfo {
                match self {
                    $(Self::$variant => FigureInfo {
                        name: $name, unit: FigureUnit::$unit, better: Better::$better, source: $source,
                    }),*
                }
            }
        }
    };
}

figures! {
    Nopm, "nopm", PerMinute, Higher, "New-Orders committed in the window (TPC-C clause 5.4.2)";
    Tpm, "tpm", PerMinute, Higher, "transactions of the five types of TPC-C that completed in the window";
    Transactions, "completed_per_second", PerSecond, Higher, "transactions of all types that completed in the window";
    TpmPerUser, "tpm_per_user", PerMinute, Higher, "TPM over users (TPC-C clause 4.2.2 allows at most 12.86 with full keying and think times)";
    RolledBack, "rolled_back_new_orders_percent", Percent, Lower, "New-Orders that were rolled back of those that completed; TPC-C clause 2.4.1.4 wants 1 %";
    RoundTrips, "round_trips_per_txn", PerTransaction, Lower, "round trips over completed transactions";
    Iops, "iops", PerSecond, Higher, "reads, writes and trims that completed in the window";
    MbPerSecond, "mb_per_second", MbPerSecond, Higher, "bytes of these requests";
    Mean, "mean", Time, Lower, "sum of response times over their number";
    P50, "p50", Time, Lower, "quantile of the window's merged histogram";
    P90, "p90", Time, Lower, "quantile of the window's merged histogram";
    P95, "p95", Time, Lower, "quantile of the window's merged histogram";
    P99, "p99", Time, Lower, "quantile of the window's merged histogram";
    P999, "p999", Time, Lower, "quantile of the window's merged histogram";
    Max, "max", Time, Lower, "the longest response time, exact";
    Duration, "seconds", Seconds, Lower, "end of an operation less its beginning";
    DeviceReads, "device_reads_per_txn", PerTransaction, Lower, "reads of the device below the medium over completed transactions: 0 where memory holds all data";
}

impl FigureId {
    /// Of response times: the mean, the percentiles that are kept, and the maximum.
    pub const TIMES: [Self; 7] = [
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P999,
        Self::Max,
    ];

    /// What transactions are counted by: New-Orders a minute, or all of them a second.
    pub fn transactions(nopm: bool) -> Self {
        match nopm {
            true => Self::Nopm,
            false => Self::Transactions,
        }
    }
}

impl LatencySummary {
    /// A figure of response times, in milliseconds; `None` for others.
    pub fn ms(&self, figure: FigureId) -> Option<f64> {
        match figure {
            FigureId::Mean => Some(self.mean_ms),
            FigureId::P50 => Some(self.p50_ms),
            FigureId::P90 => Some(self.p90_ms),
            FigureId::P95 => Some(self.p95_ms),
            FigureId::P99 => Some(self.p99_ms),
            FigureId::P999 => Some(self.p999_ms),
            FigureId::Max => Some(self.max_ms),
            _ => None,
        }
    }
}

/// What is known of a load: an estimate for each figure that it has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigureSet(BTreeMap<FigureId, Estimate>);

impl FigureSet {
    pub fn get(&self, figure: FigureId) -> Option<Estimate> {
        self.0.get(&figure).copied()
    }

    /// The estimate without what is known about its error.
    pub fn value(&self, figure: FigureId) -> Option<f64> {
        self.get(figure).map(|own| own.value)
    }

    #[cfg(test)]
    pub(crate) fn get_mut(&mut self, figure: FigureId) -> Option<&mut Estimate> {
        self.0.get_mut(&figure)
    }

    /// NOPM and the rate of all transactions.
    #[cfg(test)]
    pub(crate) fn rates_mut(&mut self) -> impl Iterator<Item = &mut Estimate> {
        let rates = [FigureId::Nopm, FigureId::Transactions];
        let all = self.0.iter_mut();
        all.filter(move |(figure, _)| rates.contains(figure))
            .map(|(_, own)| own)
    }

    pub fn set(&mut self, figure: FigureId, estimate: Option<Estimate>) {
        match estimate {
            Some(estimate) => self.0.insert(figure, estimate),
            None => self.0.remove(&figure),
        };
    }

    pub fn with(mut self, figure: FigureId, estimate: Option<Estimate>) -> Self {
        self.set(figure, estimate);
        self
    }

    /// The figures of response times.
    pub fn with_times(self, latency: Option<LatencySummary>) -> Self {
        FigureId::TIMES.into_iter().fold(self, |figures, figure| {
            figures.with(
                figure,
                latency.and_then(|own| Estimate::single(own.ms(figure)?, None)),
            )
        })
    }

    /// Medians over repeats, with the range of these: see [`Estimate::over`].
    pub fn over<'a>(repeats: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let known = repeats.clone().flat_map(|own| own.0.keys().copied());
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
        let figures = medians.0.into_iter().map(|(figure, own)| {
            let is_time = figure.info().unit == FigureUnit::Time;
            let values = repeats.clone().filter_map(|repeat| repeat.value(figure));
            let value = match is_time {
                true => own.value,
                false => values.sum::<f64>() / own.n as f64,
            };
            (figure, Estimate { value, ..own })
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
        let figures = self.0.keys().copied();
        let paired = figures.filter_map(|figure| {
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

impl FigureId {
    /// The name with the unit that times are held in, as JSON has it: `p99_ms`.
    pub fn key(self) -> String {
        let info = self.info();
        match info.unit {
            FigureUnit::Time => format!("{}_ms", info.name),
            _ => info.name.to_owned(),
        }
    }
}

impl FigureId {
    /// What a rate per second is multiplied by to have the figure's unit.
    pub fn per_second(self) -> f64 {
        match self.info().unit {
            FigureUnit::PerMinute => 60.0,
            _ => 1.0,
        }
    }
}

impl Serialize for FigureId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.info().name)
    }
}

/// By [`FigureId::key`]; figures that are missing are left out.
impl Serialize for FigureSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(figure, own)| (figure.key(), own)))
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
}
