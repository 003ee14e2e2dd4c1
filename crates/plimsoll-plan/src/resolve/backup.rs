//! Backup workloads, and the steps that run them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::names::{Names, known, names_of};
use super::step_keys::unique;
use super::step_media::needed_media;
use super::values::{scaled, time, whole};
use crate::Options;
use crate::findings::Findings;
use crate::raw::{RawBackup, RawStep};
use crate::resolved::{
    Backup, BackupMethod, BackupPlace, BackupStep, Cycles, MediumKind, SystemKind,
};
use crate::units::Nanos;
use crate::value::{At, RawTime};

pub(super) const MOST_CYCLES: u32 = 1000;
const DEFAULT_CYCLES: u32 = 3;
const MOST_JOBS: u32 = 64;

pub(super) fn resolve(
    at: &At<RawBackup>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Backup> {
    let RawBackup {
        data,
        method,
        jobs,
        restore,
    } = at.get();
    let help = "state which workload's data: data = \"oltp\"";
    let data = findings.required(&at.span(), "data", data, help);
    let data = data.filter(|data| known(&names.raw.workload, "workload", data, findings));
    let data = data.filter(|data| holds_data(data, names, findings));
    let jobs = jobs
        .as_ref()
        .map_or(Some(1), |n| whole(n, "`jobs`", 1..=MOST_JOBS, findings));
    Some(Backup {
        data: names.workload_id(data?.get())?,
        method: method
            .as_ref()
            .map_or(BackupMethod::Physical, |method| *method.get()),
        jobs: jobs?,
        restore: restore.as_ref().is_none_or(|restore| *restore.get()),
    })
}

fn holds_data(name: &At<String>, names: &Names<'_>, findings: &mut Findings<'_>) -> bool {
    let workload = names
        .raw
        .workload
        .iter()
        .find(|(known, _)| known.get() == name.get());
    let holds =
        workload.is_some_and(|(_, raw)| raw.get().tpcc.is_some() || raw.get().sysbench.is_some());
    if !holds {
        let message = format!("`{}` has no data set that a system holds", name.get());
        findings.error(
            name.span(),
            message,
            "name a workload of the kind tpcc or sysbench",
        );
    }
    holds
}

/// Whether the plan has a backup workload of this name.
pub(super) fn is_backup(run: &str, names: &Names<'_>) -> bool {
    names
        .raw
        .workload
        .iter()
        .any(|(name, raw)| name.get() == run && raw.get().backup.is_some())
}

pub(super) fn resolve_step(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut BTreeSet<String>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<BackupStep> {
    let raw = at.get();
    refuse_load_keys(raw, findings);
    let help = format!("name a system: {}", names_of(&names.raw.system));
    let system = findings.required(&at.span(), "system", &raw.system, &help);
    let system = system.filter(|name| known(&names.raw.system, "system", name, findings));
    let system = system.filter(|name| can_be_saved(name, names, findings));
    let on = needed_media(at, system, names, findings);
    let cycles = cycles(
        &CycleKeys {
            to: &raw.to,
            cycles: &raw.cycles,
            every: &raw.every,
        },
        DEFAULT_CYCLES,
        names,
        options,
        findings,
    );
    let backup = raw.run.as_ref()?.get().clone();
    let system = system.filter(|system| has_method(&backup, system, names, findings));
    let name = raw
        .name
        .as_ref()
        .map_or_else(|| unique(&backup, taken), |name| name.get().clone());
    Some(BackupStep {
        name,
        backup: names.backup_id(&backup)?,
        system: names.system_id(system?.get())?,
        on: names.medium_ids(&on?)?,
        cycles: cycles?,
    })
}

/// SQLite has no program that writes what is in a file; SQL Server writes its own files only.
pub(super) fn has_method(
    run: &str,
    system: &At<String>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let backup = names
        .backups
        .iter()
        .find(|named| named.name == run)
        .map(|named| &named.backup);
    let logical = backup.is_some_and(|backup| backup.method == BackupMethod::Logical);
    let engine = match names.kind(system.get()) {
        Some(SystemKind::Sqlite { .. }) if logical => "SQLite",
        Some(SystemKind::Existing { engine, .. }) if logical => engine.title(),
        _ => return true,
    };
    let message = format!(
        "`{}` is {engine}, which has physical backups only",
        system.get()
    );
    findings.error(
        system.span(),
        message,
        format!("leave `method` out of `{run}`"),
    );
    false
}

/// A backup is restored into a system of plimsoll's own beside the first one, or as a database of plimsoll's own where
/// the server itself restores it.
pub(super) fn can_be_saved(
    system: &At<String>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let (message, help) = match names.kind(system.get()) {
        None | Some(SystemKind::Sqlite { .. } | SystemKind::Managed { .. }) => return true,
        Some(SystemKind::Existing { engine, .. }) if engine.writes_backups() => return true,
        Some(SystemKind::Mock(_)) => (
            "is a mock, which holds no data",
            "name a system that keeps data",
        ),
        Some(SystemKind::Existing { .. }) => (
            "is an existing server, which plimsoll neither saves nor restores",
            "name a system that plimsoll starts: engine = \"postgres\"",
        ),
    };
    findings.error(system.span(), format!("`{}` {message}", system.get()), help);
    false
}

/// The keys of a step or of noise that state how often data are saved, and where.
pub(super) struct CycleKeys<'r> {
    pub to: &'r Option<At<String>>,
    pub cycles: &'r Option<At<i64>>,
    pub every: &'r Option<At<RawTime>>,
}

pub(super) fn cycles(
    keys: &CycleKeys<'_>,
    default: u32,
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Cycles> {
    let to = match keys.to {
        None => Some(BackupPlace::Beside),
        Some(to) => place(to, names, findings),
    };
    let count = keys.cycles.as_ref().map_or(Some(default), |n| {
        whole(n, "`cycles`", 1..=MOST_CYCLES, findings)
    });
    let every = match keys.every {
        None => Some(Nanos::ZERO),
        Some(every) => {
            time(every, findings).and_then(|time| scaled(time, options, every.span(), findings))
        }
    };
    Some(Cycles {
        to: to?,
        count: count?,
        every: every?,
    })
}

fn place(to: &At<String>, names: &Names<'_>, findings: &mut Findings<'_>) -> Option<BackupPlace> {
    if !known(&names.raw.medium, "medium", to, findings) {
        return None;
    }
    let medium = names.medium_id(to.get())?;
    let device = names.media[medium.index()].kind == MediumKind::Device;
    if device {
        let help = "plimsoll makes no filesystem on it: name a directory with `path`, or an emulated drive";
        findings.error(
            to.span(),
            format!(
                "no backup can be written to `{}`, which is a device itself",
                to.get()
            ),
            help,
        );
    }
    (!device).then_some(BackupPlace::Medium(medium))
}

/// Keys that steps have which do not save data.
fn refuse_load_keys(raw: &RawStep, findings: &mut Findings<'_>) {
    let RawStep {
        name: _,
        run: _,
        system: _,
        on: _,
        at_once,
        users,
        rate,
        rate_to,
        connections,
        repeat,
        ..
    } = raw;
    let RawStep {
        steady,
        precondition,
        find,
        reset,
        reset_by,
        arrivals,
        queue,
        ramp,
        measure,
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
        to: _,
        cycles: _,
        every: _,
        ..
    } = raw;
    let often = "how often stands in `cycles` and `every`: remove it";
    let load = "a backup has no users; to load the system at the same time, make it the `noise` of a load step";
    let remove = "remove it";
    let places: [(&str, Option<Range<usize>>, &str); 22] = [
        ("at_once", at_once.as_ref().map(At::span), remove),
        ("users", users.as_ref().map(At::span), load),
        ("rate", rate.as_ref().map(At::span), load),
        ("rate_to", rate_to.as_ref().map(At::span), load),
        ("connections", connections.as_ref().map(At::span), load),
        ("repeat", repeat.as_ref().map(At::span), often),
        ("steady", steady.as_ref().map(At::span), often),
        (
            "precondition",
            precondition.as_ref().map(At::span),
            "put a load step before it",
        ),
        ("find", find.as_ref().map(At::span), remove),
        ("reset", reset.as_ref().map(At::span), remove),
        ("reset_by", reset_by.as_ref().map(At::span), remove),
        ("arrivals", arrivals.as_ref().map(At::span), load),
        ("queue", queue.as_ref().map(At::span), load),
        (
            "ramp",
            ramp.as_ref().map(At::span),
            "a backup begins at once: remove it",
        ),
        (
            "measure",
            measure.as_ref().map(At::span),
            "a backup lasts as long as it takes: remove it",
        ),
        ("cool", cool.as_ref().map(At::span), remove),
        (
            "keying_and_think",
            keying_and_think.as_ref().map(At::span),
            load,
        ),
        (
            "check",
            check.as_ref().map(At::span),
            "what is restored is always verified: remove it",
        ),
        ("max_retries", max_retries.as_ref().map(At::span), remove),
        ("power_cut", power_cut.as_ref().map(At::span), remove),
        ("event", event.as_ref().map(At::span), remove),
        (
            "noise",
            noise.as_ref().map(At::span),
            "noise stands beside load: put it into a load step",
        ),
    ];
    for (key, span, help) in places {
        if let Some(span) = span {
            findings.error(
                span,
                format!("`{key}` is not supported for a backup workload"),
                help,
            );
        }
    }
}

/// Keys of backup steps where data are not saved.
pub(super) fn refuse_elsewhere(raw: &RawStep, findings: &mut Findings<'_>) {
    let places = [
        ("to", raw.to.as_ref().map(At::span)),
        ("cycles", raw.cycles.as_ref().map(At::span)),
        ("every", raw.every.as_ref().map(At::span)),
    ];
    for (key, span) in places {
        if let Some(span) = span {
            let help = "only the step of a [workload.NAME.backup] has it, and an entry of `noise`: remove it";
            findings.error(span, format!("`{key}` is not supported here"), help);
        }
    }
}
