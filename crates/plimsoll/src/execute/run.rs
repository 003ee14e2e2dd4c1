//! What all parts of a run share.

use plimsoll_plan::resolved::ResolvedPlan;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneControl;

use super::error::{RunError, StepResult};
use super::job::Job;
use super::log::RunLog;
use super::wait::{ProgressUnit, REFRESH, Waiter};
use crate::signals::Interrupt;

/// The job of a run, its log, and the user's orders.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    pub job: &'a Job,
    pub log: &'a RunLog,
    pub interrupt: &'a Interrupt,
}

impl<'a> RunContext<'a> {
    pub fn plan(self) -> &'a ResolvedPlan {
        &self.job.plan
    }

    /// An error after Ctrl-C.
    pub fn expect_uninterrupted(self) -> StepResult<()> {
        match self.interrupt.is_wanted() {
            true => Err(RunError::Interrupted),
            false => Ok(()),
        }
    }

    /// Waits for tasks on other threads, which are shown as `text`.
    pub fn waiter<'w>(&'w self, text: &'w str, counted: ProgressUnit) -> Waiter<'w> {
        Waiter {
            log: self.log,
            interrupt: self.interrupt,
            text,
            counted,
        }
    }

    /// Lets time pass until `due` on the run's timeline; shows `text` meanwhile, and stores what arrives.
    pub fn wait_until(self, due: Nanos, text: &str) -> StepResult<()> {
        self.expect_uninterrupted()?;
        while self.log.now() < due {
            self.log.progress().now(self.log.now(), text);
            self.log.pass_until(due.min(self.log.now() + REFRESH))?;
            self.log.store()?;
            self.expect_uninterrupted()?;
        }
        Ok(())
    }

    /// Waits until the other hosts have come to this point, too, and for its start; alone, not at all.
    pub fn meet_others(self, point: &str) -> StepResult<()> {
        let Some(together) = &self.job.together else {
            return Ok(());
        };
        let mut orders = self.interrupt.subscribe();
        let met = self.log.block_on(async {
            tokio::select! {
                at = together.meet(point) => Some(at),
                _ = orders.wait_for(|order| *order != LaneControl::Run) => None,
            }
        })?;
        let at = met.ok_or(RunError::Interrupted)?;
        self.log.clock().block_until(at);
        Ok(())
    }
}
