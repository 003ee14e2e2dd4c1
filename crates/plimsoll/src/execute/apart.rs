//! Media of a simulated plan beside each other, on all processors: nothing that happens on one is seen on another.

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_plan::units::Nanos;
use plimsoll_record::runfile::RunFile;

use super::StepRun;
use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::job::Job;
use crate::failure::Failure;
use crate::in_order::work_in_order;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// What was recorded on one medium. It began at 0.
struct MediumEnd {
    file: RunFile,
    lasted: Nanos,
    not_durable: Vec<String>,
    trouble: Vec<String>,
    result: StepResult<()>,
}

impl Execution<'_> {
    /// The run file has the media one after the other: its figures do not depend on how many processors there are. As with
    /// media that follow each other, a failure on one is the end, and of those after it nothing is kept; after Ctrl-C all is
    /// kept that was measured.
    pub(super) fn run_media_apart(&mut self, job: &Job, runs: Vec<StepRun>) -> StepResult<()> {
        let media = by_medium(runs);
        let progress = &self.progress;
        let interrupt = &self.interrupt.clone();
        let mut interrupted = false;
        let mut from = Nanos::ZERO;
        let done = work_in_order(
            &media,
            |runs, ends| {
                if !interrupt.is_wanted() {
                    ends.send(run_medium(job, runs, progress, interrupt));
                }
            },
            |_, end: Result<MediumEnd, Failure>| -> StepResult<()> {
                let end = end.map_err(RunError::Unrecorded)?;
                self.file.append(&end.file, from)?;
                self.file.commit()?;
                from += end.lasted;
                self.not_durable.extend(end.not_durable);
                self.trouble.extend(end.trouble);
                match end.result {
                    Err(RunError::Interrupted) => interrupted = true,
                    result => result?,
                }
                Ok(())
            },
        );
        self.pass_until(from)?;
        done?;
        match interrupted || interrupt.is_wanted() {
            true => Err(RunError::Interrupted),
            false => Ok(()),
        }
    }
}

/// What runs on each medium, in the order of the plan.
fn by_medium(runs: Vec<StepRun>) -> Vec<Vec<StepRun>> {
    let mut media: Vec<Vec<StepRun>> = Vec::new();
    for run in runs {
        match media.iter_mut().find(|own| own[0].media == run.media) {
            Some(own) => own.push(run),
            None => media.push(vec![run]),
        }
    }
    media
}

fn run_medium(
    job: &Job,
    runs: &[StepRun],
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<MediumEnd, Failure> {
    let clock = Clock::Virtual(VirtualClock::default());
    let file = RunFile::part(
        &job.run_info(),
        &job.plan_text_redacted(),
        &job.recorded_plan(),
    )?;
    let mut execution = Execution::new(job, file, clock, progress.part(), interrupt.clone())?;
    let result = execution.run_steps(runs);
    let lasted = execution.clock.now();
    let trouble = execution.running.end();
    execution.progress.finish();
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
