//! The file that a drive is measured in: marked, locked while in use, removed afterwards, and swept when its owner was
//! killed.
//!
//! Its first block holds the mark; fio works behind it. The name alone is never reason enough to remove a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;
use plimsoll_record::message::doctor::WriteFault;
use rustix::fs::OFlags;

use crate::BlockError;
use crate::device::evidence::hand_down;
use crate::layout::reserve;

const PREFIX: &str = ".plimsoll-learn-";
const MARK: &[u8] =
    b"plimsoll learn 1: a test file. It is removed when the measuring ends, or by the next one.\n";

/// Where fio's part begins: behind the mark, on the largest boundary that a block size asks for.
pub const RESERVED: u64 = 1 << 20;
/// Least for a measurement that means anything.
const SMALLEST: Bytes = Bytes::mib(16);
const LARGEST_BY_DEFAULT: Bytes = Bytes::mib(4096);

/// A marked file; removed when this is dropped.
#[derive(Debug)]
pub struct TestFile {
    path: PathBuf,
    /// Locked as long as its owner lives.
    lock: File,
}

fn fault(path: &Path, error: &io::Error) -> BlockError {
    let next = advice(error, path.parent().unwrap_or(path));
    BlockError::TestFile {
        path: path.into(),
        why: error.to_string(),
        next,
    }
}

/// Why a file could not be made or written.
pub fn write_fault(error: &io::Error) -> WriteFault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => WriteFault::NoSpace,
        io::ErrorKind::ReadOnlyFilesystem => WriteFault::ReadOnly,
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => WriteFault::NotPermitted,
        _ => WriteFault::Other,
    }
}

/// What to do about it.
fn advice(error: &io::Error, directory: &Path) -> String {
    match write_fault(error) {
        WriteFault::NoSpace => {
            format!("Free space there, or give another directory: df {}", directory.display())
        }
        WriteFault::ReadOnly => {
            "It is mounted read-only: mount -o remount,rw, or find the reason in the kernel's log (dmesg).".into()
        }
        WriteFault::NotPermitted => "Give a directory on the drive that this user may write to.".into(),
        WriteFault::Other => {
            "Check the kernel's log (dmesg), or give another directory on the drive.".into()
        }
    }
}

/// The name of this process's file.
pub fn name() -> String {
    format!("{PREFIX}{}", std::process::id())
}

/// This process's file in a directory.
pub fn path_in(directory: &Path) -> PathBuf {
    directory.join(name())
}

impl TestFile {
    /// Makes a file of this process in a directory, with so much room behind the mark.
    pub fn create(directory: &Path, room: Bytes) -> Result<Self, BlockError> {
        Self::make(directory, room).map_err(|error| fault(&path_in(directory), &error))
    }

    pub fn make(directory: &Path, room: Bytes) -> io::Result<Self> {
        let path = path_in(directory);
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        // A file system without locks is no obstacle to measuring; such a file is never swept.
        let _ = lock.try_lock();
        let made = Self { path, lock };
        (&made.lock).write_all(MARK)?;
        if room > Bytes::default() {
            // fio runs with an option that forbids it to extend files.
            reserve(&made.lock, RESERVED + room.0)?;
        }
        Ok(made)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Under this name the very file is opened again, whatever has become of its path.
    pub(crate) fn by_handle(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.lock.as_raw_fd()).into()
    }

    /// Under this name the programs that this one starts find the very file; and hold its lock, so that none that outlives
    /// us has it swept away.
    ///
    /// # Errors
    /// The file cannot be handed down.
    pub fn handed_down(&self) -> Result<PathBuf, BlockError> {
        hand_down(&self.lock).map_err(|error| fault(&self.path, &error))?;
        Ok(self.by_handle())
    }

    /// Without direct I/O the page cache would be measured.
    pub fn check_direct(&self) -> Result<(), BlockError> {
        let direct = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::DIRECT.bits().cast_signed())
            .open(self.by_handle());
        direct.map(drop).map_err(|error| BlockError::TestFile {
            path: self.path.clone(),
            why: format!("this filesystem has no direct I/O ({error}): memory would be measured, not the drive"),
            next: "Give a directory on a filesystem that lies on the drive.".into(),
        })
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // What cannot be removed stays for the next sweep.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a file bears our mark, both in its name and in its first block, and is not locked.
fn is_leftover(path: &Path) -> bool {
    let named = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if !named || !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
        return false;
    }
    // It may have become something else since it was checked.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .is_ok_and(|file| is_marked(&file) && file.try_lock().is_ok())
}

