//! Limits of a system: control groups of the kernel, version 1 or 2, made for a server, verified, and taken away again.
//!
//! Pure: [`hierarchy`] (where groups are made) and [`files`] (what is written into them). Nothing but groups that bear our
//! name and the number of a process that is gone is ever removed.

pub mod cgroup_limits;
mod files;
pub(crate) mod hierarchy;
mod io;
mod probe;

pub use cgroup_limits::{CgroupLimits, sweep};
pub use files::Device;
pub use io::try_io;
pub use probe::probe;
