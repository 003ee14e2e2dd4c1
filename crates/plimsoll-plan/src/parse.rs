//! From the text of a plan to the plan that runs.

use serde::de::DeserializeOwned;

use crate::error::{PlanErrors, PlanWarning};
use crate::findings::Findings;
use crate::options::Options;
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

/// Reads any other TOML file into its type, with positions and suggestions as for plans. Only its shape is checked.
///
/// # Errors
/// Everything that is wrong with its syntax or shape.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, PlanErrors> {
    let mut findings = Findings::new(text);
    let value = read::read(&mut findings);
    findings.finish(value).map(|(value, _)| value)
}
