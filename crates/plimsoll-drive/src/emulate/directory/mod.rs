//! The directory form: a filesystem that passes everything through to a private directory, timed by the model.
//!
//! Reads, writes and flushes are timed. The kernel's page cache works as over a real drive: writes reach the drive when
//! they are written back or synchronised, reads when they are not cached, and programs may map files, which SQLite's
//! WAL needs. Files opened with O_DIRECT pass the cache by. Closing a file writes it back, which FUSE insists on.
//! lseek(2) shows no holes: what is still in the cache would appear as one.
//!
//! Changes of names and attributes cost nothing by themselves. The next fsync pays for them with a write of 4 KiB to a
//! journal, as journalling filesystems do. Locks are the kernel's own business.

mod extents;
mod io;
mod nodes;
mod reply;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, Request, TimeOrNow,
};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid,
};

use super::engine::Engine;
use super::image::negotiate;
use extents::Extents;
use nodes::{Nodes, path_of};
use reply::{FOR_EVER, FileResult, attributes, empty, entry, errno};

struct Open {
    node: INodeNo,
    file: OwnedFd,
}

/// The names and attributes of the files.
pub struct Directory {
    data: Arc<DirectoryData>,
    nodes: Mutex<Nodes>,
    /// Listings, kept while a directory is open.
    listings: Mutex<HashMap<u64, Vec<(FileType, std::ffi::OsString)>>>,
    next_handle: AtomicU64,
    is_root: bool,
}

/// The data of the files.
pub struct DirectoryData {
    engine: Arc<Engine>,
    extents: Mutex<Extents>,
    open: Mutex<HashMap<u64, Arc<Open>>>,
    /// Names or attributes changed since the last fsync.
    is_changed: AtomicBool,
    /// Bytes written to the journal.
    journal: AtomicU64,
    capacity: u64,
    full: Arc<AtomicBool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits & 0o7777)
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    match time {
        None => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        Some(TimeOrNow::Now) => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        },
        Some(TimeOrNow::SpecificTime(time)) => {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            Timespec {
                tv_sec: since.as_secs() as i64,
                tv_nsec: i64::from(since.subsec_nanos()),
            }
        }
    }
}

impl Directory {
    /// Over `root`, an empty directory of the emulator's own.
    pub fn new(root: &Path, data: Arc<DirectoryData>) -> rustix::io::Result<Self> {
        Ok(Self {
            data,
            nodes: Mutex::new(Nodes::new(root)?),
            listings: Mutex::default(),
            next_handle: AtomicU64::new(1),
            is_root: rustix::process::geteuid().is_root(),
        })
    }

    fn fd(&self, node: INodeNo) -> FileResult<Arc<OwnedFd>> {
        lock(&self.nodes).fd(node)
    }

    fn changed(&self) {
        self.data.changed();
    }

    /// What has just been made belongs to who asked for it.
    fn made(&self, request: &Request, parent: INodeNo, name: &OsStr) -> FileResult<FileAttr> {
        self.changed();
        if self.is_root {
            let owner = (
                Some(Uid::from_raw(request.uid())),
                Some(Gid::from_raw(request.gid())),
            );
            let parent = self.fd(parent)?;
            rustix::fs::chownat(&*parent, name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        lock(&self.nodes).look_up(parent, name)
    }

    fn set_attributes(&self, node: INodeNo, wanted: &Wanted) -> FileResult<FileAttr> {
        let fd = self.fd(node)?;
        let path = path_of(&*fd);
        if let Some(bits) = wanted.mode {
            rustix::fs::chmodat(CWD, &path, mode(bits), AtFlags::empty())?;
        }
        if wanted.uid.is_some() || wanted.gid.is_some() {
            let owner = (wanted.uid.map(Uid::from_raw), wanted.gid.map(Gid::from_raw));
            rustix::fs::chownat(
                &*fd,
                "",
                owner.0,
                owner.1,
                AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW,
            )?;
        }
        if let Some(size) = wanted.size {
            // Who has it open may do so whatever the file's rights are now.
            match wanted
                .handle
                .and_then(|handle| self.data.opened(handle.0).ok())
            {
                Some(open) => rustix::fs::ftruncate(&open.file, size)?,
                None => {
                    let file =
                        rustix::fs::open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
                    rustix::fs::ftruncate(file, size)?;
                }
            }
            lock(&self.data.extents).truncate(node.0, size);
        }
        if wanted.atime.is_some() || wanted.mtime.is_some() {
            rustix::fs::utimensat(
                CWD,
                &path,
                &Timestamps {
                    last_access: timespec(wanted.atime),
                    last_modification: timespec(wanted.mtime),
                },
                AtFlags::empty(),
            )?;
        }
        self.changed();
        lock(&self.nodes).attributes(node)
    }

    /// The kernel's cache reads what it is going to write parts of, and knows best where the end of a file is.
    fn open_file(&self, node: INodeNo, flags: i32) -> FileResult<(FileHandle, FopenFlags)> {
        let asked = OFlags::from_bits_retain(flags as u32);
        let writes = asked.intersects(OFlags::WRONLY | OFlags::RDWR);
        let path = path_of(&*self.fd(node)?);
        let both = rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .ok()
            .filter(|_| writes);
        let file = match both {
            Some(file) => file,
            None if writes => {
                rustix::fs::open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?
            }
            None => rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
        };
        Ok(self.hand_out(node, file, asked))
    }

    fn hand_out(&self, node: INodeNo, file: OwnedFd, asked: OFlags) -> (FileHandle, FopenFlags) {
        let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
        lock(&self.data.open).insert(handle, Arc::new(Open { node, file }));
        let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        let flags = if asked.contains(OFlags::DIRECT) {
            direct
        } else {
            FopenFlags::FOPEN_KEEP_CACHE
        };
        (FileHandle(handle), flags)
    }

    fn list(&self, node: INodeNo) -> FileResult<Vec<(FileType, std::ffi::OsString)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path_of(&*self.fd(node)?), flags, Mode::empty())?;
        let entries = rustix::fs::Dir::new(dir)?.map(|entry| {
            let entry = entry?;
            let name = std::os::unix::ffi::OsStrExt::from_bytes(entry.file_name().to_bytes());
            Ok((
                nodes::kind_of(entry.file_type().as_raw_mode()),
                OsStr::to_owned(name),
            ))
        });
        entries.collect()
    }

