//! Backups and noise as TOML.

use std::fmt::{self, Write};

use crate::load::LoadShape;
use crate::resolved::{Backup, BackupPlace, BackupStep, Cycles, Noise, NoiseWork};
use crate::toml_text::quoted;
use crate::units::Nanos;

pub(super) fn write_backup(out: &mut String, name: &str, backup: &Backup) -> fmt::Result {
    let Backup {
        data,
        method,
        jobs,
        restore,
    } = backup;
    writeln!(
        out,
        "\n[workload.{name}.backup]\ndata = {}\nmethod = \"{}\"",
        quoted(data),
        method.name()
    )?;
    writeln!(out, "jobs = {jobs}\nrestore = {restore}")
}

pub(super) fn write_step(out: &mut String, step: &BackupStep) -> fmt::Result {
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
        quoted(backup),
        quoted(system)
    )?;
    let on: Vec<String> = on.iter().map(|name| quoted(name)).collect();
    writeln!(out, "on = [{}]", on.join(", "))?;
    pairs(cycles)
        .into_iter()
        .try_for_each(|pair| writeln!(out, "{pair}"))
}

/// As an array of tables after the step's own keys.
pub(super) fn write_noise(out: &mut String, noise: &[Noise]) -> fmt::Result {
    for Noise { system, work } in noise {
        writeln!(out, "\n[[step.noise]]\nsystem = {}", quoted(system))?;
        match work {
            NoiseWork::Backup { backup, cycles } => {
                writeln!(out, "run = {}", quoted(backup))?;
                pairs(cycles)
                    .into_iter()
                    .try_for_each(|pair| writeln!(out, "{pair}"))?;
            }
            NoiseWork::Load { workload, load } => {
                writeln!(out, "run = {}", quoted(workload))?;
                let (LoadShape::Closed { users, .. } | LoadShape::Open { users, .. }) = load;
                writeln!(out, "users = {users}")?;
            }
        }
    }
    Ok(())
}

fn pairs(cycles: &Cycles) -> Vec<String> {
    let Cycles { to, count, every } = cycles;
    let to = match to {
        BackupPlace::Beside => None,
        BackupPlace::Medium(name) => Some(format!("to = {}", quoted(name))),
    };
    let every = (*every > Nanos::ZERO).then(|| format!("every = \"{every}\""));
    to.into_iter()
        .chain([format!("cycles = {count}")])
        .chain(every)
        .collect()
}
