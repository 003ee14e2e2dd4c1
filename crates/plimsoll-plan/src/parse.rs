//! From the text of a plan to the plan that runs.

use serde::de::DeserializeOwned;

use crate::error::{PlanErrors, PlanWarning};
use crate::findings::Findings;
use crate::known_drives::KnownDrives;
use crate::options::Options;
use crate::raw::RawPlan;
use crate::read;
use crate::resolve::resolve;
use crate::resolved::ResolvedPlan;
use crate::value::OptionalKey;

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
    let plan = read::read(&mut findings).and_then(|raw| resolve(&raw, options, &mut findings));
    findings
        .finish(plan)
        .map(|(plan, warnings)| Parsed { plan, warnings })
}

/// Reads the text of [`crate::describe`] as run files up to schema 7 keep it.
///
/// # Errors
/// As of [`parse`]: it was written by another version, or changed since.
pub(crate) fn parse_described(text: &str) -> Result<ResolvedPlan, PlanErrors> {
    let mut findings = Findings::new(text);
    let plan = read::read::<RawPlan>(&mut findings).and_then(|raw| {
        let options = Options {
            // That of the run may have left the catalog since.
            drives: KnownDrives {
                names: raw
                    .medium
                    .values()
                    .filter_map(|medium| medium.get().drive.value())
                    .collect(),
                kinds: Vec::new(),
            },
            ..Options::default()
        };
        resolve(&raw, &options, &mut findings)
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
