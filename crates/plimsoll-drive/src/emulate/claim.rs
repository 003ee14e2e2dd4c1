//! Who has an emulator's directory: a lock that ends with the process.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::error::EmulatorError;
use super::{mounts, names};

/// The directory is this process's until this is dropped.
#[derive(Debug)]
pub struct Claim {
    _lock: Option<OwnedFd>,
}

/// The lock of a directory, flock(2). None on filesystems that have no locks.
pub(super) fn lock(dir: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(dir) = rustix::fs::open(dir, flags, Mode::empty()) else {
        return Ok(None);
    };
    match rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(dir)),
        Err(Errno::WOULDBLOCK) => Err(io::Error::other(
            "an emulated drive that is alive has its directory there",
        )),
        Err(_) => Ok(None),
    }
}

impl Claim {
    /// Clears what a killed emulator left, which shows by its socket: a directory without one is not touched. Returns what
    /// was done.
    pub fn of(dir: &Path) -> Result<(Self, Vec<String>), EmulatorError> {
        let dir = dir.canonicalize().map_err(EmulatorError::at(dir))?;
        let lock = lock(&dir).map_err(|error| {
            EmulatorError::new(
                format!("{}: {error}", dir.display()),
                "Give the drive another directory, or end that one.",
            )
        })?;
        let socket = names::socket(&dir);
        let was_left = socket
            .symlink_metadata()
            .is_ok_and(|found| found.file_type().is_socket());
        let cleared = if was_left {
            mounts::clear_claimed(&dir)
        } else {
            Ok(Vec::new())
        };
        Ok((
            Self { _lock: lock },
            cleared.map_err(EmulatorError::at(&dir))?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::net::UnixListener;

    use plimsoll_plan::units::Nanos;

    use super::super::clear::clear;
    use super::super::clock;

    #[test]
    fn one_at_a_time_and_what_was_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir(names::files(dir)).unwrap();
        let (claim, cleared) = Claim::of(dir).unwrap();
        assert_eq!(cleared, [""; 0]);
        assert!(names::files(dir).exists(), "no emulator was here");
        let error = Claim::of(dir).unwrap_err();
        assert!(error.why.contains("alive"), "{error}");
        let refused = clear(dir, Nanos::from_millis(1)).unwrap_err();
        assert!(
            refused.to_string().contains("alive") && names::files(dir).exists(),
            "{refused}"
        );
        let ending = std::thread::spawn(move || {
            clock::pause(Nanos::from_millis(50));
            drop(claim);
        });
        assert_eq!(
            clear(dir, Nanos::from_millis(60_000)).unwrap(),
            [""; 0],
            "waits for its end"
        );
        ending.join().unwrap();
        drop(UnixListener::bind(names::socket(dir)).unwrap());
        drop(Claim::of(dir).unwrap());
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    }
}
