//! The resolved plan: validated, scaled, every default filled in. No `Option` where a value is needed, and nothing that
//! has to be looked up again. Nothing touches a disk or a server before one of these exists.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use super::secret::{Secret, redact};
pub use super::server::ServerKind;
use crate::lane::{LoadShape, MockScript};
use crate::objective::Objective;
use crate::schedule::Timeline;
use crate::units::{Bytes, Nanos};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedPlan {
    pub title: String,
    pub seed: u64,
    /// Factor already applied to all times.
    pub scale: f64,
    /// Factor already applied to all data sizes.
    pub data_scale: f64,
    pub media: Vec<Medium>,
    pub systems: Vec<System>,
    pub workloads: Vec<NamedWorkload>,
    pub steps: Vec<Step>,
}

/// Where data lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Medium {
    pub name: String,
    /// A directory; a relative one counts from where plimsoll was started. Of an emulated drive: where it is mounted,
    /// in a directory of plimsoll's own.
    pub path: String,
    pub kind: MediumKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediumKind {
    /// What is there.
    Directory,
    /// A drive that is not there.
    Emulated(EmulatedDrive),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmulatedDrive {
    /// A name in the catalogue, or a drive file (then it ends with `.toml`).
    pub drive: String,
    /// The rated capacity, if that is less.
    pub capacity: Bytes,
    /// Share of the capacity that holds data which nobody rewrites, 0 to 1; 1 is steady state.
    pub fill: f64,
    pub form: DriveForm,
    pub filesystem: DriveFilesystem,
    pub backing: DriveBacking,
    pub flush: FlushPolicy,
    pub without_fuse: WithoutFuse,
}

/// How programs see an emulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriveForm {
    /// A block device for root, else a directory.
    Auto,
    /// A block device with a filesystem. Needs root.
    Block,
    /// A directory.
    Directory,
}

impl DriveForm {
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Block => "block",
            Self::Directory => "directory",
        }
    }
}

/// What is made on an emulated block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriveFilesystem {
    Ext4,
    Xfs,
}

impl DriveFilesystem {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }
}

/// Where an emulated drive's data really are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriveBacking {
    Memory,
    /// A sparse file below the medium's path.
    File,
}

impl DriveBacking {
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::File => "file",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlushPolicy {
    /// As the drive file has it.
    Honest,
    /// Acknowledged at once, and nothing is done: a drive that lies.
    Ignored,
}

impl FlushPolicy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Honest => "honest",
            Self::Ignored => "ignored",
        }
    }
}

/// Where FUSE is not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithoutFuse {
    /// The run is refused.
    Refuse,
    /// The run goes on in a plain directory, with a warning.
    PlainDirectory,
}

impl WithoutFuse {
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::PlainDirectory => "plain_directory",
        }
    }
}

impl MediumKind {
    pub fn emulated(&self) -> Option<&EmulatedDrive> {
        match self {
            Self::Directory => None,
            Self::Emulated(drive) => Some(drive),
        }
    }
}

/// What is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct System {
    pub name: String,
    pub kind: SystemKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemKind {
    Mock(MockScript),
    /// Embedded; `settings` are PRAGMAs beside WAL and synchronous=FULL.
    Sqlite {
        settings: BTreeMap<String, String>,
    },
    /// A server that plimsoll creates on the medium, starts, stops and removes. `binaries` is the folder of its programs,
    /// empty to look for it.
    Managed {
        engine: ServerKind,
        settings: BTreeMap<String, String>,
        binaries: String,
    },
    /// A server that exists; plimsoll keeps to `schema`, which it creates.
    Existing {
        engine: ServerKind,
        url: Secret,
        schema: String,
    },
}

impl SystemKind {
    pub fn engine(&self) -> EngineKind {
        match self {
            Self::Mock(_) => EngineKind::Mock,
            Self::Sqlite { .. } => EngineKind::Sqlite,
            Self::Managed { engine, .. } | Self::Existing { engine, .. } => engine.engine(),
        }
    }

    /// Whether the system keeps its data on one of the plan's media.
    pub fn needs_medium(&self) -> bool {
        matches!(self, Self::Sqlite { .. } | Self::Managed { .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    Mock,
    Sqlite,
    Postgres,
    Mariadb,
}

impl EngineKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mock => "mock",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mariadb => "mariadb",
        }
    }

    pub fn has_procedures(self) -> bool {
        match self {
            Self::Mock | Self::Postgres | Self::Mariadb => true,
            Self::Sqlite => false,
        }
    }

