//! Requirements of a plan and of its steps.

use crate::findings::Findings;
use crate::raw::RawPlan;
use crate::requirement::{PlanRequirement, Requirement};
use crate::resolved::Step;
use crate::value::At;

/// Requirements of the plan first, then those of its steps.
pub(super) fn resolve_all(
    raw: &RawPlan,
    steps: &[Step],
    findings: &mut Findings<'_>,
) -> Vec<PlanRequirement> {
    let mut all: Vec<PlanRequirement> = parse(raw.require.as_ref(), findings)
        .map(|requirement| PlanRequirement {
            step: None,
            requirement,
        })
        .collect();
    for (index, step) in raw.step.iter().map(At::get).enumerate() {
        let Some(require) = &step.require else {
            continue;
        };
        if step.find.is_some() {
            findings.error(
                require.span(),
                "`require` cannot be combined with `find`",
                "a search goes beyond its limit to find it: require the limit in a step of its own, at a fixed load",
            );
        }
        // A step that cannot be resolved is reported, and there is no plan.
        let name = steps.get(index).map(|step| step.name().to_owned());
        all.extend(
            parse(Some(require), findings).map(|requirement| PlanRequirement {
                step: name.clone(),
                requirement,
            }),
        );
    }
    let abort = raw.abort_on_fail.as_ref().filter(|abort| *abort.get());
    if let Some(abort) = abort
        && all.is_empty()
    {
        findings.error(
            abort.span(),
            "`abort_on_fail` without a requirement",
            "write what must hold, such as require = [\"p99<200ms\"]",
        );
    }
    all
}

fn parse(
    require: Option<&At<Vec<At<String>>>>,
    findings: &mut Findings<'_>,
) -> impl Iterator<Item = Requirement> + use<> {
    let texts = require.into_iter().flat_map(|texts| texts.get());
    let mut all = Vec::new();
    for text in texts {
        match text.get().parse() {
            Ok(requirement) => all.push(requirement),
            Err(why) => {
                let message = format!("`{}` is no requirement", text.get());
                findings.error(text.span(), message, why);
            }
        }
    }
    all.into_iter()
}
