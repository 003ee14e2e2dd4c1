//! Steps that run a block workload.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::names::{Names, names_of};
use super::super::step_keys::{measure, step_name};
use super::super::step_media::{named_media, only_medium};
use super::super::values::scaled;
use crate::Options;
use crate::estimate::FILESYSTEM;
use crate::findings::Findings;
use crate::raw::{Either, PlanTable, RawSteadyRule, RawStep, Switch, TableKind};
use crate::resolved::BlockStep;
use crate::units::{Bytes, Nanos};
use crate::value::{At, OptionalKey};
use plimsoll_stats::rounds::SteadyRule;

const DEFAULT_RAMP: Nanos = Nanos::from_secs(2);

/// Whether the step runs a block workload. One with an unknown workload counts as one where the plan has no others.
pub(in crate::resolve) fn is_block(raw: &RawStep, names: &Names<'_>) -> bool {
    let named = raw
        .run
        .as_ref()
        .and_then(|run| names.raw_workload(run.get()));
    let mut workloads = names.raw.workload.values();
    match named {
        Some(workload) => workload.block.is_some(),
        None => workloads.len() > 0 && workloads.all(|workload| workload.get().block.is_some()),
    }
}

pub(in crate::resolve) fn resolve(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> Option<BlockStep> {
    let raw = at.get();
    raw.refuse(TableKind::BlockStep, findings);
    let workload = names.workload(&at.span(), &raw.run, findings);
    let on = media(at, workload, names, findings);
    let at_once = at_once(raw, on.as_deref(), findings);
    let (rounds, steady) = rounds(raw, findings);
    let warm = warm(at, names.options, findings);
    let measure = measure(at, names.options, findings);
    let workload = workload?.get();
    let on = on?;
    check_capacity(at, workload, &on, names, findings);
    Some(BlockStep {
        name: step_name(raw, workload, taken),
        workload: names.block_id(workload)?,
        on: names.medium_ids(&on)?,
        at_once,
        rounds,
        steady,
        warm,
        measure,
    })
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
    let several = on.is_none_or(|on| on.len() > 1);
    if let Some(written) = &raw.at_once
        && raw.at_once()
        && !several
    {
        findings.warn(
            written.span(),
            "`at_once` changes nothing: there is one medium",
            "remove it, or name more in `on`",
        );
    }
    raw.at_once() && several
}

/// How many at most, and until when.
fn rounds(raw: &RawStep, findings: &mut Findings<'_>) -> (u32, Option<SteadyRule>) {
    let snia = RawSteadyRule::default();
    let Some(steady) = &raw.steady else {
        return (raw.repeat(), None);
    };
    let rule = match steady.get() {
        Either::Simple(Switch(false)) => return (raw.repeat(), None),
        Either::Simple(Switch(true)) => &snia,
        Either::Composite(rule) => rule,
    };
    if let Some(repeat) = &raw.repeat {
        let help = "steady = { rounds = 25 } limits how many there are; remove `repeat`";
        findings.error(
            repeat.span(),
            "`repeat` and `steady` exclude each other",
            help,
        );
    }
    let (rounds, window) = (rule.rounds(), rule.window());
    if window > rounds {
        let message = format!("a window of {window} rounds is never full in {rounds}");
        let help = "more `rounds`, or a smaller `window`";
        findings.error(steady.span(), message, help);
    }
    let rule = SteadyRule {
        window,
        range: rule.range(),
        slope: rule.slope(),
    };
    (rounds, Some(rule))
}

/// Keeps fio's start out of the measurement.
fn warm(at: &At<RawStep>, options: &Options, findings: &mut Findings<'_>) -> Nanos {
    let ramp = &at.get().ramp;
    let written = ramp.value().unwrap_or(DEFAULT_RAMP);
    let span = ramp.span_or(&at.span());
    if written < Nanos::SECOND {
        let help = "fio's start must not be measured: ramp = \"1s\" or more";
        findings.warn(
            span.clone(),
            format!("a ramp of 1s instead of {written}"),
            help,
        );
    }
    scaled(written, options, span, findings).max(Nanos::SECOND)
}

/// Checks the capacity of emulated drives; that of real devices is known only when the plan runs.
fn check_capacity(
    at: &At<RawStep>,
    workload: &str,
    on: &[String],
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
        .filter(|medium| on.contains(&medium.name))
    {
        let Some(drive) = medium
            .kind
            .emulated()
            .filter(|drive| drive.capacity < needed)
        else {
            continue;
        };
        // With the value that stands in for a broken one the sizes say nothing.
        if is_size_broken(workload, &medium.name, names, findings) {
            continue;
        }
        let message = format!(
            "the files of `{workload}` do not fit on `{}`: {needed} with a filesystem, of {}",
            medium.name, drive.capacity
        );
        findings.error(
            at.get().on.span_or(&at.span()),
            message,
            "a larger `capacity`, or fewer `workers` or a smaller `size`",
        );
    }
}

/// Whether a fault was reported of what the files need, or of the drive's capacity.
fn is_size_broken(
    workload: &str,
    medium: &str,
    names: &Names<'_>,
    findings: &Findings<'_>,
) -> bool {
    let block = names
        .raw_workload(workload)
        .and_then(|raw| raw.block.as_ref());
    let mut media = names.raw.medium.iter();
    let medium = media.find(|(known, _)| known.get() == medium);
    let is_broken = |table: &Range<usize>, key| findings.explains(table, key);
    block.is_some_and(|at| {
        ["size", "workers"]
            .iter()
            .any(|key| is_broken(&at.span(), key))
    }) || medium.is_some_and(|(_, at)| is_broken(&at.span(), "capacity"))
}
