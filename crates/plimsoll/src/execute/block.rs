//! Block steps: fio on the medium itself. Lays out files, then runs all jobs, round by round.

mod context;
mod describe;
mod layout;
mod permits;
mod point;
mod target;

use std::path::Path;

use plimsoll_plan::resolved::{Block, BlockJob, BlockStep, BlockWork};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{MediumId, StepId};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SteadyInfo};
use plimsoll_stats::rounds::SteadyRule;
use plimsoll_stats::rounds::fit;

pub(super) use permits::{device_permit, grant_job_file};

use super::error::StepResult;
use super::execution::Execution;
use context::{BlockContext, BlockPointSpec};
use point::RequestRates;

impl Execution<'_> {
    /// The step on these media at the same time.
    pub(super) fn block_step(
        &mut self,
        id: StepId,
        step: &BlockStep,
        media: &[MediumId],
    ) -> StepResult<()> {
        let named = self.plan.block(step.workload);
        let block = &named.block;
        let ahead = self.progress.ahead_after(expected(step, block));
        let phase = self
            .file
            .open_phase(&step.name, None, PhaseKind::Prepare, self.clock.now())?;
        let target = self.prepare_target(step, block, media);
        self.file
            .close_phase(phase, self.clock.now(), target.is_ok())?;
        self.file.commit()?;
        let target = target?;
        let context = BlockContext {
            id,
            step,
            workload: &named.name,
            block,
            target: &target,
        };
        let result = match &block.work {
            BlockWork::Jobs(jobs) => self.rounds(&context, jobs),
            BlockWork::File { path } => self.rounds(&context, &[job_of_file(path)]),
        };
        self.progress.is_ahead(ahead);
        let removed = self.remove_target(target);
        result.and(removed)
    }

    /// Runs all jobs for a number of rounds, or until they are steady.
    fn rounds(&mut self, context: &BlockContext<'_>, jobs: &[BlockJob]) -> StepResult<()> {
        if let Some(rule) = context.step.steady {
            self.file.steady(&self.steady_info(context, rule))?;
        }
        let mut speeds = vec![Vec::new(); jobs.len()];
        for round in 0..context.step.rounds {
            let mut ordinal = 0;
            for (job_index, job) in jobs.iter().enumerate() {
                let spec = BlockPointSpec {
                    job,
                    job_index,
                    round,
                    ordinal,
                    share: None,
                };
                let speed = self.block_point(context, &spec, &[])?;
                ordinal += 1;
                self.curve(context, &spec, &speed, &mut ordinal)?;
                speeds[job_index].push(speed.total());
            }
            if let Some(rule) = context.step.steady
                && speeds
                    .iter()
                    .all(|speeds| fit(speeds, &rule).is_some_and(|fit| fit.steady))
            {
                self.progress.print(&format!(
                    "  {}: steady after {} rounds",
                    context.step.name,
                    round + 1
                ));
                return Ok(());
            }
        }
        if context.step.steady.is_some() {
            let not_steady = EventKind::NotSteady {
                step: context.step.name.clone(),
                rounds: context.step.rounds,
            };
            self.record_event(Some(context.target.subject), Severity::Warning, not_steady)?;
        }
        Ok(())
    }

    /// After a job at full speed: the same job at shares of the rate that it reached.
    fn curve(
        &mut self,
        context: &BlockContext<'_>,
        full: &BlockPointSpec<'_>,
        speed: &RequestRates,
        ordinal: &mut u32,
    ) -> StepResult<()> {
        if speed.total() <= 0.0 && !full.job.curve.is_empty() {
            let no_curve = EventKind::NoCurve {
                step: context.step.name.clone(),
                job: full.job.name.clone(),
            };
            return self.record_event(Some(context.target.subject), Severity::Warning, no_curve);
        }
        for percent in &full.job.curve {
            let workers = context.target.workers.len() as f64;
            // Of each worker; one request a second of a stream that has made none.
            let rates: Vec<f64> = speed
                .streams
                .iter()
                .map(|reached| (reached * percent / 100.0 / workers).max(1.0))
                .collect();
            let spec = BlockPointSpec {
                share: Some(*percent),
                ordinal: *ordinal,
                ..*full
            };
            self.block_point(context, &spec, &rates)?;
            *ordinal += 1;
        }
        Ok(())
    }

    fn steady_info(&self, context: &BlockContext<'_>, rule: SteadyRule) -> SteadyInfo {
        let SteadyRule {
            window,
            range,
            slope,
        } = rule;
        SteadyInfo {
            step: context.step.name.clone(),
            step_index: context.id.index() as u32,
            medium: context.target.only_medium(),
            window,
            range,
            slope,
            most_rounds: context.step.rounds,
        }
    }
}

/// Load time of a step on one of its media, with all rounds.
fn expected(step: &BlockStep, block: &Block) -> Nanos {
    let each = (step.warm + step.measure).0;
    Nanos(
        each.saturating_mul(block.points_per_round())
            .saturating_mul(u64::from(step.rounds)),
    )
}

/// A job file as one job with the file's name; only fio parses its content.
fn job_of_file(path: &str) -> BlockJob {
    let name = Path::new(path)
        .file_name()
        .map_or_else(|| path.into(), |name| name.to_string_lossy().into_owned());
    BlockJob {
        name,
        streams: Vec::new(),
        curve: Vec::new(),
    }
}
