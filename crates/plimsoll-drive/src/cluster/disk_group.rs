//! The disk group of a host: a write buffer on its first drive, data on the others, and destaging between them.

use std::collections::VecDeque;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::store_event::{DestagedPiece, StoreEvent, StoreRequest, TimedStoreEvent};
use crate::destaging::{BufferLevel, DirtyBlocks, RunLength};
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
    destaging: Vec<DestagedPiece>,
    /// Writes that wait for room in the buffer.
    waiting: VecDeque<StoreRequest>,
}

#[derive(Debug, Clone)]
struct DataDrive {
    drive: Drive,
    dirty: DirtyBlocks,
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
            destaging: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    pub fn submit(&mut self, now: Nanos, request: StoreRequest, ahead: &mut Vec<TimedStoreEvent>) {
        let stored = match request.op.kind {
            DriveOp::Read => Some(self.read(now, request)),
            _ if !self.waiting.is_empty() => None,
            _ => self.write(now, request),
        };
        match stored {
            Some(at) => ahead.push(request.stored(at)),
            None => self.waiting.push_back(request),
        }
        if request.op.kind == DriveOp::Write {
            self.destage(now, ahead);
        }
    }

    pub fn happen(&mut self, now: Nanos, event: StoreEvent, ahead: &mut Vec<TimedStoreEvent>) {
        match event {
            StoreEvent::BufferRead(piece) => {
                let at = self.write_destaged(now, piece);
                let event = StoreEvent::Destaged(piece);
                ahead.push(TimedStoreEvent { at, event });
            }
            StoreEvent::Destaged(piece) => {
                self.end_destaging(piece);
                while let Some(next) = self.waiting.front().copied() {
                    let Some(at) = self.write(now, next) else {
                        break;
                    };
                    self.waiting.pop_front();
                    ahead.push(next.stored(at));
                }
                self.destage(now, ahead);
            }
            StoreEvent::Stored(_) | StoreEvent::Object { .. } => {}
        }
    }

    /// Trips whose end is not known, which will have none. What was on its way is destaged again, should the host return.
    pub fn fail(&mut self) -> Vec<usize> {
        self.put_back_destaging();
        self.waiting.drain(..).map(|own| own.trip).collect()
    }

    /// What was on its way waits again.
    fn put_back_destaging(&mut self) {
        for piece in std::mem::take(&mut self.destaging) {
            self.data[piece.drive].dirty.put_back(piece.run);
        }
        let waiting = self.data.iter().map(|own| own.dirty.bytes());
        self.level.reset(waiting.sum());
    }

    /// Writes into the buffer; `None` if that is full. One that is larger than the buffer is written when that is empty.
    fn write(&mut self, now: Nanos, request: StoreRequest) -> Option<Nanos> {
        let StoreRequest { drive, op, .. } = request;
        if !self.level.has_room(op.len) {
            return None;
        }
        self.level.add(self.data[drive as usize].dirty.add(op));
        let offset = self.log_end;
        self.log_end = (offset + op.len) % self.cache_bytes;
        Some(self.cache.complete(now, Op { offset, ..op }))
    }

    /// Reads from where the data are: the buffer, the drive, or both.
    fn read(&mut self, now: Nanos, request: StoreRequest) -> Nanos {
        let StoreRequest { drive, op, .. } = request;
        let own = &mut self.data[drive as usize];
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

    /// Begins to destage what is due, or needed by writes that wait.
    fn destage(&mut self, now: Nanos, ahead: &mut Vec<TimedStoreEvent>) {
        while let Some(piece) = self.next_piece() {
            self.data[piece.drive].dirty.take(piece.run);
            self.turn = piece.drive + 1;
            self.level.begin(1);
            self.destaging.push(piece);
            let read = Op {
                kind: DriveOp::Read,
                offset: piece.run.offset % self.cache_bytes,
                len: piece.run.len,
            };
            let at = self.cache.complete(now, read);
            let event = StoreEvent::BufferRead(piece);
            ahead.push(TimedStoreEvent { at, event });
        }
    }

    fn next_piece(&self) -> Option<DestagedPiece> {
        if !self.level.may_begin(!self.waiting.is_empty()) {
            return None;
        }
        let drives = self.data.len();
        let mut turns = (0..drives).map(|step| (self.turn + step) % drives);
        turns.find_map(|drive| {
            let run = self.data[drive].dirty.next_run()?;
            Some(DestagedPiece { drive, run })
        })
    }

    /// The piece has been read and is written to its drive.
    fn write_destaged(&mut self, now: Nanos, piece: DestagedPiece) -> Nanos {
        let op = Op {
            kind: DriveOp::Write,
            offset: piece.run.offset,
            len: piece.run.len,
        };
        self.data[piece.drive].drive.complete(now, op)
    }

    fn end_destaging(&mut self, piece: DestagedPiece) {
        self.level.end(piece.run, 1);
        let mut destaging = self.destaging.iter();
        if let Some(at) = destaging.position(|own| *own == piece) {
            self.destaging.swap_remove(at);
        }
    }

    /// What was on its way is destaged again.
    pub fn power_cycle(&mut self, now: Nanos) {
        self.put_back_destaging();
        self.waiting.clear();
        self.cache.power_cycle(now);
        for own in &mut self.data {
            own.drive.power_cycle(now);
        }
    }

    pub fn slow_down(&mut self, now: Nanos, factor: f64) {
        self.cache.slow_down(now, factor);
        for own in &mut self.data {
            own.drive.slow_down(now, factor);
        }
    }

    pub fn work(&self) -> impl Iterator<Item = Work> {
        let data = self.data.iter().map(|own| own.drive.work());
        std::iter::once(self.cache.work()).chain(data)
    }
}
