//! The disk group of a host: a write buffer on its first drive, data on the others, and destaging between them.

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use crate::destaging::{BufferLevel, DirtyBlocks, DirtyRun, RunLength};
use crate::model::{Drive, Op, Setup, Work};
use crate::spec::DriveSpec;

/// Longest run of bytes that is destaged at once.
const LONGEST_RUN: u64 = 256 << 10;

/// Always: what the buffer holds is what was written and has not been destaged.
#[derive(Debug, Clone)]
pub struct DiskGroup {
    cache: Drive,
    /// Where the buffer's next write goes: it is a log.
    log_end: u64,
    cache_bytes: u64,
    data: Vec<DataDrive>,
    level: BufferLevel,
    /// Destaged next, in turn.
    turn: usize,
}

#[derive(Debug, Clone)]
struct DataDrive {
    drive: Drive,
    dirty: DirtyBlocks,
}

/// What is destaged at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestagedPiece {
    drive: usize,
    run: DirtyRun,
}

impl DiskGroup {
    /// Of a first drive and so many others. `setup` is that of each of the others.
    pub fn new(spec: &DriveSpec, setup: &Setup, data: u32, buffer: Bytes) -> Self {
        let cache_bytes = spec.capacity.0;
        let cache_setup = Setup {
            capacity: spec.capacity,
            ..setup.of_member(0)
        };
        let level = BufferLevel::new(buffer.0.min(cache_bytes), data as usize);
        let data = (1..=data).map(|number| DataDrive {
            drive: Drive::new(spec, &setup.of_member(number)),
            dirty: DirtyBlocks::new(setup.capacity.0, RunLength::AtMost(LONGEST_RUN)),
        });
        Self {
            cache: Drive::new(spec, &cache_setup),
            log_end: 0,
            cache_bytes,
            data: data.collect(),
            level,
            turn: 0,
        }
    }

    /// Writes into the buffer; `None` if that is full. One that is larger than the buffer is written when that is empty.
    pub fn write(&mut self, now: Nanos, drive: usize, op: Op) -> Option<Nanos> {
        if !self.level.has_room(op.len) {
            return None;
        }
        self.level.add(self.data[drive].dirty.add(op));
        let offset = self.log_end;
        self.log_end = (offset + op.len) % self.cache_bytes;
        Some(self.cache.complete(now, Op { offset, ..op }))
    }

    /// Reads from where the data are: the buffer, the drive, or both.
    pub fn read(&mut self, now: Nanos, drive: usize, op: Op) -> Nanos {
        let own = &mut self.data[drive];
        let blocks = own.dirty.blocks(op);
        let buffered = own.dirty.count(blocks.clone());
        let all = u64::from(blocks.end - blocks.start);
        let mut done = now;
        if buffered < all {
            done = own.drive.complete(now, op);
        }
        if buffered > 0 {
            let offset = op.offset % self.cache_bytes;
            done = done.max(self.cache.complete(now, Op { offset, ..op }));
        }
        done
    }

    /// What is destaged next, if that is due, or `is_needed` by writes that wait: it is read from the buffer, until the time
    /// that is returned.
    pub fn begin_destaging(
        &mut self,
        now: Nanos,
        is_needed: bool,
    ) -> Option<(DestagedPiece, Nanos)> {
        if !self.level.may_begin(is_needed) {
            return None;
        }
        let drives = self.data.len();
        let turns = (0..drives).map(|step| (self.turn + step) % drives);
        let mut pieces = turns.filter_map(|drive| {
            let run = self.data[drive].dirty.next_run()?;
            Some(DestagedPiece { drive, run })
        });
        let piece = pieces.next()?;
        self.data[piece.drive].dirty.take(piece.run);
        self.turn = piece.drive + 1;
        self.level.begin(1);
        let read = Op {
            kind: DriveOp::Read,
            offset: piece.run.offset % self.cache_bytes,
            len: piece.run.len,
        };
        Some((piece, self.cache.complete(now, read)))
    }

    /// The piece has been read and is written to its drive.
    pub fn write_destaged(&mut self, now: Nanos, piece: DestagedPiece) -> Nanos {
        let op = Op {
            kind: DriveOp::Write,
            offset: piece.run.offset,
            len: piece.run.len,
        };
        self.data[piece.drive].drive.complete(now, op)
    }

    pub fn end_destaging(&mut self, piece: DestagedPiece) {
        self.level.end(piece.run, 1);
    }

    /// What was on its way is destaged again.
    pub fn power_cycle(&mut self, now: Nanos, pieces: impl Iterator<Item = DestagedPiece>) {
        for piece in pieces {
            self.data[piece.drive].dirty.put_back(piece.run);
        }
        let waiting = self.data.iter().map(|own| own.dirty.bytes());
        self.level.reset(waiting.sum());
        self.cache.power_cycle(now);
        for own in &mut self.data {
            own.drive.power_cycle(now);
        }
    }

    pub fn work(&self) -> impl Iterator<Item = Work> {
        let data = self.data.iter().map(|own| own.drive.work());
        std::iter::once(self.cache.work()).chain(data)
    }
}