    /// The server behind the engine, if it is one.
    pub fn server(self) -> Option<ServerKind> {
        ServerKind::ALL.into_iter().find(|server| server.engine() == self)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedWorkload {
    pub name: String,
    pub workload: Workload,
}

/// What users do. A closed set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    Tpcc(Tpcc),
}

impl Workload {
    /// The transaction types, in the order in which tallies are indexed.
    pub fn txn_names(&self) -> &'static [&'static str] {
        match self {
            Self::Tpcc(_) => &TPCC_TXNS,
        }
    }
}

/// TPC-C clause 2.4 to 2.8, in the specification's order.
pub const TPCC_TXNS: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

/// TPC-C-derived load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tpcc {
    pub warehouses: u32,
    pub mode: TxnMode,
    pub home: Home,
}

/// Where the logic of a transaction runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TxnMode {
    /// In the server: one round trip per transaction.
    Procedures,
    /// In the client: one prepared statement per round trip.
    Statements,
}

impl TxnMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Procedures => "procedures",
            Self::Statements => "statements",
        }
    }
}

/// Which warehouses a user works for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// One for the whole run, as clause 2.4.1.1 has it for terminals: user u works for warehouse u mod W.
    Fixed,
    /// A warehouse drawn uniformly for every transaction: few users reach all data.
    Roaming,
}

impl Home {
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Roaming => "roaming",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    /// Name in [`ResolvedPlan::workloads`].
    pub workload: String,
    /// Name in [`ResolvedPlan::systems`].
    pub system: String,
    /// Names in [`ResolvedPlan::media`], one after the other; empty for a system that needs none.
    pub on: Vec<String>,
    /// The ladder; a single point is a ladder of one. Of a search: the load that it starts from.
    pub points: Vec<LoadShape>,
    /// How often the whole ladder is gone through, or each load of a search is measured.
    pub repeat: u32,
    /// Load before the first point, of which no figures are taken.
    pub precondition: Option<Precondition>,
    /// The highest load that meets an objective is looked for, instead of going through a ladder.
    pub search: Option<Search>,
    /// When the data set is brought back to its first state.
    pub reset: ResetPolicy,
    pub reset_by: ResetMethod,
    pub timeline: Timeline,
    pub pacing: Pacing,
    pub check: CheckPolicy,
    pub max_retries: u32,
    /// The power of the medium fails this long after a point's measurement began; the point ends with it.
    pub power_cut: Option<Nanos>,
}

/// Load that brings drive and database into the state that they have in long use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    pub load: LoadShape,
    pub lasts: Nanos,
}

/// Looking for the load line: by users in a closed loop, by the offered rate in an open one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub objective: Objective,
    /// No more than this is offered: users, or transactions per second.
    pub most: f64,
    /// The search ends when the lowest load that failed is this share above the highest that met the objective.
    pub precision: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResetPolicy {
    Never,
    /// Before each point but the first that finds the data as they were loaded.
    EachPoint,
}

impl ResetPolicy {
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::EachPoint => "each_point",
        }
    }
}

/// How a data set is brought back to its first state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResetMethod {
    /// The fastest one that the system has.
    Auto,
    /// The server stops and its files are put back from a copy, which shares blocks where the filesystem can.
    Files,
    /// PostgreSQL: the database is made anew from a template.
    Template,
    /// The data are loaded again.
    Reload,
}

impl ResetMethod {
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Files => "files",
            Self::Template => "template",
            Self::Reload => "reload",
        }
    }
}

/// Keying and think times as factors on the workload's specified ones (TPC-C clause 5.2.5.7); 0 is off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    pub keying: f64,
    pub think: f64,
}

/// When consistency conditions are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckPolicy {
    /// After each point of the ladder.
    EachPoint,
    /// After the last point.
    EndOfStep,
    /// Never.
    Off,
}

impl CheckPolicy {
    pub fn name(self) -> &'static str {
        match self {
            Self::EachPoint => "each_point",
            Self::EndOfStep => "end_of_step",
            Self::Off => "off",
        }
    }
}

impl ResolvedPlan {
    pub fn medium(&self, name: &str) -> Option<&Medium> {
        self.media.iter().find(|medium| medium.name == name)
    }

    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|system| system.name == name)
    }

    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|named| named.name == name).map(|named| &named.workload)
    }
}

impl Step {
    /// Time of one ladder point under load, without loading and checks. A power cut ends it.
    pub fn point_duration(&self) -> Nanos {
        self.power_cut.map_or(self.timeline.load_end(), |after| self.timeline.warm + after)
    }
}
