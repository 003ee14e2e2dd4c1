//! Subjects of series and counts, and facts about them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

/// A fact of an instance: the plan's system that it is one of.
pub const INSTANCE_OF: &str = "instance_of";

/// A fact of a medium: the name of the device subject that its data lies on.
pub const DEVICE_FACT: &str = "device";

/// A fact of a system: the [`SubjectKind::Worker`] that watches the machine it runs on; of what runs on several, all of
/// them with [`HOSTS_BETWEEN`].
pub const SYSTEM_HOST_FACT: &str = "host";
pub const HOSTS_BETWEEN: &str = ", ";

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

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    /// A host that load comes from or that is watched, and plimsoll's worker on it; named like the host.
    Worker,
    /// The backup that is made of a system, or its restored copy; named like the system.
    Backup,
    /// A drive of an emulated array or cluster; named `2@medium`, or `host 0 buffer@medium`.
    Member,
}

impl SubjectKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing known about a subject: `cpu_model`, `setting.shared_buffers`, `mount_options`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub subject: SubjectId,
    pub key: String,
    pub value: String,
}
