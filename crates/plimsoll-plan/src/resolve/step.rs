//! Steps: their names, what they refer to, the ladder, and the timeline.

use std::collections::BTreeSet;

use super::names::{Names, check_name, known, names_of};
use super::step_keys::{measure, unique};
use super::step_media::media;
use super::values::{scaled, time_or, whole};
use super::workload::sysbench_lacks;
use super::{backup, block, cut, events, find, host, load, noise};
use crate::Options;
use crate::findings::Findings;
use crate::raw::RawStep;
use crate::resolved::{CheckPolicy, LoadStep, Pacing, ResetMethod, ResetPolicy, Step};
use crate::schedule::Timeline;
use crate::units::Nanos;
use crate::value::{At, RawTime};

const MOST_STEPS: usize = 1000;

const DEFAULT_RETRIES: u32 = 10;
const DEFAULT_RAMP: Nanos = Nanos::from_secs(10);
const DEFAULT_COOL: Nanos = Nanos::from_secs(30);

pub(super) fn resolve_all(
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Vec<Step> {
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
    let steps = steps.iter().take(MOST_STEPS);
    let resolve = |step: &At<RawStep>| {
        let run = step.get().run.as_ref();
        if run.is_some_and(|run| backup::is_backup(run.get(), names)) {
            backup::resolve_step(step, names, &mut taken, options, findings).map(Step::Backup)
        } else if block::is_block(step.get(), names) {
            block::resolve_step(step, names, &mut taken, options, findings).map(Step::Block)
        } else {
            load_step(step, names, &mut taken, options, findings)
                .map(|step| Step::Load(Box::new(step)))
        }
    };
    let steps: Vec<Step> = steps.filter_map(resolve).collect();
    noise::warn_of_other_victims(&steps, names, findings);
    steps
}

fn load_step(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut BTreeSet<String>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<LoadStep> {
    let raw = at.get();
    block::refuse_on_load(raw, findings);
    backup::refuse_elsewhere(raw, findings);
    let help = format!("name a workload: {}", names_of(&names.raw.workload));
    let workload = findings.required(&at.span(), "run", &raw.run, &help);
    let workload = workload.filter(|name| known(&names.raw.workload, "workload", name, findings));
    let help = format!("name a system: {}", names_of(&names.raw.system));
    let system = findings.required(&at.span(), "system", &raw.system, &help);
    let system = system.filter(|name| known(&names.raw.system, "system", name, findings));
    let on = media(at, system, names, findings);
    let points = load::points(at, findings);
    let repeat = raw
        .repeat
        .as_ref()
        .map_or(Some(1), |n| whole(n, "`repeat`", 1..=100, findings));
    let precondition = load::precondition(at, points.as_deref(), options, findings);
    let timeline = timeline(at, options, findings);
    let measure = timeline.as_ref().map(|timeline| timeline.measure);
    let search = find::resolve(
        at,
        points.as_deref(),
        workload,
        measure,
        names,
        options,
        findings,
    );
    let pacing = pacing(raw, findings);
    let retries = raw.max_retries.as_ref();
    let max_retries = retries.map_or(Some(DEFAULT_RETRIES), |n| {
        whole(n, "`max_retries`", 0..=1000, findings)
    });
    sysbench_lacks(raw, names, findings);
    let power_cut = cut::resolve(at, system, on.as_deref(), names, options, findings);
    let events = events::resolve(raw, on.as_deref(), names, options, findings);
    let from = host::of_step(raw, system, points.as_deref(), names, findings);
    single(raw, system, names, findings);
    let noise = noise::resolve(at, names, options, findings);
    let workload = workload?.get().clone();
    let name = raw
        .name
        .as_ref()
        .map_or_else(|| unique(&workload, taken), |name| name.get().clone());
    Some(LoadStep {
        name,
        workload: names.workload_id(&workload)?,
        system: names.system_id(system?.get())?,
        on: names.medium_ids(&on?)?,
        points: points?,
        repeat: repeat?,
        precondition: precondition?,
        search: search?,
        reset: raw
            .reset
            .as_ref()
            .map_or(ResetPolicy::Never, |reset| *reset.get()),
        reset_by: raw
            .reset_by
            .as_ref()
            .map_or(ResetMethod::Auto, |method| *method.get()),
        timeline: timeline?,
        pacing: pacing?,
        check: raw
            .check
            .as_ref()
            .map_or(CheckPolicy::EachPoint, |check| *check.get()),
        max_retries: max_retries?,
        power_cut: power_cut?,
        events: events?,
        from: from?,
        noise: noise?,
    })
}

fn timeline(at: &At<RawStep>, options: &Options, findings: &mut Findings<'_>) -> Option<Timeline> {
    let mut part = |value: &Option<At<RawTime>>, default| {
        let nanos = time_or(value, default, findings)?;
        scaled(
            nanos,
            options,
            value.as_ref().map_or(at.span(), At::span),
            findings,
        )
    };
    let warm = part(&at.get().ramp, DEFAULT_RAMP);
    let cool = part(&at.get().cool, DEFAULT_COOL);
    Some(Timeline {
        measure: measure(at, options, findings)?,
        warm: warm?,
        cool: cool?,
    })
}

/// What takes a single system.
fn single(
    raw: &RawStep,
    system: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let count =
        system.and_then(|name| names.systems.iter().find(|known| known.name == *name.get()));
    let count = count.map_or(1, |system| system.count);
    let keys = [
        ("find", raw.find.as_ref().map(At::span)),
        ("power_cut", raw.power_cut.as_ref().map(At::span)),
        ("event", raw.event.as_ref().map(At::span)),
    ];
    for (key, span) in keys {
        if let Some(span) = span
            && count > 1
        {
            let message = format!("`{key}` takes a single system, and there are {count}");
            findings.error(
                span,
                message,
                "leave `count` out of the system, or make a system of its own for this step",
            );
        }
    }
}

fn pacing(raw: &RawStep, findings: &mut Findings<'_>) -> Option<Pacing> {
    let Some(value) = &raw.keying_and_think else {
        return Some(Pacing::default());
    };
    let factor = *value.get();
    if !(0.0..=1000.0).contains(&factor) {
        findings.error(
            value.span(),
            format!("`keying_and_think` cannot be {factor}"),
            "0 is off, 1 as specified, at most 1000",
        );
        return None;
    }
    if let Some(rate) = &raw.rate
        && factor > 0.0
    {
        let help = "with a rate, transactions come when they are due; remove one of the two";
        findings.error(
            rate.span(),
            "`rate` and `keying_and_think` exclude each other",
            help,
        );
    }
    // Not -0.0, which reads oddly.
    Some(Pacing {
        keying: factor.abs(),
        think: factor.abs(),
    })
}
