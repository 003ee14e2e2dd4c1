//! Runs a plan: starts systems, loads data, measures point by point, checks, stops and removes;
//! records everything in the run file.

mod abort;
mod apart;
mod backup;
mod block;
mod context;
mod doctor;
mod drives;
mod error;
mod execution;
mod existing;
mod finish;
mod hosts;
mod inbox;
mod job;
mod join;
mod join_plan;
mod lane;
mod leftovers;
mod load;
mod log;
mod on_hosts;
mod order;
mod orders;
mod preflight;
mod recorder;
mod run;
mod systems;
mod together;
mod wait;

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::probe::Watch;
use plimsoll_load::probe::environment::host_facts;
use plimsoll_plan::estimate;
use plimsoll_record::runfile::{LABEL, RunFile};
use plimsoll_record::{Severity, SubjectKind};

use apart::run_media_apart;
use doctor::diagnose_machine;
pub use drives::{DRIVE_DIR, PreparedDrive, prepare_drive, program};
pub use error::LateDrive;
use error::StepResult;
use execution::Execution;
pub use existing::{check_route, expect_answer};
pub use finish::FinishedRun;
use hosts::ReachedRun;
pub use job::{Job, NextFactor};
pub use join::{JoinedRun, has_journals, join};
pub use leftovers::{clear_directory, clear_leftovers};
use log::RunLog;
use on_hosts::run_on_hosts;
use order::step_runs;
pub use preflight::{check_output, check_urls, preflight};
use run::RunContext;
pub use together::OwnPlans;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// Name of plimsoll as a subject.
const GENERATOR: &str = "plimsoll";

/// Runs the job. An error means that there is no usable run file, also because nothing was measured; every other failure is
/// recorded in it.
pub fn execute(job: &Job, interrupt: Interrupt) -> Result<FinishedRun, Failure> {
    let log = open_log(job)?;
    let mut execution = Execution::new(RunContext {
        job,
        log: &log,
        interrupt: &interrupt,
    });
    let result = run_plan(&mut execution);
    execution.end(result).record(log, job)
}

fn open_log(job: &Job) -> Result<RunLog, Failure> {
    let clock = match &job.together {
        Some(together) => together.clock().clone(),
        None if job.virtual_time => Clock::Virtual(VirtualClock::default()),
        None => Clock::real(),
    };
    let file = RunFile::create(
        &job.output,
        &job.run_info(),
        &job.plan_text_redacted(),
        &job.recorded_plan(),
    )?;
    if let Some(label) = &job.label {
        let generator = file.subject(SubjectKind::Generator, GENERATOR)?;
        file.facts(generator, &[(LABEL.to_owned(), label.clone())])?;
    }
    let progress = progress_of(job, &clock);
    RunLog::new(file, clock, progress)
        .sampling()
        .map_err(|error| Failure::run(format!("no thread for sampling: {error}")))
}

fn progress_of(job: &Job, clock: &Clock) -> Progress {
    let expected = estimate(&job.plan);
    let progress = match &job.together {
        Some(together) => Progress::for_others(together.clone(), expected.duration),
        None => Progress::new(job.quiet, expected.duration),
    };
    let progress = progress.counting(expected.ladder_points());
    match clock {
        Clock::Virtual(_) => progress.simulated(),
        Clock::Real(_) => progress,
    }
}

fn run_plan(execution: &mut Execution<'_>) -> StepResult<()> {
    let run = execution.run;
    let plan = run.plan();
    describe_machine(run)?;
    for note in &run.job.notes {
        run.log.event(None, Severity::Note, note.clone())?;
    }
    execution.hosts = ReachedRun::from(run).reach("Starting workers", |_, _| None)?;
    execution.hosts.describe(plan, run.log)?;
    if !plan.on_hosts.is_empty() {
        return run_on_hosts(run, &execution.hosts);
    }
    let runs = step_runs(plan);
    match plan.is_simulated() && plan.media.len() > 1 {
        true => run_media_apart(execution, runs),
        false => execution.run_steps(&runs),
    }
}

/// Describes and watches plimsoll and this machine, unless hosts run the plan: then this machine has no part in the figures.
fn describe_machine(run: RunContext<'_>) -> StepResult<()> {
    let log = run.log;
    let is_here = run.plan().on_hosts.is_empty();
    if is_here {
        let host = log.subject(SubjectKind::Host, "host")?;
        log.watch(host, Watch::Host);
        if log.probe().is_some() {
            log.file().facts(host, &host_facts())?;
        }
    }
    let generator = log.subject(SubjectKind::Generator, GENERATOR)?;
    log.watch(generator, Watch::Generator);
    if is_here && log.probe().is_some() {
        diagnose_machine(run)?;
    }
    Ok(log.file().commit()?)
}
