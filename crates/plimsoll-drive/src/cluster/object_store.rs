//! The object store of a drive, after Ceph's BlueStore (16.2).
//!
//! New data go to free space; then the write waits for the store's key-value log. One commit runs at a time, for all that
//! wait: a flush of the data, the log, a flush, the file system's journal (the log's file has become longer), a flush. On
//! disks small data go with the log instead, and to their place later, many at once.

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;

use super::op_shards::OpShards;
use super::store_event::{ObjectEvent, StoreEvent, StoreRequest, TimedStoreEvent};
use crate::model::{Drive, Op, Setup, Work};
use crate::spec::{DriveSpec, Mechanism};

/// What a write adds to the log, without data, and how many bytes of data add one more. Measured with writes of 4 KiB to
/// 4 MiB to a pool with three copies.
const LOGGED: u64 = 1900;
const DATA_OF_LOGGED: u64 = 256;
/// Log and journal are written in blocks of this size.
const BLOCK: u64 = 4096;
/// The log goes round in so many bytes (`max_total_wal_size`).
const LOG: u64 = 1 << 30;
/// Shorter writes to disks are deferred (`bluestore_prefer_deferred_size_hdd`).
const DEFERRED_BELOW: u64 = 64 << 10;
/// So many of them are written together (`bluestore_deferred_batch_ops_hdd`).
const DEFERRED_BATCH: usize = 64;

/// Always: a write is complete when the log that has it is flushed, which is after its data are.
#[derive(Debug, Clone)]
pub struct ObjectStore {
    pub drive: Drive,
    capacity: u64,
    defers: bool,
    shards: OpShards,
    /// Where new data go next.
    free: u64,
    log_end: u64,
    journal_end: u64,
    /// Trips whose data are on their way.
    writing: Vec<usize>,
    /// For the next commit.
    queue: Vec<StoreRequest>,
    committing: Vec<StoreRequest>,
    deferred: Vec<Op>,
}

impl ObjectStore {
    pub fn new(spec: &DriveSpec, setup: &Setup) -> Self {
        let is_disk = matches!(spec.mechanism, Mechanism::Disk(_));
        Self {
            drive: Drive::new(spec, setup),
            capacity: setup.capacity.0.max(BLOCK),
            defers: is_disk,
            shards: OpShards::new(is_disk),
            free: 0,
            log_end: 0,
            journal_end: 0,
            writing: Vec::new(),
            queue: Vec::new(),
            committing: Vec::new(),
            deferred: Vec::new(),
        }
    }

    pub fn submit(&mut self, now: Nanos, request: StoreRequest, ahead: &mut Vec<TimedStoreEvent>) {
        for begun in self.shards.add(request) {
            self.begin(now, begun, ahead);
        }
    }

    fn begin(&mut self, now: Nanos, request: StoreRequest, ahead: &mut Vec<TimedStoreEvent>) {
        let op = request.op;
        if op.kind == DriveOp::Read {
            let at = self.drive.complete(now, op);
            ahead.push(expected(at, request.drive, ObjectEvent::Read(request)));
        } else if self.is_deferred(op) {
            self.queue.push(request);
            self.commit(now, request.drive, ahead);
        } else {
            let offset = self.free;
            self.free = (offset + op.len) % self.capacity;
            let at = self.drive.complete(now, Op { offset, ..op });
            self.writing.push(request.trip);
            ahead.push(expected(at, request.drive, ObjectEvent::Data(request)));
        }
    }

