//! Backup steps, and backups beside the load of others.

mod job;
mod worker;

use std::future::{Future, pending};

use futures_util::FutureExt;
use futures_util::future::join_all;
use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::error::LoadError;
use plimsoll_plan::resolved::{Backup, BackupStep, Cycles, Noise, NoiseWork};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{MediumId, StepId};
use plimsoll_record::PointId;

use super::context::{InstanceSetup, StepContext};
use super::drives::Drives;
use super::error::{RunError, StepResult, not_prepared};
use super::recorder::StartTime;
use super::run::RunContext;
use super::systems::{InstanceId, Systems};
use super::wait::ProgressUnit;
use crate::signals::Interrupt;
use job::Backups;
use worker::{BackupJob, BackupWorker, NoiseWorker};

/// A backup step on one medium.
pub(super) struct BackupRunner<'r, 'a> {
    pub run: RunContext<'a>,
    pub systems: &'r mut Systems<'a>,
    pub drives: &'r mut Drives<'a>,
    pub id: StepId,
    pub step: &'a BackupStep,
    pub medium: MediumId,
}

impl BackupRunner<'_, '_> {
    /// Backs up and restores the data of the step's systems, as often as the step requires.
    pub fn run(self) -> StepResult<()> {
        let Self {
            run, step, medium, ..
        } = self;
        let plan = run.plan();
        let backup = &plan.backup(step.backup).backup;
        let setups: Vec<InstanceSetup<'_>> = InstanceId::all(plan, step.system, Some(medium))
            .map(|instance| InstanceSetup {
                step: self.id,
                instance,
                workload: &plan.workload(backup.data).workload,
            })
            .collect();
        self.systems.prepare(self.drives, &step.name, &setups)?;
        let to = step.cycles.to.medium(medium);
        let backups = Backups::new(run, self.drives, to, step.system, medium)?;
        let mut first = None;
        for cycle in 0..step.cycles.count {
            // Counted from the phase that the run file has for the first, so that it shows that none came too soon.
            let due = first.map_or(Nanos::ZERO, |first| step.cycles.due(first, cycle));
            let number = cycle + 1;
            run.wait_until(due, &format!("{}: waiting for backup {number}", step.name))?;
            let name = format!("{} · backup {number} of {}", step.name, step.cycles.count);
            run.meet_others(&name)?;
            run.log
                .phase(&step.name, None, PhaseKind::Backup, |phase| {
                    first.get_or_insert(phase.start);
                    let lasts = step.expected_cycle(plan);
                    let text = run.log.progress().named_point_begins(&name, lasts);
                    let jobs = setups
                        .iter()
                        .map(|setup| backups.job(self.systems, self.drives, setup, backup, None))
                        .collect::<StepResult<Vec<_>>>()?;
                    self.back_up_all(jobs, cycle, &text)
                })?;
        }
        Ok(())
    }

    /// Backs up all systems at the same time.
    fn back_up_all(&self, jobs: Vec<BackupJob>, cycle: u32, text: &str) -> StepResult<()> {
        let RunContext { log, interrupt, .. } = self.run;
        let mut workers = jobs
            .into_iter()
            .map(|job| backup_worker(self.run, self.systems, job))
            .collect::<StepResult<Vec<_>>>()?;
        if let Clock::Virtual(_) = log.clock() {
            let control = LoadControl::default();
            let cycles = workers
                .iter_mut()
                .map(|worker| worker.cycle(cycle, &control));
            let work = until_interrupted(join_all(cycles), interrupt, &control);
            let results = log.block_on(work)?;
            log.store()?;
            self.drives.record_requests()?;
            return merge_results(results);
        }
        let tasks = workers
            .into_iter()
            .map(|mut worker| move |control: &LoadControl| at_once(worker.cycle(cycle, control)));
        merge_results(
            self.run
                .waiter(text, ProgressUnit::Nothing)
                .run_all(tasks)?,
        )
    }
}

/// Backups of one instance beside the load of others.
pub(super) struct NoiseJob {
    job: BackupJob,
    cycles: Cycles,
    /// Phases of the load.
    timeline: Timeline,
}

/// The backups of each noise beside a point, for all instances of its system.
pub(super) fn noise_jobs(
    run: RunContext<'_>,
    systems: &mut Systems<'_>,
    drives: &mut Drives<'_>,
    step: &StepContext<'_>,
    beside: PointId,
    timeline: &Timeline,
) -> StepResult<Vec<NoiseJob>> {
    let plan = run.plan();
    let mut noise_jobs = Vec::new();
    for Noise { system, work } in &step.step.noise {
        let NoiseWork::Backup { backup, cycles } = work else {
            continue;
        };
        let medium = step.medium.ok_or_else(|| not_prepared("medium"))?;
        // A restore beside the measurement would be another kind of noise.
        let backup = Backup {
            restore: false,
            ..plan.backup(*backup).backup.clone()
        };
        let backups = Backups::new(run, drives, cycles.to.medium(medium), *system, medium)?;
        for instance in InstanceId::all(plan, *system, Some(medium)) {
            let setup = InstanceSetup {
                step: step.id,
                instance,
                workload: plan.noise_data(work),
            };
            noise_jobs.push(NoiseJob {
                job: backups.job(systems, drives, &setup, &backup, Some(beside))?,
                cycles: cycles.clone(),
                timeline: timeline.clone(),
            });
        }
    }
    Ok(noise_jobs)
}

/// The result of work that holds up its thread instead of waiting.
pub(super) fn at_once<T>(work: impl Future<Output = T>) -> T {
    let result = work.now_or_never();
    result.expect("a backup in real time never returns pending")
}

/// The work's result; Ctrl-C cancels it.
async fn until_interrupted<T>(
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
fn backup_worker<'r>(
    run: RunContext<'r>,
    systems: &'r Systems<'_>,
    job: BackupJob,
) -> StepResult<BackupWorker<'r>> {
    Ok(BackupWorker {
        instance: &systems.get(job.instance)?.instance,
        clock: run.log.clock(),
        probe: run.log.probe(),
        job,
    })
}

/// The workers that back up neighbours beside the lanes of a point.
pub(super) fn noise_workers<'r>(
    run: RunContext<'r>,
    systems: &'r Systems<'_>,
    jobs: Vec<NoiseJob>,
    start: &StartTime,
) -> StepResult<Vec<NoiseWorker<'r>>> {
    jobs.into_iter()
        .map(|noise| {
            Ok(NoiseWorker {
                worker: backup_worker(run, systems, noise.job)?,
                cycles: noise.cycles,
                timeline: noise.timeline,
                start: start.clone(),
            })
        })
        .collect()
}
