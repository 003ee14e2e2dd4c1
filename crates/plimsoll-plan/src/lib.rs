//! Plans: what a person writes (raw, with spans in the text), and what runs (resolved, without options or
//! doubts).
//!
//! [`parse`] leads from one to the other and finds everything that is wrong at once. [`describe`] leads back: the
//! resolved plan as TOML with every default filled in. [`estimate`] gives its duration and the space it needs.
//!
//! Nothing here reads a disk, a server or the environment. Whether a medium is there and has space is
//! checked when the plan runs.

pub mod array;
pub mod assembly;
mod backup;
mod block;
pub mod cluster;
mod describe;
pub mod duration;
mod emulated;
mod engine;
mod error;
mod estimate;
mod findings;
mod host;
mod ids;
mod interference;
mod keys;
mod known_drives;
mod limits;
pub mod load;
mod matrix;
pub mod member_event;
pub mod network;
pub mod objective;
mod option_text;
mod options;
mod parse;
mod placed;
mod raw;
mod read;
mod recorded;
mod redact;
mod references;
pub mod requirement;
mod resolve;
pub mod resolved;
pub mod schedule;
mod schema;
mod search_window;
mod secret;
mod secret_option;
mod shortened;
mod simulated;
pub mod size;
mod sysbench;
mod thresholds;
mod toml_table;
mod toml_text;
pub mod units;
mod value;
mod words;

pub use describe::describe;
pub use error::{PlanError, PlanErrors, PlanWarning, by_short_name, nearest, suggestion};
pub use estimate::{MediumNeed, PlanEstimate, StepEstimate, estimate};
pub use ids::{BackupId, BlockId, HostId, MediumId, StepId, SystemId, WorkloadId};
pub use interference::Interference;
pub use keys::{PlanKey, Section};
pub use known_drives::{DriveAlias, KnownDrives};
pub use matrix::{Axis, Cell, Matrix, Order, matrix};
pub use options::Options;
pub use parse::{Parsed, parse, read_toml};
pub use placed::PlacedName;
pub use recorded::RecordedPlan;
pub use resolve::profile;
pub use resolved::{EmulatedDrive, ResolvedPlan, SLOWER};
pub use schema::json_schema;
pub use search_window::{MOST_MEASUREMENTS, MOST_SEARCH_LOADS};
pub use shortened::{LONGEST_TEXT, cut, shortened};
pub use size::write as write_size;
pub(crate) use thresholds::for_each_threshold;
pub use thresholds::{Threshold, Thresholds};
pub use toml_text::quoted as quoted_toml;

#[cfg(test)]
mod tests;
