//! Clearing what dead runs have left on a medium.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};

use super::directory::DirectoryHandle;
use super::errors::io_error;
use super::owner::{
    FOLDER, FORMAT, LOCK, MAKERS_SECONDS, OWNER, Owner, closed, host, remove, remove_socket_dir,
};
use super::programs::end_programs;
use super::servers::{end, end_stranded, mains, servers_work_in, start_time};
use super::wait::wait_until;
use crate::error::LoadError;

/// Clears what dead runs left on a medium and returns what was done, a sentence for each. Never touches a directory
/// without a valid owner file, nor one whose owner lives or lived on another host. `unmount` takes down what a dead run
/// has mounted below a directory; it is called when nothing works there any more.
pub fn sweep(
    medium: &Path,
    unmount: &dyn Fn(&Path) -> io::Result<Vec<String>>,
) -> Result<Vec<String>, LoadError> {
    let mut actions = Vec::new();
    let folder = match medium.canonicalize() {
        Ok(medium) => medium.join(FOLDER),
        Err(error) => return Err(io_error(medium, &error)),
    };
    let opened = DirectoryHandle::open(&folder).and_then(|opened| Ok((opened.names()?, opened)));
    let (names, opened) = match opened {
        Ok(found) => found,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(actions);
        }
        Err(error) => {
            let closed = closed(&folder, &error);
            // Whoever may write there may make a directory of one's own, hidden or not.
            if rustix::fs::access(&folder, Access::WRITE_OK | Access::EXEC_OK).is_err() {
                return Err(closed);
            }
            actions.push(format!(
                "Did not search for leftovers of dead runs. {closed}"
            ));
            return Ok(actions);
        }
    };
    if let Err(error) = opened.check_owner().and_then(|()| opened.check_closed()) {
        actions.push(left_alone(&error));
        return Ok(actions);
    }
    for name in names {
        let Ok(directory) = opened.child(&name) else {
            continue;
        };
        let path = directory.path().to_owned();
        let owner = match owner_on_this_host(&directory, &name) {
            Ok(Some(owner)) => owner,
            Ok(None) => continue,
            Err(left) => {
                actions.push(left);
                continue;
            }
        };
        // Held until the directory is gone, so that two plimsolls do not sweep the same one.
        let Ok(_lock) = gone(&directory, &owner) else {
            continue;
        };
        for program in end_programs(&path)? {
            actions.push(format!("Ended {program} of the dead run {}.", owner.run_id));
        }
        for server in mains(&path) {
            end(&server)?;
            let title = server.kind.title();
            actions.push(format!(
                "Stopped the {title} server {} of the dead run {}.",
                server.pid, owner.run_id
            ));
        }
        end_stranded(&path);
        if !wait_until(MAKERS_SECONDS, || !servers_work_in(&path)) {
            return Err(LoadError::other(
                path.display().to_string(),
                "a database server of a dead run, or a program that makes its data directory, still works there; end it by hand, then start again",
            ));
        }
        sockets_on_drives(&path)
            .iter()
            .for_each(|outside| remove_socket_dir(outside));
        actions.extend(unmount(&path).map_err(|error| {
            let why = format!(
                "what the dead run {} had mounted could not be taken down: {error}",
                owner.run_id
            );
            LoadError::other(path.display().to_string(), why)
        })?);
        remove(&path, &owner)?;
        actions.push(format!(
            "Removed {}, left by process {} which is gone.",
            path.display(),
            owner.pid
        ));
    }
    // Fails, and should, when something is left in it.
    let _ = fs::remove_dir(&folder);
    Ok(actions)
}

/// The owner of a directory that may be swept once it is gone. `None`: nobody's, or a run makes it just now. `Err`: what is
/// reported of a directory that is left alone.
fn owner_on_this_host(directory: &DirectoryHandle, name: &OsStr) -> Result<Option<Owner>, String> {
    let trusted = directory
        .check_owner()
        .and_then(|()| directory.check_closed());
    trusted.map_err(|error| left_alone(&error))?;
    let path = directory.path();
    let owner = read_owner(directory).map_err(|why| not_understood(path, &why))?;
    let Some(owner) = owner.filter(|owner| name == &*owner.run_id) else {
        return Ok(None);
    };
    if owner.host == host() {
        return Ok(Some(owner));
    }
    Err(format!(
        "Left {} alone: it belongs to process {} on host {:?}. Remove it when that run is over.",
        path.display(),
        owner.pid,
        owner.host
    ))
}

/// Socket directories of systems on drives that are mounted in a scratch directory ([`Scratch::inside`]).
fn sockets_on_drives(scratch: &Path) -> Vec<PathBuf> {
    let below = |dir: PathBuf| {
        fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
    };
    // SCRATCH/drive/mnt/SYSTEM. What lies beside mnt is the drive itself, which does not answer without its emulator.
    let systems = below(scratch.into())
        .map(|drive| drive.join("mnt"))
        .flat_map(below);
    let owners = systems.map(|dir| dir.join(OWNER));
    let owners = owners.filter_map(|owner| parse_owner(&fs::read_to_string(owner).ok()?).ok());
    owners.flat_map(|owner| owner.outside).collect()
}

/// What a sweep reports of a directory that it does not trust: an owner file in it may be somebody else's.
fn left_alone(error: &LoadError) -> String {
    format!("Left alone what dead runs may have left. {error}")
}

/// What a sweep reports of a directory whose owner file is damaged, or of a plimsoll that writes others.
fn not_understood(path: &Path, why: &str) -> String {
    format!(
        "Left {} alone: this plimsoll does not understand {OWNER} in it ({why}). Remove it when no plimsoll works there.",
        path.display()
    )
}

/// `None` without an owner file of plimsoll's, `Err` with the reason why one means nothing.
fn read_owner(directory: &DirectoryHandle) -> Result<Option<Owner>, String> {
    /// An owner file has less than a thousand bytes.
    const MOST: u64 = 1 << 20;
    let file = match directory.open_file(OsStr::new(OWNER), OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut text = String::new();
    let read = file.take(MOST).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if is_of_others(&text) {
        return Ok(None);
    }
    parse_owner(&text).map(Some)
}

/// Whether the file was written by another program: plimsoll's have a format of that name, in every version. One that is
/// damaged may be plimsoll's.
fn is_of_others(text: &str) -> bool {
    let owner: Result<serde_json::Value, _> = serde_json::from_str(text);
    owner.is_ok_and(|owner| {
        let format = owner.get("format").and_then(serde_json::Value::as_str);
        !format.is_some_and(|format| format.starts_with("plimsoll"))
    })
}

pub(super) fn parse_owner(text: &str) -> Result<Owner, String> {
    let owner: Owner = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match owner.format == FORMAT && owner.pid > 0 {
        true => Ok(owner),
        false => Err(format!(
            "its format is {:?} and not {FORMAT:?}",
            owner.format
        )),
    }
}

/// Whether the owner is gone: no process with its pid and start time, and no process holds the lock (which is visible from
/// other pid namespaces, too). `Ok` holds the lock, where the file system has locks.
fn gone(directory: &DirectoryHandle, owner: &Owner) -> Result<Option<File>, ()> {
    if start_time(owner.pid) == Some(owner.start_time) {
        return Err(());
    }
    let Ok(file) = directory.open_file(OsStr::new(LOCK), OFlags::RDONLY) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
