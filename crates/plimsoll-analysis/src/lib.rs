//! Figures, audit and comparison: functions of records.
//!
//! Invariants, stated as absences: this crate does no I/O, reads no clock, starts no thread but those that sum up the
//! points of many systems beside each other ([`summary`]), and is never seen by plan, record, import, load, block or
//! drive.

pub mod answer;
pub mod audit;
pub mod audited;
pub mod compare;
pub mod emulated;
pub mod full_speed;
pub mod history;
pub mod latency;
mod listed;
pub mod mend_order;
mod missing;
pub mod predict;
mod run_summary;
pub mod search;
pub mod set;
pub mod summary;

pub use listed::{ListedLoad, ListedResult};
pub use run_summary::{Summary, summarise, summarise_with};
