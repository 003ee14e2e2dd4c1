//! Backup steps, and backups beside the load of others.

pub(super) mod worker;

use std::future::{Future, pending};
use std::path::{Path, PathBuf};

use futures_util::FutureExt;
use futures_util::future::join_all;
use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::engine::sqlite::TimedFiles;
use plimsoll_load::error::LoadError;
use plimsoll_plan::resolved::{Backup, BackupStep, Cycles, Noise, NoiseWork};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{MediumId, StepId, SystemId};
use plimsoll_record::{Point, PointId, SubjectId, SubjectKind};

use super::context::{InstanceSetup, StepContext};
use super::error::{RunError, StepResult, not_prepared};
use super::execution::{Execution, Parts};
use super::recorder::StartTime;
use super::running::InstanceId;
use super::wait::{ProgressUnit, REFRESH};
use crate::signals::Interrupt;
use worker::{BackupJob, BackupTarget, BackupWorker, NoiseWorker};

/// Backups of one instance beside the load of others.
pub(super) struct NoiseJob {
    job: BackupJob,
    cycles: Cycles,
    /// Of the load.
    timeline: Timeline,
}

/// Has the virtual disk that backups are written to.
const VAULT: &str = "backups";

/// The medium that backups are written to.
struct Vault {
    subject: SubjectId,
    medium: MediumId,
    target: BackupTarget,
}

