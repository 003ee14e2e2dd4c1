//! Figures: what a load is judged by. Each is a row of [`FigureId::info`]; a load has a map from figures to estimates.

use std::collections::BTreeMap;

use serde::ser::{SerializeMap, Serializer};

use plimsoll_record::metric::Better;

use super::estimate::Estimate;
use super::latency::LatencySummary;
use super::ratio::Ratio;

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
    Iops, "iops", PerSecond, Higher, "reads, writes and trims that completed in the window";
    MbPerSecond, "mb_per_second", MbPerSecond, Higher, "bytes of these requests";
    Mean, "mean", Time, Lower, "sum of response times over their number";
    P50, "p50", Time, Lower, "quantile of the window's merged histogram";
    P90, "p90", Time, Lower, "quantile of the window's merged histogram";
    P95, "p95", Time, Lower, "quantile of the window's merged histogram";
    P99, "p99", Time, Lower, "quantile of the window's merged histogram";
    P999, "p999", Time, Lower, "quantile of the window's merged histogram";
    Max, "max", Time, Lower, "the longest response time, exact";
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
}

impl LatencySummary {
    /// The median of each figure over repeats.
    pub(super) fn median_of(repeats: impl Iterator<Item = Self>) -> Option<Self> {
        let all: Vec<Self> = repeats.collect();
        all.first()?;
        let bounds = all.iter().filter_map(|own| own.at_least_from_ms);
        let median = |of: fn(&Self) -> f64| {
            let each = all.iter().map(|own| Estimate::single(of(own), None));
            Estimate::over(each).map_or(0.0, |own| own.value)
        };
        Some(Self {
            count: all.iter().map(|own| own.count).sum(),
            mean_ms: median(|own| own.mean_ms),
            p50_ms: median(|own| own.p50_ms),
            p90_ms: median(|own| own.p90_ms),
            p95_ms: median(|own| own.p95_ms),
            p99_ms: median(|own| own.p99_ms),
            p999_ms: median(|own| own.p999_ms),
            max_ms: median(|own| own.max_ms),
            at_least_from_ms: bounds.reduce(f64::min),
        })
    }

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

    /// What loads of one kind are ranked by.
    pub fn main_rate(&self) -> Option<Estimate> {
        let rates = [FigureId::Nopm, FigureId::Transactions, FigureId::Iops];
        rates.into_iter().find_map(|figure| self.get(figure))
    }

    /// How many times the figure of `first` this one is.
    pub fn ratio(&self, figure: FigureId, first: &Self) -> Option<Ratio> {
        self.get(figure)?.ratio_to(first.get(figure)?)
    }

    /// For [`serde`]: each of these figures by its name, those that are missing as null.
    fn serialize<S: Serializer>(
        &self,
        figures: &[FigureId],
        times: TimeUnit,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(figures.len()))?;
        for figure in figures {
            let info = figure.info();
            let own = self.get(*figure);
            match info.unit {
                FigureUnit::Time => {
                    let scaled = own.map(|own| own.scaled(times.per_ms));
                    map.serialize_entry(&format!("{}_{}", info.name, times.name), &scaled)?;
                }
                _ => map.serialize_entry(info.name, &own)?,
            }
        }
        map.end()
    }
}

/// In which times are written.
struct TimeUnit {
    name: &'static str,
    /// So many are a millisecond.
    per_ms: f64,
}

const MILLIS: TimeUnit = TimeUnit {
    name: "ms",
    per_ms: 1.0,
};
const MICROS: TimeUnit = TimeUnit {
    name: "us",
    per_ms: 1e3,
};

/// As JSON of loads of transactions.
pub fn transactions<S: Serializer>(figures: &FigureSet, serializer: S) -> Result<S::Ok, S::Error> {
    let rates = [FigureId::Nopm, FigureId::Tpm, FigureId::Transactions];
    let all: Vec<FigureId> = rates.into_iter().chain(FigureId::TIMES).collect();
    figures.serialize(&all, MILLIS, serializer)
}

/// As JSON of requests of block I/O.
pub fn requests<S: Serializer>(figures: &FigureSet, serializer: S) -> Result<S::Ok, S::Error> {
    let rates = [FigureId::Iops, FigureId::MbPerSecond];
    let all: Vec<FigureId> = rates.into_iter().chain(FigureId::TIMES).collect();
    figures.serialize(&all, MICROS, serializer)
}

/// As JSON of the rows of a set.
pub fn set_row<S: Serializer>(figures: &FigureSet, serializer: S) -> Result<S::Ok, S::Error> {
    let all = [
        FigureId::Transactions,
        FigureId::Nopm,
        FigureId::P99,
        FigureId::DeviceReads,
    ];
    figures.serialize(&all, MILLIS, serializer)
}

/// Response times of requests as JSON, in microseconds.
pub fn micros<S: Serializer>(
    latency: &Option<LatencySummary>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(latency) = latency else {
        return serializer.serialize_none();
    };
    let mut map = serializer.serialize_map(Some(FigureId::TIMES.len()))?;
    for figure in FigureId::TIMES {
        let us = latency.ms(figure).map(|ms| ms * MICROS.per_ms);
        map.serialize_entry(&format!("{}_us", figure.info().name), &us)?;
    }
    map.end()
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
