//! Ends a run at the first point that misses a requirement, where the plan wants that.

use plimsoll_analysis::compare::{ComparedSide, require};
use plimsoll_record::{PointId, runfile};
use plimsoll_report::versus::missed_sentence;

use super::error::{RunError, StepResult};
use super::execution::Execution;

impl Execution<'_> {
    /// Ends the run if one of these points misses a requirement.
    pub(super) fn expect_required(&mut self, points: &[PointId]) -> StepResult<()> {
        if !self.plan.abort_on_fail {
            return Ok(());
        }
        self.inbox.store(&mut self.file, &self.progress)?;
        self.file.commit()?;
        let mut record = runfile::read(self.file.path())?;
        record.points.retain(|point| points.contains(&point.id));
        let side = ComparedSide::of("", &record);
        match require(&side, &self.plan.requirements).missed() {
            None => Ok(()),
            Some(point) => Err(RunError::Missed(missed_sentence(point))),
        }
    }
}
