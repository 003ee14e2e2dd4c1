//! Lays out a step's files; shows progress, stores samples and handles Ctrl-C meanwhile.

use plimsoll_block::arguments::seed;
use plimsoll_block::fio::{Flow, command_line};
use plimsoll_block::layout::{Layout, lay_out};
use plimsoll_plan::resolved::{Block, BlockStep, BlockStream};
use plimsoll_plan::units::Bytes;

use super::super::error::{RunError, StepResult};
use super::super::execution::Execution;
use super::super::wait::ProgressUnit;
use super::target::{BlockTarget, failed};
use crate::failure::FailureReason;

impl Execution<'_> {
    pub(super) fn lay_out(
        &mut self,
        step: &BlockStep,
        block: &Block,
        target: &BlockTarget,
    ) -> StepResult<()> {
        let layout = layout(block, target, self.plan.data_seed);
        if layout.total() == 0 {
            return Ok(());
        }
        let command = (
            "command.layout".to_owned(),
            command_line(&layout.arguments(0)),
        );
        self.file.facts(target.subject, &[command])?;
        let what = format!(
            "{} · writing {} on {}",
            step.name,
            Bytes(layout.total()),
            target.name
        );
        self.write_out(&layout, &what).map_err(|error| match error {
            // fio's error is only a consequence of the drive's failure.
            RunError::Failed(why) => {
                RunError::Failed(self.drive_death(target).map_or(why, FailureReason::from))
            }
            error => error,
        })
    }

    /// Why the emulator of one of the target's drives ended.
    pub(super) fn drive_death(&self, target: &BlockTarget) -> Option<String> {
        target
            .media()
            .find_map(|medium| self.drives.get(&medium)?.died())
    }

    fn write_out(&mut self, layout: &Layout, what: &str) -> StepResult<()> {
        let mut parts = self.parts();
        let written = parts.waiter(what, ProgressUnit::Bytes).run(|control| {
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
