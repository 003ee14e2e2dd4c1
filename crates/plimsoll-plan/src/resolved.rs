//! The resolved plan: validated, scaled, every default filled in. No `Option` where a value is needed, and nothing that
//! has to be looked up again. Nothing touches a disk or a server before one of these exists.

use crate::member_event::MemberEvent;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

pub use super::backup::{Backup, BackupMethod, BackupPlace, BackupStep, Cycles, Noise, NoiseWork};
pub use super::block::{
    Access, Block, BlockJob, BlockStep, BlockStream, BlockWork, SizeShare, SyncPolicy, Zone,
};
pub use super::emulated::{
    DriveBacking, DriveFilesystem, DriveForm, DriveSpeed, EmulatedDrive, FlushPolicy, SLOWER,
    WithoutFuse,
};
pub use super::engine::{EngineKind, ManagedKind, ServerKind};
pub use super::host::PlanHost;
pub use super::limits::{IoLimits, Limits, WithoutLimits};
pub use super::redact::{redact, redact_word};
pub use super::secret::{Credential, Secret};
pub use super::sysbench::{Distribution, Script, Sysbench};
use crate::Interference;
use crate::Thresholds;
use crate::ids::{BackupId, BlockId, HostId, MediumId, StepId, SystemId, WorkloadId};
use crate::load::{LoadShape, MockScript};
use crate::objective::Objective;
use crate::requirement::PlanRequirement;
use crate::schedule::Timeline;
use crate::units::Nanos;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedPlan {
    pub title: String,
    /// Of the inputs; `None`: drawn when the run begins.
    pub seed: Option<u64>,
    pub data_seed: u64,
    /// Factors already applied to all times and data sizes.
    pub scale: f64,
    pub data_scale: f64,
    /// Whether modeled drives are emulated in real time also where they could be simulated.
    pub emulate: bool,
    /// Other machines.
    pub hosts: Vec<PlanHost>,
    /// Those that run the whole plan, at the same time; none: this machine does.
    pub on_hosts: Vec<HostId>,
    pub media: Vec<Medium>,
    pub systems: Vec<System>,
    pub workloads: Vec<NamedWorkload>,
    /// What runs on media themselves.
    pub blocks: Vec<NamedBlock>,
    /// How data are saved.
    pub backups: Vec<NamedBackup>,
    pub steps: Vec<Step>,
    /// What the audit holds figures against.
    pub audit: Thresholds,
    /// Limits that figures must keep.
    pub requirements: Vec<PlanRequirement>,
    /// Whether the run ends at the first point that misses one.
    pub abort_on_fail: bool,
}

/// Where data lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Medium {
    pub name: String,
    /// A directory; a relative one counts from where plimsoll was started. Of an emulated drive: where it is mounted,
    /// in a directory of plimsoll's own. Of a device: its path below `/dev`.
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
    /// A block device itself, without a filesystem: [`Medium::path`] is its path. Only block steps use it.
    Device,
}

impl MediumKind {
    pub fn emulated(&self) -> Option<&EmulatedDrive> {
        match self {
            Self::Directory | Self::Device => None,
            Self::Emulated(drive) => Some(drive),
        }
    }

    pub fn emulated_mut(&mut self) -> Option<&mut EmulatedDrive> {
        match self {
            Self::Directory | Self::Device => None,
            Self::Emulated(drive) => Some(drive),
        }
    }
}

/// What is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct System {
    pub name: String,
    pub kind: SystemKind,
    /// Of a server that plimsoll starts; of all others none.
    pub limits: Limits,
    /// Equal instances, each with data of its own, under load at the same time.
    pub count: u32,
    /// The host that an existing server runs on, where that is watched.
    pub host: Option<HostId>,
    /// The log of a server that plimsoll starts is on another virtual disk than its data.
    pub log_disk: bool,
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
    /// empty to search for it.
    Managed {
        engine: ManagedKind,
        settings: BTreeMap<String, String>,
        binaries: String,
    },
    /// A server that exists; plimsoll keeps to `schema`, which it creates.
    Existing {
        engine: ServerKind,
        url: Secret,
        schema: String,
        /// Whether sysbench's tables there that plimsoll did not make may be changed.
        change_tables: bool,
    },
}

