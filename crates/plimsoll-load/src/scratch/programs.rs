//! Programs that take or restore backups and have outlived their plimsoll: found, ended, waited for.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::servers::{cwd, name, start_time};
use super::wait::wait_until;
use crate::error::LoadError;

/// Names as the process table shows them (proc(5): `comm` holds 15 bytes).
const NAMES: [&str; 9] = [
    "pg_basebackup",
    "pg_dump",
    "pg_restore",
    "mariadb-backup",
    "mariabackup",
    "mariadb-dump",
    "mysqldump",
    "mariadb",
    "mysql",
];

/// They work in the backup's directory, but for mariadb-backup, which changes into the server's; the backup's is in its
/// arguments.
const TARGET: &[u8] = b"--target-dir=";

/// How one is asked to end: signal, and the seconds it has.
const ENDINGS: [(Signal, u64); 2] = [(Signal::TERM, 5), (Signal::KILL, 10)];

/// A process of such a program. With its start time, its number names no other one (proc(5)).
struct BackupProcess {
    pid: i32,
    start_time: u64,
    name: String,
}

/// Ends such programs that work in or below a directory, and waits until they have closed their files; what was ended.
pub(super) fn end_programs(dir: &Path) -> Result<Vec<String>, LoadError> {
    let found = programs_in(dir);
    for (signal, seconds) in ENDINGS {
        for program in found.iter().filter(|program| program.runs()) {
            // One that has ended meanwhile is no trouble.
            let _ = Pid::from_raw(program.pid).map(|pid| kill_process(pid, signal));
        }
        if wait_until(seconds, || !found.iter().any(BackupProcess::runs)) {
            return Ok(found
                .into_iter()
                .map(|BackupProcess { pid, name, .. }| format!("{name} {pid}"))
                .collect());
        }
    }
    let left: Vec<String> = found
        .iter()
        .filter(|p| p.runs())
        .map(|p| format!("{} {}", p.name, p.pid))
        .collect();
    let why = format!(
        "{}, which a dead run has left, does not end; end it by hand, then start again",
        left.join(", ")
    );
    Err(LoadError::other(dir.display().to_string(), why))
}

fn programs_in(dir: &Path) -> Vec<BackupProcess> {
    let entries = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let pids = entries.filter_map(|name| name.to_str()?.parse().ok());
    pids.filter_map(|pid| {
        let name = name(pid);
        let works_here =
            NAMES.contains(&name.as_str()) && (cwd(pid)?.starts_with(dir) || targets(pid, dir));
        works_here
            .then(|| {
                start_time(pid).map(|start_time| BackupProcess {
                    pid,
                    start_time,
                    name,
                })
            })
            .flatten()
    })
    .collect()
}

/// Whether a process was started to put a backup there.
fn targets(pid: i32, dir: &Path) -> bool {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut targets = arguments
        .split(|byte| *byte == 0)
        .filter_map(|argument| argument.strip_prefix(TARGET));
    targets.any(|target| Path::new(std::ffi::OsStr::from_bytes(target)).starts_with(dir))
}

impl BackupProcess {
    /// Whether any of its threads does: the first one may have ended before the others, and the last one closes the files.
    /// What has ended and is never reaped does not run.
    fn runs(&self) -> bool {
        if let Some(start_time) = start_time(self.pid) {
            return start_time == self.start_time;
        }
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid))
            .into_iter()
            .flatten()
            .flatten();
        threads
            .filter_map(|thread| thread.file_name().to_str()?.parse().ok())
            .any(|thread| start_time(thread).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::{Child, Command};

    use super::super::{Scratch, sweep};
    use super::*;

    /// Ended with the test, in whichever way that comes.
    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// A shell under a program's name, which does not listen when asked to end. A link: a copy that another test's child
    /// has still open for writing could not be executed (execve(2), ETXTBSY).
    fn sleeper(medium: &Path, name: &str, cwd: &Path, arguments: &[String]) -> Sleeper {
        let program: PathBuf = medium.join(name);
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
        let ready = medium.join("ready");
        let script = format!(
            "trap '' TERM; : > '{}'; while :; do /bin/sleep 0.1; done",
            ready.display()
        );
        let mut command = Command::new(program);
        command
            .args(["-c", &script, "sh"])
            .args(arguments)
            .current_dir(cwd)
            .process_group(0);
        let sleeper = Sleeper(command.spawn().unwrap());
        assert!(wait_until(60, || ready.exists()), "{name} does not start");
        fs::remove_file(ready).unwrap();
        sleeper
    }

    #[test]
    fn what_a_killed_owner_left_running_is_ended_and_removed() {
        let medium = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::create(medium.path(), "backup").unwrap();
        let first = scratch.dir("cycle-0").unwrap();
        let second = scratch.dir("cycle-1").unwrap();
        let base = sleeper(medium.path(), "pg_basebackup", &first, &[]);
        let elsewhere = Path::new("/");
        let target = format!("--target-dir={}", second.display());
        let files = sleeper(medium.path(), "mariadb-backup", elsewhere, &[target]);
        let other = format!("--target-dir={}", medium.path().join("other").display());
        let mut strange = sleeper(medium.path(), "mariabackup", elsewhere, &[other]);
        assert!(
            sweep(medium.path(), &|_| Ok(Vec::new()))
                .unwrap()
                .is_empty(),
            "the owner lives"
        );

        let path = scratch.abandon();
        // They are not reaped meanwhile.
        let actions = sweep(medium.path(), &|_| Ok(Vec::new())).unwrap();
        for program in [("pg_basebackup", &base), ("mariadb-backup", &files)] {
            let action = format!(
                "Ended {} {} of the dead run backup.",
                program.0,
                program.1.0.id()
            );
            assert!(actions.contains(&action), "{actions:?}");
        }
        assert_eq!(actions.len(), 3, "{actions:?}");
        assert!(!path.exists());
        assert!(
            strange.0.try_wait().unwrap().is_none(),
            "a program of another run goes on"
        );
    }
}
