//! The thread that backs up one system again and again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use plimsoll_load::clock::Clock;
use plimsoll_load::engine::sqlite::TimedFiles;
use plimsoll_load::engine::{CheckedData, LoadControl};
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::CgroupLimits;
use plimsoll_load::probe::{Probe, Watch};
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::{Instance, RestoredBackup};
use plimsoll_plan::resolved::{Backup, Cycles, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::BackupDetail;
use plimsoll_record::{BackupKind, BackupOutcome, BackupRow, PointId, SubjectId};
use plimsoll_report::message::Messages;
use plimsoll_virtual::vfs;

use super::super::recorder::StartTime;
use super::super::systems::InstanceId;

/// How often a waiting worker checks for cancellation.
const POLL_INTERVAL: Nanos = Nanos::from_millis(100);

/// Where a backup or a restored system gets its directory.
#[derive(Debug, Clone)]
pub(in crate::execute) enum BackupTarget {
    /// A directory of the user's.
    Path { path: PathBuf, run_id: String },
    /// An emulated drive.
    Drive(PathBuf),
}

impl BackupTarget {
    pub fn path(&self) -> &Path {
        match self {
            Self::Path { path, .. } | Self::Drive(path) => path,
        }
    }

    fn scratch(&self, name: &str) -> Result<Scratch, LoadError> {
        match self {
            Self::Path { path, run_id } => Scratch::create(path, &format!("{run_id}-{name}")),
            Self::Drive(mount) => Scratch::inside(mount, name),
        }
    }
}

/// Backup of one system: its data, where it goes, and where its rows are sent.
pub(in crate::execute) struct BackupJob {
    pub step: String,
    pub step_index: u32,
    pub point: Option<PointId>,
    pub instance: InstanceId,
    /// Name of the instance.
    pub name: String,
    pub system: SubjectId,
    pub medium: Option<SubjectId>,
    pub target: SubjectId,
    /// The subject that the growth of files is recorded for.
    pub watched: SubjectId,
    pub backup: Backup,
    pub workload: Workload,
    /// Where backups go.
    pub vault: BackupTarget,
    /// Where they are restored; none: they are not.
    pub restores: Option<BackupTarget>,
    /// Through which VFS files go in virtual time: from the medium of the data to that of the backup.
    pub timed: Option<TimedFiles>,
    /// Limits of the restored system.
    pub limits: Option<CgroupLimits>,
    pub rows: Sender<(String, BackupRow)>,
}

/// Backs up one system.
pub(in crate::execute) struct BackupWorker<'a> {
    pub job: BackupJob,
    pub instance: &'a Instance,
    pub clock: &'a Clock,
    pub probe: Option<&'a Probe>,
}

/// Backups during the measurement of a load; none begins after it.
pub(in crate::execute) struct NoiseWorker<'a> {
    pub worker: BackupWorker<'a>,
    pub cycles: Cycles,
    /// Phases of the load.
    pub timeline: Timeline,
    pub start: StartTime,
}

impl NoiseWorker<'_> {
    /// Stops at the first failure. In real time it holds up its thread, and never returns pending.
    pub async fn run(&mut self, control: &LoadControl) -> Result<(), LoadError> {
        let clock = self.worker.clock;
        let start = loop {
            match self.start.get() {
                Some(start) => break start,
                None => wait_until(clock, clock.now() + POLL_INTERVAL, control).await?,
            }
        };
        let measured_from = start + self.timeline.warm;
        let until = start + self.timeline.load_end();
        for cycle in 0..self.cycles.count {
            let due = self.cycles.due(measured_from, cycle);
            if due.max(clock.now()) >= until {
                break;
            }
            wait_until(clock, due, control).await?;
            self.worker.cycle(cycle, control).await?;
        }
        Ok(())
    }
}

/// One backup or restore as it will be recorded.
#[derive(Clone, Copy)]
struct BackupAttempt {
    kind: BackupKind,
    cycle: u32,
    start: Nanos,
}