impl System {
    /// The names of its instances: `db-1`, `db-2`; its own where there is one.
    pub fn instances(&self) -> Vec<String> {
        (0..self.count)
            .map(|index| self.instance_name(index))
            .collect()
    }

    /// The name of one of its instances, counted from 0.
    pub fn instance_name(&self, index: u32) -> String {
        if self.count == 1 {
            self.name.clone()
        } else {
            format!("{}-{}", self.name, index + 1)
        }
    }
}

impl SystemKind {
    pub fn engine(&self) -> EngineKind {
        match self {
            Self::Mock(_) => EngineKind::Mock,
            Self::Sqlite { .. } => EngineKind::Sqlite,
            Self::Managed { engine, .. } => engine.server().engine(),
            Self::Existing { engine, .. } => engine.engine(),
        }
    }

    /// Whether it runs on another machine than plimsoll.
    pub fn is_remote(&self) -> bool {
        match self {
            Self::Mock(_) | Self::Sqlite { .. } | Self::Managed { .. } => false,
            Self::Existing { url, .. } => !is_here(url.reveal()),
        }
    }

    /// Whether the system keeps its data on one of the plan's media.
    pub fn needs_medium(&self) -> bool {
        matches!(self, Self::Sqlite { .. } | Self::Managed { .. })
    }
}

/// Whether a server's URL leads to this machine.
fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    host.is_empty()
        || ["localhost", "127.", "[::1]", "::1"]
            .iter()
            .any(|own| host.starts_with(own))
        || url.contains("host=/")
        || url.contains("host=localhost")
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedWorkload {
    pub name: String,
    pub workload: Workload,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedBlock {
    pub name: String,
    pub block: Block,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedBackup {
    pub name: String,
    pub backup: Backup,
}

/// What users do. A closed set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    Tpcc(Tpcc),
    Sysbench(Sysbench),
}

impl Workload {
    /// The transaction types, in the order in which tallies are indexed.
    pub fn txn_names(&self) -> &'static [&'static str] {
        match self {
            Self::Tpcc(_) => &TPCC_TXNS,
            Self::Sysbench(sysbench) => sysbench.script.txn_names(),
        }
    }

    /// Share of the transactions that are of type `txn`; of all types without one.
    pub fn share_of(&self, txn: Option<&str>) -> f64 {
        let (Self::Tpcc(_), Some(txn)) = (self, txn) else {
            return 1.0;
        };
        TPCC_TXNS
            .iter()
            .zip(TPCC_DECK)
            .find(|(name, _)| **name == txn)
            .map_or(1.0, |(_, cards)| f64::from(cards) / 100.0)
    }

    /// Whether committed transactions can be looked up in the database one by one .
    pub fn keeps_books(&self) -> bool {
        match self {
            Self::Tpcc(_) => true,
            Self::Sysbench(_) => false,
        }
    }

    pub fn mode(&self) -> TxnMode {
        match self {
            Self::Tpcc(tpcc) => tpcc.mode,
            Self::Sysbench(_) => TxnMode::Statements,
        }
    }
}

/// TPC-C clause 2.4 to 2.8, in the specification's order.
pub const TPCC_TXNS: [&str; 5] = [
    "new_order",
    "payment",
    "order_status",
    "delivery",
    "stock_level",
];

/// Of 100 transactions, in the order of [`TPCC_TXNS`]: clause 5.2.4.2 allows a deck; 5.2.3 wants at least 43, 4, 4 and 4
/// per cent of the last four.
pub const TPCC_DECK: [u8; 5] = [45, 43, 4, 4, 4];

/// TPC-C-derived load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tpcc {
    pub warehouses: u32,
    pub mode: TxnMode,
    pub home: Home,
}

plan_words! {
    /// Where the logic of a transaction runs.
    pub enum TxnMode {
        /// In the server: one round trip per transaction.
        Procedures,
        /// In the client: one prepared statement per round trip.
        Statements,
    }
}

plan_words! {
    /// Which warehouses a user works for.
    pub enum Home {
        /// One for the whole run, as clause 2.4.1.1 has it for terminals: user u works for warehouse u mod W.
        Fixed,
        /// A warehouse drawn uniformly for every transaction: few users reach all data.
        Roaming,
    }
}

