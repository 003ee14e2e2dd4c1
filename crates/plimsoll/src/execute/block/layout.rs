//! Laying out a step's files, while progress is shown, samples are kept and Ctrl-C is heard.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

use plimsoll_block::arguments::seed;
use plimsoll_block::fio::{Flow, command_line};
use plimsoll_block::layout::{Layout, lay_out};
use plimsoll_model::plan::resolved::{Block, BlockStep, BlockStream};
use plimsoll_model::units::{Bytes, Nanos};

use super::super::{Course, Execution, Halt, REFRESH};
use super::ground::{Ground, failed};
use crate::progress::whole_seconds;

impl Execution<'_> {
    pub(super) fn lay_out(&mut self, step: &BlockStep, block: &Block, ground: &Ground) -> Course<()> {
        let layout = layout(block, ground, self.plan.data_seed);
        if layout.total() == 0 {
            return Ok(());
        }
        let command = ("command.layout".to_owned(), command_line(&layout.arguments(0)));
        self.file.facts(ground.subject, &[command])?;
        let what = format!("{} · writing {} on {}", step.name, Bytes(layout.total()), ground.name);
        self.write_out(&layout, &what).map_err(|halt| match halt {
            // What fio saw says less than why the drive is gone.
            Halt::Failed(why) => Halt::Failed(self.drive_death(ground).unwrap_or(why)),
            halt => halt,
        })
    }

    /// Why one of the ground's drives is gone.
    pub(super) fn drive_death(&self, ground: &Ground) -> Option<String> {
        ground.media().find_map(|medium| self.drives.get(medium)?.died())
    }

    fn write_out(&mut self, layout: &Layout, what: &str) -> Course<()> {
        let Self { progress, clock, inbox, file, interrupt, .. } = self;
        let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
        let began = clock.now();
        progress.begin(began, what);
        std::thread::scope(|scope| {
            let (done, result) = mpsc::channel();
            let mut tick = |so_far: plimsoll_block::layout::Written| {
                written.store(so_far.bytes, Ordering::Relaxed);
                if stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::GoOn }
            };
            // The receiver lives until the result is there.
            let thread = scope.spawn(move || drop(done.send(lay_out(layout, &mut tick))));
            loop {
                match result.recv_timeout(REFRESH.into()) {
                    Ok(result) => return result.map_err(failed),
                    Err(RecvTimeoutError::Disconnected) => {
                        // Joined here, its panic does not become this thread's; it has printed its message.
                        let _ = thread.join();
                        return Err(Halt::Failed(format!("{what}: ended by a fault of plimsoll")));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if interrupt.is_wanted() && !stop.swap(true, Ordering::Relaxed) {
                    progress.say(&format!("{what}: stopping, as you want"));
                }
                let kept = inbox.store(file, progress).and_then(|()| file.commit());
                if let Err(error) = kept {
                    // The scope waits for fio: it must not go on for long.
                    stop.store(true, Ordering::Relaxed);
                    return Err(error.into());
                }
                let now = clock.now();
                progress.now(now, &line(what, written.load(Ordering::Relaxed), layout.total(), now - began));
            }
        })
    }
}

fn layout(block: &Block, ground: &Ground, plan_seed: u64) -> Layout {
    let streams = || block.jobs().iter().flat_map(|job| &job.streams);
    Layout {
        parts: ground.workers.iter().map(|worker| worker.part.clone()).collect(),
        fill: block.fill,
        direct: streams().any(|stream: &BlockStream| stream.direct),
        // As hard to compress as the hardest of what is written later.
        compressible_percent: streams().map(|stream| stream.compressible_percent).min().unwrap_or_default(),
        engine: ground.fio.engine,
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
    format!("{what} · {} · {:.0} % · {} left", Bytes(written), share * 100.0, whole_seconds(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_the_writing_is() {
        let told = |written| line("corners · writing", written, 4 << 30, Nanos::from_secs(10));
        assert_eq!(told(0), "corners · writing");
        assert_eq!(told(1 << 30), "corners · writing · 1.0 GiB · 25 % · 30s left");
        assert_eq!(told(5 << 30), "corners · writing · 5.0 GiB · 100 % · 0s left");
    }
}
