//! Requirements of a plan and of its steps.

use crate::findings::Findings;
use crate::raw::RawPlan;
use crate::requirement::PlanRequirement;
use crate::resolved::Step;
use crate::value::At;

/// Requirements of the plan first, then those of its steps.
pub(super) fn resolve_all(
    raw: &RawPlan,
    steps: &[Step],
    findings: &mut Findings<'_>,
) -> Vec<PlanRequirement> {
    let mut all = Vec::new();
    parse(None, &raw.require, &mut all, findings);
    for (index, step) in raw.step.iter().map(At::get).enumerate() {
        if let (Some(require), Some(_)) = (&step.require, &step.find) {
            findings.error(
                require.span(),
                "`require` cannot be combined with `find`",
                "a search goes beyond its limit to find it: require the limit in a step of its own, at a fixed load",
            );
        }
        // A step that cannot be resolved is reported, and there is no plan.
        let name = steps.get(index).map(|step| step.name().to_owned());
        parse(name, &step.require, &mut all, findings);
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
    step: Option<String>,
    require: &Option<At<Vec<At<String>>>>,
    all: &mut Vec<PlanRequirement>,
    findings: &mut Findings<'_>,
) {
    for text in require.iter().flat_map(|texts| texts.get()) {
        match text.get().parse() {
            Ok(requirement) => all.push(PlanRequirement {
                step: step.clone(),
                requirement,
            }),
            Err(why) => {
                let why: String = why;
                let message = format!("`{}` is no requirement", text.get());
                findings.error(text.span(), message, why);
            }
        }
    }
}
