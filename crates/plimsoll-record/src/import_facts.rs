//! Facts about imported loads: the keys that importers write and the analysis reads.

use crate::message::ImportNote;
use crate::{Fact, PointId, Record, SubjectId};

/// Facts about an imported load begin so.
pub const IMPORT_FACT: &str = "import.";
/// `import.tool`: the tool whose output this is.
pub const TOOL_FACT: &str = "import.tool";
/// `import.version`: its version, where the output contains it.
pub const VERSION_FACT: &str = "import.version";
/// `import.file`: names of the files, without their directories.
pub const FILE_FACT: &str = "import.file";
/// `import.unknown.WHAT`: information that the source lacks, and the rules that need it.
pub const UNKNOWN_FACT: &str = "import.unknown.";
/// `import.response_from`: whether latencies count from when a transaction was `due`, from its `start`, or which of them
/// is `unknown`. In a closed loop both are one, and the value is `start`.
pub const RESPONSE_FACT: &str = "import.response_from";
/// `import.percentiles`: `merged` (over all clients and the whole time), `none`, or `unknown`.
pub const PERCENTILES_FACT: &str = "import.percentiles";
/// `import.seconds`: where counts by second come from.
pub const SECONDS_FACT: &str = "import.seconds";
/// `import.offered_rate`: how the offered rate of an open loop is known, where the tool does not print it.
pub const OFFERED_FACT: &str = "import.offered_rate";
/// `import.failed`: what failed transactions are counted from.
const FAILED_FACT: &str = "import.failed";
/// `import.counts`: what New-Orders are counted from.
const COUNTS_FACT: &str = "import.counts";
/// `import.given.WHAT`: what the user gave with `--users`, `--started` and `--step`.
pub const GIVEN_FACT: &str = "import.given.";
/// `import.logs`: what share of a load's transactions its logs hold.
pub const LOGS_FACT: &str = "import.logs";
/// `import.distribution`: whether the histograms hold `all` transactions, a random `sample`, or a `part` of them.
pub const DISTRIBUTION_FACT: &str = "import.distribution";

/// `import.device_reads`: reads of the device for each read of the tool, where its output counts both.
pub const DEVICE_READS_FACT: &str = "import.device_reads";
/// `import.device`: the only device below the files of a block load, as the tool names it.
pub const DEVICE_NAME_FACT: &str = "import.device";

/// Ends the key of a fact about one of several loads of a system, before the load's point.
const OF_POINT: &str = ".point.";

/// `import.response_from.point.2`: what holds for that load and not for the system's others.
pub fn key_of(key: &str, point: PointId) -> String {
    format!("{key}{OF_POINT}{}", point.0)
}

/// The key without its point, and the point; `None`: it holds for all loads of the system.
pub fn split(key: &str) -> (&str, Option<PointId>) {
    let parts = key
        .rsplit_once(OF_POINT)
        .and_then(|(base, number)| Some((base, number.parse().ok().map(PointId)?)));
    parts.map_or((key, None), |(base, point)| (base, Some(point)))
}

/// The fact's key, where it holds for the load of that point.
pub fn key_at(fact: &Fact, point: PointId) -> Option<&str> {
    let (key, of) = split(&fact.key);
    of.is_none_or(|of| of == point).then_some(key)
}

/// The value of a fact, where it holds for the load of that point.
pub fn value_at<'a>(
    record: &'a Record,
    system: SubjectId,
    point: PointId,
    key: &str,
) -> Option<&'a str> {
    let mut facts = record.facts.iter().filter(|fact| fact.subject == system);
    facts
        .find(|fact| key_at(fact, point) == Some(key))
        .map(|fact| fact.value.as_str())
}

/// Notes of a fact; a plain value is none.
pub fn notes(value: &str) -> Vec<ImportNote> {
    serde_json::from_str(value).unwrap_or_default()
}

