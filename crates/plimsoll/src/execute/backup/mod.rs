//! Backup steps, and backups beside the load of others.

pub(super) mod saver;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc;

use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::CgroupLimits;
use plimsoll_load::probe::Probe;
use plimsoll_model::plan::resolved::{Backup, BackupStep, Cycles, Medium, Noise, NoiseWork};
use plimsoll_model::record::{BackupKind, BackupOutcome, BackupRow, PointId, SubjectId, SubjectKind};
use plimsoll_model::schedule::PhaseKind;
use plimsoll_model::units::Nanos;

use super::prepare::{Running, Site};
use super::recorder::Desk;
use super::{Course, Execution, Halt, REFRESH, unresolved};
use crate::progress::Progress;
use crate::signals::Interrupt;
use saver::{Ground, Orders, Saver};

/// One system's backups, with what limits the system that they are restored into.
pub(super) struct Errand {
    pub orders: Orders,
    pub cage: Option<CgroupLimits>,
}

/// The backups that one noise makes: of all instances of a system.
pub(super) struct Racket {
    pub errands: Vec<Errand>,
    pub cycles: Cycles,
}

impl Execution<'_> {
    /// Saves the data of a step's systems on one medium, and brings them back, as often as the step says.
    pub(super) fn backup_step(&mut self, step: &BackupStep, medium: &str) -> Course<()> {
        let plan = self.plan;
        let backup = plan.backup(&step.backup).ok_or_else(|| unresolved("backup", &step.backup))?;
        let workload = plan.workload(&backup.data).ok_or_else(|| unresolved("workload", &backup.data))?;
        let systems = self.instances(&step.system)?;
        let sites: Vec<Site<'_>> = systems
            .iter()
            .map(|system| Site { step: &step.name, of: &step.system, system, medium: Some(medium), workload })
            .collect();
        self.prepare(&step.name, &sites)?;
        let target = self.vault(step.cycles.to.medium(medium))?;
        let lasts = step.expected_cycle(plan);
        let mut first = None;
        for cycle in 0..step.cycles.count {
            // Counted from the phase that the run file has for the first, so that it shows that none came too soon.
            let due = first.map_or(Nanos::ZERO, |first| step.cycles.due(first, cycle));
            self.wait_for(due, &format!("{}: waiting for backup {}", step.name, cycle + 1))?;
            let now = self.clock.now();
            first.get_or_insert(now);
            let phase = self.file.open_phase(&step.name, None, PhaseKind::Backup, now)?;
            let errands = sites.iter().map(|site| self.errand(site, backup, &target, None));
            let errands = errands.collect::<Course<Vec<_>>>();
            let done = errands.and_then(|errands| {
                let name = format!("{} · backup {} of {}", step.name, cycle + 1, step.cycles.count);
                let what = self.progress.named_point_begins(&name, lasts);
                self.save_all(errands, cycle, &what)
            });
            self.file.close_phase(phase, self.clock.now(), done.is_ok())?;
            self.file.commit()?;
            done?;
        }
        Ok(())
    }

    /// What the backups of a noise need, of all its instances.
    pub(super) fn rackets(&mut self, noise: &[Noise], medium: Option<&str>, beside: Beside<'_>) -> Course<Vec<Racket>> {
        let plan = self.plan;
        let mut rackets = Vec::new();
        for Noise { system, work } in noise {
            let NoiseWork::Backup { backup, cycles } = work else { continue };
            let medium = medium.ok_or_else(|| unresolved("medium of", system))?;
            let backup = plan.backup(backup).ok_or_else(|| unresolved("backup", backup))?;
            // What is brought back while others are measured would be another noise.
            let backup = Backup { restore: false, ..backup.clone() };
            let workload = plan.workload(&backup.data).ok_or_else(|| unresolved("workload", &backup.data))?;
            let target = self.vault(cycles.to.medium(medium))?;
            let instances = self.instances(system)?;
            let errands = instances.iter().map(|instance| {
                let site = Site { step: beside.step, of: system, system: instance, medium: Some(medium), workload };
                self.errand(&site, &backup, &target, Some(beside.point))
            });
            rackets.push(Racket { errands: errands.collect::<Course<_>>()?, cycles: cycles.clone() });
        }
        Ok(rackets)
    }

    /// The medium that backups go to, ready for them.
    fn vault(&mut self, medium: &str) -> Course<(SubjectId, Ground)> {
        let (subject, drive) = self.ground(medium)?;
        Ok((subject, self.place(medium, drive)?))
    }

    fn place(&self, medium: &str, drive: Option<PathBuf>) -> Course<Ground> {
        let Medium { path, .. } = self.plan.medium(medium).ok_or_else(|| unresolved("medium", medium))?;
        let own = || Ground::Path { path: path.into(), run_id: self.run_id.to_owned() };
        Ok(drive.map_or_else(own, Ground::Drive))
    }

    fn errand(
        &mut self,
        site: &Site<'_>,
        backup: &Backup,
        (target, vault): &(SubjectId, Ground),
        point: Option<PointId>,
    ) -> Course<Errand> {
        let Site { step, of, system, medium, workload } = *site;
        let spec = self.plan.system(of).ok_or_else(|| unresolved("system", of))?;
        let running = self.running(system, medium)?;
        let (subject, on) = (running.subject, running.medium);
        let drive = medium.and_then(|medium| self.drives.get(medium)).map(|drive| drive.path.clone());
        let restores = match medium.filter(|_| backup.restore) {
            Some(medium) => Some(self.place(medium, drive)?),
            None => None,
        };
        let name = medium.map_or_else(|| system.to_owned(), |medium| format!("{system}@{medium}"));
        let watched = self.file.subject(SubjectKind::Backup, &name)?;
        let place = restores.as_ref().map(Ground::path);
        let cage = if restores.is_some() { self.cage(spec, subject, place)? } else { None };
        let orders = Orders {
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
            news: self.inbox.from_backups.clone(),
        };
        Ok(Errand { orders, cage })
    }

    /// One backup of each system at the same time, while progress is shown, samples are kept and Ctrl-C is heard.
    fn save_all(&mut self, errands: Vec<Errand>, cycle: u32, what: &str) -> Course<()> {
        let Self { running, probe, progress, clock, inbox, file, interrupt, .. } = self;
        let savers = errands.into_iter().map(|errand| errand_saver(errand, running, clock, probe.as_ref()));
        let savers = savers.collect::<Course<Vec<_>>>()?;
        let control = LoadControl::default();
        progress.begin(clock.now(), what);
        let results = std::thread::scope(|scope| {
            // Whatever ends this scope early, the threads are told to end as well.
            let _ends = CancelAtEnd(&control);
            let (done, results) = mpsc::channel();
            for mut saver in savers {
                let (done, control) = (done.clone(), control.clone());
                scope.spawn(move || {
                    // The receiver lives until all results are there.
                    let _ = done.send(saver.cycle(cycle, &control));
                });
            }
            drop(done);
            until_saved(&results, &mut Desk { file, inbox, progress }, interrupt, clock, &control, what)
        })?;
        one_of(results)
    }

    /// Until a time on the run's timeline.
    fn wait_for(&mut self, due: Nanos, what: &str) -> Course<()> {
        if self.interrupt.is_wanted() {
            return Err(Halt::Interrupted);
        }
        while self.clock.now() < due {
            self.progress.now(self.clock.now(), what);
            self.clock.block_until(due.min(self.clock.now() + REFRESH));
            self.inbox.store(&mut self.file, &self.progress)?;
            self.file.commit()?;
            if self.interrupt.is_wanted() {
                return Err(Halt::Interrupted);
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

/// Tells threads to end, in whichever way the work around them ends.
pub(super) struct CancelAtEnd<'a>(pub &'a LoadControl);

impl Drop for CancelAtEnd<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Waits for all savers, while progress is shown, what they tell is kept and Ctrl-C is heard.
pub(super) fn until_saved(
    results: &mpsc::Receiver<Result<(), LoadError>>,
    Desk { file, inbox, progress }: &mut Desk<'_>,
    interrupt: &Interrupt,
    clock: &Clock,
    control: &LoadControl,
    what: &str,
) -> Course<Vec<Result<(), LoadError>>> {
    let mut ended = Vec::new();
    loop {
        let news = results.recv_timeout(REFRESH.into());
        if interrupt.is_wanted() && !control.is_cancelled() {
            control.cancel();
            progress.say(&format!("{what}: stopping, as you want"));
        }
        inbox.store(file, progress).and_then(|()| file.commit())?;
        progress.now(clock.now(), what);
        match news {
            Ok(result) => ended.push(result),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(ended),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Every failure told, with an interruption only where there is none.
pub(super) fn one_of(results: Vec<Result<(), LoadError>>) -> Course<()> {
    let errors: Vec<LoadError> = results.into_iter().filter_map(Result::err).collect();
    let told: Vec<String> =
        errors.iter().filter(|error| !matches!(error, LoadError::Cancelled)).map(ToString::to_string).collect();
    match (errors.is_empty(), told.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(Halt::Interrupted),
        (false, false) => Err(Halt::Failed(told.join("\n"))),
    }
}

/// With the system that is to be saved.
pub(super) fn errand_saver<'a>(
    Errand { orders, cage }: Errand,
    running: &'a HashMap<(String, Option<String>), Running>,
    clock: &'a Clock,
    probe: Option<&'a Probe>,
) -> Course<Saver<'a>> {
    let found = running.values().find(|running| running.subject == orders.system);
    let instance = &found.ok_or_else(|| unresolved("running system", &orders.name))?.instance;
    Ok(Saver { instance, clock, probe, cage, orders })
}

/// `nightly: backup 2 took 12.3 s, 593 MB/s (db-1)`.
pub(super) fn say(row: &BackupRow, system: &str, progress: &Progress) {
    let step = &row.step;
    let seconds = row.end.saturating_sub(row.start).as_secs_f64();
    let what = match row.kind {
        BackupKind::Backup => "backup",
        BackupKind::Restore => "restore",
    };
    let cycle = row.cycle + 1;
    progress.say(&match row.outcome {
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
