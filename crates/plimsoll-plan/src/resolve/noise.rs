//! What other systems do beside those that a load step measures.

use std::ops::Range;

use super::backup::{is_backup, method_fault, period, place, saving_fault};
use super::names::Names;
use crate::findings::Findings;
use crate::load::LoadShape;
use crate::raw::{PlanTable, RawNoise, RawStep, TableKind};
use crate::resolved::{Cycles, LoadStep, Noise, NoiseWork, Step, SystemKind};
use crate::value::{At, ValueFault};

pub(super) fn resolve(
    at: &At<RawStep>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Vec<Noise> {
    let raw = at.get();
    let Some(written) = &raw.noise else {
        return Vec::new();
    };
    refuse_beside(raw, written.span(), findings);
    let mut taken: Vec<&str> = raw
        .system
        .iter()
        .map(|system| system.get().as_str())
        .collect();
    let mut resolved = Vec::new();
    for entry in written.get() {
        resolved.extend(one(entry, names, findings));
        if let Some(system) = &entry.get().system {
            if taken.contains(&system.get().as_str()) {
                let message = format!("`{}` is at work in this step already", system.get());
                findings.error(
                    system.span(),
                    message,
                    "noise is made by systems of its own: add a [system.NAME]",
                );
            }
            taken.push(system.get());
        }
    }
    resolved
}

fn one(at: &At<RawNoise>, names: &Names<'_>, findings: &mut Findings<'_>) -> Option<Noise> {
    let raw = at.get();
    let run = names.workload(&at.span(), &raw.run, findings);
    let system = names.system(&at.span(), &raw.system, findings);
    let run = run?;
    let work = if is_backup(run.get(), names) {
        if let Some(system) = system {
            let fault = saving_fault(system, names)
                .or_else(|| noise_fault(system, names))
                .or_else(|| method_fault(run.get(), system, names));
            findings.fault(system.span(), fault);
        }
        backup(run.get(), raw, names, findings)
    } else {
        load(at, run, names, findings)
    };
    Some(Noise {
        system: names.system_id(system?.get())?,
        work: work?,
    })
}

/// Neighbors have their data on the step's medium, which a server of the user's has not.
fn noise_fault(system: &At<String>, names: &Names<'_>) -> Option<ValueFault> {
    let SystemKind::Existing { .. } = names.kind(system.get())? else {
        return None;
    };
    let name = system.get();
    Some(ValueFault::new(
        format!("`{name}` is an existing server, whose backups are no noise"),
        "make a step of it, or name a system that plimsoll starts: engine = \"postgres\"",
    ))
}

fn backup(
    run: &str,
    raw: &RawNoise,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<NoiseWork> {
    raw.refuse(TableKind::BackupNoise, findings);
    let to = place(&raw.to, names, findings);
    let every = period(&raw.every, names.options, findings);
    Some(NoiseWork::Backup {
        backup: names.backup_id(run)?,
        cycles: Cycles {
            to: to?,
            count: raw.cycles(),
            every,
        },
    })
}

fn load(
    at: &At<RawNoise>,
    run: &At<String>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<NoiseWork> {
    at.get().refuse(TableKind::LoadNoise, findings);
    if names
        .raw_workload(run.get())
        .is_some_and(|raw| raw.block.is_some())
    {
        let help = "name a backup workload, or one of the kind tpcc or sysbench";
        let message = format!(
            "`{}` is a block workload, which runs on no system",
            run.get()
        );
        findings.error(run.span(), message, help);
        return None;
    }
    let help = "state how many: users = 8";
    let users = findings.required(&at.span(), "users", &at.get().users, help)?;
    Some(NoiseWork::Load {
        workload: names.workload_id(run.get())?,
        load: LoadShape::closed(users.value()),
    })
}

/// Refuses keys whose figures cannot be taken with noise and without.
fn refuse_beside(raw: &RawStep, at: Range<usize>, findings: &mut Findings<'_>) {
    for (key, set) in [
        ("find", raw.find.is_some()),
        ("power_cut", raw.power_cut.is_some()),
    ] {
        if set {
            findings.error(
                at.clone(),
                format!("`noise` and `{key}` exclude each other"),
                "make two steps of it",
            );
        }
    }
}

/// A step with noise beside one of another number of systems without: their difference is not the noise's.
pub(super) fn warn_of_other_victims(
    steps: &[Step],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let count = |step: &LoadStep| names.systems[step.system.index()].count;
    let loads: Vec<&LoadStep> = steps.iter().filter_map(Step::load).collect();
    for noisy in loads.iter().filter(|step| !step.noise.is_empty()) {
        let mut others = loads
            .iter()
            .filter(|step| step.noise.is_empty() && step.workload == noisy.workload);
        let Some(other) = others.find(|step| count(step) != count(noisy)) else {
            continue;
        };
        let victims = count(noisy);
        let all = count(other);
        let message = format!(
            "`{}` loads {victims} systems beside noise and `{}` loads {all} without: what differs between them is not \
             the noise's doing alone",
            noisy.name, other.name
        );
        let help = format!(
            "compare `{}` with its own baseline, which loads the same {victims}",
            noisy.name
        );
        let at = names
            .raw
            .step
            .iter()
            .find(|at| at.get().noise.is_some())
            .map_or(0..0, At::span);
        findings.warn(at, message, help);
    }
}
