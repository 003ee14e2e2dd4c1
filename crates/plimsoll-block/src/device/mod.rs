//! What may be written to: who uses a device, what lies on it, and the decision.
//!
//! Pure: [`safety`]. I/O: [`evidence`] (who uses a device) and [`about`] (what drive it is).

pub mod about;
pub mod evidence;
mod openers;
pub mod overwrite_grant;
mod relatives;
pub mod safety;
mod sysfs;