/// One entry of the plan's schedule. A closed set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Transactions on a system.
    Load(Box<LoadStep>),
    /// Requests to a medium itself.
    Block(BlockStep),
    /// Backups of systems.
    Backup(BackupStep),
}

impl Step {
    pub fn name(&self) -> &str {
        match self {
            Self::Load(step) => &step.name,
            Self::Block(step) => &step.name,
            Self::Backup(step) => &step.name,
        }
    }

    /// The media that it works on.
    pub fn on(&self) -> &[MediumId] {
        match self {
            Self::Load(step) => &step.on,
            Self::Block(step) => &step.on,
            Self::Backup(step) => &step.on,
        }
    }

    /// Where it, or what runs beside it, writes backups to.
    pub fn backup_places(&self) -> impl Iterator<Item = BackupPlace> {
        let (own, noise) = match self {
            Self::Load(step) => (None, step.noise.as_slice()),
            Self::Block(_) => (None, [].as_slice()),
            Self::Backup(step) => (Some(step.cycles.to), [].as_slice()),
        };
        let beside = noise.iter().filter_map(|noise| match &noise.work {
            NoiseWork::Backup { cycles, .. } => Some(cycles.to),
            NoiseWork::Load { .. } => None,
        });
        own.into_iter().chain(beside)
    }

    /// The systems that it puts to use: its own first, then its neighbors.
    pub fn systems(&self) -> impl Iterator<Item = SystemId> {
        let (own, noise) = match self {
            Self::Load(step) => (Some(step.system), step.noise.as_slice()),
            Self::Block(_) => (None, [].as_slice()),
            Self::Backup(step) => (Some(step.system), [].as_slice()),
        };
        own.into_iter()
            .chain(noise.iter().map(|noise| noise.system))
    }

    fn uses_medium(&self, medium: MediumId) -> bool {
        self.on().contains(&medium)
            || self
                .backup_places()
                .any(|place| place == BackupPlace::Medium(medium))
    }

    pub fn load(&self) -> Option<&LoadStep> {
        match self {
            Self::Load(step) => Some(step),
            Self::Block(_) | Self::Backup(_) => None,
        }
    }
}

/// A step that puts load on a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadStep {
    pub name: String,
    pub workload: WorkloadId,
    pub system: SystemId,
    /// One after the other; empty for a system that needs none.
    pub on: Vec<MediumId>,
    /// The ladder; a single point is a ladder of one. Of a search: the load that it starts from.
    pub points: Vec<LoadShape>,
    /// How often the whole ladder is gone through, or each load of a search is measured.
    pub repeat: u32,
    /// Load before the first point, of which no figures are taken.
    pub precondition: Option<Precondition>,
    /// Searches the highest load that meets an objective, instead of going through a ladder.
    pub search: Option<Search>,
    /// When the data set is reset.
    pub reset: ResetPolicy,
    pub reset_by: ResetMethod,
    pub timeline: Timeline,
    pub pacing: Pacing,
    pub check: CheckPolicy,
    pub max_retries: u32,
    /// The power of the medium fails this long after a point's measurement began; the point ends with it.
    pub power_cut: Option<Nanos>,
    /// What happens to members of the medium's array, in order.
    pub events: Vec<MemberEvent>,
    /// The hosts that share its load; none: it comes from plimsoll itself.
    pub from: Vec<HostId>,
    /// What other systems do beside it; each point is then measured without and with it.
    pub noise: Vec<Noise>,
}

/// Load that brings drive and database into the state that they have in long use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    pub load: LoadShape,
    pub lasts: Nanos,
}

/// The search for the load line: by users in a closed loop, by the offered rate in an open one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub objective: Objective,
    /// No more than this is offered: users, or transactions per second.
    pub most: f64,
    /// The search ends when the lowest load that failed is this share above the highest that met the objective.
    pub precision: f64,
    /// A window is lengthened up to this where it holds too few transactions for the figure.
    pub longest: Nanos,
}

plan_words! {
    pub enum ResetPolicy {
        Never,
        /// Before each point but the first that finds the data as they were loaded.
        EachPoint,
    }
}

plan_words! {
    /// How a data set is reset.
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
}

/// Keying and think times as factors on the workload's specified ones (TPC-C clause 5.2.5.7); 0 is off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    pub keying: f64,
    pub think: f64,
}

