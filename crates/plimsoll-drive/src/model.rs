//! The timing model of one drive.
//!
//! A drive is a few servers in a row: what processes commands, the link, and the medium. Every server keeps the time
//! at which it is free, so that the completion of a request is known when it arrives, and the order in which requests
//! arrive is the order in which each server takes them.
//!
//! Callers submit a request when it arrives, ask when the next event is, and advance the drive to that time.

mod completion;
mod disk;
mod fill;
mod flash;
mod fluid;
pub(crate) mod random;
mod rebuild_log;
mod request;
mod seek;
mod storage;
mod streams;
mod volume;
mod work;
mod write_buffer;

pub use completion::{ByRequest, Completion, RequestId};
use plimsoll_plan::units::Nanos;
pub use plimsoll_record::drive::DriveOp;
pub use random::Random;
pub use rebuild_log::{RebuildLog, RebuildProgress, RebuildReport};
pub use request::{Op, Setup};
pub use storage::{Assembled, Storage};
pub use work::Work;

use crate::spec::{DriveSpec, Mechanism};
pub(crate) use completion::CompletionQueue;
use disk::Disk;
use flash::Flash;
use volume::Volume;

/// A drive in the midst of its work.
#[derive(Debug, Clone)]
pub struct Drive {
    mechanism: DriveModel,
    in_flight: CompletionQueue,
    /// Times as long as the present speed has them.
    work: Work,
    /// In the mechanism's own time.
    now: u64,
    clock: OwnTime,
    /// As the drive file has it.
    slower: f64,
}

/// The mechanism's own time, which runs slower by a factor since its last change.
#[derive(Debug, Clone, Copy)]
struct OwnTime {
    slower: f64,
    /// When that changed last.
    changed: Nanos,
    own: Nanos,
}

impl OwnTime {
    fn of(&self, now: Nanos) -> Nanos {
        self.own + scaled(now.saturating_sub(self.changed), self.slower.recip())
    }

    fn real(&self, own: Nanos) -> Nanos {
        self.changed + scaled(own.saturating_sub(self.own), self.slower)
    }
}

#[derive(Debug, Clone)]
enum DriveModel {
    Flash(Box<Flash>),
    Disk(Box<Disk>),
    Volume(Box<Volume>),
}

/// Longer requests are timed as this long: no link carries them whole, and sums of times stay far from overflow.
const LONGEST: u64 = 1 << 32;

impl Drive {
    pub fn new(spec: &DriveSpec, setup: &Setup) -> Self {
        let mechanism = match &spec.mechanism {
            Mechanism::Flash(of) => {
                DriveModel::Flash(Box::new(Flash::new(of, spec.write_cache, setup)))
            }
            Mechanism::Disk(of) => DriveModel::Disk(Box::new(Disk::new(
                of,
                spec.capacity,
                spec.write_cache,
                setup,
            ))),
            Mechanism::Volume(of) => DriveModel::Volume(Box::new(Volume::new(of, setup))),
        };
        Self {
            mechanism,
            in_flight: CompletionQueue::default(),
            work: Work::default(),
            now: 0,
            clock: OwnTime {
                slower: spec.slower,
                changed: Nanos::ZERO,
                own: Nanos::ZERO,
            },
            slower: spec.slower,
        }
    }

    /// From `now` on everything takes so many times as long as the drive file has it. What is in flight keeps its time.
    pub fn slow_down(&mut self, now: Nanos, factor: f64) {
        let before = self.clock.slower;
        self.clock = OwnTime {
            slower: self.slower * factor,
            changed: now,
            own: self.clock.of(now),
        };
        for time in [&mut self.work.reading, &mut self.work.writing] {
            *time = scaled(*time, before / self.clock.slower);
        }
    }

    /// A request arrives `now`; [`Self::advance`] gives its completion. Calls come in the order of their times; one that
    /// comes with an earlier time is taken to arrive with the one before it.
    #[inline]
    pub fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        let done = self.complete(now, op);
        self.in_flight.add(done)
    }

    /// When something happens next, if nothing else is submitted.
    #[inline]
    pub fn next_event(&self) -> Option<Nanos> {
        self.in_flight.next_at()
    }

    /// The next completion up to a time, `None` where all of them are taken.
    #[inline]
    pub fn advance(&mut self, to: Nanos) -> Option<Completion> {
        self.in_flight.take(to)
    }

    /// As [`Self::submit`], for callers that order completions by themselves: gives its time at once, though it may lie
    /// ahead.
    #[inline]
    pub fn complete(&mut self, now: Nanos, op: Op) -> Nanos {
        let answered = self.answer(self.clock.of(now), op);
        // Never before it came, which rounding down could make it.
        let done = self.clock.real(answered).max(now);
        self.work.in_flight += done - now;
        done
    }

    /// In the mechanism's own time.
    #[inline]
    fn answer(&mut self, now: Nanos, op: Op) -> Nanos {
        self.now = self.now.max(now.0);
        let kind = op.kind as usize;
        self.work.ops[kind] += 1;
        self.work.bytes[kind] = self.work.bytes[kind].saturating_add(op.len);
        let op = if op.len > LONGEST && op.kind != DriveOp::Trim {
            Op { len: LONGEST, ..op }
        } else {
            op
        };
        Nanos(match &mut self.mechanism {
            DriveModel::Flash(flash) => flash.submit(self.now, op, &mut self.work),
            DriveModel::Disk(disk) => disk.submit(self.now, op, &mut self.work),
            DriveModel::Volume(volume) => volume.submit(self.now, op),
        })
    }

    /// The power was away and is back `now`: nothing waits any more and the buffer is empty. What the drive holds, and
    /// where its random draws are, stays.
    pub fn power_cycle(&mut self, now: Nanos) {
        self.in_flight.clear();
        self.now = self.now.max(self.clock.of(now).0);
        match &mut self.mechanism {
            DriveModel::Flash(flash) => flash.power_cycle(self.now),
            DriveModel::Disk(disk) => disk.power_cycle(self.now),
            DriveModel::Volume(volume) => volume.power_cycle(self.now),
        }
    }

    /// Everything since the drive was made.
    pub fn work(&self) -> Work {
        let Work {
            reading, writing, ..
        } = self.work;
        Work {
            reading: scaled(reading, self.clock.slower),
            writing: scaled(writing, self.clock.slower),
            ..self.work.clone()
        }
    }
}

impl Storage for Drive {
    #[inline]
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        Self::submit(self, now, op)
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        Self::next_event(self)
    }

    #[inline]
    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        Self::advance(self, to)
    }

    fn work_by_drive(&self) -> Vec<Work> {
        vec![self.work()]
    }
}

fn scaled(time: Nanos, times: f64) -> Nanos {
    if times == 1.0 {
        time
    } else {
        Nanos((time.0 as f64 * times) as u64)
    }
}

#[cfg(test)]
mod longest_wait;
#[cfg(test)]
mod tests;
