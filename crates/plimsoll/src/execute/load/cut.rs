//! After a power cut: powers the drive on, recovers the database, and compares it with the acknowledged commits.

use std::path::Path;

use plimsoll_load::engine::sqlite::recover_simulated;
use plimsoll_load::workload::tpcc::commit_counts as tpcc_commit_counts;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Endpoint;
use plimsoll_record::message::EventKind;
use plimsoll_record::receipt::{CommitCounts, reconcile};
use plimsoll_record::{Point, PowerCut, Receipt, Severity};
use plimsoll_report::message::Messages;

use super::super::drives::Drives;
use super::super::error::{RunError, StepResult};
use super::super::recorder::PowerOff;
use super::super::run::RunContext;
use super::super::systems::{InstanceId, Systems};

/// Commits that are compared after recovery.
pub(super) struct CommitsAtCut<'r> {
    /// Counted in the database before the load.
    pub before: &'r CommitCounts,
    /// Commits that clients got acknowledged before the power failed.
    pub acknowledged: &'r CommitCounts,
}

/// The check of one database after its power has failed.
pub(super) struct PowerCutCheck<'r, 'a> {
    pub run: RunContext<'a>,
    pub systems: &'r Systems<'a>,
    pub drives: &'r Drives<'a>,
    pub instance: InstanceId,
    pub point: &'r Point,
    pub commits: CommitsAtCut<'r>,
    pub off: PowerOff,
}

/// Counts the database's committed transactions.
pub(super) fn commit_counts(
    systems: &Systems<'_>,
    drives: &Drives<'_>,
    instance: InstanceId,
    text: &str,
) -> StepResult<CommitCounts> {
    systems.wait_for_task(drives, instance, text, |instance, _| {
        instance.commit_counts()
    })
}

impl PowerCutCheck<'_, '_> {
    /// Returns a text if acknowledged transactions are lost.
    pub fn recover_and_compare(self) -> StepResult<Option<String>> {
        let RunContext { log, .. } = self.run;
        let step = &self.point.step;
        log.progress()
            .print(&format!("{step}: the power has failed"));
        // Recorded at once, because recovery may fail; replaced when the losses are known.
        self.record_cut(None, Vec::new())?;
        self.run.expect_uninterrupted()?;
        let returned = log.now();
        let recovered = self.recover();
        let recovery = log.now() - returned;
        let after = match recovered {
            Ok(after) => after,
            // Only the database's failure is a result.
            Err(RunError::Failed(why)) if self.drives.died(self.instance.medium).is_none() => {
                return Err(self.not_recovered(&why.text)?);
            }
            Err(RunError::Broken(why)) => return Err(self.not_recovered(&why)?),
            Err(error) => return Err(error),
        };
        let receipts = self.receipts(&after);
        let acknowledged: u64 = receipts.iter().map(|receipt| receipt.acknowledged).sum();
        let lost: u64 = receipts.iter().map(|receipt| receipt.lost).sum();
        let result = match (acknowledged, lost) {
            (0, 0) => "no transaction was acknowledged before the cut".to_owned(),
            (_, 0) => "no acknowledged transaction is lost".to_owned(),
            (_, lost) => format!("{lost} acknowledged transactions are LOST"),
        };
        self.record_cut(Some(recovery), receipts)?;
        let text = format!(
            "{step}: recovered in {:.1} s after the power cut; {result}",
            recovery.as_secs_f64()
        );
        log.progress().print(&text);
        Ok((lost > 0).then_some(text))
    }

    /// Restores power, filesystem and database, and counts what the database holds.
    fn recover(&self) -> StepResult<CommitCounts> {
        let log = self.run.log;
        let text = format!("{}: recovering", self.point.step);
        log.progress().begin(log.now(), &text);
        if let Some(medium) = self.instance.medium {
            self.drives.power_on(medium)?;
        }
        let endpoint = self.systems.get(self.instance)?.instance.endpoint();
        match self.drives.timed_endpoint(endpoint, self.instance.medium) {
            Endpoint::Sqlite {
                path,
                pragmas,
                vfs: Some(vfs),
            } => {
                let recovered = recover_simulated(Path::new(&path), &pragmas, &vfs);
                let recovered = log.block_on(recovered)?;
                recovered.map_err(|error| RunError::Failed(error.into()))?;
            }
            _ => self.systems.wait_for_task(
                self.drives,
                self.instance,
                &text,
                |instance, control| instance.recover(control),
            )?,
        }
        commit_counts(self.systems, self.drives, self.instance, &text)
    }

    fn record_cut(&self, recovery: Option<Nanos>, receipts: Vec<Receipt>) -> StepResult<()> {
        let PowerOff { at, lost } = self.off;
        let file = self.run.log.file();
        file.power_cut(&PowerCut {
            point: self.point.id,
            at,
            recovery,
            lost_writes: lost.writes,
            lost_bytes: lost.bytes.0,
            lost_flushed_writes: lost.flushed_writes,
            receipts,
        })?;
        Ok(file.commit()?)
    }

    /// Records everything as lost: the database or its filesystem does not recover. Returns the end of the step.
    fn not_recovered(&self, why: &str) -> StepResult<RunError> {
        let mut receipts = self.receipts(self.commits.before);
        for receipt in &mut receipts {
            receipt.lost = receipt.acknowledged;
        }
        self.record_cut(None, receipts)?;
        let not_recovered = EventKind::NotRecovered {
            step: self.point.step.clone(),
            error: why.into(),
        };
        let text = Messages::english().event(&not_recovered);
        let system = Some(self.point.system);
        self.run.log.event(system, Severity::Error, not_recovered)?;
        Ok(RunError::Broken(text))
    }

    fn receipts(&self, after: &CommitCounts) -> Vec<Receipt> {
        let names: Vec<&str> = self.point.txns.iter().map(String::as_str).collect();
        let CommitsAtCut {
            before,
            acknowledged,
        } = self.commits;
        reconcile(
            &names,
            before,
            acknowledged,
            after,
            tpcc_commit_counts::district_of,
        )
    }
}
