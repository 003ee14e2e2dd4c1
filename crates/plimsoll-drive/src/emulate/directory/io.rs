//! What is timed: reads, writes, flushes, and giving space back.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use fuser::{Errno, FileHandle, ReplyData, ReplyEmpty, ReplyWrite};
use plimsoll_record::drive::DriveOp;
use rustix::fs::{FallocateFlags, OFlags};

use super::super::engine::{Done, Engine, Reply, errno};
use super::{Directory, lock};
use crate::model::Op;

/// One block of a journal's transaction.
const JOURNALLED: u64 = 4096;
/// What a journal goes round in.
const JOURNAL: u64 = 64 << 20;

impl Directory {
    fn read_at(&self, file: &OwnedFd, offset: u64, size: u32) -> rustix::io::Result<Done> {
        let mut data = self.engine.buffers.take(size as usize);
        let mut done = 0;
        while done < data.data().len() {
            match rustix::io::pread(file, &mut data.space()[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(rustix::io::Errno::INTR) => {}
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
    pub(super) fn read_file(&self, handle: FileHandle, offset: u64, size: u32, reply: ReplyData) {
        let open = match self.opened(handle) {
            Ok(open) => open,
            Err(error) => return reply.error(errno(error)),
        };
        let position = lock(&self.extents).find(open.node.0, offset);
        match position {
            Some(position) => {
                self.engine.ask(
                    Engine::read_op(position, size.into()),
                    Reply::Data(reply),
                    |_| self.read_at(&open.file, offset, size),
                );
            }
            None => match self.read_at(&open.file, offset, size) {
                Ok(done) => {
                    reply.data(done.data.data());
                    self.engine.buffers.give_back(done.data);
                }
                Err(error) => reply.error(errno(error)),
            },
        }
    }

    /// `flags` are the file's (open(2)). The kernel asks for a flush after a write that has to be durable, but for direct
    /// I/O it leaves that to us.
    pub(super) fn write_file(
        &self,
        handle: FileHandle,
        flags: OFlags,
        offset: u64,
        data: &[u8],
        reply: ReplyWrite,
    ) {
        let open = match self.opened(handle) {
            Ok(open) => open,
            Err(error) => return reply.error(errno(error)),
        };
        let len = data.len() as u64;
        let Ok(position) = lock(&self.extents).write(open.node.0, offset, len) else {
            self.full.store(true, Ordering::Relaxed);
            return reply.error(Errno::ENOSPC);
        };
        let flush = flags
            .contains(OFlags::DIRECT | OFlags::DSYNC)
            .then(Engine::flush_op);
        self.engine.ask_with(
            flush,
            Engine::write_op(position, len),
            Reply::Written(reply),
            |_| {
                let mut done = 0;
                while done < data.len() {
                    match rustix::io::pwrite(&open.file, &data[done..], offset + done as u64) {
                        Ok(0) => return Err(rustix::io::Errno::IO),
                        Ok(n) => done += n,
                        Err(rustix::io::Errno::INTR) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(Done::default())
            },
        );
    }

    /// With the journal's write before it, when names or attributes changed.
    pub(super) fn flush_drive(&self, reply: ReplyEmpty) {
        let journalled = self.is_changed.swap(false, Ordering::Relaxed).then(|| {
            let at = self.journal.fetch_add(JOURNALLED, Ordering::Relaxed) % JOURNAL;
            Engine::write_op(at % self.capacity, JOURNALLED)
        });
        self.engine
            .ask_with(journalled, Engine::flush_op(), Reply::Empty(reply), |_| {
                Ok(Done::default())
            });
    }

    /// Space given back is a trim; space reserved is in use, and a change of attributes.
    pub(super) fn allocate(
        &self,
        handle: FileHandle,
        offset: u64,
        len: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let flags = FallocateFlags::from_bits_retain(mode as u32);
        let open = match self.opened(handle) {
            Ok(open) => open,
            Err(error) => return reply.error(errno(error)),
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
                    self.engine.ask(op, Reply::Empty(reply), |_| {
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
                    super::empty(reply, punched)
                }
            };
        }
        if !asked.is_empty() && asked != FallocateFlags::ZERO_RANGE {
            return reply.error(Errno::EOPNOTSUPP);
        }
        if lock(&self.extents).write(node, offset, len).is_err() {
            self.full.store(true, Ordering::Relaxed);
            return reply.error(Errno::ENOSPC);
        }
        self.changed();
        super::empty(reply, rustix::fs::fallocate(&open.file, flags, offset, len));
    }
}
