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

use super::drives::Drives;
use super::error::StepResult;
use super::run::RunContext;
use context::{BlockContext, BlockPointSpec};
use layout::lay_out_files;
use point::{BlockRunner, RequestRates};
use target::BlockTarget;

/// Runs the step on these media at the same time.
pub(super) fn run_block_step(
    run: RunContext<'_>,
    drives: &mut Drives<'_>,
    id: StepId,
    step: &BlockStep,
    media: &[MediumId],
) -> StepResult<()> {
    let named = run.plan().block(step.workload);
    let block = &named.block;
    let progress = run.log.progress();
    let ahead = progress.ahead_after(expected(step, block));
    let target = run.log.phase(&step.name, None, PhaseKind::Prepare, |_| {
        let target = BlockTarget::prepare(run, drives, block, media)?;
        match block.work {
            BlockWork::Jobs(_) => lay_out_files(run, drives, step, block, &target)?,
            BlockWork::File { .. } => {}
        }
        Ok(target)
    })?;
    let runner = BlockRunner {
        run,
        drives,
        context: BlockContext {
            id,
            step,
            workload: &named.name,
            block,
            target: &target,
        },
    };
    let result = match &block.work {
        BlockWork::Jobs(jobs) => rounds(&runner, jobs),
        BlockWork::File { path } => rounds(&runner, &[job_of_file(path)]),
    };
    progress.is_ahead(ahead);
    let removed = target.remove(run.log, drives);
    result.and(removed)
}

/// Runs all jobs for a number of rounds, or until they are steady.
fn rounds(runner: &BlockRunner<'_>, jobs: &[BlockJob]) -> StepResult<()> {
    let BlockContext { step, target, .. } = runner.context;
    let log = runner.run.log;
    if let Some(rule) = step.steady {
        log.file().steady(&steady_info(&runner.context, rule))?;
    }
    let mut speeds = vec![Vec::new(); jobs.len()];
    for round in 0..step.rounds {
        let mut ordinal = 0;
        for (job_index, job) in jobs.iter().enumerate() {
            let spec = BlockPointSpec {
                job,
                job_index,
                round,
                ordinal,
                share: None,
            };
            let speed = runner.measure(&spec, &[])?;
            ordinal += 1;
            curve(runner, &spec, &speed, &mut ordinal)?;
            speeds[job_index].push(speed.total());
        }
        if let Some(rule) = step.steady
            && speeds
                .iter()
                .all(|speeds| fit(speeds, &rule).is_some_and(|fit| fit.steady))
        {
            let name = &step.name;
            let text = format!("  {name}: steady after {} rounds", round + 1);
            log.progress().print(&text);
            return Ok(());
        }
    }
    if step.steady.is_some() {
        let not_steady = EventKind::NotSteady {
            step: step.name.clone(),
            rounds: step.rounds,
        };
        log.event(Some(target.subject), Severity::Warning, not_steady)?;
    }
    Ok(())
}

/// After a job at full speed: the same job at shares of the rate that it reached.
fn curve(
    runner: &BlockRunner<'_>,
    full: &BlockPointSpec<'_>,
    speed: &RequestRates,
    ordinal: &mut u32,
) -> StepResult<()> {
    let BlockContext { step, target, .. } = runner.context;
    if speed.total() <= 0.0 && !full.job.curve.is_empty() {
        let no_curve = EventKind::NoCurve {
            step: step.name.clone(),
            job: full.job.name.clone(),
        };
        let log = runner.run.log;
        return log.event(Some(target.subject), Severity::Warning, no_curve);
    }
    for percent in &full.job.curve {
        let workers = target.workers.len() as f64;
        // For each worker; one request a second of a stream that has made none.
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
        runner.measure(&spec, &rates)?;
        *ordinal += 1;
    }
    Ok(())
}

fn steady_info(context: &BlockContext<'_>, rule: SteadyRule) -> SteadyInfo {
    let SteadyRule {
        window,
        range,
        slope,
    } = rule;
    let BlockContext {
        id, step, target, ..
    } = *context;
    SteadyInfo {
        step: step.name.clone(),
        step_index: id.index() as u32,
        medium: target.only_medium(),
        window,
        range,
        slope,
        most_rounds: step.rounds,
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
