//! Steps: their names, what they refer to, the ladder, and the timeline.

use std::collections::BTreeSet;
use std::ops::Range;

use super::workload::sysbench_lacks;
use super::{
    Names, backup, block, check_name, cut, find, known, load, names_of, noise, scaled, time_or,
    whole,
};
use crate::Options;
use crate::findings::Findings;
use crate::raw::RawStep;
use crate::resolved::{CheckPolicy, LoadStep, MediumKind, Pacing, ResetMethod, ResetPolicy, Step};
use crate::schedule::Timeline;
use crate::units::Nanos;
use crate::value::{At, RawTime};

const MOST_STEPS: usize = 1000;

const DEFAULT_RETRIES: u32 = 10;
const DEFAULT_RAMP: Nanos = Nanos::from_secs(10);
pub(super) const DEFAULT_MEASURE: Nanos = Nanos::from_secs(60);
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
            load_step(step, names, &mut taken, options, findings).map(Step::Load)
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
    let search = find::resolve(at, points.as_deref(), workload, names, findings);
    let timeline = timeline(at, options, findings);
    let pacing = pacing(raw, findings);
    let retries = raw.max_retries.as_ref();
    let max_retries = retries.map_or(Some(DEFAULT_RETRIES), |n| {
        whole(n, "`max_retries`", 0..=1000, findings)
    });
    sysbench_lacks(raw, names, findings);
    let power_cut = cut::resolve(at, system, on.as_deref(), names, options, findings);
    single(raw, system, names, findings);
    let noise = noise::resolve(at, names, options, findings);
    let workload = workload?.get().clone();
    let name = raw
        .name
        .as_ref()
        .map_or_else(|| unique(&workload, taken), |name| name.get().clone());
    Some(LoadStep {
        name,
        workload,
        system: system?.get().clone(),
        on: on?,
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
        noise: noise?,
    })
}

/// The workload's name, numbered if a step has it already.
pub(super) fn unique(workload: &str, taken: &mut BTreeSet<String>) -> String {
    // Room for the number, so that the name is one that could have been written.
    let stem: String = workload.chars().take(super::LONGEST_NAME - 5).collect();
    let numbered = (2..).map(|n| format!("{stem}-{n}"));
    let mut names = std::iter::once(workload.to_owned()).chain(numbered);
    let name = names
        .find(|name| !taken.contains(name))
        .expect("there are more numbers than steps");
    taken.insert(name.clone());
    name
}

pub(super) fn media(
    at: &At<RawStep>,
    system: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<String>> {
    let written = at.get().on.as_ref();
    let on = written.map_or(Vec::new(), |on| named_media(on, names, findings));
    let system = system?;
    let needs = names.kind(system.get())?.needs_medium();
    match written {
        Some(written) if !needs => {
            let message = format!(
                "`on` changes nothing: the system `{}` keeps no data on a medium",
                system.get()
            );
            findings.warn(written.span(), message, "remove it");
            Some(Vec::new())
        }
        Some(written) => {
            if written.get().is_empty() && !findings.is_incomplete(&written.span()) {
                let help = format!("known here: {}", names_of(&names.raw.medium));
                findings.error(written.span(), "`on` names no medium", help);
            }
            refuse_devices(&on, written.span(), names, findings);
            Some(on)
        }
        None if !needs || findings.explains(&at.span(), "on") => Some(on),
        None => {
            let engine = names
                .kind(system.get())
                .map_or("", |kind| kind.engine().name());
            let what = format!(
                "the system `{}` ({engine}) needs a medium for its data",
                system.get()
            );
            let on = vec![only_medium(at, system.span(), &what, names, findings)?];
            refuse_devices(&on, at.span(), names, findings);
            Some(on)
        }
    }
}

/// Those that the plan has.
pub(super) fn named_media(
    written: &At<Vec<At<String>>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Vec<String> {
    let mut on: Vec<String> = Vec::new();
    for name in written.get() {
        if on.contains(name.get()) {
            findings.error(
                name.span(),
                format!("`{}` is named twice", name.get()),
                "a medium is tried once per step",
            );
        } else if known(&names.raw.medium, "medium", name, findings) {
            on.push(name.get().clone());
        }
    }
    on
}

fn refuse_devices(on: &[String], at: Range<usize>, names: &Names<'_>, findings: &mut Findings<'_>) {
    let is_device = |name: &&String| {
        names
            .media
            .iter()
            .any(|medium| medium.name == **name && medium.kind == MediumKind::Device)
    };
    if let Some(name) = on.iter().find(is_device) {
        let help = "plimsoll makes no filesystem on it: name a directory with `path`; only block workloads use a `device`";
        findings.error(
            at,
            format!("no system can keep its data on `{name}`, which is a device itself"),
            help,
        );
    }
}

/// The medium that a step means which names none; `needs` begins the sentence if there is none, reported at `needing`.
pub(super) fn only_medium(
    at: &At<RawStep>,
    needing: Range<usize>,
    needs: &str,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let media = &names.raw.medium;
    match (media.len(), media.keys().next()) {
        (1, Some(only)) => return Some(only.get().clone()),
        (0, _) if findings.explains_name("medium", "") => {}
        (0, _) => findings.error(needing, needs, "add [medium.here] with path = \".\""),
        _ => {
            let help = format!(
                "state which, for example on = [\"{}\"]; known here: {}",
                media.keys().next().map_or("", |name| name.get()),
                names_of(media)
            );
            findings.error(
                at.span(),
                "`on` is missing, and the plan has several media",
                help,
            );
        }
    }
    None
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

/// Figures are taken per second, so a window has at least one.
pub(super) fn measure(
    at: &At<RawStep>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    let raw = at.get();
    let span = raw.measure.as_ref().map_or(at.span(), At::span);
    let written = time_or(&raw.measure, DEFAULT_MEASURE, findings)?;
    if written == Nanos::ZERO {
        let help = "write how long figures are taken, such as measure = \"60s\"";
        findings.error(span, "there is no time to measure", help);
        return None;
    }
    let measure = scaled(written, options, span.clone(), findings)?;
    if measure >= Nanos::SECOND {
        return Some(measure);
    }
    let help = if written < Nanos::SECOND {
        "write measure = \"1s\" or more"
    } else {
        "choose a larger --scale"
    };
    findings.warn(
        span,
        format!("measuring for 1s instead of {measure}: figures are taken per second"),
        help,
    );
    Some(Nanos::SECOND)
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
    let [find, power_cut] = [
        raw.find.as_ref().map(At::span),
        raw.power_cut.as_ref().map(At::span),
    ];
    for (key, span) in [("find", find), ("power_cut", power_cut)] {
        if let (Some(span), true) = (span, count > 1) {
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
    if let (true, Some(rate)) = (factor > 0.0, &raw.rate) {
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
