//! Backup steps, and backups beside the load of others.

pub(super) mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc;

use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::CgroupLimits;
use plimsoll_load::probe::Probe;
use plimsoll_plan::resolved::{Backup, BackupStep, Cycles, Medium, Noise, NoiseWork};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{BackupKind, BackupOutcome, BackupRow, PointId, SubjectId, SubjectKind};

use super::prepare::{InstanceSetup, Running};
use super::recorder::RunSink;
use super::{Execution, REFRESH, RunError, StepResult, unresolved};
use crate::progress::Progress;
use crate::signals::Interrupt;
use worker::{BackupSpec, BackupTarget, BackupWorker};

/// One system's backups, and the limits of the system that they are restored into.
pub(super) struct BackupJob {
    pub spec: BackupSpec,
    pub limits: Option<CgroupLimits>,
}

/// The backups of one noise: those of all instances of a system.
pub(super) struct NoiseJobs {
    pub jobs: Vec<BackupJob>,
    pub cycles: Cycles,
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
                system,
                medium: Some(medium),
                workload,
            })
            .collect();
        self.prepare(&step.name, &setups)?;
        let target = self.vault(step.cycles.to.medium(medium))?;
        let lasts = step.expected_cycle(plan);
        let mut first = None;
        for cycle in 0..step.cycles.count {
            // Counted from the phase that the run file has for the first, so that it shows that none came too soon.
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
            let jobs = setups
                .iter()
                .map(|setup| self.backup_job(setup, backup, &target, None));
            let jobs = jobs.collect::<StepResult<Vec<_>>>();
            let done = jobs.and_then(|jobs| {
                let name = format!(
                    "{} · backup {} of {}",
                    step.name,
                    cycle + 1,
                    step.cycles.count
                );
                let what = self.progress.named_point_begins(&name, lasts);
                self.save_all(jobs, cycle, &what)
            });
            self.file
                .close_phase(phase, self.clock.now(), done.is_ok())?;
            self.file.commit()?;
            done?;
        }
        Ok(())
    }

    /// The backup jobs of each noise, for all instances of its system.
    pub(super) fn noise_jobs(
        &mut self,
        noise: &[Noise],
        medium: Option<&str>,
        beside: Beside<'_>,
    ) -> StepResult<Vec<NoiseJobs>> {
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
            let target = self.vault(cycles.to.medium(medium))?;
            let instances = self.instances(system)?;
            let jobs = instances.iter().map(|instance| {
                let setup = InstanceSetup {
                    step: beside.step,
                    of: system,
                    system: instance,
                    medium: Some(medium),
                    workload,
                };
                self.backup_job(&setup, &backup, &target, Some(beside.point))
            });
            noise_jobs.push(NoiseJobs {
                jobs: jobs.collect::<StepResult<_>>()?,
                cycles: cycles.clone(),
            });
        }
        Ok(noise_jobs)
    }

    /// Prepares the medium that backups are written to.
    fn vault(&mut self, medium: &str) -> StepResult<(SubjectId, BackupTarget)> {
        let (subject, drive) = self.prepare_medium(medium)?;
        Ok((subject, self.backup_target(medium, drive)?))
    }

    fn backup_target(&self, medium: &str, drive: Option<PathBuf>) -> StepResult<BackupTarget> {
        let Medium { path, .. } = self
            .plan
            .medium(medium)
            .ok_or_else(|| unresolved("medium", medium))?;
        let own = || BackupTarget::Path {
            path: path.into(),
            run_id: self.run_id.to_owned(),
        };
        Ok(drive.map_or_else(own, BackupTarget::Drive))
    }

    fn backup_job(
        &mut self,
        setup: &InstanceSetup<'_>,
        backup: &Backup,
        (target, vault): &(SubjectId, BackupTarget),
        point: Option<PointId>,
    ) -> StepResult<BackupJob> {
        let InstanceSetup {
            step,
            of,
            system,
            medium,
            workload,
        } = *setup;
        let spec = self
            .plan
            .system(of)
            .ok_or_else(|| unresolved("system", of))?;
        let running = self.running(system, medium)?;
        let (subject, on) = (running.subject, running.medium);
        let drive = medium
            .and_then(|medium| self.drives.get(medium))
            .map(|drive| drive.path.clone());
        let restores = match medium.filter(|_| backup.restore) {
            Some(medium) => Some(self.backup_target(medium, drive)?),
            None => None,
        };
        let name = medium.map_or_else(|| system.to_owned(), |medium| format!("{system}@{medium}"));
        let watched = self.file.subject(SubjectKind::Backup, &name)?;
        let place = restores.as_ref().map(BackupTarget::path);
        let limits = if restores.is_some() {
            self.limit_system(spec, subject, place)?
        } else {
            None
        };
        let spec = BackupSpec {
            step: step.to_owned(),
            step_index: self.plan.step_index(step),
            point,
            name: system.to_owned(),
            system: subject,
            medium: on,
            target: *target,
            watched,
            backup: backup.clone(),
            workload: workload.clone(),
            vault: vault.clone(),
            restores,
            rows: self.inbox.from_backups.clone(),
        };
        Ok(BackupJob { spec, limits })
    }

    /// Backs up all systems at the same time; shows progress, stores samples and handles Ctrl-C meanwhile.
    fn save_all(&mut self, jobs: Vec<BackupJob>, cycle: u32, what: &str) -> StepResult<()> {
        let Self {
            running,
            probe,
            progress,
            clock,
            inbox,
            file,
            interrupt,
            ..
        } = self;
        let workers = jobs
            .into_iter()
            .map(|job| backup_worker(job, running, clock, probe.as_ref()));
        let workers = workers.collect::<StepResult<Vec<_>>>()?;
        let control = LoadControl::default();
        progress.begin(clock.now(), what);
        let results = std::thread::scope(|scope| {
            // An early return from this scope stops the threads.
            let _ends = CancelAtEnd(&control);
            let (done, results) = mpsc::channel();
            for mut worker in workers {
                let (done, control) = (done.clone(), control.clone());
                scope.spawn(move || {
                    // The receiver lives until all results are there.
                    let _ = done.send(worker.cycle(cycle, &control));
                });
            }
            drop(done);
            wait_for_backups(
                &results,
                &mut RunSink {
                    file,
                    inbox,
                    progress,
                },
                interrupt,
                clock,
                &control,
                what,
            )
        })?;
        merge_results(results)
    }

    /// Until a time on the run's timeline.
    fn wait_for(&mut self, due: Nanos, what: &str) -> StepResult<()> {
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        while self.clock.now() < due {
            self.progress.now(self.clock.now(), what);
            self.clock.block_until(due.min(self.clock.now() + REFRESH));
            self.inbox.store(&mut self.file, &self.progress)?;
            self.file.commit()?;
            if self.interrupt.is_wanted() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    }
}

