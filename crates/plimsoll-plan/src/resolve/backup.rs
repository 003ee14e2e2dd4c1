//! Backup workloads, and the steps that run them.

use std::collections::BTreeSet;

use super::names::{Names, known};
use super::step_keys::step_name;
use super::step_media::needed_media;
use super::values::scaled;
use crate::Options;
use crate::findings::Findings;
use crate::raw::{PlanTable, RawBackup, RawStep, TableKind};
use crate::resolved::{
    Backup, BackupMethod, BackupPlace, BackupStep, Cycles, MediumKind, SystemKind,
};
use crate::units::Nanos;
use crate::value::{At, RawTime, ValueFault};

pub(super) fn resolve(
    at: &At<RawBackup>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Backup> {
    let raw = at.get();
    let help = "state which workload's data: data = \"oltp\"";
    let data = findings
        .required(&at.span(), "data", &raw.data, help)
        .filter(|data| known(&names.raw.workload, "workload", data, findings))
        .filter(|data| holds_data(data, names, findings))?;
    Some(Backup {
        data: names.workload_id(data.get())?,
        method: raw.method(),
        jobs: raw.jobs(),
        restore: raw.restore(),
    })
}

fn holds_data(name: &At<String>, names: &Names<'_>, findings: &mut Findings<'_>) -> bool {
    let holds = names
        .raw_workload(name.get())
        .is_some_and(|raw| raw.tpcc.is_some() || raw.sysbench.is_some());
    if !holds {
        let message = format!("`{}` has no data set that a system holds", name.get());
        let help = "name a workload of the kind tpcc or sysbench";
        findings.error(name.span(), message, help);
    }
    holds
}

/// Whether the plan has a backup workload of this name.
pub(super) fn is_backup(run: &str, names: &Names<'_>) -> bool {
    names
        .raw_workload(run)
        .is_some_and(|raw| raw.backup.is_some())
}

pub(super) fn resolve_step(
    at: &At<RawStep>,
    names: &Names<'_>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> Option<BackupStep> {
    let raw = at.get();
    raw.refuse(TableKind::BackupStep, findings);
    let system = names
        .system(&at.span(), &raw.system, findings)
        .filter(|system| {
            let fault = saving_fault(system, names);
            let can_be_saved = fault.is_none();
            findings.fault(system.span(), fault);
            can_be_saved
        });
    let on = needed_media(at, system, names, findings);
    let to = place(&raw.to, names, findings);
    let every = period(&raw.every, names.options, findings);
    let backup = raw.run.as_ref()?.get();
    let system = system?;
    findings.fault(system.span(), method_fault(backup, system, names));
    Some(BackupStep {
        name: step_name(raw, backup, taken),
        backup: names.backup_id(backup)?,
        system: names.system_id(system.get())?,
        on: names.medium_ids(&on?)?,
        cycles: Cycles {
            to: to?,
            count: raw.cycles(),
            every,
        },
    })
}

/// Why a system does not have the method of a backup: SQLite has no program that writes what is in a file; SQL Server
/// writes its own files only.
pub(super) fn method_fault(
    run: &str,
    system: &At<String>,
    names: &Names<'_>,
) -> Option<ValueFault> {
    let backup = names.backups.iter().find(|named| named.name == run)?;
    if backup.backup.method != BackupMethod::Logical {
        return None;
    }
    let engine = match names.kind(system.get())? {
        SystemKind::Sqlite { .. } => "SQLite",
        SystemKind::Existing { engine, .. } => engine.title(),
        SystemKind::Managed { .. } | SystemKind::Mock(_) => return None,
    };
    Some(ValueFault::new(
        format!(
            "`{}` is {engine}, which has physical backups only",
            system.get()
        ),
        format!("leave `method` out of `{run}`"),
    ))
}

/// Why a system cannot be saved. A backup is restored into a system of plimsoll's own beside the first one, or as a
/// database of plimsoll's own where the server itself restores it.
pub(super) fn saving_fault(system: &At<String>, names: &Names<'_>) -> Option<ValueFault> {
    let (message, help) = match names.kind(system.get())? {
        SystemKind::Sqlite { .. } | SystemKind::Managed { .. } => return None,
        SystemKind::Existing { engine, .. } if engine.writes_backups() => return None,
        SystemKind::Mock(_) => (
            "is a mock, which holds no data",
            "name a system that keeps data",
        ),
        SystemKind::Existing { .. } => (
            "is an existing server, which plimsoll neither saves nor restores",
            "name a system that plimsoll starts: engine = \"postgres\"",
        ),
    };
    let message = format!("`{}` {message}", system.get());
    Some(ValueFault::new(message, help))
}

/// Time from one backup to the next; zero: each follows the one before.
pub(super) fn period(
    every: &Option<At<RawTime>>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Nanos {
    match every {
        None => Nanos::ZERO,
        Some(every) => scaled(every.value(), options, every.span(), findings),
    }
}

/// Where backups are written.
pub(super) fn place(
    to: &Option<At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<BackupPlace> {
    let Some(to) = to else {
        return Some(BackupPlace::Beside);
    };
    if !known(&names.raw.medium, "medium", to, findings) {
        return None;
    }
    let medium = names.medium_id(to.get())?;
    if names.media[medium.index()].kind != MediumKind::Device {
        return Some(BackupPlace::Medium(medium));
    }
    let message = format!(
        "no backup can be written to `{}`, which is a device itself",
        to.get()
    );
    let help =
        "plimsoll makes no filesystem on it: name a directory with `path`, or an emulated drive";
    findings.error(to.span(), message, help);
    None
}