    pub fn happen(
        &mut self,
        now: Nanos,
        drive: u32,
        event: ObjectEvent,
        ahead: &mut Vec<TimedStoreEvent>,
    ) {
        match event {
            ObjectEvent::Read(request) => {
                ahead.push(request.stored(now));
                for begun in self.shards.end(request) {
                    self.begin(now, begun, ahead);
                }
            }
            ObjectEvent::Data(request) => {
                self.writing.retain(|trip| *trip != request.trip);
                self.queue.push(request);
                self.commit(now, drive, ahead);
            }
            ObjectEvent::DataFlush => self.write_log(now, drive, ahead),
            ObjectEvent::Log => self.flush(now, drive, ObjectEvent::LogFlush, ahead),
            ObjectEvent::LogFlush => self.write_journal(now, drive, ahead),
            ObjectEvent::Journal => self.flush(now, drive, ObjectEvent::JournalFlush, ahead),
            ObjectEvent::JournalFlush => {
                for own in std::mem::take(&mut self.committing) {
                    ahead.push(own.stored(now));
                    if self.is_deferred(own.op) {
                        self.deferred.push(own.op);
                    }
                }
                self.write_deferred(now);
                self.commit(now, drive, ahead);
            }
        }
    }

    const fn is_deferred(&self, op: Op) -> bool {
        self.defers && op.len < DEFERRED_BELOW
    }

    /// Begins the next commit, if none runs and something waits for it.
    fn commit(&mut self, now: Nanos, drive: u32, ahead: &mut Vec<TimedStoreEvent>) {
        if !self.committing.is_empty() || self.queue.is_empty() {
            return;
        }
        self.committing = std::mem::take(&mut self.queue);
        if self.committing.iter().all(|own| self.is_deferred(own.op)) {
            self.write_log(now, drive, ahead);
        } else {
            self.flush(now, drive, ObjectEvent::DataFlush, ahead);
        }
    }

    fn flush(
        &mut self,
        now: Nanos,
        drive: u32,
        then: ObjectEvent,
        ahead: &mut Vec<TimedStoreEvent>,
    ) {
        let flush = Op {
            kind: DriveOp::Flush,
            offset: 0,
            len: 0,
        };
        ahead.push(expected(self.drive.complete(now, flush), drive, then));
    }

    /// From the block in which it ended.
    fn write_log(&mut self, now: Nanos, drive: u32, ahead: &mut Vec<TimedStoreEvent>) {
        let logged = self.committing.iter().map(|own| match own.op.len {
            len if self.is_deferred(own.op) => LOGGED + len,
            len => LOGGED + len / DATA_OF_LOGGED,
        });
        let end = self.log_end + logged.sum::<u64>();
        let from = self.log_end / BLOCK * BLOCK;
        self.log_end = end % LOG.min(self.capacity);
        let write = Op {
            kind: DriveOp::Write,
            offset: from,
            len: end.div_ceil(BLOCK) * BLOCK - from,
        };
        let at = self.drive.complete(now, write);
        ahead.push(expected(at, drive, ObjectEvent::Log));
    }

    fn write_journal(&mut self, now: Nanos, drive: u32, ahead: &mut Vec<TimedStoreEvent>) {
        // Beyond the log.
        let from = (LOG + self.journal_end) % self.capacity;
        self.journal_end = (self.journal_end + BLOCK) % LOG;
        let write = Op {
            kind: DriveOp::Write,
            offset: from.min(self.capacity - BLOCK),
            len: BLOCK,
        };
        let at = self.drive.complete(now, write);
        ahead.push(expected(at, drive, ObjectEvent::Journal));
    }

    fn write_deferred(&mut self, now: Nanos) {
        if self.deferred.len() >= DEFERRED_BATCH {
            for op in std::mem::take(&mut self.deferred) {
                self.drive.complete(now, op);
            }
        }
    }

    /// Trips of what is not complete, and will never be.
    pub fn fail(&mut self) -> Vec<usize> {
        let waiting = self.queue.drain(..).chain(self.committing.drain(..));
        let waiting = waiting.map(|own| own.trip);
        let mut trips: Vec<usize> = self.writing.drain(..).chain(waiting).collect();
        trips.extend(self.shards.clear());
        trips
    }

    /// What was deferred is in the log.
    pub fn power_cycle(&mut self, now: Nanos) {
        self.fail();
        self.drive.power_cycle(now);
    }

    pub fn work(&self) -> Work {
        self.drive.work()
    }
}

const fn expected(at: Nanos, drive: u32, event: ObjectEvent) -> TimedStoreEvent {
    let event = StoreEvent::Object { drive, event };
    TimedStoreEvent { at, event }
}
