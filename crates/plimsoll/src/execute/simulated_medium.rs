//! A simulated drive in use.

use plimsoll_plan::resolved::Limits;
use plimsoll_virtual::vfs::VirtualMount;

/// A drive in a machine of its own.
pub(super) struct SimulatedMedium {
    pub mount: VirtualMount,
    /// Of its machine, as the plan states them.
    pub limits: Limits,
}
