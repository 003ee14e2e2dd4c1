//! The timing model of one drive.
//!
//! A drive is a few servers in a row: what processes commands, the link, and the medium. Every server keeps the time
//! at which it is free, so that a request is answered at once with the time of its completion, and the order in which
//! requests arrive is the order in which each server takes them.

mod disk;
mod fill;
mod flash;
mod fluid;
pub(crate) mod random;
mod seek;
mod streams;
mod volume;

use plimsoll_plan::units::{Bytes, Nanos};
pub use plimsoll_record::drive::DriveOp;
pub use random::Random;

use crate::spec::{DriveSpec, Mechanism, Watts};
use disk::Disk;
use flash::Flash;
use volume::Volume;

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    pub kind: DriveOp,
    /// In bytes from the start of the drive as it is used (see [`Setup::capacity`]).
    pub offset: u64,
    pub len: u64,
}

/// How a drive is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Size in use. A drive made smaller keeps its timing: positions and fill are taken as shares of the capacity.
    pub capacity: Bytes,
    /// Share of the capacity, 0 to 1, that holds data which is never rewritten. 1 is a drive in steady state, as data
    /// sheets of servers' drives state their figures.
    pub fill: f64,
    /// Of all random draws.
    pub seed: u64,
    /// Flushes are acknowledged at once and do nothing: a drive that lies.
    pub ignores_flush: bool,
}

/// What a drive was asked for, and what it did for that.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    /// Indexed as [`DriveOp::ALL`].
    pub ops: [u64; 4],
    pub bytes: [u64; 4],
    /// How long reads and writes kept the medium busy.
    pub reading: Nanos,
    pub writing: Nanos,
    /// Bytes that went to flash, with those that were copied to make room; 0 where there is no flash.
    pub flash_bytes: f64,
}

impl Work {
    /// Mean power in `span`: idle power, and what reading and writing add while they last.
    pub fn watts(&self, watts: Watts, span: Nanos) -> f64 {
        let reading = share_of(self.reading, span);
        let writing = share_of(self.writing, span).min(1.0 - reading);
        watts.idle + (watts.read - watts.idle) * reading + (watts.write - watts.idle) * writing
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self {
            ops,
            bytes,
            reading,
            writing,
            flash_bytes,
        } = earlier;
        Self {
            ops: std::array::from_fn(|i| self.ops[i] - ops[i]),
            bytes: std::array::from_fn(|i| self.bytes[i] - bytes[i]),
            reading: self.reading.saturating_sub(*reading),
            writing: self.writing.saturating_sub(*writing),
            flash_bytes: self.flash_bytes - flash_bytes,
        }
    }
}

/// A drive in the midst of its work.
#[derive(Debug, Clone)]
pub struct Drive {
    mechanism: DriveModel,
    work: Work,
    /// In the mechanism's own time, which runs slower by this factor.
    now: u64,
    slower: f64,
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
            work: Work::default(),
            now: 0,
            slower: spec.slower,
        }
    }

    /// When a request that arrives `now` is answered. Calls come in the order of their times; one that comes with an
    /// earlier time is taken to arrive with the one before it.
    #[inline]
    pub fn submit(&mut self, now: Nanos, op: Op) -> Nanos {
        if self.slower == 1.0 {
            return self.answer(now, op);
        }
        let answered = self.answer(self.own_time(now), op);
        // Never before it came, which rounding down could make it.
        scaled(answered, self.slower).max(now)
    }

    fn own_time(&self, now: Nanos) -> Nanos {
        scaled(now, self.slower.recip())
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
        self.now = self.now.max(self.own_time(now).0);
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
            reading: scaled(reading, self.slower),
            writing: scaled(writing, self.slower),
            ..self.work.clone()
        }
    }
}

fn share_of(busy: Nanos, span: Nanos) -> f64 {
    (busy.as_secs_f64() / span.as_secs_f64().max(1e-9)).min(1.0)
}

fn scaled(time: Nanos, times: f64) -> Nanos {
    if times == 1.0 {
        time
    } else {
        Nanos((time.0 as f64 * times) as u64)
    }
}

#[cfg(test)]
mod tests;
