//! What rules read. Gathered from a record and its summary ([`super::gather`]) or from a published table
//! ([`super::claim`]); what is not known has a reason, so that no rule has to guess.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AuditSubject, Evidence, GeneratorStopCause};
pub use crate::missing::Known;
use crate::missing::Missing;
use crate::summary::DiagnosisSummary;
use crate::summary::{Conservation, Finding, Responses};
use plimsoll_record::{Integrity, PointId};

/// Everything that an audit reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditInput {
    pub systems: Vec<SystemFacts>,
    pub loads: Vec<LoadFacts>,
    pub pairs: Vec<Pair>,
    pub moves: Vec<Move>,
    pub sentences: Vec<Sentence>,
    pub durations: Vec<StatedDuration>,
    /// Of the run as a whole, and of what is no load.
    pub others: Vec<SubjectFindings>,
    /// `None`: the figures are in no run file.
    pub file: Option<Integrity>,
}

/// Findings of the summary about one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectFindings {
    pub about: AuditSubject,
    pub findings: Vec<Finding>,
}

/// Where the load generator ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorLocation {
    /// On the machine of the system under test.
    Same,
    /// On another machine.
    Other,
}

impl GeneratorLocation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Other => "other",
        }
    }
}

/// A system on a medium, or a side of a published table: what holds for all of its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemFacts {
    pub about: AuditSubject,
    pub generator: Known<GeneratorLocation>,
    /// From when latencies count: `due` or `start`; `closed` where there is no difference.
    pub latencies: Known<String>,
    /// `merged`, or `averaged` over clients or intervals.
    pub percentiles: Known<String>,
    /// Settings that decide whether what was acknowledged survives a power cut.
    pub durability: Known<BTreeMap<String, String>>,
    /// Mean and least possible time of a flush, both in µs, and flushes per second.
    pub flush: Known<(f64, f64, f64)>,
    /// How often the test space was written before reads.
    pub fill: Known<f64>,
    /// Compressible share in percent: found, and stated.
    pub entropy: Known<(f64, f64)>,
    pub governor: Known<String>,
    /// Calibration after the run against before, in percent.
    pub calibration: Known<f64>,
    /// I/O of others on the device, in percent of all.
    pub other_io: Known<f64>,
    /// What the doctor found about medium and machine.
    pub diagnoses: Vec<DiagnosisSummary>,
}

impl SystemFacts {
    /// Of which nothing is known.
    pub fn unknown(about: AuditSubject) -> Self {
        Self {
            about,
            generator: Err(Missing::NoPlace),
            latencies: Err(Missing::NoMethod),
            percentiles: Err(Missing::NoMethod),
            durability: Err(Missing::NoSettings),
            flush: Err(Missing::NoFlushes),
            fill: Err(Missing::NoSampling),
            entropy: Err(Missing::NoSampling),
            governor: Err(Missing::NoGovernor),
            calibration: Err(Missing::NoCalibration),
            other_io: Err(Missing::NoDeviceCounters),
            diagnoses: Vec::new(),
        }
    }
}

/// Rate, mean latency and the number that was kept in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InFlight {
    pub per_second: f64,
    pub mean_ms: f64,
    pub asked: f64,
    /// By how much a request that was under way when the window began or ended can shift that number, in percent.
    pub edges_percent: f64,
}

/// Counts of outcomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counted {
    /// Second by second.
    PerSecond(Conservation),
    /// As a table has them.
    Table { offered: u64, settled: u64 },
}

/// How surely a load's figure is known: its rate or, of an open loop, its mean response time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    /// Half the 95 % interval, of one window or of repeats, and the measured time.
    Half {
        percent: f64,
        /// `None`: a published table does not state it.
        measured_s: Option<f64>,
        of_repeats: bool,
    },
    /// Too short for an interval of one window, and too few repeats for one of theirs.
    TooShort { measured_s: f64, repeats: u32 },
}

/// Of the window's five parts; `*_by_chance` is what counts that small differ by anyway.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowTrend {
    pub range_percent: f64,
    pub slope_percent: f64,
    /// Whether the counts are too small for more than the default limits to mean anything.
    pub by_chance: bool,
}

/// Time in which the generator did not run although it should have, and what is known about the cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorStops {
    pub measured_s: f64,
    pub percent: f64,
    pub cause: GeneratorStopCause,
    /// Waits of its threads for a CPU, in percent of all response times.
    pub waits_percent: Known<f64>,
}

