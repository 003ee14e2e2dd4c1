//! The figures of an emulated drive at a point.

use serde::Serialize;

use plimsoll_record::drive::DriveOp;
use plimsoll_record::hist::{CoarseHist, LOWEST};

/// A fact of a medium: its drive's name in the catalog, or its drive file. Only emulated media have it.
pub const DRIVE_FACT: &str = "drive";

/// A fact of an emulated medium: what people call its drive.
pub const DRIVE_TITLE_FACT: &str = "drive_title";

/// A fact of an emulated medium that was slowed: how many times.
pub const SLOWER_FACT: &str = "slower";

/// Facts of a medium whose drive is simulated in virtual time: processors of the machine, and memory for its page cache where that is limited.
pub const SIMULATED_CPUS_FACT: &str = "simulated.cpus";
pub const SIMULATED_MEMORY_FACT: &str = "simulated.memory";
/// How fast its processors are against the reference's, where that is not 1.
pub const SIMULATED_SPEED_FACT: &str = "simulated.cpu_speed";

/// Rule EMULATED: largest median lateness, as a share of the median modelled time.
pub const LATENESS_LIMIT: f64 = 0.10;

/// Rule EMULATED: largest share of operations that took longer than the next percentile that the drive models.
pub const BEYOND_LIMIT: f64 = 0.01;

/// Lateness that adds less than this share to the modelled time of all operations changes little of what a database
/// sees: late acknowledgements of a disk's write cache beside flushes that each wait for the platter.
pub const ADDED_LIMIT: f64 = 0.05;

/// Below this share, late answers are less than what any two runs differ by.
pub const ADDED_DOUBTFUL: f64 = 0.01;

/// Fewer operations of a kind have no percentiles: of 300, three are 1 %.
pub const FEWEST_OPS: u64 = 300;

/// An emulated drive in the measure phase. Of a power cut, what came before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriveSummary {
    /// As people call it.
    pub drive: String,
    /// How much of the window the emulator reported.
    pub reported_s: f64,
    /// Kinds that were asked for.
    pub ops: Vec<DriveOpSummary>,
    /// CPU of the emulator's process in percent of one CPU.
    pub emulator_cpu_percent: Option<f64>,
    pub emulator_memory_mb: Option<f64>,
    /// Mean time per request as the kernel of the machine sees it (`/proc/diskstats`), of a block device only.
    pub host_read_mean_us: Option<f64>,
    pub host_write_mean_us: Option<f64>,
    /// What requests waited outside the emulator; of a block device only.
    pub waiting: Option<Waiting>,
    /// Of an array or a cluster all drives together, and then each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberSummary>,
}

/// A drive of an array or a cluster, by its model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MemberSummary {
    /// `2`, or `host 0 buffer`.
    pub member: String,
    pub reads_per_second: f64,
    pub writes_per_second: f64,
    pub read_mb_per_second: f64,
    pub written_mb_per_second: f64,
    /// Of what all of them wrote to their media, with write amplification: how wear is shared out.
    pub wear_percent: Option<f64>,
    /// Requests in flight.
    pub queue: f64,
    pub busy_percent: f64,
    /// Bytes that went to flash for each byte that was written.
    pub write_amplification: Option<f64>,
    pub watts: Option<f64>,
    /// Energy for each transaction or request of the load. `None` where others use the drive at the same time.
    pub joules_per_transaction: Option<f64>,
}

/// Time that requests were under way in a second, summed over them all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Waiting {
    /// As the kernel saw it.
    pub kernel_ms: f64,
    /// As the emulator did.
    pub emulator_ms: f64,
    /// What lies beyond, in percent of the modelled time.
    pub added_percent: f64,
}

/// One kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriveOpSummary {
    pub op: DriveOp,
    pub ops: u64,
    pub per_second: Option<f64>,
    /// MB are 10⁶ bytes.
    pub mb_per_second: Option<f64>,
    /// How long operations take by the model.
    pub modelled: Option<DriveTimes>,
    /// How long they took.
    pub real: Option<DriveTimes>,
    /// `real − modelled`; 0 for those answered in time. Times below a microsecond count as 0.
    pub late_p50_us: Option<f64>,
    pub late_p99_us: Option<f64>,
    /// Median lateness in percent of the median modelled time.
    pub late_percent: Option<f64>,
    /// Share that took longer than the next percentile that the drive models.
    pub beyond_percent: Option<f64>,
    /// Its lateness in percent of the modelled time of all kinds of operations together.
    pub added_percent: Option<f64>,
    pub errors: u64,
}

/// Of the seconds' coarse histograms: percentiles within 3.2 %, the mean exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DriveTimes {
    pub mean_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
}

impl DriveTimes {
    pub(super) fn of(hist: &CoarseHist) -> Option<Self> {
        Some(Self {
            mean_us: hist.mean()?.as_micros_f64(),
            p50_us: hist.quantile(0.5)?.as_micros_f64(),
            p99_us: hist.quantile(0.99)?.as_micros_f64(),
        })
    }
}

impl DriveOpSummary {
    /// Whether there are enough operations to evaluate rule EMULATED.
    pub fn has_enough_operations(&self) -> bool {
        self.ops >= FEWEST_OPS
    }

    /// Whether rule EMULATED is met, where it can be evaluated.
    pub fn kept_up(&self) -> Option<bool> {
        let late = self.late_percent? > LATENESS_LIMIT * 100.0;
        let beyond = self.beyond_percent? > BEYOND_LIMIT * 100.0;
        self.has_enough_operations().then_some(!late && !beyond)
    }
}

/// A quantile of a drive's lateness. Histograms count everything below a microsecond as one, also what was not late at
/// all, so that it is given as 0.
pub fn lateness_us(late: &CoarseHist, q: f64) -> Option<f64> {
    let us = late.quantile(q)?.as_micros_f64();
    // A bucket's middle lies up to 3.2 % above the value.
    Some(if us <= LOWEST.as_micros_f64() * 1.04 {
        0.0
    } else {
        us
    })
}

impl DriveOpSummary {
    pub(super) fn added(&self) -> f64 {
        self.added_percent.unwrap_or_default()
    }

    /// Few operations have no percentiles, but count where they add much time.
    pub(super) fn fell_behind(&self) -> bool {
        self.kept_up() == Some(false)
            || (!self.has_enough_operations() && self.added() >= ADDED_LIMIT * 100.0)
    }
}
