//! Figures: what is measured, or stated, of a load, a system, a backup or one side of a comparison. Each is a row of
//! [`FigureId::info`]; a [`FigureSet`] maps figures to estimates or to the reason why there is none.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use plimsoll_record::metric::Better;

use super::estimate::Estimate;
use super::latency::LatencySummary;
use super::ratio::{Ratio, RatioSet};
use super::stats::Interval;
use crate::missing::{Known, Missing};

/// Name, unit, direction and source of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureInfo {
    /// In JSON and CSV. Of times without their unit.
    pub name: &'static str,
    pub unit: FigureUnit,
    pub better: Better,
    /// Why it is missing where nothing else is known about that.
    pub missing: Missing,
    pub stated_in: StatedIn,
    /// What is counted over what.
    pub source: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    PerMinute,
    PerSecond,
    /// MB are 10⁶ bytes.
    MbPerSecond,
    Megabytes,
    Kibibytes,
    Bytes,
    /// A response time, held in milliseconds.
    Time,
    Micros,
    Seconds,
    PerTransaction,
    Percent,
    Count,
    /// One quantity over another of the same unit.
    Ratio,
}

/// Where a published claim may state a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedIn {
    Nowhere,
    /// In a row of a table.
    Row,
    /// Among what holds for a side, or for all.
    Method,
}

macro_rules! figures {
    ($($variant:ident, $name:literal, $unit:ident, $better:ident, $missing:ident, $stated_in:ident, $source:literal;)*) => {
        /// Every figure there is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FigureId { $($variant),* }

        impl FigureId {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub fn info(self) -> FigureInfo {
                match self {
                    $(Self::$variant => FigureInfo {
                        name: $name,
                        unit: FigureUnit::$unit,
                        better: Better::$better,
                        missing: Missing::$missing,
                        stated_in: StatedIn::$stated_in,
                        source: $source,
                    }),*
                }
            }

            /// The name of a response time with its unit.
            fn name_in_ms(self) -> &'static str {
                match self { $(Self::$variant => concat!($name, "_ms")),* }
            }
        }
    };
}

