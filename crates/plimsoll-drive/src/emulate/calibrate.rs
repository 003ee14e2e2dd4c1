//! What asking and answering cost on this machine, as a program measures it.

use std::os::fd::OwnedFd;
use std::path::Path;

use plimsoll_plan::units::Nanos;
use rustix::fs::{Mode, OFlags};

use super::clock;
use super::costs::{CostStep, Costs};
use super::engine::{Engine, Timing};
use super::error::EmulatorError;
use super::priority;
use super::protocol::Calibration;

const BLOCK: usize = 4096;
/// Other work on the machine only ever adds: of many short batches a quiet one counts. A batch lasts some milliseconds,
/// less than a busy processor's turn.
const BATCHES: usize = 16;
const READS: usize = 9;
/// How long answers are held back, and how much of the time above is spent on it.
const DELAYS_US: [(u64, usize); 7] = [
    (20, 16),
    (50, 16),
    (100, 16),
    (200, 16),
    (500, 10),
    (1_500, 6),
    (5_000, 3),
];
/// Positions go over so much of the drive.
const SPAN: u64 = 64 << 20;

/// Reads of 4 KiB at depth 1 that pass the page cache by.
struct TimedReader {
    file: OwnedFd,
    memory: Vec<u8>,
    size: u64,
}

impl TimedReader {
    fn open(path: &Path, size: u64) -> Result<Self, EmulatorError> {
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(EmulatorError::at(path))?;
        Ok(Self {
            file,
            memory: vec![0; 2 * BLOCK],
            size,
        })
    }

    /// Times of reads, in their order.
    fn times(&mut self, reads: usize) -> rustix::io::Result<Vec<Nanos>> {
        let start = self.memory.as_ptr().align_offset(BLOCK);
        let blocks = (self.size.min(SPAN) / BLOCK as u64).max(1);
        let block = &mut self.memory[start..start + BLOCK];
        let times = (0..reads as u64).map(|n| {
            let before = clock::now();
            // A stride that is coprime to the number of blocks in whole MiB visits them all out of order.
            rustix::io::pread(&self.file, &mut *block, n * 4099 % blocks * BLOCK as u64)?;
            Ok(clock::now().saturating_sub(before))
        });
        times.collect()
    }

    /// The second lowest of the batches' medians.
    fn median(&mut self, batches: usize) -> rustix::io::Result<Nanos> {
        // The first ones find cold caches.
        self.times(READS)?;
        let medians = (0..batches).map(|_| self.times(READS).map(median));
        let mut medians = medians.collect::<rustix::io::Result<Vec<_>>>()?;
        medians.sort_unstable();
        Ok(medians
            .get(1)
            .or(medians.first())
            .copied()
            .unwrap_or_default())
    }
}

fn median(mut times: Vec<Nanos>) -> Nanos {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn unreadable(file: &Path) -> impl Fn(rustix::io::Errno) -> EmulatorError {
    move |why| {
        EmulatorError::new(
            format!("{} cannot be read: {why}", file.display()),
            "`dmesg` may show why.",
        )
    }
}

/// Measures on `used`, the file that programs use; `bare` is the same without the loop device. Sets the engine's costs and
/// leaves the timing off. Takes about a second.
pub fn calibrate(
    engine: &Engine,
    used: &Path,
    bare: &Path,
    size: u64,
) -> Result<Calibration, EmulatorError> {
    let mut through_loop = TimedReader::open(used, size)?;
    let mut without_loop = TimedReader::open(bare, size)?;
    engine.set_timing(Timing::Off);
    let at_once = through_loop.median(BATCHES).map_err(unreadable(used))?;
    let bare = without_loop.median(BATCHES).map_err(unreadable(used))?;
    let mut steps = vec![CostStep {
        quiet: Nanos::ZERO,
        around: at_once,
        writing: Nanos::ZERO,
    }];
    let mut timer = Nanos::ZERO;
    for (delay, batches) in DELAYS_US {
        let delay = Nanos::from_micros(delay);
        engine.end_second();
        engine.set_timing(Timing::Fixed(delay));
        let around = through_loop.median(batches).map_err(unreadable(used))?;
        engine.set_timing(Timing::Off);
        let reads = &engine.end_second().tallies[0];
        // What the engine took for modelled and real here: until the answer was written, and with that.
        let begun = reads.modelled.quantile(0.5).unwrap_or_default();
        let written = reads.real.quantile(0.5).unwrap_or_default();
        let writing = written.saturating_sub(begun);
        steps.push(CostStep {
            quiet: delay,
            around: around.saturating_sub(begun),
            writing,
        });
        timer = timer.max(begun.saturating_sub(delay));
    }
    // Answered at once there is no wait; the writing is that of the shortest one.
    steps[0].writing = steps[1].writing.min(steps[0].around);
    let costs = Costs::new(steps);
    let [floor, after_1ms] =
        [Nanos::ZERO, Nanos::from_millis(1)].map(|quiet| costs.after(quiet).around);
    let calibration = Calibration {
        floor,
        after_1ms,
        awake: engine.keeps_awake(),
        real_time: priority::is_real_time(),
        of_which_loop: at_once.saturating_sub(bare).min(floor),
        timer,
    };
    engine.set_costs(costs);
    Ok(calibration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_all() {
        assert_eq!(median(vec![Nanos(9), Nanos(1), Nanos(2)]), Nanos(2));
        assert_eq!(median(Vec::new()), Nanos::ZERO);
    }
}
