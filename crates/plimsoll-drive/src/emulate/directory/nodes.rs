//! Files of the backing directory as FUSE numbers them. Each is held open by path only (O_PATH), so that renames and
//! removals do not matter.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo};
use rustix::fs::{CWD, Mode, OFlags, Stat};
use rustix::io::Result;

#[derive(Debug)]
struct Node {
    fd: Arc<OwnedFd>,
    /// As the backing filesystem numbers it.
    backing: (u64, u64),
    lookups: u64,
}

#[derive(Debug)]
pub struct Nodes {
    by_number: HashMap<u64, Node>,
    by_backing: HashMap<(u64, u64), u64>,
    next: u64,
}

/// A path by which the kernel finds what a descriptor stands for, to open it or change its mode.
pub fn path_of(fd: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd())
}

impl Nodes {
    pub fn new(root: &Path) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let backing = (stat.st_dev, stat.st_ino);
        let root = Node {
            fd: Arc::new(fd),
            backing,
            lookups: u64::MAX / 2,
        };
        Ok(Self {
            by_number: HashMap::from([(INodeNo::ROOT.0, root)]),
            by_backing: HashMap::from([(backing, INodeNo::ROOT.0)]),
            next: INodeNo::ROOT.0 + 1,
        })
    }

    pub fn fd(&self, number: INodeNo) -> Result<Arc<OwnedFd>> {
        self.by_number
            .get(&number.0)
            .map(|node| Arc::clone(&node.fd))
            .ok_or(rustix::io::Errno::STALE)
    }

    /// Finds a name in a directory, and counts that the kernel knows it.
    pub fn look_up(&mut self, parent: INodeNo, name: &OsStr) -> Result<FileAttr> {
        let parent = self.fd(parent)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&*parent, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let backing = (stat.st_dev, stat.st_ino);
        let number = *self.by_backing.entry(backing).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        });
        let node = self.by_number.entry(number).or_insert_with(|| Node {
            fd: Arc::new(fd),
            backing,
            lookups: 0,
        });
        node.lookups += 1;
        Ok(attributes(INodeNo(number), &stat))
    }

    pub fn attributes(&self, number: INodeNo) -> Result<FileAttr> {
        Ok(attributes(number, &rustix::fs::fstat(&*self.fd(number)?)?))
    }

    /// The kernel forgets so many look-ups. `true`: the file is gone with that, because it is not open and no name
    /// leads to it.
    pub fn forget(&mut self, number: INodeNo, lookups: u64) -> bool {
        let Some(node) = self.by_number.get_mut(&number.0) else {
            return false;
        };
        node.lookups = node.lookups.saturating_sub(lookups);
        if node.lookups > 0 {
            return false;
        }
        let is_gone = rustix::fs::fstat(&*node.fd).is_ok_and(|stat| stat.st_nlink == 0);
        // A file that still has a name keeps its number, which its place on the drive is known by.
        if is_gone {
            self.by_backing.remove(&node.backing);
        }
        self.by_number.remove(&number.0);
        is_gone
    }
}

pub fn kind_of(mode: u32) -> FileType {
    use rustix::fs::FileType as Kind;
    match Kind::from_raw_mode(mode) {
        Kind::Directory => FileType::Directory,
        Kind::Symlink => FileType::Symlink,
        Kind::Fifo => FileType::NamedPipe,
        Kind::Socket => FileType::Socket,
        Kind::CharacterDevice => FileType::CharDevice,
        Kind::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

fn time(seconds: i64, nanos: u64) -> SystemTime {
    match u64::try_from(seconds) {
        Ok(seconds) => UNIX_EPOCH + Duration::new(seconds, nanos as u32),
        Err(_) => {
            UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()) + Duration::from_nanos(nanos)
        }
    }
}

fn attributes(number: INodeNo, stat: &Stat) -> FileAttr {
    FileAttr {
        ino: number,
        size: stat.st_size as u64,
        blocks: stat.st_blocks as u64,
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind_of(stat.st_mode),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: stat.st_nlink as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: stat.st_rdev as u32,
        blksize: 4096,
        flags: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_last_as_long_as_names() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "abc").unwrap();
        let mut nodes = Nodes::new(dir.path()).unwrap();
        let a = nodes.look_up(INodeNo::ROOT, OsStr::new("a")).unwrap();
        assert_eq!((a.size, a.kind), (3, FileType::RegularFile));
        std::fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
        assert_eq!(
            nodes.look_up(INodeNo::ROOT, OsStr::new("b")).unwrap().ino,
            a.ino
        );
        assert!(!nodes.forget(a.ino, 1));
        assert_eq!(nodes.attributes(a.ino).unwrap().size, 3);
        assert!(!nodes.forget(a.ino, 1), "it still has a name");
        assert_eq!(
            nodes.look_up(INodeNo::ROOT, OsStr::new("b")).unwrap().ino,
            a.ino
        );
        std::fs::remove_file(dir.path().join("b")).unwrap();
        assert!(nodes.forget(a.ino, 1), "now it is gone");
        assert!(nodes.attributes(a.ino).is_err());
        assert!(nodes.look_up(INodeNo::ROOT, OsStr::new("b")).is_err());
    }
}
