//! Backup and restore: what is saved, where to, how often; and what other systems do beside those that are measured.

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

use crate::ids::{BackupId, MediumId, SystemId, WorkloadId};
use crate::load::LoadShape;
use crate::units::Nanos;

/// A backup workload: how the data set of another workload is saved and brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// The workload whose data set it is.
    pub data: WorkloadId,
    pub method: BackupMethod,
    /// Threads or connections at the same time, where the program has them.
    pub jobs: u32,
    /// Whether each backup is restored beside the system, verified and compared.
    pub restore: bool,
}

plan_words! {
    pub enum BackupMethod {
        /// Files as they are: pg_basebackup, mariadb-backup, SQLite's backup API, SQL Server's BACKUP DATABASE.
        Physical,
        /// What is in them, as statements or rows: pg_dump, mariadb-dump.
        Logical,
    }
}

/// How often, and where to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycles {
    pub to: BackupPlace,
    /// Backups, one after the other. Beside a load: at most so many, and none begins after the measurement.
    pub count: u32,
    /// From the beginning of one to the beginning of the next; zero: each follows the one before.
    pub every: Nanos,
}

impl Cycles {
    /// When a backup is due whose first was due at `first`: late ones do not move those after them.
    pub fn due(&self, first: Nanos, cycle: u32) -> Nanos {
        Nanos(
            first
                .0
                .saturating_add(self.every.0.saturating_mul(u64::from(cycle))),
        )
    }
}

/// Where backups are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackupPlace {
    /// On the medium that holds the data.
    Beside,
    /// On another medium of the plan.
    Medium(MediumId),
}

impl BackupPlace {
    /// The medium, for data on `data`.
    pub fn medium(self, data: MediumId) -> MediumId {
        match self {
            Self::Beside => data,
            Self::Medium(medium) => medium,
        }
    }
}

/// A step that saves the data of systems, and brings it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackupStep {
    pub name: String,
    pub backup: BackupId,
    /// All its instances are saved at the same time.
    pub system: SystemId,
    /// Media with the data, one after the other.
    pub on: Vec<MediumId>,
    pub cycles: Cycles,
}

/// What other systems do beside those that a step measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// All its instances make it, on the medium of the step. Never the step's own system.
    pub system: SystemId,
    pub work: NoiseWork,
}

/// A closed set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseWork {
    /// From the beginning of the measurement.
    Backup { backup: BackupId, cycles: Cycles },
    /// With the step's ramp and measurement.
    Load {
        workload: WorkloadId,
        load: LoadShape,
    },
}
