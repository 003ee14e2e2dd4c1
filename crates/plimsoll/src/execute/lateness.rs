//! Ends a run in which an emulated drive could not answer in time, so that it can begin again with slower drives.

use std::fmt;

use plimsoll_analysis::summary::{TooLate, figures, too_late};
use plimsoll_plan::MediumId;
use plimsoll_record::{PointId, runfile};

use super::error::{RunError, StepResult};
use super::execution::Execution;

/// An emulated drive that could not answer in time: rule EMULATED makes the point invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct LateDrive {
    pub medium: String,
    /// Where: the point's title.
    pub point: String,
    pub late: TooLate,
}

impl fmt::Display for LateDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the emulator of {} fell behind at {}: the run begins again with slower drives",
            self.medium, self.point
        )
    }
}

impl Execution<'_> {
    /// Ends the run if the audit finds these points invalid because a drive whose speed plimsoll chose was late.
    pub(super) fn expect_in_time(
        &mut self,
        media: impl Iterator<Item = MediumId>,
        title: &str,
        points: &[PointId],
    ) -> StepResult<()> {
        let plan = self.plan;
        let is_auto = |id: &MediumId| {
            let drive = plan.medium(*id).kind.emulated();
            drive.is_some_and(|drive| drive.auto)
        };
        let Some(medium) = media.into_iter().find(is_auto) else {
            return Ok(());
        };
        if !self.ends_when_late {
            return Ok(());
        }
        self.inbox.store(&mut self.file, &self.progress)?;
        self.file.commit()?;
        let mut record = runfile::read(self.file.path())?;
        record.points.retain(|point| points.contains(&point.id));
        match too_late(&figures(&record)) {
            None => Ok(()),
            Some(late) => Err(RunError::Late(LateDrive {
                medium: plan.medium(medium).name.clone(),
                // Without the count of points.
                point: title
                    .split_once("] ")
                    .map_or(title, |(_, name)| name)
                    .to_owned(),
                late,
            })),
        }
    }
}
