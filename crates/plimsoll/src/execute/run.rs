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

#[cfg(test)]
pub(super) mod fixture {
    use plimsoll_load::clock::{Clock, VirtualClock};
    use plimsoll_plan::parse;
    use plimsoll_record::runfile::RunFile;

    use super::*;
    use crate::drive_file;
    use crate::progress::Progress;
    use crate::signals::Interrupt;

    /// Does something with a run of this plan in virtual time, whose file is in memory.
    pub fn with_run(plan: &str, test: impl FnOnce(RunContext<'_>)) {
        let parsed = parse(plan, &drive_file::options());
        let job = Job {
            plan: parsed.unwrap_or_else(|errors| panic!("{errors}")).plan,
            seed: 1,
            plan_text: plan.into(),
            output: "r.plimsoll".into(),
            run_id: "run".into(),
            started_at: String::new(),
            command: String::new(),
            label: None,
            quiet: true,
            virtual_time: true,
            overwrite: Vec::new(),
            next_factors: Vec::new(),
            together: None,
            notes: Vec::new(),
        };
        let file = RunFile::part(&job.run_info(), plan, &job.recorded_plan()).unwrap();
        let clock = Clock::Virtual(VirtualClock::default());
        test(RunContext {
            job: &job,
            log: &RunLog::new(file, clock, Progress::new(true, Nanos::ZERO)),
            interrupt: &Interrupt::default(),
        });
    }
}
