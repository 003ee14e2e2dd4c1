//! Lists of names as TOML.

use crate::ids::MediumId;
use crate::resolved::ResolvedPlan;
use crate::toml_text::quoted;

/// Their names.
pub(super) fn media(plan: &ResolvedPlan, media: &[MediumId]) -> String {
    let names = media
        .iter()
        .map(|medium| plan.medium(*medium).name.as_str());
    list(names)
}

pub(super) fn list<'p>(names: impl Iterator<Item = &'p str>) -> String {
    let names: Vec<String> = names.map(quoted).collect();
    format!("[{}]", names.join(", "))
}
