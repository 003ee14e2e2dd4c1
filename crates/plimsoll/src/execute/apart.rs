//! Media of a simulated plan beside each other, on all processors: nothing that happens on one has an effect on another.

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_plan::units::Nanos;
use plimsoll_record::runfile::RunFile;

use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::job::Job;
use super::log::RunLog;
use super::order::{StepRun, by_medium};
use super::run::RunContext;
use crate::failure::Failure;
use crate::in_order::work_in_order;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// What was recorded on one medium. It began at 0.
struct MediumEnd {
    file: RunFile,
    lasted: Nanos,
    losses: Vec<String>,
    trouble: Vec<String>,
    result: StepResult<()>,
}

/// Runs the steps of each medium. The run file has the media one after the other: its figures do not depend on how many
/// processors there are. As with media that follow each other, a failure on one is the end, and of those after it nothing is
/// kept; after Ctrl-C all is kept that was measured.
pub(super) fn run_media_apart(execution: &mut Execution<'_>, runs: Vec<StepRun>) -> StepResult<()> {
    let RunContext {
        job,
        log,
        interrupt,
    } = execution.run;
    let progress = log.progress();
    let mut interrupted = false;
    let mut from = Nanos::ZERO;
    let done = work_in_order(
        &by_medium(runs),
        |runs, ends| {
            if !interrupt.is_wanted() {
                ends.send(run_medium(job, runs, progress, interrupt));
            }
        },
        |_, end: Result<MediumEnd, Failure>| -> StepResult<()> {
            let end = end.map_err(RunError::Unrecorded)?;
            log.file().append(&end.file, from)?;
            log.file().commit()?;
            from += end.lasted;
            execution.losses.extend(end.losses);
            execution.trouble.extend(end.trouble);
            match end.result {
                Err(RunError::Interrupted) => interrupted = true,
                result => result?,
            }
            Ok(())
        },
    );
    log.pass_until(from)?;
    done?;
    match interrupted {
        true => Err(RunError::Interrupted),
        false => execution.run.expect_uninterrupted(),
    }
}

fn run_medium(
    job: &Job,
    runs: &[StepRun],
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<MediumEnd, Failure> {
    let file = RunFile::part(
        &job.run_info(),
        &job.plan_text_redacted(),
        &job.recorded_plan(),
    )?;
    let clock = Clock::Virtual(VirtualClock::default());
    let log = RunLog::new(file, clock, progress.part());
    let mut execution = Execution::new(RunContext {
        job,
        log: &log,
        interrupt,
    });
    let result = execution.run_steps(runs);
    let lasted = log.now();
    let trouble = execution.stop();
    let losses = std::mem::take(&mut execution.losses);
    drop(execution);
    log.progress().finish();
    log.receive()?;
    Ok(MediumEnd {
        lasted,
        losses,
        trouble,
        result,
        file: log.into_file(),
    })
}
