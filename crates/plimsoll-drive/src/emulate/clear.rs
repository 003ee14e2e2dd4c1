//! Clearing a directory whose emulator is gone, or is ending.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use plimsoll_plan::units::Nanos;

use super::mounts::{abort_all, clear_claimed};
use super::{claim, clock};

/// Removes what an emulator that was killed left of a drive: its mounts, loop devices, and data. `dir` is its
/// [`super::protocol::MountSpec::dir`], which stays, as does everything in it that is not an emulator's. Returns what was
/// done, a sentence each.
///
/// An emulator that has the directory is waited for, for up to `patience`: one whose run is gone is unmounting. After a
/// while its connection is broken: one that was killed while it waited in the kernel for its own drive, as it does for a
/// second when it measures how late its answers are, cannot end before. For a directory whose data are wanted no more, and no other.
pub fn clear(dir: &Path, patience: Nanos) -> io::Result<Vec<String>> {
    let dir = match dir.canonicalize() {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        // The directory itself is a mount of an emulator that is gone.
        Err(_) => std::path::absolute(dir)?,
    };
    let unmounting = Nanos(patience.0 / 4);
    let _claim = lock_within(unmounting, &dir).or_else(|_| {
        abort_all(&dir);
        lock_within(patience.saturating_sub(unmounting), &dir)
    })?;
    clear_claimed(&dir)
}

fn lock_within(patience: Nanos, dir: &Path) -> io::Result<Option<OwnedFd>> {
    let mut claimed = claim::lock(dir);
    clock::wait_until(patience, || {
        if claimed.is_err() {
            claimed = claim::lock(dir);
        }
        claimed.is_ok()
    });
    claimed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn nothing_to_clear() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("precious"), "x").unwrap();
        assert_eq!(clear(dir.path(), Nanos(0)).unwrap(), [""; 0]);
        assert_eq!(
            clear(&dir.path().join("not there"), Nanos(0)).unwrap(),
            [""; 0]
        );
        assert!(dir.path().join("precious").exists());
    }
}
