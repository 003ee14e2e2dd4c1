//! Backups and restores, and what is measured beside them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::message::BackupDetail;
use crate::{PointId, SubjectId};
use plimsoll_plan::units::Nanos;

/// One backup of one system, or one restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRow {
    pub step: String,
    pub step_index: u32,
    /// The point beside which it ran: of several systems the first one's. `None` where backups are what the step is about.
    pub point: Option<PointId>,
    pub system: SubjectId,
    /// With the data; `None` for a system that keeps it elsewhere.
    pub medium: Option<SubjectId>,
    /// With the backup.
    pub target: SubjectId,
    /// From 0.
    pub cycle: u32,
    pub kind: BackupKind,
    /// `physical` or `logical`.
    pub method: String,
    /// The tool, with its version; empty if it did not start.
    pub program: String,
    pub start: Nanos,
    pub end: Nanos,
    /// Size of a backup's files; bytes of the backup that a restore read.
    pub bytes: u64,
    pub outcome: BackupOutcome,
    /// How a restore compared, or why it failed.
    pub detail: Option<BackupDetail>,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BackupKind {
    Backup,
    Restore,
}

impl BackupKind {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BackupOutcome {
    Complete,
    /// Ended by the user, or with the load beside it.
    Cancelled,
    Failed,
    /// A restore whose data are not what was saved.
    Differs,
}

impl BackupOutcome {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
