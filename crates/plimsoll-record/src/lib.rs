//! The record: what a run file holds, as types.
//!
//! These are the stored schema's own types. A record is complete by itself: report, comparison and audit are functions
//! of records and open nothing else. Times are [`Nanos`] from the run's start.

mod backup;
mod block;
pub mod drive;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod hist;
pub mod import_facts;
pub mod lane;
pub mod leb128;
pub mod message;
pub mod metric;
mod outage;
pub mod receipt;
mod reported;
mod run;
pub mod runfile;

use std::collections::BTreeMap;

pub use backup::{BackupKind, BackupOutcome, BackupRow};
pub use block::{BlockPoint, BlockShare, BlockStreamInfo, Diagnosis, DiagnosisLevel, SteadyInfo};
pub use outage::Outage;
pub use reported::Reported;
pub use run::{Integrity, RunInfo, RunStatus};
use serde::{Deserialize, Serialize};

use crate::drive::DriveOp;
use crate::hist::{CoarseHist, Hist};
use crate::lane::Counts;
use crate::message::EventKind;
use crate::metric::Metric;
use plimsoll_plan::Interference;
use plimsoll_plan::objective::Objective;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{PlacedName, RecordedPlan};

/// Version of the stored schema (`PRAGMA user_version` of a run file).
pub const SCHEMA_VERSION: i32 = 8;
/// `PRAGMA application_id` of a run file: "Plim".
pub const APPLICATION_ID: i32 = 0x506c_696d;

/// A fact of an instance: the plan's system that it is one of.
pub const INSTANCE_OF: &str = "instance_of";

#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub run: RunInfo,
    /// The plan as it was written, passwords redacted.
    pub plan_written: String,
    pub plan: RecordedPlan,
    pub subjects: Vec<Subject>,
    pub facts: Vec<Fact>,
    pub points: Vec<Point>,
    pub phases: Vec<Phase>,
    pub seconds: Vec<Second>,
    pub windows: Vec<Window>,
    pub series: Vec<Series>,
    pub events: Vec<Event>,
    pub checks: Vec<Check>,
    pub drive: Vec<DriveRow>,
    pub cuts: Vec<PowerCut>,
    pub searches: Vec<SearchInfo>,
    pub resets: Vec<Reset>,
    pub waits: Vec<WaitRow>,
    pub blocks: Vec<BlockPoint>,
    pub shares: Vec<BlockShare>,
    pub steady: Vec<SteadyInfo>,
    pub diagnoses: Vec<Diagnosis>,
    pub backups: Vec<BackupRow>,
    pub outages: Vec<Outage>,
    /// Of imported runs: what the tools that measured them printed.
    pub reported: Vec<Reported>,
    pub integrity: Integrity,
}

impl Record {
    pub fn subject(&self, kind: SubjectKind, name: &str) -> Option<&Subject> {
        self.subjects
            .iter()
            .find(|subject| subject.kind == kind && subject.name == name)
    }

    /// Name of the plan's system that a subject is an instance of.
    pub fn system_name<'a>(&'a self, subject: &'a Subject) -> &'a str {
        let fact = self
            .facts
            .iter()
            .find(|fact| fact.subject == subject.id && fact.key == INSTANCE_OF);
        fact.map_or(PlacedName::parse(&subject.name).name, |fact| &fact.value)
    }
}

/// The subject of a series or count. Each of them belongs to one.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SubjectId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub id: SubjectId,
    pub kind: SubjectKind,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// The machine.
    Host,
    /// A block device.
    Device,
    /// A medium of the plan.
    Medium,
    /// The process that emulates a drive; named like the medium.
    Emulator,
    /// A system on a medium; named `system@medium`, or `system` where it has none.
    System,
    /// plimsoll itself.
    Generator,
    /// The backup that is made of a system, or its restored copy; named like the system.
    Backup,
}

