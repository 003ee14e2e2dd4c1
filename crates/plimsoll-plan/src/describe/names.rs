//! Lists of names and of requirements.

use crate::ids::{HostId, MediumId};
use crate::resolved::ResolvedPlan;

/// Requirements of a step, or of the plan.
pub fn requirements(plan: &ResolvedPlan, step: Option<&str>) -> Vec<String> {
    plan.requirements
        .iter()
        .filter(|required| required.step.as_deref() == step)
        .map(|required| required.requirement.to_string())
        .collect()
}

pub fn hosts<'p>(plan: &'p ResolvedPlan, hosts: &[HostId]) -> Vec<&'p str> {
    hosts
        .iter()
        .map(|host| plan.host(*host).name.as_str())
        .collect()
}

pub fn media<'p>(plan: &'p ResolvedPlan, media: &[MediumId]) -> Vec<&'p str> {
    media
        .iter()
        .map(|medium| plan.medium(*medium).name.as_str())
        .collect()
}
