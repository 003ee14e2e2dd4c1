//! The disk group of a host: a write buffer on its first drive, data on the others, and destaging between them.

use std::collections::VecDeque;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;
use roaring::RoaringBitmap;

use super::store_event::{DestagedPiece, StoreEvent, StoreRequest, TimedStoreEvent};
use crate::model::{Drive, Op, Setup, Work};
use crate::spec::DriveSpec;

/// Destaging begins when the buffer is so full (as vSAN).
const DESTAGED_FROM: f64 = 0.3;
/// Destaged pieces in flight to each drive when the buffer is full; fewer the emptier it is.
const MOST_IN_FLIGHT: f64 = 16.0;
/// Longest run of bytes that is destaged at once.
const LONGEST_PIECE: u64 = 256 << 10;

/// Always: what the buffer holds is at most `buffer` or one write, and is what was written and has not been destaged.
/// What is written again while it waits is destaged once.
#[derive(Debug, Clone)]
pub struct DiskGroup {
    cache: Drive,
    /// Where the buffer's next write goes: it is a log.
    log_end: u64,
    cache_bytes: u64,
    data: Vec<DataDrive>,
    buffer: u64,
    /// Bytes of blocks that wait or are on their way.
    held: u64,
    /// Destaged next, in turn.
    turn: usize,
    destaging: Vec<DestagedPiece>,
    /// Writes that wait for room in the buffer.
    waiting: VecDeque<StoreRequest>,
}

#[derive(Debug, Clone)]
struct DataDrive {
    drive: Drive,
    /// Blocks that wait to be destaged.
    dirty: RoaringBitmap,
    block: u64,
    /// Destaging goes through the drive again and again.
    sweep: u32,
}

impl DiskGroup {
    /// Of a first drive and so many others. `setup` is that of each of the others.
    pub fn new(spec: &DriveSpec, setup: &Setup, data: u32, buffer: Bytes) -> Self {
        let cache_bytes = spec.capacity.0;
        let cache_setup = Setup {
            capacity: spec.capacity,
            ..setup.of_member(0)
        };
        let data = (1..=data).map(|number| DataDrive {
            drive: Drive::new(spec, &setup.of_member(number)),
            dirty: RoaringBitmap::new(),
            // The bitmap's numbers have 32 bits.
            block: (setup.capacity.0 >> 32).next_power_of_two().max(4096),
            sweep: 0,
        });
        Self {
            cache: Drive::new(spec, &cache_setup),
            log_end: 0,
            cache_bytes,
            data: data.collect(),
            buffer: buffer.0.min(cache_bytes),
            held: 0,
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

    /// Trips whose end is not known, which will have none.
    pub fn fail(&mut self) -> Vec<usize> {
        self.waiting.drain(..).map(|own| own.trip).collect()
    }

    /// Writes into the buffer; `None` if that is full. One that is larger than the buffer is written when that is empty.
    fn write(&mut self, now: Nanos, request: StoreRequest) -> Option<Nanos> {
        let StoreRequest { drive, op, .. } = request;
        if self.held > 0 && self.held + op.len > self.buffer {
            return None;
        }
        let own = &mut self.data[drive as usize];
        self.held += own.dirty.insert_range(own.blocks(op)) * own.block;
        let offset = self.log_end;
        self.log_end = (offset + op.len) % self.cache_bytes;
        Some(self.cache.complete(now, Op { offset, ..op }))
    }

    /// Reads from where the data are: the buffer, the drive, or both.
    fn read(&mut self, now: Nanos, request: StoreRequest) -> Nanos {
        let StoreRequest { drive, op, .. } = request;
        let own = &mut self.data[drive as usize];
        let blocks = own.blocks(op);
        let buffered = own.dirty.range_cardinality(blocks.clone());
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
            self.data[piece.drive].take(piece);
            self.turn = piece.drive + 1;
            self.destaging.push(piece);
            let read = Op {
                kind: DriveOp::Read,
                offset: piece.offset % self.cache_bytes,
                len: piece.len,
            };
            let at = self.cache.complete(now, read);
            let event = StoreEvent::BufferRead(piece);
            ahead.push(TimedStoreEvent { at, event });
        }
    }

    fn next_piece(&self) -> Option<DestagedPiece> {
        let full = self.held as f64 / self.buffer as f64;
        let most = MOST_IN_FLIGHT * self.data.len() as f64;
        let depth = most * (full - DESTAGED_FROM) / (1.0 - DESTAGED_FROM);
        let depth = depth.max(f64::from(u8::from(!self.waiting.is_empty())));
        if self.destaging.len() as f64 >= depth {
            return None;
        }
        let drives = self.data.len();
        let mut turns = (0..drives).map(|step| (self.turn + step) % drives);
        turns.find_map(|drive| self.data[drive].next_piece(drive))
    }

    /// The piece has been read and is written to its drive.
    fn write_destaged(&mut self, now: Nanos, piece: DestagedPiece) -> Nanos {
        let op = Op {
            kind: DriveOp::Write,
            offset: piece.offset,
            len: piece.len,
        };
        self.data[piece.drive].drive.complete(now, op)
    }

    fn end_destaging(&mut self, piece: DestagedPiece) {
        self.held -= piece.len;
        let mut destaging = self.destaging.iter();
        if let Some(at) = destaging.position(|own| *own == piece) {
            self.destaging.swap_remove(at);
        }
    }

    /// What was on its way is destaged again.
    pub fn power_cycle(&mut self, now: Nanos) {
        for piece in std::mem::take(&mut self.destaging) {
            let own = &mut self.data[piece.drive];
            let blocks = own.piece_blocks(piece);
            own.dirty.insert_range(blocks);
        }
        self.waiting.clear();
        self.held = self.data.iter().map(DataDrive::dirty_bytes).sum();
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

impl DataDrive {
    /// The blocks that a request touches.
    fn blocks(&self, op: Op) -> std::ops::Range<u32> {
        let first = op.offset / self.block;
        let end = (op.offset + op.len).div_ceil(self.block);
        first as u32..end as u32
    }

    fn piece_blocks(&self, piece: DestagedPiece) -> std::ops::Range<u32> {
        let first = piece.offset / self.block;
        first as u32..(first + piece.len / self.block) as u32
    }

    fn dirty_bytes(&self) -> u64 {
        self.dirty.len() * self.block
    }

    /// The next run of blocks that wait, from where the sweep is.
    fn next_piece(&self, drive: usize) -> Option<DestagedPiece> {
        let most = (LONGEST_PIECE / self.block).max(1) as u32;
        let ahead = self.dirty.range(self.sweep..).next();
        let first = ahead.or_else(|| self.dirty.min())?;
        let run = self.dirty.range(first..).zip(first..);
        let run = run.take_while(|(own, expected)| own == expected);
        let blocks = run.take(most as usize).count() as u64;
        Some(DestagedPiece {
            drive,
            offset: u64::from(first) * self.block,
            len: blocks * self.block,
        })
    }

    fn take(&mut self, piece: DestagedPiece) {
        let blocks = self.piece_blocks(piece);
        self.sweep = blocks.end;
        self.dirty.remove_range(blocks);
    }
}