impl SubjectKind {
    pub const ALL: [Self; 7] = [
        Self::Host,
        Self::Device,
        Self::Medium,
        Self::Emulator,
        Self::System,
        Self::Generator,
        Self::Backup,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Device => "device",
            Self::Medium => "medium",
            Self::Emulator => "emulator",
            Self::System => "system",
            Self::Generator => "generator",
            Self::Backup => "backup",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One thing known about a subject: `cpu_model`, `setting.shared_buffers`, `mount_options`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub subject: SubjectId,
    pub key: String,
    pub value: String,
}

#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PointId(pub u32);

/// One load point of a step's ladder on one medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub id: PointId,
    /// Name of the step, and its place in the plan.
    pub step: String,
    pub step_index: u32,
    /// Place in the ladder.
    pub ordinal: u32,
    pub system: SubjectId,
    /// The medium's subject; `None` for a system that keeps its data elsewhere.
    pub medium: Option<SubjectId>,
    pub workload: String,
    /// `procedures` or `statements`; `block` for block I/O, which has a [`BlockPoint`] beside it.
    pub mode: String,
    pub users: u32,
    /// Connections that the users share; as many as users where each has one.
    pub connections: u32,
    /// Offered rate of an open loop; `None` in a closed loop.
    pub offered_per_second: Option<f64>,
    /// The rate at the end of the window, where it is not the same throughout.
    pub offered_to_per_second: Option<f64>,
    /// Which time the same load of the same step and medium is measured, from 0.
    pub repeat: u32,
    pub purpose: PointPurpose,
    pub scene: Interference,
    /// Names of the transaction types, in the order of [`Second::txn`] and [`Window::txn`].
    pub txns: Vec<String>,
    /// What else defines the load, by name: `script`, `rw`, `bs`, `direct`, `ioengine`. Two points are of one workload
    /// only where no name that both have differs.
    pub parameters: BTreeMap<String, String>,
}

/// What a point is measured for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointPurpose {
    /// A load of a ladder.
    #[default]
    Ladder,
    /// A load tried in the search for the load line; `ordinal` counts the loads in the order of trying.
    Search,
    /// Load before the first point: no figures are taken.
    Precondition,
    /// Load of systems beside those that are measured.
    Noise,
}

impl PointPurpose {
    pub const ALL: [Self; 4] = [Self::Ladder, Self::Search, Self::Precondition, Self::Noise];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::Search => "search",
            Self::Precondition => "precondition",
            Self::Noise => "noise",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == name)
    }
}

#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PhaseId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub id: PhaseId,
    /// `None` for the preparation of a step.
    pub point: Option<PointId>,
    pub step: String,
    pub kind: PhaseKind,
    pub start: Nanos,
    /// Of a phase that was never closed: the end of its last recorded second.
    pub end: Nanos,
    /// Whether it ran to its planned end.
    pub complete: bool,
}

/// What ended in one second, for one transaction type of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct Second {
    pub phase: PhaseId,
    pub subject: SubjectId,
    /// Index into [`Point::txns`].
    pub txn: u32,
    pub start: Nanos,
    pub end: Nanos,
    pub counts: Counts,
    /// Due but not settled at `end`, over all types; the same in each of the second's rows.
    pub in_flight: u64,
    pub response: CoarseHist,
    /// `None` when service equals response (closed loop: due = start).
    pub service: Option<CoarseHist>,
}

/// A whole phase's histogram of one transaction type, merged from its seconds at full precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub phase: PhaseId,
    pub subject: SubjectId,
    pub txn: u32,
    pub response: Hist,
    /// `None` when service equals response.
    pub service: Option<Hist>,
    /// Rebuilt from the seconds' coarse histograms, because the phase was never closed.
    pub coarse: bool,
}

/// One metric of one subject over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub subject: SubjectId,
    pub metric: Metric,
    pub samples: Vec<Sample>,
}

impl Series {
    /// Samples, which are in time order, whose interval can reach into the window: those after its start, up to the first
    /// that begins behind its end.
    pub fn near(&self, start: Nanos, end: Nanos) -> impl Iterator<Item = &Sample> {
        let from = self.samples.partition_point(|sample| sample.at <= start);
        self.samples[from..].iter().take_while(move |sample| {
            sample.at.saturating_sub(sample.over) < end || sample.at <= end
        })
    }

    /// The value sampled at `at`; 0 when there is none.
    pub fn at(&self, at: Nanos) -> f64 {
        self.samples
            .binary_search_by_key(&at, |s| s.at)
            .map_or(0.0, |i| f64::from(self.samples[i].value))
    }
}

/// A value over `at - over .. at`; for a gauge, the value at `at`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub at: Nanos,
    pub over: Nanos,
    /// Always finite.
    pub value: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Note, Self::Warning, Self::Error];

    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|severity| severity.name() == name)
    }
}

/// Something that happened: a checkpoint, a lost connection, a warning that stands beside the figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub at: Nanos,
    pub subject: Option<SubjectId>,
    pub severity: Severity,
    pub kind: EventKind,
}

