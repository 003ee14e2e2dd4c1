//! The thread that backs up one system again and again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use plimsoll_load::clock::Clock;
use plimsoll_load::engine::{CheckedData, LoadControl};
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::CgroupLimits;
use plimsoll_load::probe::{Probe, Watch};
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::Instance;
use plimsoll_load::system::RestoredBackup;
use plimsoll_plan::resolved::{Backup, Cycles, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{BackupKind, BackupOutcome, BackupRow, PointId, SubjectId};
use tokio::sync::watch;

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

/// What to back up, where to, and where to send the rows.
#[derive(Clone)]
pub(in crate::execute) struct BackupSpec {
    pub step: String,
    pub step_index: u32,
    pub point: Option<PointId>,
    /// The system's instance.
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
    /// Where they are restored; `None`: they are not.
    pub restores: Option<BackupTarget>,
    pub rows: Sender<(String, BackupRow)>,
}

/// A worker thread's state.
pub(in crate::execute) struct BackupWorker<'a> {
    pub spec: BackupSpec,
    pub instance: &'a Instance,
    pub clock: &'a Clock,
    pub probe: Option<&'a Probe>,
    /// Limits of the restored system.
    pub limits: Option<CgroupLimits>,
}

impl BackupWorker<'_> {
    /// Makes backups during the measurement of a load; none begins after it. Stops at the first failure.
    pub fn beside(
        &mut self,
        cycles: &Cycles,
        started: &watch::Receiver<Option<Nanos>>,
        timeline: Option<&Timeline>,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let Some(timeline) = timeline else {
            return Ok(());
        };
        let origin = loop {
            let origin = *started.borrow();
            if let Some(origin) = origin {
                break origin;
            }
            wait_until(self.clock, self.clock.now() + POLL_INTERVAL, control)?;
        };
        let (from, until) = (origin + timeline.warm, origin + timeline.load_end());
        for cycle in 0..cycles.count {
            let due = cycles.due(from, cycle);
            if due.max(self.clock.now()) >= until {
                break;
            }
            wait_until(self.clock, due, control)?;
            self.cycle(cycle, control)?;
        }
        Ok(())
    }

    /// One backup, restored if the plan asks for it, then removed.
    pub fn cycle(&mut self, cycle: u32, control: &LoadControl) -> Result<(), LoadError> {
        let name = format!("backup-{}", self.spec.name);
        let start = self.clock.now();
        let made = self
            .spec
            .vault
            .scratch(&name)
            .and_then(|mut vault| Ok((vault.dir("files")?, vault)));
        let (files, vault) =
            made.inspect_err(|error| self.failed(BackupKind::Backup, cycle, start, error))?;
        let done =
            self.back_up(cycle, &files, control)
                .and_then(|()| match self.spec.restores.clone() {
                    Some(target) => self.restore(cycle, &files, &target, control),
                    None => Ok(()),
                });
        // The first failure matters more than one to remove the directory.
        let removed = vault.remove();
        done.and(removed)
    }

    fn back_up(&self, cycle: u32, files: &Path, control: &LoadControl) -> Result<(), LoadError> {
        self.watch(files);
        let Backup { method, jobs, .. } = self.spec.backup;
        let start = self.clock.now();
        let taken = self.instance.back_up(method, jobs, files, control);
        let end = self.clock.now();
        self.unwatch();
        let taken =
            taken.inspect_err(|error| self.failed(BackupKind::Backup, cycle, start, error))?;
        self.record_event(BackupRow {
            program: taken.program,
            bytes: taken.bytes,
            ..self.row(
                BackupKind::Backup,
                cycle,
                (start, end),
                BackupOutcome::Complete,
            )
        });
        Ok(())
    }

    /// Restores beside the system, and compares the two.
    fn restore(
        &mut self,
        cycle: u32,
        files: &Path,
        target: &BackupTarget,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let start = self.clock.now();
        let failed =
            |this: &Self, error: &LoadError| this.failed(BackupKind::Restore, cycle, start, error);
        let scratch = target.scratch(&format!("restored-{}", self.spec.name));
        let mut scratch = scratch.inspect_err(|error| failed(self, error))?;
        self.watch(scratch.path());
        let Backup { method, jobs, .. } = self.spec.backup;
        let limits = self.limits.take();
        let restored = self
            .instance
            .restore(method, jobs, files, &mut scratch, limits, control);
        self.unwatch();
        let done = match restored {
            Ok(restored) => self.verify(cycle, restored, control),
            Err(error) => {
                failed(self, &error);
                Err(error)
            }
        };
        let removed = scratch.remove();
        done.and(removed)
    }

    fn verify(
        &self,
        cycle: u32,
        restored: RestoredBackup,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let RestoredBackup {
            instance,
            program,
            bytes,
            began,
            ended,
        } = restored;
        let times = (
            self.clock.of_monotonic(began),
            self.clock.of_monotonic(ended),
        );
        let compared = self.compare(&instance, control);
        let stopped = instance.stop();
        let (outcome, detail) = match &compared {
            Ok(Compared { same: true, detail }) => (BackupOutcome::Complete, detail.clone()),
            Ok(Compared {
                same: false,
                detail,
            }) => (BackupOutcome::Differs, detail.clone()),
            Err(LoadError::Cancelled) => (
                BackupOutcome::Cancelled,
                "ended before it was verified".to_owned(),
            ),
            Err(error) => (BackupOutcome::Failed, error.to_string()),
        };
        let row = self.row(BackupKind::Restore, cycle, times, outcome);
        self.record_event(BackupRow {
            program,
            bytes,
            detail: detail.clone(),
            ..row
        });
        match compared? {
            Compared { same: true, .. } => stopped,
            Compared { same: false, .. } => Err(LoadError::other(
                format!(
                    "the restored data of {} differ from the original",
                    self.spec.name
                ),
                detail,
            )),
        }
    }

    fn compare(&self, restored: &Instance, control: &LoadControl) -> Result<Compared, LoadError> {
        let verdicts = restored.check(CheckedData::from(&self.spec.workload))?;
        if control.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        let (there, back) = (self.instance.row_counts()?, restored.row_counts()?);
        let fails = verdicts.iter().find(|verdict| !verdict.holds);
        let fails = fails.map(|verdict| {
            format!(
                "condition {} does not hold: {}",
                verdict.clause,
                verdict.statement()
            )
        });
        Ok(match fails.or_else(|| difference(&there, &back)) {
            Some(detail) => Compared {
                same: false,
                detail,
            },
            None => {
                let rows: u64 = back.values().sum();
                let detail = format!(
                    "{} conditions hold, {rows} rows in {} tables as they were",
                    verdicts.len(),
                    back.len()
                );
                Compared { same: true, detail }
            }
        })
    }

    fn row(
        &self,
        kind: BackupKind,
        cycle: u32,
        (start, end): (Nanos, Nanos),
        outcome: BackupOutcome,
    ) -> BackupRow {
        let BackupSpec {
            step,
            step_index,
            point,
            system,
            medium,
            target,
            backup,
            ..
        } = &self.spec;
        BackupRow {
            step: step.clone(),
            step_index: *step_index,
            point: *point,
            system: *system,
            medium: *medium,
            target: *target,
            cycle,
            kind,
            method: backup.method.name().to_owned(),
            program: String::new(),
            start,
            end,
            bytes: 0,
            outcome,
            detail: String::new(),
        }
    }

    fn failed(&self, kind: BackupKind, cycle: u32, start: Nanos, error: &LoadError) {
        let (outcome, detail) = match error {
            LoadError::Cancelled => (BackupOutcome::Cancelled, String::new()),
            other => (BackupOutcome::Failed, other.to_string()),
        };
        let row = self.row(kind, cycle, (start, self.clock.now()), outcome);
        self.record_event(BackupRow { detail, ..row });
    }

    fn record_event(&self, row: BackupRow) {
        // A closed channel: the run has ended.
        let _ = self.spec.rows.send((self.spec.name.clone(), row));
    }

    fn watch(&self, path: &Path) {
        if let Some(probe) = self.probe {
            probe.watch(self.spec.watched, Watch::Backup { path: path.into() });
        }
    }

    fn unwatch(&self) {
        if let Some(probe) = self.probe {
            probe.unwatch(self.spec.watched);
        }
    }
}

