//! Notes of an import.

use serde::{Deserialize, Serialize};

/// Information that an output of another tool lacks, or how a figure was found that it does not print.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", content = "args", rename_all = "snake_case")]
pub enum ImportNote {
    EnvironmentUnknown,
    DurabilityUnknown,
    DataSizeUnknown,
    InFlightUnknown,
    StartTimeUnknown,
    NoDistribution,
    NoIntervals,
    WorkloadUnknown,
    UsersUnknown,
    VersionUnknown,
    /// The seventh field of a log of pgbench.
    LagOrRetries,
    SysbenchFileTotalsMissing,
    /// Events in sysbench's queue at the end.
    QueueUncounted,
    /// Transactions that pgbench had not begun at the end.
    UnstartedUncounted,
    /// New-Orders that go-tpc rolled back.
    RolledBackUncounted,
    /// Percentiles of HammerDB.
    RampUpIncluded,
    FailuresUncounted,
    ConsistencyUnverified,
    DurationUnknown,
    /// The options of fio's job.
    JobUnknown,
    /// The profile of diskspd.
    ProfileMissing,
    TargetsDiffer {
        targets: usize,
    },
    CompressibilityUnknown,
    ZoneIgnored {
        zone: String,
    },
    /// The last line of vdbench.
    EndMissing,
    /// The length of vdbench's intervals.
    IntervalUnknown,
    /// vdbench's average, and that of the intervals which it names.
    AverageDiffers {
        printed_per_second: f64,
        counted_per_second: f64,
    },
    PageCacheUnknown,
    /// Jobs of several names in one entry.
    JobsMerged,
    DirectionsMerged,
    FillUnknown,
    OfferedUnknown {
        reason: OfferedUnknown,
    },
    StartsComputed {
        late_seconds: u64,
    },
    /// Whether fio's jobs ran one after the other.
    ConcurrencyUnknown,
    /// A log without `log_avg_msec`.
    SingleLatencies,
    LogsWithoutTime,
    RequestsUnlogged {
        files: Vec<String>,
        logged: u64,
        requests: u64,
    },
    /// `absent` clients have no transaction, `further` more than are named; each of `threads` wrote a log.
    LogsIncomplete {
        lost: u64,
        absent: Vec<String>,
        further: Option<usize>,
        threads: Option<u64>,
        files: usize,
    },
    /// The first report of iostat or vmstat: an average since the machine was started, or one interval.
    FirstReportLeftOut,
    ReportTimesUnknown,
    UnitsUnknown,
    StartAssumed {
        file: String,
    },
    CountsFrom {
        source: CountsSource,
    },
    /// Processed, failed and skipped transactions over the time.
    OfferedDerived,
    OfferedAtLeast,
    LogsComplete {
        transactions: u64,
    },
    LogsSampled {
        lines: u64,
        transactions: u64,
        percent: f64,
    },
    LogsPartial {
        lines: u64,
        transactions: u64,
        percent: f64,
    },
    ProcedureErrorsCounted,
    /// New-Orders of HammerDB: NOPM × the minutes of the test.
    NopmCounted,
}

/// The source of counts by second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountsSource {
    /// sysbench's `--report-interval`.
    ReportIntervals,
    /// pgbench's `-P`.
    Progress,
    /// diskspd's `-D`.
    DiskspdBuckets,
    VdbenchRows,
    /// None: the average over the run × its length.
    VdbenchAverage,
    /// fio's `--status-interval`.
    FioReports,
    HistogramLog,
    RequestLog,
    IopsLog,
    TransactionLog,
    /// The output's totals, over time as the logged transactions are.
    TotalsByLog,
}

/// Why it is unknown how many requests fio offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferedUnknown {
    SomeDirections,
    SeveralSizes,
    JobsMerged,
}