impl BackupWorker<'_> {
    /// One backup, restored if the plan asks for it, then removed. In real time it holds up its thread, and never returns
    /// pending.
    pub async fn cycle(&mut self, cycle: u32, control: &LoadControl) -> Result<(), LoadError> {
        let attempt = self.begin(BackupKind::Backup, cycle);
        let mut vault = self
            .job
            .vault
            .scratch(&format!("backup-{}", self.job.name))
            .inspect_err(|error| self.failed(attempt, error))?;
        let files = vault
            .dir("files")
            .inspect_err(|error| self.failed(attempt, error));
        let done = match files {
            Ok(files) => self.back_up_and_restore(cycle, &files, control).await,
            Err(error) => Err(error),
        };
        if let Some(timed) = &self.job.timed {
            vfs::remove(&timed.to, vault.path());
        }
        // The first failure matters more than one to remove the directory.
        let removed = vault.remove();
        done.and(removed)
    }

    async fn back_up_and_restore(
        &mut self,
        cycle: u32,
        files: &Path,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        self.back_up(cycle, files, control).await?;
        match self.job.restores.clone() {
            Some(target) => self.restore(cycle, files, &target, control).await,
            None => Ok(()),
        }
    }

    async fn back_up(
        &self,
        cycle: u32,
        files: &Path,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        self.watch(files);
        let Backup { method, jobs, .. } = self.job.backup;
        let attempt = self.begin(BackupKind::Backup, cycle);
        let taken = match &self.job.timed {
            Some(timed) => {
                (self.instance)
                    .back_up_simulated(files, control, timed)
                    .await
            }
            None => self.instance.back_up(method, jobs, files, control),
        };
        let end = self.clock.now();
        self.unwatch();
        let taken = taken.inspect_err(|error| self.failed(attempt, error))?;
        self.send(BackupRow {
            program: taken.program,
            bytes: taken.bytes,
            ..self.row(attempt, end, BackupOutcome::Complete)
        });
        Ok(())
    }

    /// Restores beside the system, and compares the two.
    async fn restore(
        &mut self,
        cycle: u32,
        files: &Path,
        target: &BackupTarget,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let attempt = self.begin(BackupKind::Restore, cycle);
        let mut scratch = target
            .scratch(&format!("restored-{}", self.job.name))
            .inspect_err(|error| self.failed(attempt, error))?;
        self.watch(scratch.path());
        let Backup { method, jobs, .. } = self.job.backup;
        let limits = self.job.limits.take();
        let restored = match self.job.timed.clone().map(TimedFiles::reversed) {
            Some(timed) => {
                let restoring =
                    self.instance
                        .restore_simulated(files, &mut scratch, control, &timed);
                restoring.await
            }
            None => self
                .instance
                .restore(method, jobs, files, &mut scratch, limits, control),
        };
        let restored = restored.inspect_err(|error| self.failed(attempt, error));
        self.unwatch();
        let done = restored.and_then(|restored| self.verify(cycle, restored, control));
        if let Some(timed) = &self.job.timed {
            vfs::remove(&timed.from, scratch.path());
        }
        let removed = scratch.remove();
        done.and(removed)
    }

    fn verify(
        &self,
        cycle: u32,
        restored: RestoredBackup,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let attempt = BackupAttempt {
            kind: BackupKind::Restore,
            cycle,
            start: self.restore_time(restored.began),
        };
        let end = self.restore_time(restored.ended);
        let compared = self.compare(&restored.instance, control);
        let stopped = restored.instance.stop();
        let outcome = match &compared {
            Ok(BackupDetail::Verified { .. }) => BackupOutcome::Complete,
            Ok(_) => BackupOutcome::Differs,
            Err(LoadError::Cancelled) => BackupOutcome::Cancelled,
            Err(_) => BackupOutcome::Failed,
        };
        let detail = match &compared {
            Ok(detail) => detail.clone(),
            Err(LoadError::Cancelled) => BackupDetail::NotVerified,
            Err(error) => failure(error),
        };
        self.send(BackupRow {
            program: restored.program,
            bytes: restored.bytes,
            detail: Some(detail),
            ..self.row(attempt, end, outcome)
        });
        match compared? {
            BackupDetail::Verified { .. } => stopped,
            detail => {
                let name = &self.job.name;
                let what = format!("the restored data of {name} differ from the original");
                let why = Messages::english().backup_detail(&detail);
                Err(LoadError::other(what, why))
            }
        }
    }

    /// A time of a restore, which is one of CLOCK_MONOTONIC in real time.
    fn restore_time(&self, at: Nanos) -> Nanos {
        match self.clock {
            Clock::Real(_) => self.clock.of_monotonic(at),
            Clock::Virtual(_) => at,
        }
    }

    fn compare(
        &self,
        restored: &Instance,
        control: &LoadControl,
    ) -> Result<BackupDetail, LoadError> {
        let verdicts = restored.check(CheckedData::from(&self.job.workload))?;
        if control.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        let original = self.instance.row_counts()?;
        let back = restored.row_counts()?;
        if let Some(verdict) = verdicts.iter().find(|verdict| !verdict.holds) {
            return Ok(BackupDetail::ConditionFails {
                clause: verdict.clause.to_owned(),
                check: Box::new(verdict.detail.clone()),
            });
        }
        Ok(
            difference(&original, &back).unwrap_or_else(|| BackupDetail::Verified {
                conditions: verdicts.len() as u64,
                rows: back.values().sum(),
                tables: back.len() as u64,
            }),
        )
    }

    fn begin(&self, kind: BackupKind, cycle: u32) -> BackupAttempt {
        BackupAttempt {
            kind,
            cycle,
            start: self.clock.now(),
        }
    }

    fn row(&self, attempt: BackupAttempt, end: Nanos, outcome: BackupOutcome) -> BackupRow {
        let job = &self.job;
        BackupRow {
            step: job.step.clone(),
            step_index: job.step_index,
            point: job.point,
            system: job.system,
            medium: job.medium,
            target: job.target,
            cycle: attempt.cycle,
            kind: attempt.kind,
            method: job.backup.method.name().to_owned(),
            program: String::new(),
            start: attempt.start,
            end,
            bytes: 0,
            outcome,
            detail: None,
        }
    }

    fn failed(&self, attempt: BackupAttempt, error: &LoadError) {
        let (outcome, detail) = match error {
            LoadError::Cancelled => (BackupOutcome::Cancelled, None),
            other => (BackupOutcome::Failed, Some(failure(other))),
        };
        self.send(BackupRow {
            detail,
            ..self.row(attempt, self.clock.now(), outcome)
        });
    }

    fn send(&self, row: BackupRow) {
        // A closed channel: the run has ended.
        let _ = self.job.rows.send((self.job.name.clone(), row));
    }

    fn watch(&self, path: &Path) {
        if let Some(probe) = self.probe {
            probe.watch(self.job.watched, Watch::Backup { path: path.into() });
        }
    }

    fn unwatch(&self) {
        if let Some(probe) = self.probe {
            probe.unwatch(self.job.watched);
        }
    }
}