fn is_marked(mut file: &File) -> bool {
    let mut head = [0; MARK.len()];
    file.read_exact(&mut head).is_ok() && head == MARK
}

/// Removes the files of killed runs in a directory, and returns which.
pub fn sweep(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let left: Vec<PathBuf> = entries.filter(|path| is_leftover(path)).collect();
    left.into_iter()
        .filter(|path| fs::remove_file(path).is_ok())
        .collect()
}

/// The directory in which a leftover file lies; a file that is not ours is refused.
pub fn directory_of(path: &Path) -> Result<PathBuf, BlockError> {
    let foreign = BlockError::Unsuitable {
        path: path.into(),
        what: "a file that plimsoll did not make",
    };
    path.parent()
        .filter(|_| is_leftover(path))
        .map(Path::to_path_buf)
        .ok_or(foreign)
}

/// How large the measured part is: what is asked for, else a quarter of the free space and at most 4 GiB; in whole MiB.
pub fn size(asked: Option<Bytes>, free: Bytes, directory: &Path) -> Result<Bytes, BlockError> {
    let bytes = asked.map_or(LARGEST_BY_DEFAULT.0.min(free.0 / 4), |asked| asked.0);
    let size = Bytes(bytes >> 20 << 20);
    let (why, next) = if size < SMALLEST {
        (
            format!("{size} is too little to measure a drive in; it takes {SMALLEST}"),
            "Give more with --size, or free space there.",
        )
    } else if size.0.saturating_add(RESERVED) > free.0 {
        (
            format!("a test file of {size} does not fit into the {free} that are free"),
            "Give less with --size, or free space there.",
        )
    } else {
        return Ok(size);
    };
    Err(BlockError::TestFile {
        path: directory.into(),
        why,
        next: next.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_marked_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let file = TestFile::create(dir.path(), Bytes::default()).unwrap();
        assert!(fs::read(file.path()).unwrap().starts_with(MARK));
        fs::write(dir.path().join("mine"), "x").unwrap();
        drop(file);
        let left: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["mine"]);
    }

    #[test]
    fn only_what_is_marked_named_and_free_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path(".plimsoll-learn-1"), MARK).unwrap();
        fs::write(path(".plimsoll-learn-2"), "my notes on plimsoll").unwrap();
        fs::write(path("copy"), MARK).unwrap();
        std::os::unix::fs::symlink(path("copy"), path(".plimsoll-learn-3")).unwrap();
        let held = TestFile::create(dir.path(), Bytes::default()).unwrap();
        assert_eq!(
            directory_of(&path(".plimsoll-learn-1")).unwrap(),
            dir.path()
        );
        for foreign in [".plimsoll-learn-2", "copy", ".plimsoll-learn-3"] {
            let error = directory_of(&path(foreign)).unwrap_err().to_string();
            assert!(
                error.contains("a file that plimsoll did not make"),
                "{error}"
            );
        }
        assert!(directory_of(held.path()).is_err(), "in use");
        assert_eq!(sweep(dir.path()), [path(".plimsoll-learn-1")]);
        assert!(
            held.path().exists() && path(".plimsoll-learn-2").exists() && path("copy").exists()
        );
    }

    #[test]
    fn sizes() {
        let of = |asked: Option<u64>, free: u64| {
            size(asked.map(Bytes::mib), Bytes::mib(free), Path::new("/srv"))
        };
        assert_eq!(of(None, 100_000).unwrap(), Bytes::mib(4096));
        assert_eq!(of(None, 1_000).unwrap(), Bytes::mib(250));
        assert_eq!(of(Some(64), 1_000).unwrap(), Bytes::mib(64));
        let error = of(Some(1_000), 1_000).unwrap_err().to_string();
        assert!(
            error.contains(
                "/srv cannot be used\na test file of 1000.0 MiB does not fit into the 1000.0 MiB"
            ),
            "{error}"
        );
        assert!(
            of(None, 40)
                .unwrap_err()
                .to_string()
                .contains("10.0 MiB is too little"),
            "a quarter of little"
        );
    }
}