/// The value of a fact with one more note, unless it has that already; `value` is empty for a new fact.
pub fn with_note(value: &str, note: &ImportNote) -> String {
    let mut all = notes(value);
    if !all.contains(note) {
        all.push(note.clone());
    }
    // Notes have nothing that JSON cannot hold.
    serde_json::to_string(&all).unwrap_or_default()
}

/// The key of the fact that holds a note of a load.
pub fn note_key(note: &ImportNote) -> String {
    match note {
        ImportNote::CountsFrom { .. } => SECONDS_FACT.into(),
        ImportNote::OfferedDerived | ImportNote::OfferedAtLeast => OFFERED_FACT.into(),
        ImportNote::LogsComplete { .. }
        | ImportNote::LogsSampled { .. }
        | ImportNote::LogsPartial { .. } => LOGS_FACT.into(),
        ImportNote::ProcedureErrorsCounted => FAILED_FACT.into(),
        ImportNote::NopmCounted => COUNTS_FACT.into(),
        missing => format!("{UNKNOWN_FACT}{}", note_subject(missing)),
    }
}

/// The subject of a note: the last part of its key.
pub fn note_subject(note: &ImportNote) -> &'static str {
    use ImportNote::*;
    match note {
        EnvironmentUnknown => "environment",
        DurabilityUnknown => "durability",
        DataSizeUnknown => "data_size",
        InFlightUnknown => "in_flight",
        StartTimeUnknown => "started_at",
        NoDistribution => "distribution",
        NoIntervals | CountsFrom { .. } => "seconds",
        WorkloadUnknown => "workload",
        UsersUnknown => "users",
        VersionUnknown => "version",
        LagOrRetries => "response_from",
        SysbenchFileTotalsMissing | DurationUnknown => "duration",
        QueueUncounted | UnstartedUncounted => "unserved",
        RolledBackUncounted => "rolled_back",
        RampUpIncluded => "percentiles",
        FailuresUncounted | ProcedureErrorsCounted => "failed",
        ConsistencyUnverified => "consistency",
        JobUnknown | ProfileMissing => "job",
        TargetsDiffer { .. } => "targets",
        CompressibilityUnknown => "entropy",
        ZoneIgnored { .. } => "zone",
        EndMissing => "end",
        IntervalUnknown | ReportTimesUnknown => "interval",
        AverageDiffers { .. } => "average",
        PageCacheUnknown => "cache",
        JobsMerged => "group",
        DirectionsMerged => "directions",
        FillUnknown => "fill",
        OfferedUnknown { .. } => "offered",
        StartsComputed { .. } | StartAssumed { .. } => "start",
        ConcurrencyUnknown => "concurrency",
        SingleLatencies => "latency_log",
        LogsWithoutTime | RequestsUnlogged { .. } | LogsIncomplete { .. } => "logs",
        LogsComplete { .. } | LogsSampled { .. } | LogsPartial { .. } => "logs",
        FirstReportLeftOut => "first_report",
        UnitsUnknown => "units",
        OfferedDerived | OfferedAtLeast => "offered_rate",
        NopmCounted => "counts",
    }
}

/// Standard deviations within which two rates are one.
const BY_CHANCE: f64 = 3.0;
/// The rate of arrivals at random, counted over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DerivedRate {
    pub per_second: f64,
    pub over_s: f64,
}

impl DerivedRate {
    /// Whether two counts differ by no more than arrivals at random do (the variance of a count is the count).
    pub fn is_like(self, other: Self) -> bool {
        let variance = self.per_second / self.over_s + other.per_second / other.over_s;
        (self.per_second - other.per_second).abs() <= BY_CHANCE * variance.sqrt()
    }

    pub fn count(self) -> f64 {
        self.per_second * self.over_s
    }

    pub fn with(self, other: Self) -> Self {
        let over_s = self.over_s + other.over_s;
        Self {
            per_second: (self.count() + other.count()) / over_s,
            over_s,
        }
    }
}

/// Whether an offered rate with this fact is a count of all that was offered.
pub fn is_derived(fact: &str) -> bool {
    notes(fact).contains(&ImportNote::OfferedDerived)
}
