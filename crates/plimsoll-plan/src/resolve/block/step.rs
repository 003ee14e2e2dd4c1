//! Steps that run a block workload, and what only they have.

use std::ops::Range;

use super::super::names::{Names, known, names_of};
use super::super::step_keys::{measure, unique};
use super::super::step_media::{named_media, only_medium};
use super::super::values::{scaled, time_or, whole};
use crate::Options;
use crate::estimate::FILESYSTEM;
use crate::findings::Findings;
use crate::raw::{RawSteady, RawSteadyRule, RawStep};
use crate::resolved::BlockStep;
use crate::units::{Bytes, Nanos};
use crate::value::At;
use plimsoll_stats::rounds::SteadyRule;

const DEFAULT_RAMP: Nanos = Nanos::from_secs(2);
const MOST_ROUNDS: u32 = 1000;
const MOST_WINDOW: u32 = 100;

/// Whether the step runs a block workload. One with an unknown workload counts as one where the plan has no others.
pub(in crate::resolve) fn is_block(raw: &RawStep, names: &Names<'_>) -> bool {
    let workloads = &names.raw.workload;
    let named = raw
        .run
        .as_ref()
        .and_then(|run| workloads.iter().find(|(name, _)| name.get() == run.get()));
    match named {
        Some((_, workload)) => workload.get().block.is_some(),
        None => {
            !workloads.is_empty()
                && workloads
                    .values()
                    .all(|workload| workload.get().block.is_some())
        }
    }
}

