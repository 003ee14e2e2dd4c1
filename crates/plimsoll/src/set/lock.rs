//! The right to run a cell: one process at a time has it, on whichever of the hosts that share the set's directory.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use plimsoll_load::scratch::host;
use rustix::fs::OFlags;

use crate::failure::Failure;

/// Start of each lock: a file of somebody else does not begin with it.
const HOLDER: &str = "process ";

/// A locked file, flock(2), which is removed when this is dropped. The lock of a process that was killed is free again, and
/// that of a host that crashed when its file server notices.
#[derive(Debug)]
pub struct CellLock {
    path: PathBuf,
    _file: File,
}

impl CellLock {
    pub fn take(path: &Path) -> Result<Self, Failure> {
        loop {
            let file = open(path).map_err(|error| cannot_lock(path, &error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(path)),
                Err(TryLockError::Error(error)) => return Err(cannot_lock(path, &error)),
            }
            // Its holder may have removed it after it was opened here: such a lock excludes no one.
            if is_at(&file, path) {
                return Self::hold(file, path);
            }
        }
    }

    fn hold(mut file: File, path: &Path) -> Result<Self, Failure> {
        let holder = format!("{HOLDER}{} of {}\n", std::process::id(), host());
        expect_lock(&mut file)
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(|error| cannot_lock(path, &error))?;
        Ok(Self {
            path: path.into(),
            _file: file,
        })
    }
}

impl Drop for CellLock {
    fn drop(&mut self) {
        // Before it is unlocked. What stays is a file that is free to lock.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
}

/// Refuses what is not a lock: its content would be lost.
fn expect_lock(file: &mut File) -> io::Result<()> {
    let about = file.metadata()?;
    let mut start = String::new();
    let read = file.take(HOLDER.len() as u64).read_to_string(&mut start);
    let is_lock = about.is_file()
        && about.nlink() == 1
        && read.is_ok()
        && (start.is_empty() || start == HOLDER);
    match is_lock {
        true => Ok(()),
        false => Err(io::Error::other(
            "it is a link or a file of another program",
        )),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |about: Metadata| (about.dev(), about.ino());
    let opened = file.metadata().map(identity);
    let named = fs::metadata(path).map(identity);
    opened.is_ok_and(|opened| named.is_ok_and(|named| opened == named))
}

fn held(path: &Path) -> Failure {
    let holder = fs::read_to_string(path).unwrap_or_default();
    let holder = match holder.trim() {
        "" => "another process",
        holder => holder,
    };
    Failure::run(format!(
        "{holder} runs this cell\nWait until it has ended, or end it, then resume the set."
    ))
}

fn cannot_lock(path: &Path, error: &io::Error) -> Failure {
    Failure::run(format!(
        "{} cannot be locked: {error}\nPut the set's directory where you may write, on a file system with flock(2); Lustre \
         has it with the mount option flock.",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_a_cell_and_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.lock");
        let lock = CellLock::take(&path).unwrap();
        let refused = CellLock::take(&path).unwrap_err().text();
        let holder = format!("process {} of ", std::process::id());
        assert!(
            refused.contains(&holder) && refused.contains("runs this cell"),
            "{refused}"
        );
        drop(lock);
        assert!(!path.exists());
        CellLock::take(&path).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_can_be_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.lock");
        fs::write(&path, "process 1 of a-host-that-was-killed\n").unwrap();
        let lock = CellLock::take(&path).unwrap();
        let holder = fs::read_to_string(&path).unwrap();
        assert!(holder.starts_with(&format!("process {} of", std::process::id())));
        drop(lock);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_a_lock_stays() {
        let dir = tempfile::tempdir().unwrap();
        let [notes, path] = ["notes", "001.lock"].map(|name| dir.path().join(name));
        fs::write(&notes, "process 1 of my notes").unwrap();
        let refused = || {
            CellLock::take(&path).unwrap_err();
            assert!(path.symlink_metadata().is_ok());
            assert_eq!(fs::read(&notes).unwrap(), b"process 1 of my notes");
            fs::remove_file(&path).unwrap();
        };
        std::os::unix::fs::symlink(&notes, &path).unwrap();
        refused();
        fs::hard_link(&notes, &path).unwrap();
        refused();
        fs::write(&path, "{\"name\": \"x\"}").unwrap();
        refused();
    }

    #[test]
    fn of_many_that_try_at_once_never_two_have_it() {
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.lock");
        let [holders, times] = [AtomicU32::new(0), AtomicU32::new(0)];
        let take_often = || {
            for _ in 0..500 {
                if let Ok(lock) = CellLock::take(&path) {
                    assert_eq!(holders.fetch_add(1, SeqCst), 0, "two have it");
                    times.fetch_add(1, SeqCst);
                    holders.fetch_sub(1, SeqCst);
                    drop(lock);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(take_often);
            }
        });
        assert!(times.load(SeqCst) > 0, "some had it");
    }
}