figures! {
    Nopm, "nopm", PerMinute, Higher, NoTpm, Row, "New-Orders committed in the window (TPC-C clause 5.4.2)";
    Tpm, "tpm", PerMinute, Higher, NoTpm, Row, "transactions of the five types of TPC-C that completed in the window";
    NewOrders, "new_orders", Count, Higher, NoTpm, Nowhere, "New-Orders that NOPM was counted from";
    TpmPerNopm, "tpm_per_nopm", Ratio, Neither, NoTpm, Nowhere, "TPM over NOPM";
    Transactions, "completed_per_second", PerSecond, Higher, NothingMeasured, Nowhere, "transactions of all types that completed in the window";
    TpmPerUser, "tpm_per_user", PerMinute, Higher, NoTpm, Nowhere, "TPM over users (TPC-C clause 4.2.2 allows at most 12.86 with full keying and think times)";
    RolledBack, "rolled_back_new_orders_percent", Percent, Lower, NoTpm, Nowhere, "New-Orders that were rolled back of those that completed; TPC-C clause 2.4.1.4 wants 1 %";
    RoundTrips, "round_trips_per_txn", PerTransaction, Lower, NothingMeasured, Nowhere, "round trips over completed transactions";
    Iops, "iops", PerSecond, Higher, NothingMeasured, Nowhere, "reads, writes and trims that completed in the window";
    PerSecond, "per_second", PerSecond, Higher, NoInFlight, Row, "requests or transactions that completed in the window";
    MbPerSecond, "mb_per_second", MbPerSecond, Higher, NoBytes, Row, "bytes of these requests";
    RequestKib, "request_kib", Kibibytes, Neither, OneFigure, Row, "size of these requests";

    Mean, "mean", Time, Lower, NoResponses, Row, "sum of response times over their number";
    Min, "min", Time, Lower, NoResponses, Row, "the shortest response time";
    P5, "p5", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P10, "p10", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P25, "p25", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P50, "p50", Time, Lower, NoResponses, Row, "quantile of the window's merged histogram";
    P75, "p75", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P80, "p80", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P90, "p90", Time, Lower, NoResponses, Row, "quantile of the window's merged histogram";
    P95, "p95", Time, Lower, NoResponses, Row, "quantile of the window's merged histogram";
    P98, "p98", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P99, "p99", Time, Lower, NoResponses, Row, "quantile of the window's merged histogram";
    P995, "p995", Time, Lower, NoResponses, Row, "quantile of 99.5 %, of published tables; further digits follow in the same way";
    P999, "p999", Time, Lower, NoResponses, Row, "quantile of the window's merged histogram";
    P9999, "p9999", Time, Lower, NoResponses, Row, "quantile, of published tables";
    P99999, "p99999", Time, Lower, NoResponses, Row, "quantile, of published tables";
    Max, "max", Time, Lower, NoResponses, Row, "the longest response time, exact";
    DeviceReads, "device_reads_per_transaction", PerTransaction, Lower, NoDeviceCounters, Row, "reads of the device below the medium over completed transactions: 0 where memory holds all data";

    Users, "users", Count, Neither, NothingMeasured, Row, "users or threads, with think time or without";
    InFlight, "in_flight", Count, Neither, NoInFlight, Row, "requests or users that were kept in flight, in a closed loop without think time";
    TimeInFlight, "time_in_flight", Time, Lower, NoInFlight, Nowhere, "mean time for which one of these was in flight";
    InFlightEdges, "in_flight_edges_percent", Percent, Lower, NoInFlight, Nowhere, "the most by which requests under way at the window's ends can shift the number in flight";
    MeasuredS, "measured_s", Seconds, Higher, NoWindow, Row, "length of the window";
    RangePercent, "range_percent", Percent, Lower, NoSeries, Row, "highest less lowest rate of the window's five parts";
    SlopePercent, "slope_percent", Percent, Neither, NoSeries, Row, "rise of the rate over the window's five parts";
    FirstHalf, "first_half", PerSecond, Neither, NoSeries, Row, "rate of the window's first half";
    SecondHalf, "second_half", PerSecond, Neither, NoSeries, Row, "rate of the window's second half";
    HalvesPercent, "halves_percent", Percent, Neither, NoSeries, Nowhere, "rate of the second half against the first";
    HalvesByChance, "halves_by_chance_percent", Percent, Lower, NoSeries, Nowhere, "what counts that small make halves differ by";
    ResponseRange, "response_range_percent", Percent, Lower, NoResponses, Nowhere, "highest less lowest mean response time of the window's five parts, of open loops";
    ResponseSlope, "response_slope_percent", Percent, Neither, NoResponses, Nowhere, "rise of the mean response time over the window's five parts, of open loops";
    ResponseRangeByChance, "response_range_by_chance_percent", Percent, Lower, NoResponses, Nowhere, "what chance makes of this range";
    ResponseSlopeByChance, "response_slope_by_chance_percent", Percent, Lower, NoResponses, Nowhere, "what chance makes of this slope";
    IntervalPercent, "interval_percent", Percent, Lower, NoInterval, Row, "half the 95 % interval of the rate or, of an open loop, of the mean response time";
    Runs, "runs", Count, Higher, NoRepeats, Nowhere, "windows or runs that a figure rests on";
    SpreadPercent, "spread_percent", Percent, Lower, NoRepeats, Method, "highest less lowest of these over their median";
    Checkpoints, "checkpoints", Count, Neither, NoCheckpoints, Row, "checkpoints that ended in the window";
    WrittenMb, "written_mb", Megabytes, Neither, NoDriveCache, Row, "bytes written to the device in the window";
    DriveCacheMb, "drive_cache_mb", Megabytes, Neither, NoDriveCache, Row, "the drive's memory";
    DataMb, "data_mb", Megabytes, Neither, NoSizes, Method, "the data set";
    MemoryMb, "memory_mb", Megabytes, Neither, NoSizes, Method, "memory that the system can use";
    BytesPerUnit, "bytes_per_unit", Bytes, Neither, NoSizes, Nowhere, "the data set over its warehouses or rows";

    GeneratorPercent, "generator_percent", Percent, Lower, NoGenerator, Row, "CPU of the generator's busiest core, or of what it can use";
    StoppedPercent, "stopped_percent", Percent, Lower, NoGenerator, Nowhere, "time in which the generator did not run although it should have, over the window";
    GeneratorWaits, "generator_waits_percent", Percent, Lower, NoRunDelay, Nowhere, "waits of the generator's threads for a CPU over all response times";
    LagP99, "lag_p99", Time, Lower, NoLag, Row, "99th percentile of how late the generator was";
    BusyPercent, "busy_percent", Percent, Neither, NoCounts, Nowhere, "time in which connections were busy with transactions";
    ConservedS, "conserved_s", Seconds, Higher, NoCounts, Nowhere, "seconds at whose ends the counts of outcomes agree";
    Offered, "offered", Count, Neither, NoCounts, Nowhere, "transactions that were offered";
    Settled, "settled", Count, Neither, NoCounts, Nowhere, "committed, rolled back, failed and dropped ones together";
    Dropped, "dropped", Count, Lower, NoCounts, Nowhere, "transactions that were offered and never begun";
    DroppedPercent, "dropped_percent", Percent, Lower, NoCounts, Nowhere, "their share of those offered";
    StealPercent, "steal_percent", Percent, Lower, NoHost, Method, "CPU time that the hypervisor gave to others";
    OtherCpuPercent, "other_cpu_percent", Percent, Lower, NoHost, Nowhere, "CPU time of other programs over the machine's";
    OtherIoPercent, "other_io_percent", Percent, Lower, NoDeviceCounters, Method, "I/O of others over all of the device";
    CalibrationOffPercent, "calibration_off_percent", Percent, Neither, NoCalibration, Method, "calibration after the run against before";

    ConditionsVerified, "conditions_verified", Count, Higher, NotVerified, Nowhere, "consistency conditions that were verified";
    Acknowledged, "acknowledged", Count, Higher, NothingToLose, Nowhere, "transactions that were checked after a power cut";
    EmulatedOps, "emulated_ops", Count, Neither, NoEmulation, Nowhere, "operations by which the emulated drive is evaluated";
    LatePercent, "late_percent", Percent, Lower, EmulationUnreported, Row, "lateness of the emulated drive at the median";
    BeyondPercent, "beyond_percent", Percent, Lower, EmulationUnreported, Row, "its operations beyond the next percentile";
    SimulatedCpu, "simulated_cpu_percent", Percent, Lower, NoSimulation, Nowhere, "CPU over the work of simulated sessions";

    DiskRpm, "disk_rpm", PerMinute, Neither, NoMedium, Method, "turns of a disk without a protected cache";
    FlushesPerSecond, "flushes_per_second", PerSecond, Higher, NoFlushes, Method, "flushes that completed";
    FlushUs, "flush_us", Micros, Lower, NoFlushes, Nowhere, "mean time of a flush";
    FastestFlushUs, "fastest_flush_us", Micros, Lower, NoMedium, Nowhere, "the least that a flush can take on this medium";
    Fill, "fill", Ratio, Neither, NoSampling, Method, "how often the test space was written before reads";
    CompressiblePercent, "compressible_percent", Percent, Neither, NoSampling, Method, "compressible share of the test data";
    StatedCompressiblePercent, "said_compressible_percent", Percent, Neither, NoSampling, Method, "what this share is stated to be";

    Seconds, "seconds", Seconds, Lower, NoBytes, Row, "time of a backup or restore";
    MovedMb, "moved_mb", Megabytes, Neither, NoBytes, Row, "bytes that a backup or restore moved";
    Victims, "victims", Count, Neither, NoNoise, Nowhere, "systems whose figures are compared beside noise";
}

