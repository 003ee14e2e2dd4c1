//! A disk group: a write buffer on its first drive, data on the others, and destaging between them. A hybrid group, of
//! disks behind another drive, has a read cache on that drive.

use std::collections::VecDeque;

use plimsoll_plan::cluster::ClusterSpec;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::read_cache::{CACHE_LINE, CacheLine, ReadCache};
use super::store_event::{DestagedPiece, GroupEvent, StoreEvent, StoreRequest, TimedStoreEvent};
use crate::destaging::{BufferLevel, DirtyBlocks, RunLength};
use crate::model::{Drive, Op, Setup, Work};
use crate::spec::{DriveSpec, Mechanism};

/// Longest run of bytes that is destaged at once.
const LONGEST_RUN: u64 = 256 << 10;
/// Share of a hybrid group's first drive that is its write buffer; the rest is its read cache (VMware, Architecting Virtual
/// SAN 6.2, 3.1).
const HYBRID_BUFFER: f64 = 0.3;

/// Always: what the buffer holds is what was written and has not been destaged.
#[derive(Debug, Clone)]
pub struct DiskGroup {
    /// Of its host's.
    number: u32,
    cache: Drive,
    /// Where the buffer's next write goes: it is a log.
    log_end: u64,
    cache_bytes: u64,
    data: Vec<DataDrive>,
    read_cache: Option<ReadCache>,
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
    capacity: Bytes,
}

/// What the first drive of a group is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FirstDriveUse {
    buffer: Bytes,
    /// Of a hybrid group.
    read_cache: Option<Bytes>,
}

impl FirstDriveUse {
    fn of(drive: &DriveSpec, spec: &ClusterSpec) -> Self {
        let is_disk = |own: &DriveSpec| matches!(own.mechanism, Mechanism::Disk(_));
        let all = drive.drive(0).capacity.0;
        if is_disk(drive.drive(0)) || !is_disk(drive.drive(1)) {
            let buffer = Bytes(all.min(spec.buffer.0));
            return Self {
                buffer,
                read_cache: None,
            };
        }
        let of_writes = (all as f64 * HYBRID_BUFFER) as u64;
        Self {
            buffer: Bytes(of_writes.min(spec.buffer.0)),
            read_cache: Some(Bytes(all - of_writes)),
        }
    }
}

impl DiskGroup {
    /// Of drives of `drive`: a first one and others. `setup` is that of each of the others.
    pub fn new(drive: &DriveSpec, setup: &Setup, spec: &ClusterSpec, number: u32) -> Self {
        let first = drive.drive(0);
        let cache_setup = Setup {
            capacity: first.capacity,
            ..setup.of_member(0)
        };
        let FirstDriveUse { buffer, read_cache } = FirstDriveUse::of(drive, spec);
        let data = (1..spec.group_drives()).map(|number| DataDrive {
            drive: Drive::new(drive.drive(number), &setup.of_member(number)),
            dirty: DirtyBlocks::new(setup.capacity.0, RunLength::AtMost(LONGEST_RUN)),
            capacity: setup.capacity,
        });
        Self {
            number,
            cache: Drive::new(first, &cache_setup),
            log_end: 0,
            cache_bytes: first.capacity.0,
            data: data.collect(),
            read_cache: read_cache.map(|bytes| ReadCache::new(bytes.0)),
            level: BufferLevel::new(buffer.0, spec.group_data_drives() as usize),
            turn: 0,
            destaging: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    pub fn submit(&mut self, now: Nanos, request: StoreRequest, ahead: &mut Vec<TimedStoreEvent>) {
        let stored = match request.op.kind {
            DriveOp::Read => Some(self.read(now, request, ahead)),
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

    pub fn happen(&mut self, now: Nanos, event: GroupEvent, ahead: &mut Vec<TimedStoreEvent>) {
        match event {
            GroupEvent::BufferRead(piece) => {
                let at = self.write_destaged(now, piece);
                ahead.push(self.expected(at, GroupEvent::Destaged(piece)));
            }
            GroupEvent::LineRead(line) => self.keep_line(now, line),
            GroupEvent::Destaged(piece) => {
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
        }
    }

    const fn expected(&self, at: Nanos, event: GroupEvent) -> TimedStoreEvent {
        let group = self.number;
        let event = StoreEvent::Group { group, event };
        TimedStoreEvent { at, event }
    }

    /// Trips whose end is not known, which will have none. What was on its way is destaged again, should the host return.
    pub fn fail(&mut self) -> Vec<usize> {
        self.put_back_destaging();
        self.read_cache.iter_mut().for_each(ReadCache::clear);
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

    /// Reads from where the data are: the buffer, the read cache, the drive, or two of them.
    fn read(
        &mut self,
        now: Nanos,
        request: StoreRequest,
        ahead: &mut Vec<TimedStoreEvent>,
    ) -> Nanos {
        let StoreRequest { drive, op, .. } = request;
        let drive = drive as usize;
        let own = &mut self.data[drive];
        let blocks = own.dirty.blocks(op);
        let buffered = own.dirty.count(blocks.clone());
        let all = u64::from(blocks.end - blocks.start);
        let mut read_cache = self.read_cache.iter_mut();
        let is_cached = buffered < all && read_cache.any(|cache| cache.read(drive, op));
        let mut done = now;
        if buffered < all && !is_cached {
            done = own.drive.complete(now, op);
            self.fetch_lines(now, drive, op, ahead);
        }
        if buffered > 0 || is_cached {
            let offset = op.offset % self.cache_bytes;
            done = done.max(self.cache.complete(now, Op { offset, ..op }));
        }
        done
    }

    /// What lies around a read that the read cache did not have is read after it.
    fn fetch_lines(&mut self, now: Nanos, drive: usize, op: Op, ahead: &mut Vec<TimedStoreEvent>) {
        let Some(read_cache) = &mut self.read_cache else {
            return;
        };
        for line in read_cache.fetch(drive, op) {
            let own = &mut self.data[drive];
            let offset = line.number * CACHE_LINE;
            let read = Op {
                kind: DriveOp::Read,
                offset,
                len: CACHE_LINE.min(own.capacity.0.saturating_sub(offset)),
            };
            let at = own.drive.complete(now, read);
            ahead.push(self.expected(at, GroupEvent::LineRead(line)));
        }
    }

    fn keep_line(&mut self, now: Nanos, line: CacheLine) {
        if let Some(read_cache) = &mut self.read_cache {
            read_cache.keep(line);
            let write = Op {
                kind: DriveOp::Write,
                offset: line.number * CACHE_LINE % self.cache_bytes,
                len: CACHE_LINE,
            };
            self.cache.complete(now, write);
        }
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
            ahead.push(self.expected(at, GroupEvent::BufferRead(piece)));
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
        self.read_cache.iter_mut().for_each(ReadCache::power_cycle);
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

    pub fn data_drives(&self) -> u32 {
        self.data.len() as u32
    }

    pub fn work(&self) -> impl Iterator<Item = Work> {
        let data = self.data.iter().map(|own| own.drive.work());
        std::iter::once(self.cache.work()).chain(data)
    }
}