/// What backups run beside.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub step: &'a str,
    pub point: PointId,
}

/// Cancels the threads' work when the scope around them ends, also by an error.
pub(super) struct CancelAtEnd<'a>(pub &'a LoadControl);

impl Drop for CancelAtEnd<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Waits for all workers; shows progress, stores their rows and handles Ctrl-C meanwhile.
pub(super) fn wait_for_backups(
    results: &mpsc::Receiver<Result<(), LoadError>>,
    RunSink {
        file,
        inbox,
        progress,
    }: &mut RunSink<'_>,
    interrupt: &Interrupt,
    clock: &Clock,
    control: &LoadControl,
    what: &str,
) -> StepResult<Vec<Result<(), LoadError>>> {
    let mut ended = Vec::new();
    loop {
        let result = results.recv_timeout(REFRESH.into());
        if interrupt.is_wanted() && !control.is_cancelled() {
            control.cancel();
            progress.print(&format!("{what}: stopping (Ctrl-C)"));
        }
        inbox.store(file, progress).and_then(|()| file.commit())?;
        progress.now(clock.now(), what);
        match result {
            Ok(result) => ended.push(result),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(ended),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
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
pub(super) fn backup_worker<'a>(
    BackupJob { spec, limits }: BackupJob,
    running: &'a HashMap<(String, Option<String>), Running>,
    clock: &'a Clock,
    probe: Option<&'a Probe>,
) -> StepResult<BackupWorker<'a>> {
    let system = running
        .values()
        .find(|running| running.subject == spec.system);
    let instance = &system
        .ok_or_else(|| unresolved("running system", &spec.name))?
        .instance;
    Ok(BackupWorker {
        instance,
        clock,
        probe,
        limits,
        spec,
    })
}

/// `nightly: backup 2 took 12.3 s, 593 MB/s (db-1)`.
pub(super) fn print_row(row: &BackupRow, system: &str, progress: &Progress) {
    let step = &row.step;
    let seconds = row.end.saturating_sub(row.start).as_secs_f64();
    let what = match row.kind {
        BackupKind::Backup => "backup",
        BackupKind::Restore => "restore",
    };
    let cycle = row.cycle + 1;
    progress.print(&match row.outcome {
        BackupOutcome::Complete if seconds > 0.0 => {
            let rate = row.bytes as f64 / 1e6 / seconds;
            format!("{step}: {what} {cycle} took {seconds:.1} s, {rate:.0} MB/s ({system})")
        }
        BackupOutcome::Complete => format!("{step}: {what} {cycle} is complete ({system})"),
        BackupOutcome::Cancelled => format!("{step}: {what} {cycle} was ended ({system})"),
        BackupOutcome::Failed | BackupOutcome::Differs => {
            format!("{step}: {what} {cycle} failed ({system}): {}", row.detail)
        }
    });
}