pub(in crate::resolve) fn resolve(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut std::collections::BTreeSet<String>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<BlockStep> {
    let raw = at.get();
    let help = format!("name a workload: {}", names_of(&names.raw.workload));
    let workload = findings.required(&at.span(), "run", &raw.run, &help);
    let workload = workload.filter(|name| known(&names.raw.workload, "workload", name, findings));
    refuse_load_keys(raw, findings);
    let on = media(at, workload, names, findings);
    let at_once = at_once(raw, on.as_deref(), findings);
    let rounds = rounds(raw, findings);
    let warm = warm(at, options, findings);
    let measure = measure(at, options, findings);
    let workload = workload?.get().clone();
    check_capacity(at, &workload, on.as_deref(), names, findings);
    let name = raw
        .name
        .as_ref()
        .map_or_else(|| unique(&workload, taken), |name| name.get().clone());
    let (rounds, steady) = rounds?;
    Some(BlockStep {
        name,
        workload: names.block_id(&workload)?,
        on: names.medium_ids(&on?)?,
        at_once,
        rounds,
        steady,
        warm: warm?,
        measure: measure?,
    })
}

/// Keys of block steps where a system is put under load.
pub(in crate::resolve) fn refuse_on_load(raw: &RawStep, findings: &mut Findings<'_>) {
    for (key, span) in [
        ("at_once", raw.at_once.as_ref().map(At::span)),
        ("steady", raw.steady.as_ref().map(At::span)),
    ] {
        if let Some(span) = span {
            let help = "only the step of a [workload.NAME.block] has it: remove it";
            findings.error(
                span,
                format!("`{key}` is not supported for a load on a system"),
                help,
            );
        }
    }
}

/// Keys of load steps where a medium itself is under test.
fn refuse_load_keys(raw: &RawStep, findings: &mut Findings<'_>) {
    let RawStep {
        name: _,
        run: _,
        system,
        on: _,
        at_once: _,
        users,
        rate,
        rate_to,
        connections,
        repeat: _,
        ..
    } = raw;
    let RawStep {
        steady: _,
        precondition,
        find,
        reset,
        reset_by,
        arrivals,
        queue,
        ramp: _,
        measure: _,
        ..
    } = raw;
    let RawStep {
        cool,
        keying_and_think,
        check,
        max_retries,
        power_cut,
        event,
        noise,
        ..
    } = raw;
    super::super::backup::refuse_elsewhere(raw, findings);
    let no_system = "fio works on the medium itself: remove it";
    let jobs = "how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`";
    let filled = "what is written before the first job stands in the workload: `fill`";
    let remove = "remove it";
    let places: [(&str, Option<Range<usize>>, &str); 18] = [
        ("system", system.as_ref().map(At::span), no_system),
        ("users", users.as_ref().map(At::span), jobs),
        ("rate", rate.as_ref().map(At::span), jobs),
        ("rate_to", rate_to.as_ref().map(At::span), jobs),
        ("connections", connections.as_ref().map(At::span), jobs),
        ("precondition", precondition.as_ref().map(At::span), filled),
        ("find", find.as_ref().map(At::span), jobs),
        ("reset", reset.as_ref().map(At::span), filled),
        ("reset_by", reset_by.as_ref().map(At::span), filled),
        ("arrivals", arrivals.as_ref().map(At::span), jobs),
        ("queue", queue.as_ref().map(At::span), jobs),
        (
            "cool",
            cool.as_ref().map(At::span),
            "fio is ended when the measurement is: remove it",
        ),
        (
            "keying_and_think",
            keying_and_think.as_ref().map(At::span),
            jobs,
        ),
        ("check", check.as_ref().map(At::span), remove),
        ("max_retries", max_retries.as_ref().map(At::span), remove),
        ("power_cut", power_cut.as_ref().map(At::span), remove),
        ("event", event.as_ref().map(At::span), remove),
        (
            "noise",
            noise.as_ref().map(At::span),
            "noise stands beside load on systems: remove it",
        ),
    ];
    for (key, span, help) in places {
        if let Some(span) = span {
            findings.error(
                span,
                format!("`{key}` is not supported for a block workload"),
                help,
            );
        }
    }
}

fn media(
    at: &At<RawStep>,
    workload: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<String>> {
    let media = &names.raw.medium;
    if let Some(written) = &at.get().on {
        let on = named_media(written, names, findings);
        if written.get().is_empty() && !findings.is_incomplete(&written.span()) {
            findings.error(
                written.span(),
                "`on` names no medium",
                format!("known here: {}", names_of(media)),
            );
        }
        return (!on.is_empty()).then_some(on);
    }
    if findings.explains(&at.span(), "on") {
        return None;
    }
    let workload = workload?;
    let what = format!(
        "the block workload `{}` needs a medium to work on",
        workload.get()
    );
    only_medium(at, workload.span(), &what, names, findings).map(|only| vec![only])
}

fn at_once(raw: &RawStep, on: Option<&[String]>, findings: &mut Findings<'_>) -> bool {
    let Some(written) = raw.at_once.as_ref().filter(|at_once| *at_once.get()) else {
        return false;
    };
    let several = on.is_none_or(|on| on.len() > 1);
    if !several {
        findings.warn(
            written.span(),
            "`at_once` changes nothing: there is one medium",
            "remove it, or name more in `on`",
        );
    }
    several
}

/// How many at most, and until when.
fn rounds(raw: &RawStep, findings: &mut Findings<'_>) -> Option<(u32, Option<SteadyRule>)> {
    let repeat = raw.repeat.as_ref();
    let rounds = repeat.map_or(Some(1), |n| whole(n, "`repeat`", 1..=MOST_ROUNDS, findings));
    let defaults = RawSteadyRule::default();
    let rule = match raw.steady.as_ref().map(At::get) {
        None | Some(RawSteady::Switch(false)) => return Some((rounds?, None)),
        Some(RawSteady::Switch(true)) => &defaults,
        Some(RawSteady::Rule(rule)) => rule,
    };
    if let Some(repeat) = repeat {
        let help = "steady = { rounds = 25 } limits how many there are; remove `repeat`";
        findings.error(
            repeat.span(),
            "`repeat` and `steady` exclude each other",
            help,
        );
    }
    let RawSteadyRule {
        rounds,
        window,
        range,
        slope,
    } = rule;
    let window = window.as_ref();
    let window = window.map_or(Some(SteadyRule::SNIA.window), |n| {
        whole(n, "`window`", 2..=MOST_WINDOW, findings)
    });
    let most = rounds.as_ref();
    let most = most.map_or(Some(SteadyRule::SNIA_ROUNDS), |n| {
        whole(n, "`rounds`", 2..=MOST_ROUNDS, findings)
    });
    let range = share("range", range, SteadyRule::SNIA.range, findings);
    let slope = share("slope", slope, SteadyRule::SNIA.slope, findings);
    let window = window?;
    let most = most?;
    if window > most {
        let span = raw.steady.as_ref().map(At::span).unwrap_or_default();
        let message = format!("a window of {window} rounds is never full in {most}");
        findings.error(span, message, "more `rounds`, or a smaller `window`");
        return None;
    }
    Some((
        most,
        Some(SteadyRule {
            window,
            range: range?,
            slope: slope?,
        }),
    ))
}

fn share(
    key: &str,
    value: &Option<At<f64>>,
    default: f64,
    findings: &mut Findings<'_>,
) -> Option<f64> {
    let Some(value) = value else {
        return Some(default);
    };
    let share = *value.get();
    if share > 0.0 && share <= 1.0 {
        return Some(share);
    }
    findings.error(
        value.span(),
        format!("`{key}` cannot be {share}"),
        "a share of the mean: above 0, at most 1",
    );
    None
}

/// Keeps fio's start out of the measurement.
fn warm(at: &At<RawStep>, options: &Options, findings: &mut Findings<'_>) -> Option<Nanos> {
    let ramp = &at.get().ramp;
    let written = time_or(ramp, DEFAULT_RAMP, findings)?;
    let span = ramp.as_ref().map_or(at.span(), At::span);
    if written < Nanos::SECOND {
        let help = "fio's start must not be measured: ramp = \"1s\" or more";
        findings.warn(
            span.clone(),
            format!("a ramp of 1s instead of {written}"),
            help,
        );
    }
    Some(scaled(written, options, span, findings)?.max(Nanos::SECOND))
}

/// Checks the capacity of emulated drives; that of real devices is known only when the plan runs.
fn check_capacity(
    at: &At<RawStep>,
    workload: &str,
    on: Option<&[String]>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(block) = names.blocks.iter().find(|named| named.name == workload) else {
        return;
    };
    let needed = Bytes(block.block.space().0.saturating_add(FILESYSTEM.0));
    for medium in names
        .media
        .iter()
        .filter(|medium| on.is_some_and(|on| on.contains(&medium.name)))
    {
        let Some(drive) = medium
            .kind
            .emulated()
            .filter(|drive| drive.capacity < needed)
        else {
            continue;
        };
        let span = at.get().on.as_ref().map_or(at.span(), At::span);
        let message = format!(
            "the files of `{workload}` do not fit on `{}`: {needed} with a filesystem, of {}",
            medium.name, drive.capacity
        );
        findings.error(
            span,
            message,
            "a larger `capacity`, or fewer `workers` or a smaller `size`",
        );
    }
}
