//! Backup steps, and backups beside the load of others.

pub(super) mod worker;

use std::path::PathBuf;

use plimsoll_load::engine::LoadControl;
use plimsoll_load::error::LoadError;
use plimsoll_plan::resolved::{Backup, BackupStep, Cycles, Medium, Noise, NoiseWork};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{Point, PointId, SubjectId, SubjectKind};

use super::context::InstanceSetup;
use super::error::{RunError, StepResult, unresolved};
use super::execution::{Execution, Parts};
use super::recorder::StartTime;
use super::running::InstanceName;
use super::wait::{ProgressUnit, REFRESH};
use worker::{BackupJob, BackupTarget, BackupWorker, NoiseWorker};

/// Backups of one instance beside the load of others.
pub(super) struct NoiseJob {
    job: BackupJob,
    cycles: Cycles,
    /// Of the load.
    timeline: Timeline,
}

/// The medium that backups are written to.
struct Vault {
    subject: SubjectId,
    target: BackupTarget,
}

impl Execution<'_> {
    /// Backs up and restores the data of a step's systems on one medium, as often as the step requires.
    pub(super) fn backup_step(&mut self, step: &BackupStep, medium: &str) -> StepResult<()> {
        let plan = self.plan;
        let backup = plan
            .backup(&step.backup)
            .ok_or_else(|| unresolved("backup", &step.backup))?;
        let workload = plan
            .workload(&backup.data)
            .ok_or_else(|| unresolved("workload", &backup.data))?;
        let systems = self.instances(&step.system)?;
        let setups: Vec<InstanceSetup<'_>> = systems
            .iter()
            .map(|system| InstanceSetup {
                step: &step.name,
                of: &step.system,
                instance: InstanceName {
                    system,
                    medium: Some(medium),
                },
                workload,
            })
            .collect();
        self.prepare(&step.name, &setups)?;
        let vault = self.vault(step.cycles.to.medium(medium))?;
        let lasts = step.expected_cycle(plan);
        let mut first = None;
        for cycle in 0..step.cycles.count {
            // ProgressUnit from the phase that the run file has for the first, so that it shows that none came too soon.
            let due = first.map_or(Nanos::ZERO, |first| step.cycles.due(first, cycle));
            self.wait_for(
                due,
                &format!("{}: waiting for backup {}", step.name, cycle + 1),
            )?;
            let now = self.clock.now();
            first.get_or_insert(now);
            let phase = self
                .file
                .open_phase(&step.name, None, PhaseKind::Backup, now)?;
            let name = format!(
                "{} · backup {} of {}",
                step.name,
                cycle + 1,
                step.cycles.count
            );
            let what = self.progress.named_point_begins(&name, lasts);
            let done = setups
                .iter()
                .map(|setup| self.backup_job(setup, backup, &vault, None))
                .collect::<StepResult<Vec<_>>>()
                .and_then(|jobs| self.back_up_all(jobs, cycle, &what));
            self.file
                .close_phase(phase, self.clock.now(), done.is_ok())?;
            self.file.commit()?;
            done?;
        }
        Ok(())
    }

    /// The backups of each noise, for all instances of its system.
    pub(super) fn noise_jobs(
        &mut self,
        noise: &[Noise],
        medium: Option<&str>,
        beside: &Point,
        timeline: &Timeline,
    ) -> StepResult<Vec<NoiseJob>> {
        let plan = self.plan;
        let mut noise_jobs = Vec::new();
        for Noise { system, work } in noise {
            let NoiseWork::Backup { backup, cycles } = work else {
                continue;
            };
            let medium = medium.ok_or_else(|| unresolved("medium of", system))?;
            let backup = plan
                .backup(backup)
                .ok_or_else(|| unresolved("backup", backup))?;
            // A restore beside the measurement would be another kind of noise.
            let backup = Backup {
                restore: false,
                ..backup.clone()
            };
            let workload = plan
                .workload(&backup.data)
                .ok_or_else(|| unresolved("workload", &backup.data))?;
            let vault = self.vault(cycles.to.medium(medium))?;
            for instance in self.instances(system)? {
                let setup = InstanceSetup {
                    step: &beside.step,
                    of: system,
                    instance: InstanceName {
                        system: &instance,
                        medium: Some(medium),
                    },
                    workload,
                };
                noise_jobs.push(NoiseJob {
                    job: self.backup_job(&setup, &backup, &vault, Some(beside.id))?,
                    cycles: cycles.clone(),
                    timeline: timeline.clone(),
                });
            }
        }
        Ok(noise_jobs)
    }

    /// Prepares the medium that backups are written to.
    fn vault(&mut self, medium: &str) -> StepResult<Vault> {
        let ready = self.prepare_medium(medium)?;
        Ok(Vault {
            subject: ready.subject,
            target: self.backup_target(medium, ready.drive)?,
        })
    }

    fn backup_target(&self, medium: &str, drive: Option<PathBuf>) -> StepResult<BackupTarget> {
        let Medium { path, .. } = self
            .plan
            .medium(medium)
            .ok_or_else(|| unresolved("medium", medium))?;
        Ok(match drive {
            Some(drive) => BackupTarget::Drive(drive),
            None => BackupTarget::Path {
                path: path.into(),
                run_id: self.run_id.to_owned(),
            },
        })
    }

    fn backup_job(
        &mut self,
        setup: &InstanceSetup<'_>,
        backup: &Backup,
        vault: &Vault,
        point: Option<PointId>,
    ) -> StepResult<BackupJob> {
        let plan = self.plan;
        let name = setup.instance;
        let running = self.running(name)?;
        let system = running.subject;
        let on = running.medium;
        let watched = self.file.subject(SubjectKind::Backup, &name.subject())?;
        let mut job = BackupJob {
            step: setup.step.to_owned(),
            step_index: plan.step_index(setup.step),
            point,
            name: name.system.to_owned(),
            system,
            medium: on,
            target: vault.subject,
            watched,
            backup: backup.clone(),
            workload: setup.workload.clone(),
            vault: vault.target.clone(),
            restores: None,
            limits: None,
            rows: self.inbox.from_backups.clone(),
        };
        if let Some(medium) = name.medium.filter(|_| backup.restore) {
            let drive = self.drives.get(medium).map(|drive| drive.path.clone());
            let target = self.backup_target(medium, drive)?;
            let spec = plan
                .system(setup.of)
                .ok_or_else(|| unresolved("system", setup.of))?;
            job.limits = self.limit_system(spec, system, Some(target.path()))?;
            job.restores = Some(target);
        }
        Ok(job)
    }

    /// Backs up all systems at the same time.
    fn back_up_all(&mut self, jobs: Vec<BackupJob>, cycle: u32, what: &str) -> StepResult<()> {
        let mut parts = self.parts();
        let workers = jobs
            .into_iter()
            .map(|job| backup_worker(job, &parts))
            .collect::<StepResult<Vec<_>>>()?;
        let tasks = workers
            .into_iter()
            .map(|mut worker| move |control: &LoadControl| worker.cycle(cycle, control));
        merge_results(parts.waiter(what, ProgressUnit::Nothing).run_all(tasks)?)
    }

    /// Until a time on the run's timeline.
    fn wait_for(&mut self, due: Nanos, what: &str) -> StepResult<()> {
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        while self.clock.now() < due {
            self.progress.now(self.clock.now(), what);
            self.clock.block_until(due.min(self.clock.now() + REFRESH));
            self.parts().sink.store()?;
            if self.interrupt.is_wanted() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }
}