plan_words! {
    /// When consistency conditions are verified.
    pub enum CheckPolicy {
        /// After each point of the ladder.
        EachPoint,
        /// After the last point.
        EndOfStep,
        /// Never.
        Off,
    }
}

impl ResolvedPlan {
    pub fn medium(&self, id: MediumId) -> &Medium {
        &self.media[id.index()]
    }

    pub fn host(&self, id: HostId) -> &PlanHost {
        &self.hosts[id.index()]
    }

    pub fn system(&self, id: SystemId) -> &System {
        &self.systems[id.index()]
    }

    pub fn workload(&self, id: WorkloadId) -> &NamedWorkload {
        &self.workloads[id.index()]
    }

    pub fn block(&self, id: BlockId) -> &NamedBlock {
        &self.blocks[id.index()]
    }

    pub fn backup(&self, id: BackupId) -> &NamedBackup {
        &self.backups[id.index()]
    }

    pub fn step(&self, id: StepId) -> &Step {
        &self.steps[id.index()]
    }

    /// The steps in order.
    pub fn step_ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..self.steps.len()).map(StepId::new)
    }

    pub fn medium_ids(&self) -> impl Iterator<Item = MediumId> + use<> {
        (0..self.media.len()).map(MediumId::new)
    }

    pub fn system_ids(&self) -> impl Iterator<Item = SystemId> + use<> {
        (0..self.systems.len()).map(SystemId::new)
    }

    /// The system of a name in a record.
    pub fn system_named(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|system| system.name == name)
    }

    /// The workload of a name in a record.
    pub fn workload_named(&self, name: &str) -> Option<&Workload> {
        self.workloads
            .iter()
            .find(|named| named.name == name)
            .map(|named| &named.workload)
    }

    /// Hosts that run the plan, that load comes from, or that are watched.
    pub fn used_hosts(&self) -> BTreeSet<HostId> {
        let generators = self.load_steps().flat_map(|step| step.from.iter().copied());
        let used: BTreeSet<SystemId> = self.steps.iter().flat_map(Step::systems).collect();
        let watched = used
            .into_iter()
            .filter_map(|system| self.system(system).host);
        let own = self.on_hosts.iter().copied();
        own.chain(generators).chain(watched).collect()
    }

    /// Steps that put load on systems.
    pub fn load_steps(&self) -> impl Iterator<Item = &LoadStep> {
        self.steps.iter().filter_map(Step::load)
    }

    /// Media that a step works on, or that backups are written to.
    pub fn used_media(&self) -> impl Iterator<Item = MediumId> {
        self.medium_ids()
            .filter(|medium| self.steps.iter().any(|step| step.uses_medium(*medium)))
    }

    /// The systems of a step, with the workload whose data set it works on in each.
    pub fn data_of(&self, step: &Step) -> Vec<(SystemId, &Workload)> {
        let (own, noise) = match step {
            Step::Load(step) => (Some((step.system, step.workload)), step.noise.as_slice()),
            Step::Block(_) => (None, [].as_slice()),
            Step::Backup(step) => (
                Some((step.system, self.backup(step.backup).backup.data)),
                [].as_slice(),
            ),
        };
        let own = own.map(|(system, workload)| (system, &self.workload(workload).workload));
        let noise = noise
            .iter()
            .map(|noise| (noise.system, self.noise_data(&noise.work)));
        own.into_iter().chain(noise).collect()
    }

    /// The workload whose data set a noise works on.
    pub fn noise_data(&self, work: &NoiseWork) -> &Workload {
        let id = match work {
            NoiseWork::Backup { backup, .. } => self.backup(*backup).backup.data,
            NoiseWork::Load { workload, .. } => *workload,
        };
        &self.workload(id).workload
    }
}

impl LoadStep {
    /// How often each load of each repeat is measured: with noise, without it before.
    pub fn scenes(&self) -> &'static [Interference] {
        if self.noise.is_empty() {
            &[Interference::Alone]
        } else {
            &[Interference::Quiet, Interference::Noisy]
        }
    }

    /// Time of one ladder point under load, without loading and checks. A power cut ends it.
    pub fn point_duration(&self) -> Nanos {
        self.power_cut
            .map_or(self.timeline.load_end(), |after| self.timeline.warm + after)
    }
}
