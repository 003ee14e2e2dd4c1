//! What asking and answering cost on this machine, as a program measures it.

use std::path::Path;

use plimsoll_plan::units::Nanos;

use super::costs::{AnswerCost, CostStep, Costs};
use super::engine::{Engine, Timing};
use super::error::EmulatorError;
use super::feedback::DeviceStat;
use super::protocol::Calibration;
use super::reader::{ReadTask, ReadTimes, Reader};

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
/// Readers at the same time, and how long their answers are held back: from few answers a second to as many as the machine
/// can give.
const CROWDS: [(usize, u64); 6] = [
    (2, 5_000),
    (4, 1_000),
    (4, 300),
    (4, 120),
    (8, 120),
    (16, 120),
];
/// Each is measured so often, and the best counts.
const CROWD_ROUNDS: usize = 3;
const CROWD_TIME: Nanos = Nanos::from_millis(25);
/// Reads for the comparison with the kernel's own account, which has whole milliseconds.
const COMPARED: usize = 3000;
/// Of the reads of a crowd the longest are left out: these are the scheduler's.
const KEPT: f64 = 0.95;

/// Reads of one file.
struct Reads<'a> {
    reader: &'a mut Reader,
    file: &'a Path,
    size: u64,
}

impl Reads<'_> {
    fn of(&mut self, threads: usize, reads: usize) -> Result<ReadTimes, EmulatorError> {
        self.reader.read(&ReadTask {
            file: self.file.to_owned(),
            size: self.size,
            threads,
            reads,
        })
    }

    /// The second lowest of the batches' medians.
    fn median(&mut self, batches: usize) -> Result<Nanos, EmulatorError> {
        // The first ones find cold caches.
        let all = self.of(1, (1 + batches) * READS)?.times;
        let mut medians: Vec<_> = all.chunks(READS).skip(1).map(median).collect();
        medians.sort_unstable();
        Ok(medians
            .get(1)
            .or(medians.first())
            .copied()
            .unwrap_or_default())
    }
}

fn median(times: &[Nanos]) -> Nanos {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Measures on `used`, the file that programs use; `bare` is the same without the loop device. Sets the engine's costs and
/// leaves the timing off. Takes about a second.
pub fn calibrate(
    engine: &Engine,
    used: &Path,
    bare: &Path,
    size: u64,
) -> Result<Calibration, EmulatorError> {
    let mut reader = Reader::start()?;
    engine.set_timing(Timing::Off);
    let mut without_loop = Reads {
        reader: &mut reader,
        file: bare,
        size,
    };
    let bare = without_loop.median(BATCHES)?;
    let mut through_loop = Reads {
        file: used,
        ..without_loop
    };
    let at_once = through_loop.median(BATCHES)?;
    let mut alone = vec![CostStep {
        at: 0,
        cost: AnswerCost {
            around: at_once,
            ..AnswerCost::default()
        },
    }];
    let mut timer = Nanos::ZERO;
    for (delay, batches) in DELAYS_US {
        let delay = Nanos::from_micros(delay);
        let cost = held_back(engine, delay, || through_loop.median(batches))?;
        timer = timer.max(cost.late);
        alone.push(CostStep { at: delay.0, cost });
    }
    // Answered at once there is no wait; the writing is that of the shortest one.
    alone[0].cost.writing = alone[1].cost.writing.min(at_once);
    let mut crowds = Vec::new();
    for (threads, delay) in CROWDS {
        let rounds = (0..CROWD_ROUNDS).map(|_| crowd(engine, &mut through_loop, threads, delay));
        let rounds: Result<Vec<CostStep>, EmulatorError> = rounds.collect();
        crowds.extend(
            rounds?
                .into_iter()
                .min_by_key(|step| step.cost.around + step.cost.late),
        );
    }
    let most = crowds.iter().copied().max_by_key(|step| step.at);
    let costs = Costs::new(alone, crowds);
    let [floor, after_1ms] =
        [Nanos::ZERO, Nanos::from_millis(1)].map(|quiet| costs.alone(quiet).around);
    let calibration = Calibration {
        floor,
        after_1ms,
        awake: engine.keeps_awake(),
        goes_first: engine.goes_first(),
        of_which_loop: at_once.saturating_sub(bare).min(floor),
        timer,
        most_per_second: most.map_or(0, |step| step.at),
        at_most: most.map_or(Nanos::ZERO, |step| step.cost.around + step.cost.late),
    };
    engine.set_costs(costs);
    Ok(calibration)
}

/// What answers cost that are held back for so long, by what a program sees and what the engine does.
fn held_back(
    engine: &Engine,
    delay: Nanos,
    seen_by_program: impl FnOnce() -> Result<Nanos, EmulatorError>,
) -> Result<AnswerCost, EmulatorError> {
    engine.end_second();
    engine.set_timing(Timing::Fixed(delay));
    let seen = seen_by_program();
    engine.set_timing(Timing::Off);
    let reads = &engine.end_second().tallies[0];
    // What the engine took for modelled and real here: until the answer was written, and with that.
    let begun = reads.modelled.quantile(0.5).unwrap_or_default();
    let written = reads.real.quantile(0.5).unwrap_or_default();
    Ok(AnswerCost {
        around: seen?.saturating_sub(begun),
        writing: written.saturating_sub(begun),
        late: begun.saturating_sub(delay),
    })
}

/// Many readers at once, each at depth 1.
fn crowd(
    engine: &Engine,
    used: &mut Reads<'_>,
    threads: usize,
    delay_us: u64,
) -> Result<CostStep, EmulatorError> {
    let delay = Nanos::from_micros(delay_us);
    let reads = (CROWD_TIME.0 / delay.0).max(4) as usize;
    let mut took = Nanos::ZERO;
    let cost = held_back(engine, delay, || {
        let read = used.of(threads, reads)?;
        took = read.took;
        Ok(mean_of_most(read.times))
    })?;
    let per_second = (threads * reads) as f64 / took.as_secs_f64().max(1e-9);
    Ok(CostStep {
        at: per_second as u64,
        cost,
    })
}

/// What a program waits beyond the time that the kernel counts for the device itself.
pub fn outside_device(
    engine: &Engine,
    device: &Path,
    size: u64,
    stat: &DeviceStat,
) -> Result<Nanos, EmulatorError> {
    engine.set_timing(Timing::Off);
    let mut reader = Reader::start()?;
    let mut reads = Reads {
        reader: &mut reader,
        file: device,
        size,
    };
    let before = stat.read().unwrap_or_default();
    let seen = mean_of_most(reads.of(1, COMPARED)?.times);
    let after = stat.read().unwrap_or_default();
    let requests = after.requests.saturating_sub(before.requests).max(1);
    let milliseconds = after.milliseconds.saturating_sub(before.milliseconds);
    Ok(seen.saturating_sub(Nanos(milliseconds * 1_000_000 / requests)))
}

fn mean_of_most(mut times: Vec<Nanos>) -> Nanos {
    times.sort_unstable();
    times.truncate((times.len() as f64 * KEPT).ceil() as usize);
    let sum: u64 = times.iter().map(|time| time.0).sum();
    Nanos(sum / times.len().max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_all() {
        assert_eq!(median(&[Nanos(9), Nanos(1), Nanos(2)]), Nanos(2));
        assert_eq!(median(&[]), Nanos::ZERO);
    }
}
