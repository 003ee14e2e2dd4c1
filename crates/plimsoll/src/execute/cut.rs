//! After a power cut: powers the drive on, recovers the database, and compares it with the acknowledged commits.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_load::engine::sqlite::recover_simulated;
use plimsoll_load::workload::tpcc::commit_counts;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Endpoint;
use plimsoll_record::message::EventKind;
use plimsoll_record::receipt::{CommitCounts, reconcile};
use plimsoll_record::{Point, PowerCut, Receipt, Severity};
use plimsoll_report::message::Messages;

use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::recorder::PowerOff;
use super::running::InstanceId;

/// What is compared after recovery.
pub(super) struct CommitsAtCut<'a> {
    /// Counted in the database before the load.
    pub before: &'a CommitCounts,
    /// Commits that clients got acknowledged before the power failed.
    pub acknowledged: &'a CommitCounts,
}

impl Execution<'_> {
    /// Counts the database's committed transactions.
    pub(super) fn commit_counts(
        &mut self,
        instance: InstanceId,
        what: &str,
    ) -> StepResult<CommitCounts> {
        self.wait_for_task(instance, what, |instance, _| instance.commit_counts())
    }

    pub(super) fn after_power_cut(
        &mut self,
        instance: InstanceId,
        point: &Point,
        commits: &CommitsAtCut<'_>,
        off: PowerOff,
    ) -> StepResult<()> {
        self.progress
            .print(&format!("{}: the power has failed", point.step));
        // Recorded at once, because recovery may fail; replaced when the losses are known.
        self.record_cut(point, off, None, Vec::new())?;
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        let what = format!("{}: recovering", point.step);
        let returned = self.clock.now();
        let recovered = self.recover(instance, &what);
        let recovery = self.clock.now() - returned;
        let after = match recovered {
            Ok(after) => after,
            // Only the database's own failure is a result.
            Err(RunError::Failed(why)) if self.drive_lives(instance.medium) => {
                return self.not_recovered(point, commits, off, &why.text);
            }
            Err(RunError::Broken(why)) => return self.not_recovered(point, commits, off, &why),
            Err(error) => return Err(error),
        };
        let receipts = receipts(point, commits, &after);
        let acknowledged: u64 = receipts.iter().map(|receipt| receipt.acknowledged).sum();
        let lost: u64 = receipts.iter().map(|receipt| receipt.lost).sum();
        let result = match (acknowledged, lost) {
            (0, 0) => "no transaction was acknowledged before the cut".to_owned(),
            (_, 0) => "no acknowledged transaction is lost".to_owned(),
            (_, lost) => format!("{lost} acknowledged transactions are LOST"),
        };
        self.record_cut(point, off, Some(recovery), receipts)?;
        let text = format!(
            "{}: recovered in {:.1} s after the power cut; {result}",
            point.step,
            recovery.as_secs_f64()
        );
        self.progress.print(&text);
        if lost > 0 {
            self.not_durable.push(text);
        }
        self.watch_system(instance)
    }

    /// Restores power, filesystem and database, and counts what the database holds.
    fn recover(&mut self, instance: InstanceId, what: &str) -> StepResult<CommitCounts> {
        self.progress.begin(self.clock.now(), what);
        if let Some(medium) = instance.medium {
            self.power_on(medium)?;
        }
        match self.timed_endpoint(
            self.running.get(instance)?.instance.endpoint(),
            instance.medium,
        ) {
            Endpoint::Sqlite {
                path,
                pragmas,
                vfs: Some(vfs),
            } => self.recover_simulated(Path::new(&path), &pragmas, &vfs)?,
            _ => self.wait_for_task(instance, what, |instance, control| {
                instance.recover(control)
            })?,
        }
        self.commit_counts(instance, what)
    }

    /// In virtual time.
    fn recover_simulated(
        &self,
        path: &Path,
        pragmas: &BTreeMap<String, String>,
        vfs: &str,
    ) -> StepResult<()> {
        let recovered = self.clock.block_on(recover_simulated(path, pragmas, vfs));
        let recovered =
            recovered.map_err(|error| RunError::failed(format!("no runtime: {error}")))?;
        recovered.map_err(|error| RunError::Failed(error.into()))
    }

    fn record_cut(
        &mut self,
        point: &Point,
        off: PowerOff,
        recovery: Option<Nanos>,
        receipts: Vec<Receipt>,
    ) -> StepResult<()> {
        let PowerOff { at, lost } = off;
        self.file.power_cut(&PowerCut {
            point: point.id,
            at,
            recovery,
            lost_writes: lost.writes,
            lost_bytes: lost.bytes.0,
            lost_flushed_writes: lost.flushed_writes,
            receipts,
        })?;
        self.file.commit()?;
        Ok(())
    }

    /// Records everything as lost: the database or its filesystem does not recover.
    fn not_recovered(
        &mut self,
        point: &Point,
        commits: &CommitsAtCut<'_>,
        off: PowerOff,
        why: &str,
    ) -> StepResult<()> {
        let mut receipts = receipts(point, commits, commits.before);
        for receipt in &mut receipts {
            receipt.lost = receipt.acknowledged;
        }
        self.record_cut(point, off, None, receipts)?;
        let not_recovered = EventKind::NotRecovered {
            step: point.step.clone(),
            error: why.into(),
        };
        let text = Messages::english().event(&not_recovered);
        self.record_event(Some(point.system), Severity::Error, not_recovered)?;
        Err(RunError::Broken(text))
    }

    /// Records that a planned cut did not take place.
    pub(super) fn no_power_cut(&mut self, point: &Point) -> StepResult<()> {
        let step = point.step.clone();
        let no_power_cut = EventKind::NoPowerCut { step };
        self.record_event(Some(point.system), Severity::Warning, no_power_cut)
    }
}

fn receipts(point: &Point, commits: &CommitsAtCut<'_>, after: &CommitCounts) -> Vec<Receipt> {
    let names: Vec<&str> = point.txns.iter().map(String::as_str).collect();
    reconcile(
        &names,
        commits.before,
        commits.acknowledged,
        after,
        commit_counts::district_of,
    )
}