    fn forget_one(&self, node: INodeNo, lookups: u64) {
        if lock(&self.nodes).forget(node, lookups) {
            lock(&self.data.extents).truncate(node.0, 0);
        }
    }
}

#[derive(Default)]
struct Wanted {
    mode: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    size: Option<u64>,
    atime: Option<TimeOrNow>,
    mtime: Option<TimeOrNow>,
    /// By which it is asked for.
    handle: Option<FileHandle>,
}

/// What this form asks of the kernel.
pub fn negotiate_cache(config: &mut KernelConfig) -> std::io::Result<()> {
    negotiate(config)?;
    // Where a kernel lacks it, writes go through the cache at once, and only that is lost.
    let _ = config.add_capabilities(InitFlags::FUSE_WRITEBACK_CACHE);
    let _ = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
    let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
    Ok(())
}

impl Filesystem for Directory {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, lock(&self.nodes).look_up(parent, name));
    }

    fn forget(&self, _: &Request, node: INodeNo, lookups: u64) {
        self.forget_one(node, lookups);
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attributes(reply, lock(&self.nodes).attributes(node));
    }

    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        attributes(
            reply,
            self.set_attributes(
                node,
                &Wanted {
                    mode,
                    uid,
                    gid,
                    size,
                    atime,
                    mtime,
                    handle,
                },
            ),
        );
    }

    fn readlink(&self, _: &Request, node: INodeNo, reply: ReplyData) {
        match self
            .fd(node)
            .and_then(|fd| rustix::fs::readlinkat(&*fd, "", Vec::new()))
        {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        bits: u32,
        _: u32,
        dev: u32,
        reply: ReplyEntry,
    ) {
        let kind = rustix::fs::FileType::from_raw_mode(bits);
        entry(
            reply,
            self.fd(parent)
                .and_then(|fd| rustix::fs::mknodat(&*fd, name, kind, mode(bits), dev.into()))
                .and_then(|()| self.made(request, parent, name)),
        );
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        bits: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        entry(
            reply,
            self.fd(parent)
                .and_then(|fd| rustix::fs::mkdirat(&*fd, name, mode(bits)))
                .and_then(|()| self.made(request, parent, name)),
        );
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        entry(
            reply,
            self.fd(parent)
                .and_then(|fd| rustix::fs::symlinkat(target, &*fd, name))
                .and_then(|()| self.made(request, parent, name)),
        );
    }

    fn link(&self, _: &Request, node: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.changed();
        let made = self.fd(node).and_then(|old| {
            rustix::fs::linkat(
                CWD,
                path_of(&*old),
                &*self.fd(parent)?,
                name,
                AtFlags::SYMLINK_FOLLOW,
            )
        });
        entry(
            reply,
            made.and_then(|()| lock(&self.nodes).look_up(parent, name)),
        );
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.changed();
        empty(
            reply,
            self.fd(parent)
                .and_then(|fd| rustix::fs::unlinkat(&*fd, name, AtFlags::empty())),
        );
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.changed();
        empty(
            reply,
            self.fd(parent)
                .and_then(|fd| rustix::fs::unlinkat(&*fd, name, AtFlags::REMOVEDIR)),
        );
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.changed();
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let renamed = self.fd(parent).and_then(|old| {
            let new = self.fd(new_parent)?;
            rustix::fs::renameat_with(&*old, name, &*new, new_name, flags)
        });
        empty(reply, renamed);
    }

    fn open(&self, _: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.open_file(node, flags.0) {
            Ok((handle, how)) => reply.opened(handle, how),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        bits: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        // Kept: a file may be made with rights by which it could not be opened a second time.
        let made = self.fd(parent).and_then(|fd| {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            rustix::fs::openat(&*fd, name, flags, mode(bits))
        });
        match made.and_then(|file| Ok((file, self.made(request, parent, name)?))) {
            Ok((file, made)) => {
                let asked = OFlags::from_bits_retain(flags as u32);
                let (handle, how) = self.hand_out(made.ino, file, asked);
                reply.created(&FOR_EVER, &made, Generation(0), handle, how);
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    /// Closing, which is no flush of the drive.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        lock(&self.data.open).remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, node: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.list(node) {
            Ok(listing) => {
                let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
                lock(&self.listings).insert(handle, listing);
                reply.opened(FileHandle(handle), FopenFlags::empty());
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listings = lock(&self.listings);
        let Some(listing) = listings.get(&handle.0) else {
            return reply.error(Errno::EBADF);
        };
        for (next, (kind, name)) in (1..).zip(listing).skip(offset as usize) {
            // The number here is for show (d_ino); the kernel looks the name up for the real one.
            if reply.add(INodeNo(u64::MAX), next, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        lock(&self.listings).remove(&handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let all = self.data.capacity / 4096;
        let free = lock(&self.data.extents).free_bytes() / 4096;
        reply.statfs(all, free, free, 1 << 20, 1 << 19, 4096, 255, 4096);
    }
}
