//! What is timed: reads, writes, flushes, and giving space back.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use plimsoll_record::drive::DriveOp;
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use super::super::engine::{Done, Engine};
use super::super::server::DataPath;
use super::super::wire::{DataRequest, RequestArrival};
use super::extents::Extents;
use super::reply::FileResult;
use super::{DirectoryData, Open, lock};
use crate::model::Op;

/// One block of a journal's transaction.
const JOURNALLED: u64 = 4096;
/// What a journal goes round in.
const JOURNAL: u64 = 64 << 20;

impl DataPath for DirectoryData {
    fn handle(&self, request: DataRequest, arrival: RequestArrival) {
        match request {
            DataRequest::Read {
                handle,
                offset,
                len,
            } => self.read_file(handle, offset, len, arrival),
            DataRequest::Write {
                handle,
                offset,
                flags,
                data,
            } => {
                let flags = OFlags::from_bits_retain(flags);
                self.write_file(handle, flags, offset, data, arrival);
            }
            DataRequest::Flush => self.flush_drive(arrival),
            DataRequest::Allocate {
                handle,
                offset,
                len,
                mode,
            } => self.allocate(handle, offset, len, mode, arrival),
        }
    }
}

fn answer(arrival: RequestArrival, result: FileResult<()>) {
    match result {
        Ok(()) => arrival.reply.succeed(&[], 0),
        Err(error) => arrival.reply.fail(error),
    }
}

impl DirectoryData {
    pub fn new(engine: Arc<Engine>, capacity: u64, limit: u64, full: Arc<AtomicBool>) -> Self {
        Self {
            engine,
            extents: Mutex::new(Extents::new(capacity, limit)),
            open: Mutex::default(),
            is_changed: AtomicBool::new(false),
            journal: AtomicU64::new(0),
            capacity,
            full,
        }
    }

    pub(super) fn changed(&self) {
        self.is_changed.store(true, Ordering::Relaxed);
    }

    pub(super) fn opened(&self, handle: u64) -> FileResult<Arc<Open>> {
        lock(&self.open).get(&handle).cloned().ok_or(Errno::BADF)
    }

    fn read_at(&self, file: &OwnedFd, offset: u64, size: u32) -> rustix::io::Result<Done> {
        let mut data = self.engine.buffers.take(size as usize);
        let mut done = 0;
        while done < data.data().len() {
            match rustix::io::pread(file, &mut data.space()[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        data.shorten(done);
        Ok(Done {
            data,
            ..Done::default()
        })
    }

    /// Where nothing was ever written a real filesystem would not ask its drive.
    fn read_file(&self, handle: u64, offset: u64, size: u32, arrival: RequestArrival) {
        let open = match self.opened(handle) {
            Ok(open) => open,
            Err(error) => return arrival.reply.fail(error),
        };
        let position = lock(&self.extents).find(open.node.0, offset);
        match position {
            Some(position) => {
                let op = Engine::read_op(position, size.into());
                self.engine
                    .ask(op, arrival, |_| self.read_at(&open.file, offset, size));
            }
            None => match self.read_at(&open.file, offset, size) {
                Ok(done) => {
                    arrival.reply.succeed(done.data.data(), 0);
                    self.engine.buffers.give_back(done.data);
                }
                Err(error) => arrival.reply.fail(error),
            },
        }
    }

    /// `flags` are the file's (open(2)). The kernel asks for a flush after a write that has to be durable, but for direct
    /// I/O it leaves that to us.
    fn write_file(
        &self,
        handle: u64,
        flags: OFlags,
        offset: u64,
        data: &[u8],
        arrival: RequestArrival,
    ) {
        let open = match self.opened(handle) {
            Ok(open) => open,
            Err(error) => return arrival.reply.fail(error),
        };
        let len = data.len() as u64;
        let Ok(position) = lock(&self.extents).write(open.node.0, offset, len) else {
            self.full.store(true, Ordering::Relaxed);
            return arrival.reply.fail(Errno::NOSPC);
        };
        let flush = flags
            .contains(OFlags::DIRECT | OFlags::DSYNC)
            .then(Engine::flush_op);
        self.engine
            .ask_with(flush, Engine::write_op(position, len), arrival, |_| {
                let mut done = 0;
                while done < data.len() {
                    match rustix::io::pwrite(&open.file, &data[done..], offset + done as u64) {
                        Ok(0) => return Err(Errno::IO),
                        Ok(n) => done += n,
                        Err(Errno::INTR) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(Done::default())
            });
    }

    /// With the journal's write before it, when names or attributes changed.
    fn flush_drive(&self, arrival: RequestArrival) {
        let journalled = self.is_changed.swap(false, Ordering::Relaxed).then(|| {
            let at = self.journal.fetch_add(JOURNALLED, Ordering::Relaxed) % JOURNAL;
            Engine::write_op(at % self.capacity, JOURNALLED)
        });
        self.engine
            .ask_with(journalled, Engine::flush_op(), arrival, |_| {
                Ok(Done::default())
            });
    }

    /// Space given back is a trim; space reserved is in use, and a change of attributes.
    fn allocate(&self, handle: u64, offset: u64, len: u64, mode: u32, arrival: RequestArrival) {
        let flags = FallocateFlags::from_bits_retain(mode);
        let open = match self.opened(handle) {
            Ok(open) => open,
            Err(error) => return arrival.reply.fail(error),
        };
        let node = open.node.0;
        let asked = flags - FallocateFlags::KEEP_SIZE;
        if asked == FallocateFlags::PUNCH_HOLE {
            let position = lock(&self.extents).find(node, offset);
            return match position {
                Some(position) => {
                    let op = Op {
                        kind: DriveOp::Trim,
                        offset: position,
                        len,
                    };
                    self.engine.ask(op, arrival, |_| {
                        rustix::fs::fallocate(&open.file, flags, offset, len)?;
                        lock(&self.extents).punch(node, offset, len);
                        Ok(Done::default())
                    });
                }
                None => {
                    let punched = rustix::fs::fallocate(&open.file, flags, offset, len);
                    if punched.is_ok() {
                        lock(&self.extents).punch(node, offset, len);
                    }
                    answer(arrival, punched)
                }
            };
        }
        if !asked.is_empty() && asked != FallocateFlags::ZERO_RANGE {
            return arrival.reply.fail(Errno::OPNOTSUPP);
        }
        if lock(&self.extents).write(node, offset, len).is_err() {
            self.full.store(true, Ordering::Relaxed);
            return arrival.reply.fail(Errno::NOSPC);
        }
        self.changed();
        answer(
            arrival,
            rustix::fs::fallocate(&open.file, flags, offset, len),
        );
    }
}
