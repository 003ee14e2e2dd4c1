//! What to gather.

use plimsoll_plan::units::Nanos;

use super::quiet::Quiet;
use crate::doctor::evidence::KnownDrive;

/// The time, which is a parameter here as everywhere.
pub type Now<'a> = &'a dyn Fn() -> Nanos;

/// What to gather.
pub struct GatherOptions<'a> {
    pub now: Now<'a>,
    /// Counters before and after a quiet moment; `None`: noise is not measured.
    pub quiet: Option<&'a Quiet>,
    /// Drives of the catalog.
    pub known: &'a [KnownDrive],
    /// What the drive is, for certain: emulated, or named by the user.
    pub is: Option<&'a KnownDrive>,
    /// Find out who uses a device, for which it is opened exclusively for a moment.
    pub users: bool,
    /// Ask the disks for their health, which starts programs.
    pub health: bool,
    /// Most blocks to be read, and most time for that.
    pub blocks: u32,
    pub patience: Nanos,
    /// Of the places of those blocks.
    pub seed: u64,
}