/// One load, or one row of a published table.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadFacts {
    pub about: AuditSubject,
    /// Of the record; none of a published table.
    pub points: Vec<PointId>,
    pub findings: Vec<Finding>,
    /// Whether a rate was offered.
    pub open: bool,
    /// Whether a search tried it out.
    pub probe: bool,
    /// Whether it is beyond what a search found the system to carry.
    pub above_line: bool,
    pub measured_s: Option<f64>,
    pub in_flight: Known<InFlight>,
    pub counted: Known<Counted>,
    pub trend: Known<WindowTrend>,
    /// Second half against the first in percent, and what chance makes of it.
    pub halves: Known<(f64, f64)>,
    /// How response times differed within the window; of open loops.
    pub responses: Known<Responses>,
    pub precision: Known<Precision>,
    pub checkpoints: Known<f64>,
    /// MB written, and of the drive's own memory.
    pub written: Known<(f64, f64)>,
    /// MB of data, and of memory that the system can use.
    pub sizes: Known<(f64, f64)>,
    /// Whether requests of block I/O went through the page cache.
    pub buffered: Known<bool>,
    /// Signs that reads met blocks that were never written: evidence of THIN. Mostly there are none.
    pub suspicions: Vec<Evidence>,
    /// Reads of the device for each transaction.
    pub reads: Known<f64>,
    /// CPU of the generator, in percent of a core.
    pub generator: Known<f64>,
    /// Whether the generator ran when it should.
    pub stops: Known<GeneratorStops>,
    /// 99th percentile of the lag and median response, in ms.
    pub lag: Known<(f64, f64)>,
    /// How busy the connections were with transactions, in percent.
    pub connections: Known<f64>,
    /// Dropped, and their share in percent.
    pub dropped: Known<(u64, f64)>,
    pub steal: Known<f64>,
    /// CPU time of other programs, in percent of the machine's.
    pub other_cpu: Known<f64>,
    /// TPM and NOPM, and New-Orders behind them where they were counted.
    pub tpm_nopm: Known<(f64, f64, Option<f64>)>,
    /// Conditions verified, and those that fail.
    pub conditions: Known<(u32, String)>,
    /// Drive, operations, lateness and operations beyond in percent.
    pub emulated: Known<(String, u64, f64, f64)>,
    pub simulated: Known<SimulatedLoad>,
    /// Transactions that were checked after a power cut; `None`: there was none.
    pub cut: Option<u64>,
    /// Figures that depend on each other.
    pub row: Known<RelatedFigures>,
    /// Latencies as another tool printed them; empty: none are known.
    pub printed: Vec<RelatedFigures>,
}

impl LoadFacts {
    /// Of which nothing is known.
    pub fn unknown(about: AuditSubject) -> Self {
        Self {
            about,
            points: Vec::new(),
            findings: Vec::new(),
            open: false,
            probe: false,
            above_line: false,
            measured_s: None,
            in_flight: Err(Missing::NoInFlight),
            counted: Err(Missing::NoCounts),
            trend: Err(Missing::NoSeries),
            halves: Err(Missing::NoSeries),
            responses: Err(Missing::NoResponses),
            precision: Err(Missing::NoInterval),
            checkpoints: Err(Missing::NoCheckpoints),
            written: Err(Missing::NoDriveCache),
            sizes: Err(Missing::NoSizes),
            buffered: Err(Missing::NotForThisLoad),
            suspicions: Vec::new(),
            reads: Err(Missing::NoDeviceCounters),
            generator: Err(Missing::NoGenerator),
            stops: Err(Missing::NoGenerator),
            lag: Err(Missing::NoLag),
            connections: Err(Missing::NoCounts),
            dropped: Err(Missing::NoCounts),
            steal: Err(Missing::NoHost),
            other_cpu: Err(Missing::NoHost),
            tpm_nopm: Err(Missing::NoTpm),
            conditions: Err(Missing::NotVerified),
            emulated: Err(Missing::NoEmulation),
            simulated: Err(Missing::NoSimulation),
            cut: None,
            row: Err(Missing::OneFigure),
            printed: Vec::new(),
        }
    }
}

/// What the figures of a simulated load rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedLoad {
    /// CPU in percent of the work of its sessions.
    pub cpu_percent: f64,
    /// Of the page cache, where it is limited.
    pub memory: Option<String>,
}

