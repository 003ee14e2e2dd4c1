//! Why a lane ended: its drive's failure, a full disk, a dead server, the user's order.

use std::path::{Path, PathBuf};

use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Watch;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneEnd;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Event, Severity};
use plimsoll_report::message::Messages;

use super::super::drives::Drives;
use super::super::error::{RunError, StepResult, ended_unexpectedly};
use super::super::recorder::LaneResult;
use super::super::run::RunContext;
use super::super::systems::{InstanceId, Systems};
use super::full::{FullDisk, advice, full_disk_event};

/// Finds the reasons of lanes' ends.
pub(super) struct LaneEnds<'r, 'a> {
    pub run: RunContext<'a>,
    pub systems: &'r Systems<'a>,
    pub drives: &'r Drives<'a>,
}

impl LaneEnds<'_, '_> {
    /// An error with the reason, unless the lane is complete.
    pub fn expect_complete(&self, instance: InstanceId, result: &LaneResult) -> StepResult<()> {
        // Other failures are only its consequences.
        if let Some(why) = self.drives.died(instance.medium) {
            return Err(RunError::failed(why));
        }
        let died = self.systems.get(instance)?.instance.died();
        let died = died.filter(|_| !result.is_complete());
        match (result.end.clone(), died) {
            (LaneEnd::DiskFull { place, why }, _)
            | (_, Some(LoadError::DiskFull { place, why, .. })) => {
                let full = FullDisk { place, why };
                Err(self.disk_full(instance, result.ended_at, full)?)
            }
            (_, Some(error)) => Err(self.server_died(instance, result.ended_at, &error)?),
            (LaneEnd::Complete, None) => Ok(()),
            (LaneEnd::Closed | LaneEnd::Stopped, None) => Err(RunError::Interrupted),
            (LaneEnd::Failed(why), None) => Err(RunError::failed(why)),
        }
    }

    /// Records the death beside the point: backends of PostgreSQL outlive their server by moments, connections to MariaDB
    /// do not, and how soon clients notice decides nothing.
    fn server_died(
        &self,
        instance: InstanceId,
        at: Nanos,
        error: &LoadError,
    ) -> StepResult<RunError> {
        let system = instance.name(self.run.plan());
        let mut why = ended_unexpectedly(&system, error);
        why.text
            .push_str(" The run file has everything measured until then.");
        let error = error.to_string();
        let died = EventKind::ServerDied {
            system,
            error: error.lines().next().unwrap_or_default().to_owned(),
        };
        self.record(instance, at, died)?;
        Ok(RunError::Failed(why))
    }

    /// Records the full disk beside the point that ended with it, `at`, and returns the end of the run.
    fn disk_full(&self, instance: InstanceId, at: Nanos, full: FullDisk) -> StepResult<RunError> {
        let system = instance.name(self.run.plan());
        let kind = full_disk_event(&system, full, self.written_by(instance)?);
        let text = Messages::english().event(&kind);
        let next = advice(&kind);
        self.record(instance, at, kind)?;
        Ok(RunError::failed(format!(
            "{text}\n{next} The run file has everything measured until then."
        )))
    }

    fn record(&self, instance: InstanceId, at: Nanos, kind: EventKind) -> StepResult<()> {
        let subject = self.systems.get(instance)?.subject;
        Ok(self.run.log.file().event(&Event {
            at,
            subject: Some(subject),
            severity: Severity::Error,
            kind,
        })?)
    }

    /// The directories that a system's files lie in: the medium's, below an emulated drive also that of its backing file.
    fn written_by(&self, instance: InstanceId) -> StepResult<Vec<PathBuf>> {
        let plan = self.run.plan();
        let data = match self.systems.get(instance)?.instance.watch() {
            Some(Watch::Processes { data, .. }) => data,
            Some(Watch::EmbeddedData { path }) => path.parent().map(Path::to_owned),
            _ => None,
        };
        let disk = (self.drives.disk_of(instance.medium, &instance.name(plan))).map(Path::to_owned);
        let medium = instance
            .medium
            .map(|medium| PathBuf::from(&plan.medium(medium).path));
        Ok(disk.into_iter().chain(medium).chain(data).collect())
    }
}