/// All failures as one error; an interruption only where nothing else failed.
pub(super) fn merge_results(results: Vec<Result<(), LoadError>>) -> StepResult<()> {
    let errors: Vec<LoadError> = results.into_iter().filter_map(Result::err).collect();
    let failures: Vec<String> = errors
        .iter()
        .filter(|error| !matches!(error, LoadError::Cancelled))
        .map(ToString::to_string)
        .collect();
    match (errors.is_empty(), failures.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(RunError::Interrupted),
        (false, false) => Err(RunError::Failed(failures.join("\n"))),
    }
}

/// The worker of a job, with the system that it backs up.
fn backup_worker<'a>(job: BackupJob, parts: &Parts<'a>) -> StepResult<BackupWorker<'a>> {
    let system = parts
        .running
        .values()
        .find(|running| running.subject == job.system)
        .ok_or_else(|| unresolved("running system", &job.name))?;
    Ok(BackupWorker {
        instance: &system.instance,
        clock: parts.clock,
        probe: parts.probe,
        job,
    })
}

/// The workers that back up neighbours beside the lanes of a point.
pub(super) fn noise_workers<'a>(
    jobs: Vec<NoiseJob>,
    parts: &Parts<'a>,
    start: &StartTime,
) -> StepResult<Vec<NoiseWorker<'a>>> {
    jobs.into_iter()
        .map(|noise| {
            Ok(NoiseWorker {
                worker: backup_worker(noise.job, parts)?,
                cycles: noise.cycles,
                timeline: noise.timeline,
                start: start.clone(),
            })
        })
        .collect()
}
