//! Limits that results have to keep.

use std::fmt::{self, Write};

use crate::resolved::ResolvedPlan;

/// Those of a step, or of the plan.
pub(super) fn write(out: &mut String, plan: &ResolvedPlan, step: Option<&str>) -> fmt::Result {
    let own = plan.requirements.iter();
    let own = own.filter(|own| own.step.as_deref() == step);
    let texts: Vec<String> = own.map(|own| format!("\"{}\"", own.requirement)).collect();
    match texts.is_empty() {
        true => Ok(()),
        false => writeln!(out, "require = [{}]", texts.join(", ")),
    }
}