fn failure(error: &LoadError) -> BackupDetail {
    BackupDetail::Failed {
        error: error.to_string(),
    }
}

/// The first table whose rows are not as many.
fn difference(
    original: &BTreeMap<String, u64>,
    restored: &BTreeMap<String, u64>,
) -> Option<BackupDetail> {
    let table = original
        .keys()
        .chain(restored.keys())
        .find(|table| original.get(*table) != restored.get(*table))?;
    Some(BackupDetail::TableDiffers {
        table: table.clone(),
        rows: original.get(table).copied(),
        restored: restored.get(table).copied(),
    })
}

/// Waits for a time on the run's timeline; an error if canceled.
async fn wait_until(clock: &Clock, at: Nanos, control: &LoadControl) -> Result<(), LoadError> {
    while clock.now() < at {
        control.check()?;
        let next = at.min(clock.now() + POLL_INTERVAL);
        match clock {
            Clock::Real(_) => clock.block_until(next),
            Clock::Virtual(clock) => clock.sleep_until(next).await,
        }
    }
    control.check()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(tables: &[(&str, u64)]) -> BTreeMap<String, u64> {
        tables
            .iter()
            .map(|(table, rows)| ((*table).to_owned(), *rows))
            .collect()
    }

    #[test]
    fn the_first_table_that_differs_is_named_with_both_counts() {
        let original = counts(&[("item", 100), ("spec", 30)]);
        assert_eq!(difference(&original, &original), None);
        let m = Messages::english();
        let fewer = difference(&original, &counts(&[("item", 100), ("spec", 29)])).unwrap();
        assert_eq!(
            m.backup_detail(&fewer),
            "table spec has 30 rows in the system and has 29 rows in what was restored"
        );
        let more = difference(&counts(&[("item", 100)]), &original).unwrap();
        assert_eq!(
            m.backup_detail(&more),
            "table spec is not there in the system and has 30 rows in what was restored"
        );
    }
}
