//! Lists of media as TOML.

use crate::ids::MediumId;
use crate::resolved::ResolvedPlan;
use crate::toml_text::quoted;

/// Their names.
pub(super) fn media(plan: &ResolvedPlan, media: &[MediumId]) -> String {
    let names: Vec<String> = media
        .iter()
        .map(|medium| quoted(&plan.medium(*medium).name))
        .collect();
    format!("[{}]", names.join(", "))
}
