//! Steps: their names, what they refer to, the ladder, and the timeline.

use std::collections::BTreeSet;

use super::names::{Names, check_name};
use super::step_keys::{measure, step_name};
use super::step_media::media;
use super::values::{at_most, scaled};
use super::workload::sysbench_lacks;
use super::{backup, block, cut, events, find, host, load, noise};
use crate::Options;
use crate::findings::Findings;
use crate::raw::{PlanTable, RawStep, TableKind};
use crate::resolved::{LoadStep, Pacing, Step};
use crate::schedule::Timeline;
use crate::units::Nanos;
use crate::value::{At, OptionalKey};

const MOST_STEPS: usize = 1000;
/// Of a block workload all jobs may be repeated more often.
const MOST_REPEATS: u32 = 100;
const DEFAULT_RAMP: Nanos = Nanos::from_secs(10);

pub(super) fn resolve_all(names: &Names<'_>, findings: &mut Findings<'_>) -> Vec<Step> {
    let steps = &names.raw.step;
    if steps.is_empty() && !findings.explains_name("step", "") {
        findings.error(
            0..0,
            "the plan has no [[step]]",
            "add one: [[step]] with `run`, `system` and `users`",
        );
    }
    if let Some(step) = steps.get(MOST_STEPS) {
        findings.error(
            step.span(),
            "more than 1000 steps",
            "make several plans of it",
        );
    }
    let mut taken = written_names(steps, findings);
    let steps: Vec<Step> = steps
        .iter()
        .take(MOST_STEPS)
        .filter_map(|step| resolve(step, names, &mut taken, findings))
        .collect();
    noise::warn_of_other_victims(&steps, names, findings);
    steps
}

fn written_names(steps: &[At<RawStep>], findings: &mut Findings<'_>) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    for name in steps.iter().filter_map(|step| step.get().name.as_ref()) {
        check_name(name, "step", findings);
        if !taken.insert(name.get().clone()) {
            findings.error(
                name.span(),
                format!("two steps are named `{}`", name.get()),
                "give each its own name",
            );
        }
    }
    taken
}

fn resolve(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> Option<Step> {
    let run = at.get().run.as_ref();
    if run.is_some_and(|run| backup::is_backup(run.get(), names)) {
        backup::resolve_step(at, names, taken, findings).map(Step::Backup)
    } else if block::is_block(at.get(), names) {
        block::resolve_step(at, names, taken, findings).map(Step::Block)
    } else {
        let step = load_step(at, names, taken, findings)?;
        Some(Step::Load(Box::new(step)))
    }
}

fn load_step(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> Option<LoadStep> {
    let raw = at.get();
    raw.refuse(TableKind::LoadStep, findings);
    let workload = names.workload(&at.span(), &raw.run, findings);
    let system = names.system(&at.span(), &raw.system, findings);
    let on = media(at, system, names, findings);
    let points = load::points(at, findings);
    let repeat = match &raw.repeat {
        Some(repeat) => at_most(repeat, "repeat", MOST_REPEATS, findings),
        None => raw.repeat(),
    };
    let precondition = load::precondition(at, points.as_deref(), names.options, findings);
    let timeline = timeline(at, names.options, findings);
    let measure = timeline.measure;
    let search = find::resolve(at, points.as_deref(), workload, measure, names, findings);
    refuse_thinking(raw, findings);
    sysbench_lacks(raw, names, findings);
    let power_cut = cut::resolve(at, system, on.as_deref(), names, findings);
    let events = events::resolve(at, on.as_deref(), names, findings);
    let from = host::load_hosts(raw, system, points.as_deref(), names, findings);
    refuse_several(raw, system, names, findings);
    let noise = noise::resolve(at, names, findings);
    let workload = workload?.get();
    Some(LoadStep {
        name: step_name(raw, workload, taken),
        workload: names.workload_id(workload)?,
        system: names.system_id(system?.get())?,
        on: names.medium_ids(&on?)?,
        points: points?,
        repeat,
        precondition,
        search,
        reset: raw.reset(),
        reset_by: raw.reset_by(),
        timeline,
        pacing: Pacing {
            keying: raw.keying_and_think(),
            think: raw.keying_and_think(),
        },
        check: raw.check(),
        max_retries: raw.max_retries(),
        power_cut,
        events,
        from,
        noise,
    })
}

fn timeline(at: &At<RawStep>, options: &Options, findings: &mut Findings<'_>) -> Timeline {
    let raw = at.get();
    let warm = raw.ramp.value().unwrap_or(DEFAULT_RAMP);
    let warm = scaled(warm, options, raw.ramp.span_or(&at.span()), findings);
    let cool = raw.cool.span_or(&at.span());
    let cool = scaled(raw.cool(), options, cool, findings);
    Timeline {
        measure: measure(at, options, findings),
        warm,
        cool,
    }
}

/// Refuses keys that take a single system where there are several.
fn refuse_several(
    raw: &RawStep,
    system: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let system =
        system.and_then(|name| names.systems.iter().find(|known| known.name == *name.get()));
    let Some(system) = system.filter(|system| system.count > 1) else {
        return;
    };
    let keys = [
        ("find", raw.find.as_ref().map(At::span)),
        ("power_cut", raw.power_cut.as_ref().map(At::span)),
        ("event", raw.event.as_ref().map(At::span)),
    ];
    for (key, span) in keys {
        let Some(span) = span else { continue };
        let message = format!(
            "`{key}` takes a single system, and there are {}",
            system.count
        );
        findings.error(
            span,
            message,
            "leave `count` out of the system, or make a system of its own for this step",
        );
    }
}

fn refuse_thinking(raw: &RawStep, findings: &mut Findings<'_>) {
    if let Some(rate) = &raw.rate
        && raw.keying_and_think() > 0.0
    {
        let help = "with a rate, transactions come when they are due; remove one of the two";
        findings.error(
            rate.span(),
            "`rate` and `keying_and_think` exclude each other",
            help,
        );
    }
}