impl Execution<'_> {
    /// Backs up and restores the data of a step's systems on one medium, as often as the step requires.
    pub(super) fn backup_step(
        &mut self,
        id: StepId,
        step: &BackupStep,
        medium: MediumId,
    ) -> StepResult<()> {
        let plan = self.plan;
        let backup = &plan.backup(step.backup).backup;
        let setups: Vec<InstanceSetup<'_>> = InstanceId::all(plan, step.system, Some(medium))
            .map(|instance| InstanceSetup {
                step: id,
                instance,
                workload: &plan.workload(backup.data).workload,
            })
            .collect();
        self.prepare(id, &setups)?;
        let vault = self.vault(step.cycles.to.medium(medium), step.system, medium)?;
        let lasts = step.expected_cycle(plan);
        let mut first = None;
        for cycle in 0..step.cycles.count {
            // Counted from the phase that the run file has for the first, so that it shows that none came too soon.
            let due = first.map_or(Nanos::ZERO, |first| step.cycles.due(first, cycle));
            self.wait_for(
                due,
                &format!("{}: waiting for backup {}", step.name, cycle + 1),
            )?;
            let name = format!(
                "{} · backup {} of {}",
                step.name,
                cycle + 1,
                step.cycles.count
            );
            self.meet_others(&name)?;
            let now = self.clock.now();
            first.get_or_insert(now);
            let phase = self
                .file
                .open_phase(&step.name, None, PhaseKind::Backup, now)?;
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
        step_context: &StepContext<'_>,
        beside: &Point,
        timeline: &Timeline,
    ) -> StepResult<Vec<NoiseJob>> {
        let plan = self.plan;
        let mut noise_jobs = Vec::new();
        for Noise { system, work } in &step_context.step.noise {
            let NoiseWork::Backup { backup, cycles } = work else {
                continue;
            };
            let medium = step_context.medium.ok_or_else(|| not_prepared("medium"))?;
            // A restore beside the measurement would be another kind of noise.
            let backup = Backup {
                restore: false,
                ..plan.backup(*backup).backup.clone()
            };
            let vault = self.vault(cycles.to.medium(medium), *system, medium)?;
            for instance in InstanceId::all(plan, *system, Some(medium)) {
                let setup = InstanceSetup {
                    step: step_context.id,
                    instance,
                    workload: plan.noise_data(work),
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

    /// Prepares the medium that backups of a system on another one, or the same, are written to.
    fn vault(&mut self, medium: MediumId, system: SystemId, of: MediumId) -> StepResult<Vault> {
        let ready = self.ready_medium(medium, system, VAULT)?;
        Ok(Vault {
            subject: ready.subject,
            medium,
            target: self.backup_target(medium, of, ready.drive),
        })
    }

    fn backup_target(
        &self,
        medium: MediumId,
        of: MediumId,
        drive: Option<PathBuf>,
    ) -> BackupTarget {
        let plan = self.plan;
        let run_id = match self.simulated.contains_key(&medium) {
            // Drives that are simulated beside each other may have one directory.
            true => format!("{}-{}", self.run_id, plan.medium(of).name),
            false => self.run_id.to_owned(),
        };
        match drive {
            Some(drive) => BackupTarget::Drive(drive),
            None => BackupTarget::Path {
                path: (&plan.medium(medium).path).into(),
                run_id,
            },
        }
    }

    /// Between the medium of an instance and that of its backups, where they are simulated.
    fn timed_files(&self, data: Option<MediumId>, vault: MediumId) -> Option<TimedFiles> {
        let [from, to] = [data?, vault].map(|medium| self.simulated.get(&medium));
        Some(TimedFiles {
            from: from?.name().to_owned(),
            to: to?.name().to_owned(),
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
        let instance = setup.instance;
        let running = self.running.get(instance)?;
        let system = running.subject;
        let on = running.medium;
        let watched = self
            .file
            .subject(SubjectKind::Backup, &instance.subject(plan))?;
        let mut job = BackupJob {
            step: plan.step(setup.step).name().to_owned(),
            step_index: setup.step.index() as u32,
            point,
            name: instance.name(plan),
            instance,
            system,
            medium: on,
            target: vault.subject,
            watched,
            backup: backup.clone(),
            workload: setup.workload.clone(),
            vault: vault.target.clone(),
            restores: None,
            timed: self.timed_files(instance.medium, vault.medium),
            limits: None,
            rows: self.inbox.from_backups.clone(),
        };
        if let Some(medium) = instance.medium.filter(|_| backup.restore) {
            let drive = self.drives.get(&medium);
            let drive = drive.and_then(|own| own.disks.of(&instance.name(plan)));
            let drive = drive.map(Path::to_owned);
            let target = self.backup_target(medium, medium, drive);
            let spec = plan.system(instance.system);
            job.limits = self.limit_system(spec, system, Some(target.path()))?;
            job.restores = Some(target);
        }
        Ok(job)
    }

    /// Backs up all systems at the same time.
    fn back_up_all(&mut self, jobs: Vec<BackupJob>, cycle: u32, what: &str) -> StepResult<()> {
        let mut parts = self.parts();
        let mut workers = jobs
            .into_iter()
            .map(|job| backup_worker(job, &parts))
            .collect::<StepResult<Vec<_>>>()?;
        if let Clock::Virtual(_) = parts.clock {
            let control = LoadControl::default();
            let cycles = workers.iter_mut().map(|own| own.cycle(cycle, &control));
            let work = until_interrupted(join_all(cycles), parts.interrupt, &control);
            let results = parts.clock.block_on(work);
            let results =
                results.map_err(|error| RunError::failed(format!("no runtime: {error}")))?;
            parts.sink.store()?;
            self.record_requests()?;
            return merge_results(results);
        }
        let tasks = workers
            .into_iter()
            .map(|mut worker| move |control: &LoadControl| at_once(worker.cycle(cycle, control)));
        merge_results(parts.waiter(what, ProgressUnit::Nothing).run_all(tasks)?)
    }

    /// Until a time on the run's timeline.
    fn wait_for(&mut self, due: Nanos, what: &str) -> StepResult<()> {
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        while self.clock.now() < due {
            self.progress.now(self.clock.now(), what);
            self.pass_until(due.min(self.clock.now() + REFRESH))?;
            self.parts().sink.store()?;
            if self.interrupt.is_wanted() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }
}

/// The result of work that holds up its thread instead of waiting.
pub(super) fn at_once<T>(work: impl Future<Output = T>) -> T {
    let result = work.now_or_never();
    result.expect("a backup in real time never returns pending")
}

/// The work's result; Ctrl-C cancels it.
pub(super) async fn until_interrupted<T>(
    work: impl Future<Output = T>,
    interrupt: &Interrupt,
    control: &LoadControl,
) -> T {
    let mut orders = interrupt.subscribe();
    let cancel = async {
        // The sender is in `interrupt`: an error cannot come.
        let _ = orders.wait_for(|_| interrupt.is_wanted()).await;
        control.cancel();
        pending::<()>().await
    };
    tokio::select! {
        result = work => result,
        () = cancel => pending().await,
    }
}

/// All failures as one error; an interruption only where nothing else failed.
pub(super) fn merge_results(results: Vec<Result<(), LoadError>>) -> StepResult<()> {
    let errors: Vec<LoadError> = results.into_iter().filter_map(Result::err).collect();
    let failures: Vec<&LoadError> = errors
        .iter()
        .filter(|error| !matches!(error, LoadError::Cancelled))
        .collect();
    match (errors.is_empty(), failures.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(RunError::Interrupted),
        (false, false) => Err(RunError::Failed(failures.into_iter().collect())),
    }
}

/// The worker of a job, with the system that it backs up.
fn backup_worker<'a>(job: BackupJob, parts: &Parts<'a>) -> StepResult<BackupWorker<'a>> {
    let system = parts.running.get(job.instance)?;
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