/// The verdict on one consistency condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The point after which it was verified; `None` at the end of a step.
    pub point: Option<PointId>,
    pub subject: SubjectId,
    /// `3.3.2.1` to `3.3.2.12`.
    pub clause: String,
    pub holds: bool,
    /// What was compared, and where it fails: the first key and both values.
    pub detail: String,
}

/// One second of an emulated drive, for one kind of operation. A kind without operations has no row; a second without any
/// has one of 0 reads, so that it is not taken for one without a report.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveRow {
    /// The medium.
    pub subject: SubjectId,
    pub start: Nanos,
    pub end: Nanos,
    pub op: DriveOp,
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    /// As [`crate::drive::DriveTally`] has them.
    pub modelled: CoarseHist,
    pub real: CoarseHist,
    pub late: CoarseHist,
    pub beyond: u64,
}

/// Committed transactions after the power failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    pub point: PointId,
    /// When the power failed.
    pub at: Nanos,
    /// From the return of the power until the database took connections again; `None`: it never did.
    pub recovery: Option<Nanos>,
    /// Acknowledged writes that were not flushed when the power failed, and were lost.
    pub lost_writes: u64,
    pub lost_bytes: u64,
    /// Of them, writes that a flush had been acknowledged for: the drive lied.
    pub lost_flushed_writes: u64,
    /// Transactions acknowledged to clients before the power failed, by type; those that can be searched for.
    pub receipts: Vec<Receipt>,
}

/// Transactions of one type: those acknowledged to clients, and those in the database after recovery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub txn: String,
    /// The database acknowledged their commit.
    pub acknowledged: u64,
    /// Of them, not in the database after recovery.
    pub lost: u64,
    /// In the database without having been acknowledged: they were under way.
    pub in_doubt: u64,
    /// Where the first lost one was: `order 3217 of warehouse 1, district 4`. Empty if none was.
    pub first_lost: String,
}

/// A search for the load line of a step on a medium; its points hold the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchInfo {
    pub step: String,
    pub step_index: u32,
    pub system: SubjectId,
    pub medium: Option<SubjectId>,
    pub objective: Objective,
    /// No more than this was to be offered: users in a closed loop, transactions per second in an open one.
    pub most: f64,
    /// How close the lowest load that failed had to come to the highest that met the objective, as a share.
    pub precision: f64,
}

/// A reset of the data set, in a phase of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// Its phase has the start and the length.
    pub phase: PhaseId,
    pub subject: SubjectId,
    /// As in [`plimsoll_plan::resolved::ResetMethod`], and never `auto`.
    pub method: String,
    /// Size of the data before and after.
    pub from_bytes: u64,
    pub to_bytes: u64,
    /// What was compared with the first state, and the result.
    pub verified: String,
}

/// What a server's sessions were doing in one second, by state and by the server's own name for what they waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitRow {
    /// The system.
    pub subject: SubjectId,
    pub start: Nanos,
    pub end: Nanos,
    pub state: WaitState,
    /// Such as `WALSync`; empty where the server names nothing.
    pub event: String,
    /// Sessions in this state, summed over the samples: mean number = `seen / looks`.
    pub seen: u32,
    /// Samples in this second; the same in each of its rows.
    pub looks: u32,
}

/// What a session does, as far as its server reports it. Every sampled session is in exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitState {
    /// At work and waiting for nothing: on a CPU, or for one.
    Cpu,
    /// For data to be read from files.
    DataRead,
    /// For data to be written to files.
    DataWrite,
    /// For the log (WAL, redo log, binlog) to be written or flushed, or for others who do that.
    Log,
    /// For locks of transactions: rows, tables.
    Lock,
    /// For the server's own short locks: latches, buffers, mutexes.
    Latch,
    /// In a transaction, for the client's next statement.
    Client,
    /// For the client, in no transaction.
    Idle,
    /// Anything else.
    Other,
}

impl WaitState {
    pub const ALL: [Self; 9] = [
        Self::Cpu,
        Self::DataRead,
        Self::DataWrite,
        Self::Log,
        Self::Lock,
        Self::Latch,
        Self::Client,
        Self::Idle,
        Self::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::DataRead => "data_read",
            Self::DataWrite => "data_write",
            Self::Log => "log",
            Self::Lock => "lock",
            Self::Latch => "latch",
            Self::Client => "client",
            Self::Idle => "idle",
            Self::Other => "other",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}
