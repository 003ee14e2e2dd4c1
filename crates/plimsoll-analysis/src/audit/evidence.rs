//! The evidence of a rule. A closed set, so that each has its sentence in every language: `evidence-` and its name in the
//! export, with its fields as arguments. A rule that compares one figure with a limit takes [`Evidence::AtMost`],
//! [`Evidence::AtLeast`] or [`Evidence::Off`], and needs a sentence only.

use plimsoll_record::DiagnosisLevel;
use plimsoll_record::message::DoctorFinding;
use serde::Serialize;

use crate::missing::Missing;
use crate::summary::FindingKind;

/// What a rule evaluated, with its limit. The same whether it passed or fired.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "evidence", rename_all = "snake_case")]
pub enum Evidence {
    /// A finding of the summary that is the same thing.
    Found { finding: FindingKind },
    /// FINDING.
    NoFinding,
    /// Another input of this rule, which is missing.
    MissingInput { missing: Missing },
    /// A diagnosis of the doctor about a medium, or the machine.
    Diagnosed {
        of: String,
        code: String,
        #[serde(skip)]
        level: DiagnosisLevel,
        #[serde(flatten)]
        finding: DoctorFinding,
    },
    /// LITTLE: number in flight by rate × mean latency, beside the number that was kept in flight.
    InFlight {
        per_second: f64,
        mean_ms: f64,
        found: f64,
        asked: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// CONSERVE, second by second.
    Conserved { seconds: u64 },
    /// CONSERVE, of counts in a table.
    Counted { offered: u64, settled: u64 },
    /// STEADY.
    Held {
        range_percent: f64,
        slope_percent: f64,
        range_limit_percent: f64,
        slope_limit_percent: f64,
    },
    /// STEADY, of an open loop: mean response times of the window's five parts.
    ResponseTimes {
        range_percent: f64,
        slope_percent: f64,
        range_limit_percent: f64,
        slope_limit_percent: f64,
    },
    /// SHORT: the window.
    Window { measured_s: f64, fewest_s: f64 },
    /// SHORT: half the 95 % interval.
    Interval {
        percent: f64,
        limit_percent: f64,
        measured_s: Option<f64>,
    },
    /// SHORT: one window below what an interval needs, and too few repeats.
    NoInterval {
        measured_s: f64,
        fewest_s: f64,
        repeats: u32,
        fewest_repeats: u32,
    },
    /// SHORT: bytes written against the drive's own memory.
    Written { written_mb: f64, cache_mb: f64 },
    /// CACHED: data against the memory that the system can use.
    DataAndMemory { data_mb: f64, memory_mb: f64 },
    /// CACHED: requests went through the page cache, and how much of the data it holds is not known.
    PageCache,
    /// THIN, as a suspicion: share of the reads that the device saw.
    ReachedDevice { percent: f64 },
    /// THIN, as a suspicion: reads faster than any drive's.
    FastReads { mean_us: f64, fastest_us: f64 },
    /// THIN, as a suspicion: more was read than a SATA link carries.
    FastLink {
        device: String,
        mb_per_second: f64,
        limit_mb: f64,
    },
    /// CACHED: reads that reached the device.
    DeviceReads { per_transaction: f64, fewest: f64 },
    /// CLIENT: time in which the generator did not run although it should have.
    GeneratorStopped {
        stopped_s: f64,
        measured_s: f64,
        percent: f64,
        limit_percent: f64,
        cause: GeneratorStopCause,
    },
    /// CLIENT: how late intents were started, against the response time.
    ScheduleLag {
        p99_ms: f64,
        response_p50_ms: f64,
        percent: f64,
        limit_percent: f64,
    },
    /// CLIENT.
    Dropped {
        dropped: u64,
        percent: f64,
        cause: DropCause,
        busy_percent: Option<f64>,
    },
    /// SAMEBOX: where the generator ran; `same`, `other`.
    GeneratorAt { place: String },
    /// SAMEBOX, of two sides.
    GeneratorsAt { first: String, second: String },
    /// OMISSION and PCTAVG: how the latencies of a table or an import came about.
    Latencies { from: String },
    /// PCTAVG.
    Percentiles { from: String },
    /// DURABLE: a setting that can lose what was acknowledged.
    Unsafe { setting: String, value: String },
    /// DURABLE: no checked setting is unsafe.
    Safe { settings: String },
    /// DURABLE: the same setting on two sides.
    SettingsDiffer {
        setting: String,
        first: String,
        second: String,
    },
    /// DURABLE: nothing lost in a power cut.
    Kept { acknowledged: u64 },
    /// LIES: mean time of a flush against what the medium can do at best.
    FlushTime {
        mean_us: f64,
        fastest_us: f64,
        per_second: f64,
    },
    /// MAINT: what ran in two windows.
    Maintenance {
        what: String,
        first: f64,
        second: f64,
    },
    /// THIN and ENTROPY: how the test space was filled.
    Filled { fill: f64 },
    /// ENTROPY.
    Compressible {
        found_percent: f64,
        stated_percent: f64,
        limit_percent: f64,
    },
    /// NOISE.
    Governor { governor: String },
    /// ONEFACTOR: in what the workloads of two runs differ.
    Unlike { differs: String },
    /// ONEFACTOR: what differs beside the factor; empty `differs`: nothing.
    Factors { factor: String, differs: String },
    /// VICTIMS: loaded systems whose figures are compared, and what ran beside them.
    Victims {
        first: u32,
        second: u32,
        noise_first: String,
        noise_second: String,
    },
    /// RATIO: TPM/NOPM against what the mix gives.
    TpmPerNopm {
        found: f64,
        expected: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// RATIO, of two sides.
    RatiosDiffer {
        first: f64,
        second: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// SIZE: bytes of the data set per warehouse or row.
    BytesPer {
        unit: String,
        first: f64,
        second: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// RATE: bandwidth × time against the bytes moved.
    Moved {
        mb_per_second: f64,
        seconds: f64,
        product_mb: f64,
        moved_mb: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// WORDING: the ratio that a sentence states, and that of its figures.
    Stated {
        sentence: String,
        first: f64,
        second: f64,
        stated: f64,
        ratio: f64,
        percent: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// CONSIST.
    Conditions { verified: u32, failed: String },
    /// EMULATED.
    KeptUp {
        drive: String,
        ops: u64,
        late_percent: f64,
        beyond_percent: f64,
    },
    /// VIRTUAL: a page cache of so much memory, which makes more of it than Linux.
    SimulatedMemory { memory: String },
    /// VIRTUAL: everything fits into the page cache.
    SimulatedEnough,
    /// REPEAT: runs on each side.
    Repeats {
        first: u32,
        second: u32,
        fewest: u32,
    },
    /// REPEAT: how repeats differ, against what is claimed to be their difference.
    RepeatSpread {
        spread_percent: f64,
        effect_percent: f64,
    },
    /// PLAUSIBLE: percentiles in their order.
    InOrder { percentiles: String },
    /// PLAUSIBLE: a percentile above a later one.
    OutOfOrder {
        lower: String,
        lower_ms: f64,
        higher: String,
        higher_ms: f64,
    },
    /// PLAUSIBLE: the least mean that the percentiles leave room for.
    MeanAtLeast { mean_ms: f64, bound_ms: f64 },
    /// PLAUSIBLE: the highest mean that the percentiles leave room for.
    MeanAtMost { mean_ms: f64, bound_ms: f64 },
    /// PLAUSIBLE: new orders are a part of all transactions.
    NewOrders { nopm: f64, tpm: f64 },
    /// PLAUSIBLE: rate × size against bandwidth.
    BandwidthOf {
        per_second: f64,
        request_kib: f64,
        product_mb: f64,
        mb_per_second: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// PLAUSIBLE: a range over several systems.
    RangeOf { figure: String, low: f64, high: f64 },
    /// PLAUSIBLE: a rate against the rows beside it.
    BesideOthers {
        figure: String,
        value: f64,
        expected: f64,
        times: f64,
        limit: f64,
    },
    /// DURATION: the parts of a time against all of it.
    AddedUp {
        parts: String,
        sum_h: f64,
        stated_h: f64,
        off_percent: f64,
        limit_percent: f64,
    },
    /// INTACT: the content matches the digest.
    DigestMatches { digest: String },
    /// INTACT.
    DigestDiffers { digest: String, found: String },
    /// INTACT: the run is closed and its digest is missing.
    NoDigest,
    /// A share that must not exceed its limit, by the name of its sentence.
    #[serde(untagged)]
    AtMost {
        evidence: &'static str,
        percent: f64,
        limit_percent: f64,
    },
    /// A number that must reach its limit.
    #[serde(untagged)]
    AtLeast {
        evidence: &'static str,
        found: f64,
        fewest: f64,
    },
    /// A figure against what it should be, which it may be off by no more than its limit.
    #[serde(untagged)]
    Off {
        evidence: &'static str,
        off_percent: f64,
        limit_percent: f64,
    },
}

impl Evidence {
    /// The name of one that several rules share.
    pub fn shared_name(&self) -> Option<&'static str> {
        match self {
            Self::AtMost { evidence, .. }
            | Self::AtLeast { evidence, .. }
            | Self::Off { evidence, .. } => Some(evidence),
            _ => None,
        }
    }
}

/// Why a generator did not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorStopCause {
    /// The CPU quota of its control group.
    Quota,
    /// Other work had the CPUs.
    Cpu,
    /// A signal, a debugger, or a machine that stood still.
    #[default]
    Unknown,
}

/// Why an open loop dropped what was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DropCause {
    /// Nothing was dropped.
    None,
    /// All connections were busy with transactions.
    System,
    /// The load generator's CPU was full.
    Generator,
    Unknown,
}
