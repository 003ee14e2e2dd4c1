//! What rules read. Gathered from a record and its summary ([`super::gather`]) or from a published table
//! ([`super::claim`]). Numbers are figures of the catalog, so that each that is not known has a reason, and no rule has to
//! guess.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{AuditSubject, Evidence, GeneratorStopCause};
pub use crate::missing::Known;
use crate::missing::Missing;
use crate::summary::{DiagnosisSummary, FigureId, FigureSet, Finding};
use plimsoll_record::{Integrity, PointId};

/// Everything that an audit reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditInput {
    pub systems: Vec<SystemInput>,
    pub loads: Vec<LoadInput>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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

/// Settings by name.
pub type Settings = BTreeMap<String, String>;

/// A system on a medium, or a side of a published table: what holds for all of its loads.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemInput {
    pub about: AuditSubject,
    pub generator: Known<GeneratorLocation>,
    /// From when latencies count: `due` or `start`; `closed` where there is no difference. `None`: not known.
    pub latencies: Option<String>,
    /// `merged`, or `averaged` over clients or intervals. `None`: not known.
    pub percentiles: Option<String>,
    /// Settings that decide whether what was acknowledged survives a power cut; empty: not known.
    pub durability: Settings,
    /// `None`: not known.
    pub governor: Option<String>,
    pub figures: FigureSet,
    /// What the doctor found about medium and machine.
    pub diagnoses: Vec<DiagnosisSummary>,
}

impl SystemInput {
    /// A system of which nothing is known.
    pub fn unknown(about: AuditSubject) -> Self {
        Self {
            about,
            generator: Err(Missing::NoPlace),
            latencies: None,
            percentiles: None,
            durability: Settings::new(),
            governor: None,
            figures: FigureSet::default(),
            diagnoses: Vec::new(),
        }
    }
}

/// One load, or one row of a published table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadInput {
    pub about: AuditSubject,
    /// Of the record; none of a published table.
    pub points: Vec<PointId>,
    pub findings: Vec<Finding>,
    pub figures: FigureSet,
    /// Whether a rate was offered.
    pub open: bool,
    /// Whether a search tried it out.
    pub probe: bool,
    /// Whether it is beyond what a search found the system to carry.
    pub above_line: bool,
    /// Whether its time is simulated.
    pub simulated: bool,
    /// Whether the counts of its window are too small for more than the default limits of STEADY to mean anything.
    pub trend_by_chance: bool,
    /// Whether requests of block I/O went through the page cache.
    pub buffered: bool,
    /// Why the generator did not run when it should.
    pub stop_cause: GeneratorStopCause,
    /// The emulated drive.
    pub drive: String,
    /// Consistency conditions that fail; empty: none.
    pub failed_conditions: String,
    /// Memory of a simulated page cache, where it is limited.
    pub simulated_memory: Option<String>,
    /// Signs that reads met blocks that were never written: evidence of THIN. Mostly there are none.
    pub suspicions: Vec<Evidence>,
    /// Figures that depend on each other, as they were measured, printed or stated.
    pub rows: Vec<RelatedFigures>,
}

impl LoadInput {
    /// A load of which nothing is known.
    pub fn unknown(about: AuditSubject) -> Self {
        Self {
            about,
            ..Self::default()
        }
    }

    /// Length of the window. Nothing disturbs a simulation: the interval alone decides whether it was long enough.
    pub fn window_s(&self) -> Known<f64> {
        match self.simulated {
            true => Err(Missing::NoWindow),
            false => self.figures.read(FigureId::MeasuredS),
        }
    }
}

/// Figures of one load that depend on each other, as far as they are stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelatedFigures {
    /// From the minimum to the maximum.
    pub percentiles: Vec<Percentile>,
    /// The mean response time, TPM and NOPM, and rate, size and bandwidth of requests.
    pub figures: FigureSet,
    /// How far percentiles may be off by the resolution they are kept with.
    pub resolution_percent: f64,
    /// Of several systems that are not stated one by one, from the minimum to the maximum: their lowest and highest.
    pub lowest: Vec<Percentile>,
    pub highest: Vec<Percentile>,
    pub ranges: Vec<Range>,
    pub neighbours: Vec<Neighbours>,
}

impl RelatedFigures {
    /// All transactions a minute, and the New-Orders among them.
    pub const ORDERS: [FigureId; 2] = [FigureId::Tpm, FigureId::Nopm];
    /// Rate and size of requests, and what these make.
    pub const BANDWIDTH: [FigureId; 3] = [
        FigureId::PerSecond,
        FigureId::RequestKib,
        FigureId::MbPerSecond,
    ];

    /// Whether nothing can be compared.
    pub fn is_empty(&self) -> bool {
        let mean = self.figures.get(FigureId::Mean);
        self.percentiles.len() + usize::from(mean.is_some()) < 2
            && self.figures.read_all(Self::ORDERS).is_err()
            && self.figures.read_all(Self::BANDWIDTH).is_err()
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
    /// `None`: not stated.
    pub stated_h: Option<f64>,
    /// `None`: a part cannot be read.
    pub sum_h: Option<f64>,
}

/// What ran in the windows of a load: checkpoints, vacuum, backups, and how often.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadMaintenance {
    /// Empty: of all loads.
    pub load: String,
    pub ran: BTreeMap<String, f64>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedSide {
    pub name: String,
    pub generator: Known<GeneratorLocation>,
    /// Empty: not known.
    pub durability: Settings,
    /// By factor: `hosts`, `cpus`, `memory`, `drives`, `setting.shared_buffers`; empty: not known.
    pub configuration: Settings,
    pub maintained: Known<Vec<LoadMaintenance>>,
    /// What ran beside the systems whose figures are compared; empty: nothing.
    pub noise: String,
    /// What [`FigureId::BytesPerUnit`] counts: warehouses or rows.
    pub data_unit: String,
    pub figures: FigureSet,
}

impl AuditedSide {
    /// A side of which nothing is known.
    pub fn unknown(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            generator: Err(Missing::NoPlace),
            durability: Settings::new(),
            configuration: Settings::new(),
            maintained: Err(Missing::NoMaintenance),
            noise: String::new(),
            data_unit: String::new(),
            figures: FigureSet::default(),
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
    /// A pair of sides of which it is not known what is to differ.
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Move {
    pub about: AuditSubject,
    pub figures: FigureSet,
    /// Whether the summary finds that they agree, which knows how much of the time has data. `None`: not compared.
    pub agrees: Option<bool>,
}

/// A sentence about two figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    pub text: String,
    /// `None`: the figures are not stated.
    pub stated: Option<StatedRatio>,
}

/// The ratio that a sentence states, and the two figures, its subject first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedRatio {
    pub ratio: f64,
    pub first: f64,
    pub second: f64,
}