struct Compared {
    same: bool,
    detail: String,
}

/// The first table whose rows are not as many.
fn difference(there: &BTreeMap<String, u64>, back: &BTreeMap<String, u64>) -> Option<String> {
    let tables = there
        .keys()
        .chain(back.keys().filter(|table| !there.contains_key(*table)));
    let of = |counts: &BTreeMap<String, u64>, table: &str| counts.get(table).copied();
    tables
        .into_iter()
        .find(|table| of(there, table) != of(back, table))
        .map(|table| {
            let count = |counts| {
                of(counts, table)
                    .map_or("is not there".to_owned(), |rows| format!("has {rows} rows"))
            };
            format!(
                "table {table} {} in the system and {} in what was restored",
                count(there),
                count(back)
            )
        })
}

/// Waits for a time on the run's timeline; an error if canceled.
pub(super) fn wait_until(clock: &Clock, at: Nanos, control: &LoadControl) -> Result<(), LoadError> {
    while clock.now() < at {
        if control.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        clock.block_until(at.min(clock.now() + POLL_INTERVAL));
    }
    if control.is_cancelled() {
        Err(LoadError::Cancelled)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
        of.iter()
            .map(|(table, rows)| ((*table).to_owned(), *rows))
            .collect()
    }

    #[test]
    fn the_first_table_that_differs_is_named_with_both_counts() {
        let there = counts(&[("item", 100), ("spec", 30)]);
        assert_eq!(difference(&there, &there), None);
        let fewer = difference(&there, &counts(&[("item", 100), ("spec", 29)])).unwrap();
        assert_eq!(
            fewer,
            "table spec has 30 rows in the system and has 29 rows in what was restored"
        );
        let more = difference(&counts(&[("item", 100)]), &there).unwrap();
        assert_eq!(
            more,
            "table spec is not there in the system and has 30 rows in what was restored"
        );
    }
}
