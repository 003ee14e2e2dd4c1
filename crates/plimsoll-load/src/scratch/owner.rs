//! Whose directory it is: the owner file, and the removal of what it names.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::errors::io_error;
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

pub(super) fn belongs_to(folder: &Path, owner: &str) -> LoadError {
    let place = folder.display();
    LoadError::Refused {
        what: place.to_string(),
        why: format!("it belongs to {owner}, who has used plimsoll on this medium"),
        next: format!(
            "Run plimsoll as that user, or give the medium another directory. When no run of {owner} is going, they can \
             remove it: rm -r '{place}'"
        ),
    }
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
    if let Some(mount) = mounted_below(path) {
        return Err(LoadError::Other {
            what: path.display().to_string(),
            why: format!(
                "is left there, because {} is still mounted; umount it, then start again",
                mount.display()
            ),
        });
    }
    for outside in &owner.outside {
        remove_socket_dir(outside);
    }
    for entry in fs::read_dir(path)
        .map_err(|e| io_error(path, &e))?
        .flatten()
    {
        let inside = entry.path();
        if inside.ends_with(OWNER) || inside.ends_with(LOCK) {
            continue;
        }
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let done = if is_dir {
            fs::remove_dir_all(&inside)
        } else {
            fs::remove_file(&inside)
        };
        done.map_err(|e| io_error(&inside, &e))?;
    }
    for last in [LOCK, OWNER] {
        let last = path.join(last);
        match fs::remove_file(&last) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error(&last, &error));
            }
            _ => {}
        }
    }
    fs::remove_dir(path).map_err(|e| io_error(path, &e))?;
    if let Some(folder) = path.parent() {
        // Fails, and should, when another user's scratch is there.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

pub(super) fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\134", "\\")
}

/// A mount point strictly below a directory (proc(5): the fifth field, with octal escapes).
pub(super) fn mounted_below(path: &Path) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    points
        .map(|point| PathBuf::from(unescape(point)))
        .find(|point| point.starts_with(path) && point != path)
}

/// Removes a directory named as ours with sockets in it and nothing else: the owner file of a medium that was
/// else can write to must not make plimsoll remove anything more.
pub(super) fn remove_socket_dir(path: &Path) {
    let named_ours = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(OUTSIDE_PREFIX));
    let Ok(entries) = fs::read_dir(path) else {
        return;
    };
    if !named_ours || path.symlink_metadata().is_ok_and(|m| m.is_symlink()) {
        return;
    }
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".s.PGSQL.") || name.starts_with("mariadb.sock") {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(path);
}
