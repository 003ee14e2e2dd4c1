//! PostgreSQL processes that work in a directory: found, ended, waited for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::process::{Pid, Signal};

use super::wait_until;
use crate::error::LoadError;
use crate::probe::pid_stat;

/// Start time of a process that runs; `None` when there is none or it is a zombie.
pub(crate) fn start_time(pid: i32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let state = stat.get(stat.rfind(')')? + 1..)?.trim_start().chars().next()?;
    (!matches!(state, 'Z' | 'X' | 'x')).then(|| pid_stat(&stat)).flatten().map(|stat| stat.start)
}

/// The directory that a process works in.
fn cwd(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// A server that runs from a data directory in a scratch directory.
pub(super) struct Postmaster {
    pub pid: i32,
    start_time: u64,
    data: PathBuf,
}

/// Servers whose data directory lies below.
pub(super) fn postmasters(scratch: &Path) -> Vec<Postmaster> {
    let data: BTreeSet<PathBuf> = servers_in(scratch).into_iter().map(|(_, cwd)| cwd).collect();
    data.iter().filter_map(|data| postmaster(data)).collect()
}

/// PostgreSQL's processes that work in or below a directory, with the directories they work in.
fn servers_in(dir: &Path) -> Vec<(i32, PathBuf)> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, cwd(pid).filter(|cwd| cwd.starts_with(dir))?)))
        .filter(|(pid, _)| is_server(*pid))
        .collect()
}

/// As a power failure ends them: at once, all of them.
pub(crate) fn kill_all(dir: &Path) {
    for pid in servers_in(dir).into_iter().filter_map(|(pid, _)| Pid::from_raw(pid)) {
        // One that has ended meanwhile is no trouble.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Ends servers whose data directory cannot be read any more because the drive below it is gone: they can save nothing.
pub(super) fn end_stranded(scratch: &Path) {
    for (pid, data) in servers_in(scratch) {
        if fs::read(data.join("PG_VERSION")).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
            let _ = Pid::from_raw(pid).map(|pid| rustix::process::kill_process(pid, Signal::KILL));
        }
    }
}

/// The process named in `postmaster.pid`, if it is a PostgreSQL server whose working directory is this very directory
/// (the server changes into its data directory at the start); anything else is not ours to stop.
fn postmaster(data: &Path) -> Option<Postmaster> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let pid: i32 = text.lines().next()?.trim().parse().ok()?;
    let start_time = start_time(pid)?;
    let works_here = cwd(pid)? == data.canonicalize().ok()?;
    (is_server(pid) && works_here).then(|| Postmaster { pid, start_time, data: data.into() })
}

/// Ends a server: fast, then immediately, then at any price; and waits until none of its processes is left.
pub(super) fn end(server: &Postmaster) -> Result<(), LoadError> {
    let alive = || start_time(server.pid) == Some(server.start_time);
    let what = || format!("PostgreSQL server {} in {}", server.pid, server.data.display());
    for (signal, seconds) in [(Signal::INT, 10), (Signal::QUIT, 5), (Signal::KILL, 5)] {
        if !alive() {
            break;
        }
        if let Some(pid) = Pid::from_raw(server.pid) {
            match rustix::process::kill_process(pid, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(LoadError::other(what(), format!("cannot be stopped: {error}"))),
            }
        }
        wait_until(seconds, || !alive());
    }
    if alive() || !wait_until(10, || !servers_work_in(&server.data)) {
        return Err(LoadError::other(what(), "does not end; stop it by hand, then start again"));
    }
    Ok(())
}

fn is_server(pid: i32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    matches!(name.trim_end(), "postgres" | "postmaster" | "initdb")
}

/// Whether any process of a PostgreSQL works in or below this directory: backends outlive a killed postmaster for a
/// moment, and `initdb` a killed plimsoll.
pub(crate) fn servers_work_in(dir: &Path) -> bool {
    !servers_in(dir).is_empty()
}
