//! Plans: what a person writes (raw, with spans in the text), and what runs (resolved, without options or
//! doubts).
//!
//! [`parse`] leads from one to the other and finds everything that is wrong at once. [`describe`] leads back: the
//! resolved plan as TOML with every default filled in. [`estimate`] gives its duration and the space it needs.
//!
//! Nothing here reads a disk, a server or the environment. Whether a medium is there and has space is
//! checked when the plan runs.

mod backup;
mod block;
mod describe;
pub mod duration;
mod emulated;
mod error;
mod estimate;
mod findings;
mod interference;
mod keys;
mod limits;
pub mod load;
mod matrix;
pub mod objective;
mod placed;
pub mod raw;
mod read;
mod recorded;
mod resolve;
pub mod resolved;
pub mod schedule;
mod schema;
mod secret;
mod server;
pub mod size;
mod sysbench;
mod thresholds;
pub mod units;
mod value;

pub use describe::describe;
pub use error::{PlanError, PlanErrors, PlanWarning, nearest, suggestion};
pub use estimate::{Estimate, StepEstimate, estimate};
use findings::Findings;
pub use interference::Interference;
pub use keys::{PlanKey, Section};
pub use matrix::{Axis, Cell, Matrix, Order, matrix};
pub use placed::PlacedName;
pub use recorded::RecordedPlan;
pub use resolve::profile;
pub use resolved::{EmulatedDrive, ResolvedPlan, SLOWER};
pub use schema::json_schema;
use serde::de::DeserializeOwned;
pub use size::write as write_size;
pub(crate) use thresholds::for_each_threshold;
pub use thresholds::{Threshold, Thresholds};

/// What the command line changes about a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Multiplies ramp, measure and cool; a measure keeps at least a second. Above zero.
    pub scale: f64,
    /// Multiplies warehouses, and the rows of sysbench's tables; at least one is left. Above zero.
    pub data_scale: f64,
    /// Beats the plan's seed of the inputs.
    pub seed: Option<u64>,
    /// Names of the drives that can be emulated; a plan may also name a drive file.
    pub drives: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: 1.0,
            data_scale: 1.0,
            seed: None,
            drives: Vec::new(),
        }
    }
}

/// A plan that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub plan: ResolvedPlan,
    /// In the order of the text.
    pub warnings: Vec<PlanWarning>,
}

/// Reads, checks, scales and completes a plan.
///
/// # Errors
/// Everything that is wrong with it, with positions. Errors of TOML syntax hide others until they are fixed.
pub fn parse(text: &str, options: &Options) -> Result<Parsed, PlanErrors> {
    let mut findings = Findings::new(text);
    let plan =
        read::read(&mut findings).and_then(|raw| resolve::resolve(&raw, options, &mut findings));
    findings
        .finish(plan)
        .map(|(plan, warnings)| Parsed { plan, warnings })
}

/// Reads the text of [`describe`] as run files up to schema 7 keep it.
///
/// # Errors
/// As of [`parse`]: it was written by another version, or changed since.
pub(crate) fn parse_described(text: &str) -> Result<ResolvedPlan, PlanErrors> {
    let mut findings = Findings::new(text);
    let plan = read::read::<raw::RawPlan>(&mut findings).and_then(|raw| {
        let options = Options {
            // That of the run may have left the catalogue since.
            drives: raw
                .medium
                .values()
                .filter_map(|medium| Some(medium.get().drive.as_ref()?.get().clone()))
                .collect(),
            ..Options::default()
        };
        resolve::resolve(&raw, &options, &mut findings)
    });
    findings.finish(plan).map(|(plan, _)| plan)
}

/// Reads any other TOML file into its type, with positions and suggestions as for plans. Only its shape is checked.
///
/// # Errors
/// Everything that is wrong with its syntax or shape.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, PlanErrors> {
    let mut findings = Findings::new(text);
    let value = read::read(&mut findings);
    findings.finish(value).map(|(value, _)| value)
}

#[cfg(test)]
mod tests;
