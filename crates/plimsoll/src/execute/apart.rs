//! Media of a simulated plan beside each other, on all processors: nothing that happens on one is seen on another.

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_plan::MediumId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::runfile::RunFile;

use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::job::Job;
use super::{StepRun, merge_ends};
use crate::failure::Failure;
use crate::in_order::work_in_order;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// What runs on one medium.
struct MediumRuns {
    runs: Vec<StepRun>,
    progress: Progress,
}

/// What was recorded on one medium. It began at 0.
struct MediumEnd {
    file: RunFile,
    lasted: Nanos,
    not_durable: Vec<String>,
    trouble: Vec<String>,
    result: StepResult<()>,
}

impl Execution<'_> {
    /// The run file has the media one after the other: its figures do not depend on how many processors there are.
    pub(super) fn run_media_apart(&mut self, job: &Job, runs: Vec<StepRun>) -> StepResult<()> {
        let media = self.by_medium(runs);
        let interrupt = &self.interrupt.clone();
        let mut ended: StepResult<()> = Ok(());
        let mut from = Nanos::ZERO;
        let done = work_in_order(
            &media,
            |medium, ends| ends.send(run_medium(job, medium, interrupt)),
            |_, end: Result<MediumEnd, Failure>| -> StepResult<()> {
                let end = end.map_err(RunError::Unrecorded)?;
                self.file.append(&end.file, from)?;
                self.file.commit()?;
                from += end.lasted;
                self.not_durable.extend(end.not_durable);
                self.trouble.extend(end.trouble);
                let before = std::mem::replace(&mut ended, Ok(()));
                ended = merge_ends(before, end.result);
                Ok(())
            },
        );
        if let Clock::Virtual(clock) = &self.clock {
            self.clock
                .block_on(clock.sleep_until(from))
                .map_err(|error| RunError::failed(format!("no runtime: {error}")))?;
        }
        done.and(ended)
    }

    /// In the order of the plan.
    fn by_medium(&self, runs: Vec<StepRun>) -> Vec<MediumRuns> {
        let mut media: Vec<(Option<MediumId>, MediumRuns)> = Vec::new();
        for run in runs {
            let on = run.media.first().copied();
            match media.iter_mut().find(|(medium, _)| *medium == on) {
                Some((_, own)) => own.runs.push(run),
                None => {
                    let progress = self.progress.part();
                    let runs = vec![run];
                    media.push((on, MediumRuns { runs, progress }));
                }
            }
        }
        media.into_iter().map(|(_, runs)| runs).collect()
    }
}

fn run_medium(job: &Job, medium: &MediumRuns, interrupt: &Interrupt) -> Result<MediumEnd, Failure> {
    let clock = Clock::Virtual(VirtualClock::default());
    let file = RunFile::part(
        &job.run_info(),
        &job.plan_text_redacted(),
        &job.recorded_plan(),
    )?;
    let progress = medium.progress.part();
    let mut execution = Execution::new(job, file, clock, progress, interrupt.clone())?;
    let result = execution.run_steps(&medium.runs);
    let lasted = execution.clock.now();
    let trouble = execution.running.end();
    execution
        .inbox
        .store(&mut execution.file, &execution.progress)?;
    Ok(MediumEnd {
        lasted,
        not_durable: execution.not_durable,
        trouble,
        result,
        file: execution.file,
    })
}
