//! The journal of an array with parity, on a drive of its own (as md, Documentation/driver-api/md/raid5-cache.rst).
//!
//! Write-through: data and parity of a write are in it and flushed before the array is written; the write is complete when
//! that is done. Write-back: a write is complete when its data are in it, and goes to the array later, from memory.

use plimsoll_plan::array::{ArraySpec, JournalMode};
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;

use crate::model::{Drive, Op, Setup, Work};
use crate::spec::DriveSpec;

/// Describes what follows it.
const META_BLOCK: u64 = 4096;

#[derive(Debug, Clone)]
pub struct Journal {
    drive: Drive,
    mode: JournalMode,
    /// Where the next write goes: it is a log.
    end: u64,
    capacity: u64,
    parities: u64,
    chunk: u64,
    /// Data in a stripe.
    stripe: u64,
}

impl Journal {
    /// On the drive after the members. `setup` is the array's.
    pub fn new(drive: &DriveSpec, spec: &ArraySpec, mode: JournalMode, setup: &Setup) -> Self {
        let drive = drive.drive(spec.members);
        let capacity = drive.capacity;
        let setup = Setup {
            capacity,
            ..setup.of_member(spec.members)
        };
        Self {
            drive: Drive::new(drive, &setup),
            mode,
            end: 0,
            capacity: capacity.0,
            parities: u64::from(spec.level.parities()),
            chunk: spec.chunk.0,
            stripe: spec.stripe_bytes(),
        }
    }

    /// Whether a write to the array waits until it is in the journal.
    pub fn is_before_writes(&self) -> bool {
        self.mode == JournalMode::WriteThrough
    }

    /// When a write is in it.
    pub fn log(&mut self, now: Nanos, op: Op) -> Nanos {
        let parity = match self.mode {
            JournalMode::WriteThrough => self.parities * self.parity_bytes(op.len),
            JournalMode::WriteBack => 0,
        };
        let len = META_BLOCK + op.len + parity;
        let offset = self.end;
        self.end = (offset + len) % self.capacity;
        self.drive.complete(now, Op { offset, len, ..op })
    }

    /// Bytes of one parity that a write changes.
    fn parity_bytes(&self, len: u64) -> u64 {
        let of_stripes = len / self.stripe * self.chunk;
        of_stripes + (len % self.stripe).min(self.chunk)
    }

    pub fn flush(&mut self, now: Nanos) -> Nanos {
        let flush = Op {
            kind: DriveOp::Flush,
            offset: 0,
            len: 0,
        };
        self.drive.complete(now, flush)
    }

    pub fn power_cycle(&mut self, now: Nanos) {
        self.drive.power_cycle(now);
    }

    pub fn work(&self) -> Work {
        self.drive.work()
    }
}
