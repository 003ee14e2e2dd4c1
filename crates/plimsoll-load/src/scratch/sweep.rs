//! Clearing what dead runs have left on a medium.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

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
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
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
    for entry in entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    {
        let path = entry.path();
        let Some(owner) = fs::read_to_string(path.join(OWNER))
            .ok()
            .and_then(|text| parse_owner(&text))
        else {
            continue;
        };
        if entry.file_name() != *owner.run_id {
            continue;
        }
        if owner.host != host() {
            actions.push(format!(
                "Left {} alone: it belongs to process {} on host {:?}. Remove it when that run is over.",
                path.display(),
                owner.pid,
                owner.host
            ));
            continue;
        }
        // Held until the directory is gone, so that two plimsolls do not sweep the same one.
        let Ok(_lock) = gone(&path, &owner) else {
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
    let owners = owners.filter_map(|owner| parse_owner(&fs::read_to_string(owner).ok()?));
    owners.flat_map(|owner| owner.outside).collect()
}

pub(super) fn parse_owner(text: &str) -> Option<Owner> {
    let owner: Owner = serde_json::from_str(text).ok()?;
    (owner.format == FORMAT && owner.pid > 0).then_some(owner)
}

/// Whether the owner is gone: no process with its pid and start time, and no process holds the lock (which is visible from
/// other pid namespaces, too). `Ok` holds the lock, where the file system has locks.
fn gone(path: &Path, owner: &Owner) -> Result<Option<File>, ()> {
    if start_time(owner.pid) == Some(owner.start_time) {
        return Err(());
    }
    let Ok(file) = File::open(path.join(LOCK)) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