/// Figures of one load that depend on each other, as far as they are stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelatedFigures {
    /// From the minimum to the maximum.
    pub percentiles: Vec<Percentile>,
    pub mean_ms: Option<f64>,
    /// How far percentiles may be off by the resolution they are kept with.
    pub resolution_percent: f64,
    pub orders: Option<OrderRate>,
    pub bandwidth: Option<Bandwidth>,
    /// Of several systems that are not stated one by one, from the minimum to the maximum: their lowest and highest.
    pub lowest: Vec<Percentile>,
    pub highest: Vec<Percentile>,
    pub ranges: Vec<Range>,
    pub neighbours: Vec<Neighbours>,
}

impl RelatedFigures {
    /// Whether nothing can be compared.
    pub fn is_empty(&self) -> bool {
        let latencies = self.percentiles.len() + usize::from(self.mean_ms.is_some());
        latencies < 2
            && self.orders.is_none()
            && self.bandwidth.is_none()
            && self.ranges.is_empty()
            && self.neighbours.is_empty()
    }
}

/// A latency that this share of all did not exceed.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentile {
    /// `p99`, `min`, `max`.
    pub name: String,
    pub share: f64,
    pub ms: f64,
}

/// All transactions a minute, and the new orders among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderRate {
    pub tpm: f64,
    pub nopm: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    pub per_second: f64,
    pub request_kib: f64,
    pub mb_per_second: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// As a claim calls it: `p99_ms`.
    pub figure: String,
    pub low: f64,
    pub high: f64,
}

/// A rate, and what the rows beside it in the same ladder let expect.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    pub figure: String,
    pub value: f64,
    pub expected: f64,
}

/// A time and the sum of its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedDuration {
    pub name: String,
    pub parts: String,
    pub stated_h: Known<f64>,
    /// `None`: a part cannot be read.
    pub sum_h: Option<f64>,
}

/// What ran in the windows of a side, by load: checkpoints, vacuum, backup.
pub type Maintained = Vec<(String, BTreeMap<String, f64>)>;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedSide {
    pub name: String,
    pub generator: Known<GeneratorLocation>,
    pub durability: Known<BTreeMap<String, String>>,
    /// By factor: `hosts`, `cpus`, `memory`, `drives`, `setting.shared_buffers`.
    pub configuration: Known<BTreeMap<String, String>>,
    pub maintained: Known<Maintained>,
    /// Systems whose figures are compared.
    pub victims: Known<u32>,
    /// What ran beside them; empty: nothing.
    pub noise: String,
    pub tpm_per_nopm: Known<f64>,
    /// Committed New-Orders that this rests on; `None`: not stated, as in a published table.
    pub new_orders: Option<f64>,
    /// Warehouse or row, and bytes for each.
    pub bytes_per: Known<(String, f64)>,
    pub runs: Known<u32>,
    /// How repeats differ: highest less lowest, in percent of the median.
    pub spread_percent: Known<f64>,
}

impl AuditedSide {
    /// Of which nothing is known.
    pub fn unknown(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            generator: Err(Missing::NoPlace),
            durability: Err(Missing::NoSettings),
            configuration: Err(Missing::NoConfiguration),
            maintained: Err(Missing::NoMaintenance),
            victims: Err(Missing::NoNoise),
            noise: String::new(),
            tpm_per_nopm: Err(Missing::NoTpm),
            new_orders: None,
            bytes_per: Err(Missing::NoSizes),
            runs: Err(Missing::NoRepeats),
            spread_percent: Err(Missing::NoRepeats),
        }
    }
}

/// Two sides that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub first: AuditedSide,
    pub second: AuditedSide,
    /// The one thing that is to differ; empty: not named.
    pub factor: String,
    /// By how much their main figures differ, in percent.
    pub effect_percent: Known<f64>,
    /// In what their workloads differ.
    pub unlike: Option<Evidence>,
}

impl Pair {
    /// Of two sides of which it is not known what is to differ.
    pub fn unknown(first: AuditedSide, second: AuditedSide) -> Self {
        Self {
            first,
            second,
            factor: String::new(),
            effect_percent: Err(Missing::NothingMeasured),
            unlike: None,
        }
    }
}

/// Bytes moved from one place to another: a backup, a restore.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub about: AuditSubject,
    /// MB/s, seconds, MB.
    pub moved: Known<(f64, f64, f64)>,
    /// Whether the summary finds that they agree, which knows how much of the time has data. `None`: not compared.
    pub agrees: Option<bool>,
}

/// A sentence about two figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    pub text: String,
    /// The ratio that it states, and the two figures, its subject first.
    pub stated: Known<(f64, f64, f64)>,
}
