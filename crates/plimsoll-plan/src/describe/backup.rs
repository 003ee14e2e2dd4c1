//! Backups and noise as TOML.

use std::fmt::{self, Write};

use super::media::media;
use crate::load::LoadShape;
use crate::resolved::{Backup, BackupPlace, BackupStep, Cycles, Noise, NoiseWork, ResolvedPlan};
use crate::toml_text::quoted;
use crate::units::Nanos;

pub(super) fn write_backup(
    out: &mut String,
    plan: &ResolvedPlan,
    name: &str,
    backup: &Backup,
) -> fmt::Result {
    let Backup {
        data,
        method,
        jobs,
        restore,
    } = backup;
    writeln!(
        out,
        "\n[workload.{name}.backup]\ndata = {}\nmethod = \"{}\"",
        quoted(&plan.workload(*data).name),
        method.name()
    )?;
    writeln!(out, "jobs = {jobs}\nrestore = {restore}")
}

pub(super) fn write_step(out: &mut String, plan: &ResolvedPlan, step: &BackupStep) -> fmt::Result {
    let BackupStep {
        name,
        backup,
        system,
        on,
        cycles,
    } = step;
    writeln!(
        out,
        "\n[[step]]\nname = {}\nrun = {}\nsystem = {}",
        quoted(name),
        quoted(&plan.backup(*backup).name),
        quoted(&plan.system(*system).name)
    )?;
    writeln!(out, "on = {}", media(plan, on))?;
    pairs(plan, cycles)
        .into_iter()
        .try_for_each(|pair| writeln!(out, "{pair}"))
}

/// As an array of tables after the step's own keys.
pub(super) fn write_noise(out: &mut String, plan: &ResolvedPlan, noise: &[Noise]) -> fmt::Result {
    for Noise { system, work } in noise {
        let system = quoted(&plan.system(*system).name);
        writeln!(out, "\n[[step.noise]]\nsystem = {system}")?;
        match work {
            NoiseWork::Backup { backup, cycles } => {
                writeln!(out, "run = {}", quoted(&plan.backup(*backup).name))?;
                pairs(plan, cycles)
                    .into_iter()
                    .try_for_each(|pair| writeln!(out, "{pair}"))?;
            }
            NoiseWork::Load { workload, load } => {
                writeln!(out, "run = {}", quoted(&plan.workload(*workload).name))?;
                let (LoadShape::Closed { users, .. } | LoadShape::Open { users, .. }) = load;
                writeln!(out, "users = {users}")?;
            }
        }
    }
    Ok(())
}

fn pairs(plan: &ResolvedPlan, cycles: &Cycles) -> Vec<String> {
    let Cycles { to, count, every } = cycles;
    let to = match to {
        BackupPlace::Beside => None,
        BackupPlace::Medium(medium) => Some(format!("to = {}", quoted(&plan.medium(*medium).name))),
    };
    let every = (*every > Nanos::ZERO).then(|| format!("every = \"{every}\""));
    to.into_iter()
        .chain([format!("cycles = {count}")])
        .chain(every)
        .collect()
}
