//! Processes of database servers that work in a directory: found, ended, waited for.

use std::path::{Path, PathBuf};
use std::{fs, io};

use plimsoll_block::host::parse::pid_stat;
use plimsoll_plan::resolved::ManagedKind;
use rustix::process::{Pid, Signal};

use super::wait::wait_until;
use crate::error::LoadError;

/// Start time of a process that runs; `None` when there is none or it is a zombie.
pub(crate) fn start_time(pid: i32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let state = stat
        .get(stat.rfind(')')? + 1..)?
        .trim_start()
        .chars()
        .next()?;
    (!matches!(state, 'Z' | 'X' | 'x'))
        .then(|| pid_stat(&stat))
        .flatten()
        .map(|stat| stat.start)
}

/// The directory that a process works in.
pub(super) fn cwd(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// A kind of server as the process table shows it.
struct Family {
    kind: ManagedKind,
    /// Names of the server's own processes, and of the programs that make its data directory (proc(5): `comm` holds 15
    /// bytes). A server works in its data directory.
    servers: &'static [&'static str],
    makers: &'static [&'static str],
    /// A small file that is in every data directory.
    witness: &'static str,
}

const FAMILIES: [Family; 3] = [
    Family {
        kind: ManagedKind::Postgres,
        servers: &["postgres", "postmaster"],
        makers: &["initdb"],
        witness: "PG_VERSION",
    },
    Family {
        kind: ManagedKind::Mariadb,
        servers: &["mariadbd", "mysqld"],
        makers: &["mariadb-install", "mysql_install_d"],
        witness: "aria_log_control",
    },
    Family {
        kind: ManagedKind::Mysql,
        servers: &["mysqld"],
        makers: &[],
        witness: "mysql.ibd",
    },
];

/// How a server is asked to end, from the gentle way to any price: signal, and the seconds it has.
pub(crate) fn endings(kind: ManagedKind) -> [(Signal, u64); 3] {
    match kind {
        // Fast, then immediate shutdown.
        ManagedKind::Postgres => [(Signal::INT, 30), (Signal::QUIT, 5), (Signal::KILL, 10)],
        ManagedKind::Mariadb | ManagedKind::Mysql => {
            [(Signal::TERM, 30), (Signal::TERM, 5), (Signal::KILL, 10)]
        }
    }
}

/// A server that runs from a data directory in a scratch directory.
pub(super) struct Main {
    pub kind: ManagedKind,
    pub pid: i32,
    start_time: u64,
    data: PathBuf,
}

/// Servers whose data directory lies below.
pub(super) fn mains(scratch: &Path) -> Vec<Main> {
    let mut found: Vec<Main> = Vec::new();
    for RunningServer { pid, cwd, family } in servers_in(scratch) {
        let main = match family.kind {
            // The parent of all its processes.
            ManagedKind::Postgres => postmaster(&cwd),
            // One process.
            kind if family.servers.contains(&name(pid).as_str()) => {
                start_time(pid).map(|start_time| Main {
                    kind,
                    pid,
                    start_time,
                    data: cwd,
                })
            }
            _ => None,
        };
        found.extend(main.filter(|main| found.iter().all(|known| known.pid != main.pid)));
    }
    found
}

/// A process of a server, or of a program that makes a data directory.
struct RunningServer {
    pid: i32,
    cwd: PathBuf,
    family: &'static Family,
}

/// Servers' processes that work in or below a directory.
fn servers_in(dir: &Path) -> Vec<RunningServer> {
    let names = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse().ok());
    pids.filter_map(|pid| {
        let cwd = cwd(pid).filter(|cwd| cwd.starts_with(dir))?;
        let family = family(pid, &cwd)?;
        Some(RunningServer { pid, cwd, family })
    })
    .collect()
}

/// As a power failure ends them: at once, all of them.
pub(crate) fn kill_all(dir: &Path) {
    for pid in servers_in(dir)
        .into_iter()
        .filter_map(|process| Pid::from_raw(process.pid))
    {
        // One that has ended meanwhile is no trouble.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Ends servers whose data directory cannot be read any more because the drive below it is gone: they can save nothing.
pub(super) fn end_stranded(scratch: &Path) {
    for RunningServer { pid, cwd, family } in servers_in(scratch) {
        if fs::read(cwd.join(family.witness))
            .is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
        {
            let _ = Pid::from_raw(pid).map(|pid| rustix::process::kill_process(pid, Signal::KILL));
        }
    }
}

/// The process named in `postmaster.pid`, if it is a PostgreSQL server whose working directory is this very directory
/// (the server changes into its data directory at the start); anything else is not ours to stop.
fn postmaster(data: &Path) -> Option<Main> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let pid: i32 = text.lines().next()?.trim().parse().ok()?;
    let start_time = start_time(pid)?;
    let works_here = cwd(pid)? == data.canonicalize().ok()?;
    let is_postgres = family(pid, data).is_some_and(|family| family.kind == ManagedKind::Postgres);
    (is_postgres && works_here).then(|| Main {
        kind: ManagedKind::Postgres,
        pid,
        start_time,
        data: data.into(),
    })
}

/// Ends a server, at any price in the end, and waits until none of its processes is left.
pub(super) fn end(server: &Main) -> Result<(), LoadError> {
    let alive = || start_time(server.pid) == Some(server.start_time);
    let what = || {
        format!(
            "{} server {} in {}",
            server.kind.title(),
            server.pid,
            server.data.display()
        )
    };
    for (signal, seconds) in endings(server.kind) {
        if !alive() {
            break;
        }
        if let Some(pid) = Pid::from_raw(server.pid) {
            match rustix::process::kill_process(pid, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => {
                    return Err(LoadError::other(
                        what(),
                        format!("cannot be stopped: {error}"),
                    ));
                }
            }
        }
        wait_until(seconds, || !alive());
    }
    if alive() || !wait_until(10, || !servers_work_in(&server.data)) {
        return Err(LoadError::other(
            what(),
            "does not end; stop it by hand, then start again",
        ));
    }
    Ok(())
}

pub(super) fn name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

/// By its program, and where two have one of that name by the data that it works in.
fn family(pid: i32, data: &Path) -> Option<&'static Family> {
    let name = name(pid);
    let is_named = |own: &&Family| {
        own.servers
            .iter()
            .chain(own.makers)
            .any(|known| *known == name)
    };
    let mut named = FAMILIES.iter().filter(is_named);
    let first = named.next()?;
    let by_data = named.find(|own| data.join(own.witness).exists());
    Some(by_data.unwrap_or(first))
}

/// Whether any process of a server works in or below this directory: backends outlive a killed postmaster for a moment,
/// and a program that makes a data directory a killed plimsoll.
pub(crate) fn servers_work_in(dir: &Path) -> bool {
    !servers_in(dir).is_empty()
}