impl FigureId {
    /// Key in JSON and in claims: of times with their unit.
    pub fn key(self) -> &'static str {
        match self.info().unit {
            FigureUnit::Time => self.name_in_ms(),
            _ => self.info().name,
        }
    }

    /// What a rate per second is multiplied by to have the figure's unit.
    pub fn per_second(self) -> f64 {
        match self.info().unit {
            FigureUnit::PerMinute => 60.0,
            _ => 1.0,
        }
    }

    /// Whether it is a response time, which is held in milliseconds.
    pub fn is_time(self) -> bool {
        self.info().unit == FigureUnit::Time
    }

    /// What transactions are counted by: New-Orders a minute, or all of them a second.
    pub fn transactions(nopm: bool) -> Self {
        match nopm {
            true => Self::Nopm,
            false => Self::Transactions,
        }
    }

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
        FigureId::TIMES.into_iter().fold(self, |figures, figure| {
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
            Some((figure, Ok(Estimate { value, ..own })))
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

impl Serialize for FigureId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.info().name)
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
    use std::collections::BTreeSet;

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

    #[test]
    fn names_and_keys_are_unique() {
        for names in [
            |figure: &FigureId| figure.info().name,
            |figure: &FigureId| figure.key(),
        ] {
            let all: BTreeSet<&str> = FigureId::ALL.iter().map(names).collect();
            assert_eq!(all.len(), FigureId::ALL.len());
        }
    }
}
