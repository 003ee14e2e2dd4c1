//! Lays out a step's files; shows progress, stores samples and handles Ctrl-C meanwhile.

use plimsoll_block::arguments::seed;
use plimsoll_block::fio::{Flow, command_line};
use plimsoll_block::layout::{Layout, lay_out};
use plimsoll_plan::resolved::{Block, BlockStep, BlockStream};
use plimsoll_plan::units::Bytes;

use super::super::drives::Drives;
use super::super::error::{RunError, StepResult};
use super::super::run::RunContext;
use super::super::wait::ProgressUnit;
use super::target::{BlockTarget, failed};
use crate::failure::FailureReason;

/// Fills the files of a step's workers.
pub(super) fn lay_out_files(
    run: RunContext<'_>,
    drives: &Drives<'_>,
    step: &BlockStep,
    block: &Block,
    target: &BlockTarget,
) -> StepResult<()> {
    let layout = layout(block, target, run.plan().data_seed);
    if layout.total() == 0 {
        return Ok(());
    }
    let command = command_line(&layout.arguments(0));
    run.log.fact(target.subject, "command.layout", &command)?;
    let total = Bytes(layout.total());
    let text = format!("{} · writing {total} on {}", step.name, target.name);
    write_out(run, &layout, &text).map_err(|error| match error {
        // fio's error is only a consequence of the drive's failure.
        RunError::Failed(why) => {
            RunError::Failed(target.drive_death(drives).map_or(why, FailureReason::from))
        }
        error => error,
    })
}

fn write_out(run: RunContext<'_>, layout: &Layout, text: &str) -> StepResult<()> {
    let written = run.waiter(text, ProgressUnit::Bytes).run(|control| {
        control.start(layout.total());
        lay_out(layout, &mut |written| {
            control.reach(written.bytes);
            if control.is_cancelled() {
                Flow::Stop
            } else {
                Flow::GoOn
            }
        })
    })?;
    written.map_err(failed)
}

fn layout(block: &Block, target: &BlockTarget, plan_seed: u64) -> Layout {
    let streams = || block.jobs().iter().flat_map(|job| &job.streams);
    Layout {
        parts: target
            .workers
            .iter()
            .map(|worker| worker.part.clone())
            .collect(),
        fill: block.fill,
        direct: streams().any(|stream: &BlockStream| stream.direct),
        // As hard to compress as the hardest of what is written later.
        compressible_percent: streams()
            .map(|stream| stream.compressible_percent)
            .min()
            .unwrap_or_default(),
        engine: target.fio.engine,
        seed: seed(plan_seed, &[]),
    }
}
