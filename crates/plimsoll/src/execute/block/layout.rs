//! Lays out a step's files; shows progress, stores samples and handles Ctrl-C meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

use plimsoll_block::arguments::seed;
use plimsoll_block::fio::{Flow, command_line};
use plimsoll_block::layout::{Layout, lay_out};
use plimsoll_plan::resolved::{Block, BlockStep, BlockStream};
use plimsoll_plan::units::{Bytes, Nanos};

use super::super::{Execution, REFRESH, RunError, StepResult};
use super::target::{BlockTarget, failed};
use crate::progress::whole_seconds;

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
            RunError::Failed(why) => RunError::Failed(self.drive_death(target).unwrap_or(why)),
            error => error,
        })
    }

    /// Why the emulator of one of the target's drives ended.
    pub(super) fn drive_death(&self, target: &BlockTarget) -> Option<String> {
        target
            .media()
            .find_map(|medium| self.drives.get(medium)?.died())
    }

    fn write_out(&mut self, layout: &Layout, what: &str) -> StepResult<()> {
        let Self {
            progress,
            clock,
            inbox,
            file,
            interrupt,
            ..
        } = self;
        let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
        let began = clock.now();
        progress.begin(began, what);
        std::thread::scope(|scope| {
            let (done, result) = mpsc::channel();
            let mut tick = |so_far: plimsoll_block::layout::Written| {
                written.store(so_far.bytes, Ordering::Relaxed);
                if stop.load(Ordering::Relaxed) {
                    Flow::Stop
                } else {
                    Flow::GoOn
                }
            };
            // The receiver lives until the result is there.
            let thread = scope.spawn(move || drop(done.send(lay_out(layout, &mut tick))));
            loop {
                match result.recv_timeout(REFRESH.into()) {
                    Ok(result) => return result.map_err(failed),
                    Err(RecvTimeoutError::Disconnected) => {
                        // Joined here, its panic does not become this thread's; it has printed its message.
                        let _ = thread.join();
                        return Err(RunError::Failed(format!(
                            "{what}: ended by a fault of plimsoll"
                        )));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if interrupt.is_wanted() && !stop.swap(true, Ordering::Relaxed) {
                    progress.print(&format!("{what}: stopping (Ctrl-C)"));
                }
                let kept = inbox.store(file, progress).and_then(|()| file.commit());
                if let Err(error) = kept {
                    // The scope waits for fio: it must not go on for long.
                    stop.store(true, Ordering::Relaxed);
                    return Err(error.into());
                }
                let now = clock.now();
                progress.now(
                    now,
                    &line(
                        what,
                        written.load(Ordering::Relaxed),
                        layout.total(),
                        now - began,
                    ),
                );
            }
        })
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

/// `corners · writing 4.0 GiB on here · 1.2 GiB · 30 % · 12s left`.
fn line(what: &str, written: u64, of: u64, lasted: Nanos) -> String {
    if written == 0 || of == 0 {
        return what.to_owned();
    }
    let share = (written as f64 / of as f64).min(1.0);
    let left = Nanos((lasted.0 as f64 * (1.0 / share - 1.0)) as u64);
    format!(
        "{what} · {} · {:.0} % · {} left",
        Bytes(written),
        share * 100.0,
        whole_seconds(left)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_line_has_bytes_percent_and_time_left() {
        let shown = |written| line("corners · writing", written, 4 << 30, Nanos::from_secs(10));
        assert_eq!(shown(0), "corners · writing");
        assert_eq!(
            shown(1 << 30),
            "corners · writing · 1.0 GiB · 25 % · 30s left"
        );
        assert_eq!(
            shown(5 << 30),
            "corners · writing · 5.0 GiB · 100 % · 0s left"
        );
    }
}
