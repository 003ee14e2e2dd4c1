//! Ends a run in which an emulated drive could not answer in time, so that it can begin again with slower drives.

use plimsoll_analysis::audited::figures;
use plimsoll_plan::MediumId;
use plimsoll_record::{PointId, runfile};

use super::error::{LateDrive, RunError, StepResult};
use super::execution::Execution;

impl Execution<'_> {
    /// Ends the run if the audit finds these points invalid because a drive whose speed plimsoll chose was late.
    pub(super) fn expect_in_time(
        &mut self,
        media: impl Iterator<Item = MediumId>,
        title: &str,
        points: &[PointId],
    ) -> StepResult<()> {
        let plan = self.plan;
        let next_factors = self.next_factors;
        let may_begin_again = |id: &MediumId| {
            let medium = plan.medium(*id);
            let is_auto = medium.kind.emulated().is_some_and(|drive| drive.auto);
            is_auto && next_factors.iter().any(|next| next.is_for(&medium.name))
        };
        let Some(medium) = media.into_iter().find(may_begin_again) else {
            return Ok(());
        };
        self.inbox.store(&mut self.file, &self.progress)?;
        self.file.commit()?;
        let mut record = runfile::read(self.file.path())?;
        record.points.retain(|point| points.contains(&point.id));
        match figures(&record).too_late() {
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
