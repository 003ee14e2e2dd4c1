//! Whose directory it is: the owner file, and the removal of what it names.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_block::host::mount::unescape;
use serde::{Deserialize, Serialize};

use super::directory::DirectoryHandle;
use super::errors::{belongs_to, io_error};
use super::servers::start_time;
use crate::error::LoadError;
use crate::passwd::user_name;

pub(super) const FOLDER: &str = ".plimsoll";
pub(super) const OWNER: &str = "owner.json";
pub(super) const LOCK: &str = "owner.lock";
/// First line of defence against taking a stranger's JSON for ours.
pub(super) const FORMAT: &str = "plimsoll scratch 1";
/// Directories outside the medium (sockets) carry this prefix; others are never removed.
pub(super) const OUTSIDE_PREFIX: &str = "plimsoll-";

/// How long a program may go on making a data directory that a killed plimsoll has left.
pub(super) const MAKERS_SECONDS: u64 = 60;

/// What `owner.json` holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub format: String,
    pub run_id: String,
    pub host: String,
    pub pid: i32,
    /// Field 22 of /proc/PID/stat: clock ticks since boot. With the pid it names a process (proc(5)).
    pub start_time: u64,
    /// Directories made inside.
    pub contains: BTreeSet<String>,
    /// Directories made elsewhere, for sockets whose path would be too long here.
    pub outside: BTreeSet<PathBuf>,
}

impl Owner {
    /// This process.
    pub fn new(run_id: &str) -> Self {
        let pid = std::process::id().cast_signed();
        Self {
            format: FORMAT.into(),
            run_id: run_id.into(),
            host: host(),
            pid,
            start_time: start_time(pid).unwrap_or_default(),
            contains: BTreeSet::new(),
            outside: BTreeSet::new(),
        }
    }
}

/// An error at the folder that all runs on a medium share: it is open to its owner only.
pub(super) fn closed(folder: &Path, error: &io::Error) -> LoadError {
    let owner = fs::metadata(folder)
        .map(|about| about.uid())
        .unwrap_or_default();
    if error.kind() != io::ErrorKind::PermissionDenied
        || owner == rustix::process::geteuid().as_raw()
    {
        return io_error(folder, error);
    }
    belongs_to(folder, &user_name(owner))
}

/// This machine's name, as owner files and locks have it.
pub fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .unwrap_or_default()
        .trim()
        .into()
}

/// Removes a scratch directory; the owner file goes last, so that an interruption can be taken up again.
///
/// Where something is mounted inside, nothing is removed: it may be the user's, and what could not be unmounted is
/// better inspected first.
pub(super) fn remove(path: &Path, owner: &Owner) -> Result<(), LoadError> {
    let directory = DirectoryHandle::open_own(path)?;
    let why = match mounted_below(path) {
        Ok(None) => None,
        Ok(Some(mount)) => Some(format!(
            "is left there, because {} is still mounted; umount it, then start again",
            mount.display()
        )),
        Err(error) => Some(format!(
            "is left there, because what is mounted in it is unknown: {error}"
        )),
    };
    if let Some(why) = why {
        return Err(LoadError::other(path.display().to_string(), why));
    }
    for outside in &owner.outside {
        remove_socket_dir(outside);
    }
    let failed = |name: &OsStr| {
        let inside = path.join(name);
        move |error: io::Error| io_error(&inside, &error)
    };
    let names = directory.names().map_err(|e| io_error(path, &e))?;
    for name in names.iter().filter(|name| *name != OWNER && *name != LOCK) {
        directory.remove(name).map_err(failed(name))?;
    }
    for last in [LOCK, OWNER].map(OsStr::new) {
        directory.remove_left(last).map_err(failed(last))?;
    }
    fs::remove_dir(path).map_err(|e| io_error(path, &e))?;
    if let Some(folder) = path.parent() {
        // Fails, and should, when another user's scratch is there.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// A mount point strictly below a directory (proc(5): the fifth field, with octal escapes).
pub(super) fn mounted_below(path: &Path) -> io::Result<Option<PathBuf>> {
    let mounts = fs::read("/proc/self/mountinfo")?;
    Ok(mounted_below_in(&mounts, path))
}

/// Any user may have mounted something whose name is no text.
fn mounted_below_in(mountinfo: &[u8], path: &Path) -> Option<PathBuf> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    let points = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points
        .map(|point| PathBuf::from(OsString::from_vec(unescape(point))))
        .find(|point| point.starts_with(path) && point != path)
}

/// Removes a directory named as ours with sockets in it and nothing else: whatever an owner file names, plimsoll removes no
/// more than that.
pub(super) fn remove_socket_dir(path: &Path) {
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
        return;
    };
    let is_ours = name.to_string_lossy().starts_with(OUTSIDE_PREFIX);
    let (true, Ok(parent)) = (is_ours, DirectoryHandle::open(parent)) else {
        return;
    };
    let Ok(directory) = parent.child(name) else {
        return;
    };
    for socket in directory.names().unwrap_or_default() {
        let name = socket.to_string_lossy();
        let is_socket = name.starts_with(".s.PGSQL.") || name.starts_with("mariadb.sock");
        // A socket, or the file beside it that holds its lock.
        let is_directory = directory.child(&socket).is_ok();
        if is_socket && !is_directory {
            let _ = directory.remove(&socket);
        }
    }
    let _ = parent.remove_empty(name);
}
