//! Arrays of drives: RAID 0, 1, 10, 5, 6 and F1 as Linux md has them, on the models of their members.
//!
//! An array takes requests as a drive does. It splits them by its layout, sends them to its members, and completes a
//! request when the last of its parts is complete. A write to a stripe with parity has two phases: all reads, then all
//! writes. The second is sent when the first has ended, never ahead, so that every member gets its requests in the order
//! of their times.
//!
//! Always: a request completes once, and not before its last part; nothing is sent to a member that failed; no two
//! changes of the same rows of a stripe with parity overlap.

mod batches;
mod bitmap;
#[cfg(test)]
mod contents;
mod controller;
mod host_requests;
mod layout;
mod member_set;
mod members;
mod missed_writes;
mod raid_array;
mod rebuild;
mod stripe_writes;

pub use controller::ArrayController;
pub(crate) use host_requests::{FollowingRequest, HostRequests};
pub(crate) use members::{FailedRequest, MemberRequest, Members, TaskId, TaskProgress};
pub use raid_array::Array;
pub use rebuild::RebuildSpeed;

#[cfg(test)]
mod tests;
