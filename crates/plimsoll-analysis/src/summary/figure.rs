//! The catalog of figures: what is measured, or stated, of a load, a system, a backup or one side of a comparison. Each is
//! a row of [`FigureId::info`].

use serde::{Serialize, Serializer};

use plimsoll_record::metric::Better;

use crate::missing::Missing;

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

    /// Response times by the share of all that is not above them.
    pub const PERCENTILES: [(Self, f64); 16] = [
        (Self::Min, 0.0),
        (Self::P5, 0.05),
        (Self::P10, 0.1),
        (Self::P25, 0.25),
        (Self::P50, 0.5),
        (Self::P75, 0.75),
        (Self::P80, 0.8),
        (Self::P90, 0.9),
        (Self::P95, 0.95),
        (Self::P98, 0.98),
        (Self::P99, 0.99),
        (Self::P995, 0.995),
        (Self::P999, 0.999),
        (Self::P9999, 0.9999),
        (Self::P99999, 0.99999),
        (Self::Max, 1.0),
    ];

    /// Of percentiles: the share of all that is not above them.
    pub fn share(self) -> Option<f64> {
        let mut all = Self::PERCENTILES.into_iter();
        all.find_map(|(figure, share)| (figure == self).then_some(share))
    }
}

impl Serialize for FigureId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.info().name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
