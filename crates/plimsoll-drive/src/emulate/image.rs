//! A FUSE filesystem of one file, which is the drive: what a loop device is made of.

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, Request,
};
use plimsoll_record::drive::DriveOp;
use rustix::fs::FallocateFlags;

use super::engine::{Done, Engine};
use super::server::DataPath;
use super::store::Store;
use super::undo::UndoLog;
use super::wire::{DataRequest, LARGEST, RequestArrival};
use crate::model::Op;

/// Nothing here changes without going through this filesystem.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
const FILE: INodeNo = INodeNo(2);
/// Requests that the kernel hands over without waiting for answers; its default of 12 would be the depth of the queue.
const IN_BACKGROUND: u16 = 1024;

/// The names and attributes of the drive's file.
pub struct Image {
    pub size: u64,
    /// Of the file.
    pub name: String,
}

/// The drive's data.
pub struct ImageData {
    pub engine: Arc<Engine>,
    pub store: Arc<Store>,
    /// A write found no room in the backing store.
    pub full: Arc<AtomicBool>,
}

/// What every form of the emulator needs of the kernel's side of FUSE.
pub fn negotiate(config: &mut KernelConfig) -> std::io::Result<()> {
    // Without it each direct request waits for the one before.
    config
        .add_capabilities(InitFlags::FUSE_ASYNC_DIO)
        .map_err(|_| {
            std::io::Error::other(
                "this kernel's FUSE has no asynchronous direct I/O; Linux 3.10 and later have",
            )
        })?;
    // Errors name the nearest value that would do.
    for set in [
        KernelConfig::set_max_background,
        KernelConfig::set_congestion_threshold,
    ] {
        if let Err(nearest) = set(config, IN_BACKGROUND) {
            let _ = set(config, nearest);
        }
    }
    if let Err(nearest) = config.set_max_write(LARGEST) {
        let _ = config.set_max_write(nearest);
    }
    Ok(())
}

impl Image {
    fn attributes(&self, node: INodeNo) -> FileAttr {
        let is_file = node == FILE;
        let size = if is_file { self.size } else { 0 };
        FileAttr {
            ino: node,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file {
                FileType::RegularFile
            } else {
                FileType::Directory
            },
            perm: if is_file { 0o600 } else { 0o700 },
            nlink: if is_file { 1 } else { 2 },
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for Image {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && *name == *self.name {
            reply.entry(&FOR_EVER, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOR_EVER, &self.attributes(node));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(
            FileHandle(0),
            FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
        );
    }

    /// Closing the file, which is no flush of the drive.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let names = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
        ];
        let names = names
            .into_iter()
            .chain([(FILE, FileType::RegularFile, self.name.as_str())]);
        for (next, (node, kind, name)) in (1..).zip(names).skip(offset as usize) {
            if reply.add(node, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.size / 4096, 0, 0, 1, 0, 4096, 255, 4096);
    }
}

impl DataPath for ImageData {
    fn handle(&self, request: DataRequest, arrival: RequestArrival) {
        match request {
            DataRequest::Read { offset, len, .. } => self.read(offset, len, arrival),
            DataRequest::Write { offset, data, .. } => self.write(offset, data, arrival),
            DataRequest::Flush => self.flush(arrival),
            DataRequest::Allocate {
                offset, len, mode, ..
            } => self.allocate(offset, len, mode, arrival),
        }
    }
}

impl ImageData {
    fn note_if_full<T>(&self, result: rustix::io::Result<T>) -> rustix::io::Result<T> {
        if matches!(result, Err(rustix::io::Errno::NOSPC)) {
            self.full.store(true, Ordering::Relaxed);
        }
        result
    }

    fn read(&self, offset: u64, size: u32, arrival: RequestArrival) {
        let op = Engine::read_op(offset, size.into());
        self.engine.ask(op, arrival, |_| {
            let mut data = self.engine.buffers.take(size as usize);
            let len = self.store.read(offset, data.space())?;
            data.shorten(len);
            Ok(Done {
                data,
                ..Done::default()
            })
        });
    }

    fn write(&self, offset: u64, data: &[u8], arrival: RequestArrival) {
        let len = data.len() as u64;
        let op = Engine::write_op(offset, len);
        self.engine.ask(op, arrival, |undo| {
            let undo = UndoLog::write(undo, &self.store, (offset, len), || {
                self.note_if_full(self.store.write(offset, data))
            })?;
            Ok(Done {
                undo,
                ..Done::default()
            })
        });
    }

    fn flush(&self, arrival: RequestArrival) {
        self.engine.ask(Engine::flush_op(), arrival, |undo| {
            Ok(Done {
                flush: undo.map(|log| log.flush_arrived()),
                ..Done::default()
            })
        });
    }

    /// A discard of the block device arrives as punching a hole, a "write zeroes" as zeroing a range. The first is a
    /// trim; the second is one to the drive's timing, and a write to those who rely on it.
    fn allocate(&self, offset: u64, len: u64, mode: u32, arrival: RequestArrival) {
        let flags = FallocateFlags::from_bits_retain(mode) - FallocateFlags::KEEP_SIZE;
        let zeroes = flags == FallocateFlags::ZERO_RANGE;
        if !zeroes && flags != FallocateFlags::PUNCH_HOLE {
            return arrival.reply.fail(rustix::io::Errno::OPNOTSUPP);
        }
        let op = Op {
            kind: DriveOp::Trim,
            offset,
            len,
        };
        self.engine.ask(op, arrival, |log| {
            if zeroes {
                let undo = UndoLog::write(log, &self.store, (offset, len), || {
                    self.store.punch(offset, len)
                })?;
                return Ok(Done {
                    undo,
                    ..Done::default()
                });
            }
            log.into_iter().for_each(|log| log.trimmed(offset, len));
            self.store.punch(offset, len)?;
            Ok(Done::default())
        });
    }
}
