//! Programs that take or restore a backup: run to their end, and ended when the user wants that.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::control::LoadControl;
use crate::died::died;
use crate::error::{LoadError, SERVERS_DISK, is_disk_full};
use crate::scratch::wait_until;

/// What a program has to close its connections and end.
const GRACE_SECONDS: u64 = 5;
const TAIL_BYTES: u64 = 64 * 1024;

/// A program that works on a backup. Its command puts it into a process group of its own.
pub(crate) struct Program<'a> {
    pub command: Command,
    /// Where its standard output goes when that is the backup; else it is part of the program's messages.
    pub output: Option<File>,
    /// The directory that it writes to.
    pub place: &'a Path,
    /// What to do when it fails.
    pub next: &'a str,
}

impl Program<'_> {
    /// Runs it to its end, or until `control` cancels. Nothing of it runs any more after that.
    pub fn run(self, control: &LoadControl) -> Result<(), LoadError> {
        let Self {
            mut command,
            output,
            place,
            next,
        } = self;
        control.check()?;
        let name = name(Path::new(command.get_program()));
        let failed = |error: &dyn ToString| {
            LoadError::other(format!("{name} cannot be started"), error.to_string())
        };
        // In memory: nothing of it falls on a medium that is measured, or full.
        let messages = File::from(
            memfd_create(c"plimsoll", MemfdFlags::CLOEXEC).map_err(|error| failed(&error))?,
        );
        let stdout = output
            .map_or_else(|| messages.try_clone(), Ok)
            .map_err(|error| failed(&error))?;
        command
            .stdout(stdout)
            .stderr(messages.try_clone().map_err(|error| failed(&error))?);
        let mut running = RunningProgram(command.spawn().map_err(|error| failed(&error))?);
        while !wait_until(1, || running.has_ended() || control.is_cancelled()) {}
        let ended = running.has_ended();
        let status = running
            .end()
            .map_err(|error| LoadError::other(&name, error))?;
        if !ended {
            return Err(LoadError::Cancelled);
        }
        if status.success() {
            Ok(())
        } else {
            Err(explain(&name, status, &tail(&messages), place, next))
        }
    }
}

/// A program and what it has started. Ended when dropped.
struct RunningProgram(Child);

impl RunningProgram {
    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.0.id().cast_signed())
    }

    /// Whether the program has ended. It is not reaped, so that its number remains that of its group.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.pid()
            .is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    /// Asks it to end if it has not, and lets nothing of it go on.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        // SIGTERM: a parent may have made it ignore SIGINT.
        let signal = |signal| self.pid().map(|pid| kill_process_group(pid, signal));
        if !self.has_ended() {
            signal(Signal::TERM);
            wait_until(GRACE_SECONDS, || self.has_ended());
        }
        signal(Signal::KILL);
        self.0.wait()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It has been reaped already, unless this is a panic.
        if let Ok(None) = self.0.try_wait() {
            let _ = self.end();
        }
    }
}

fn name(program: &Path) -> String {
    program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The end of a program's messages.
fn tail(messages: &File) -> String {
    let length = messages.metadata().map_or(0, |about| about.len());
    let from = length.saturating_sub(TAIL_BYTES);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or_default()];
    // Whoever wrote is gone: it is there as a whole.
    let read = messages.read_at(&mut bytes, from).unwrap_or_default();
    bytes.truncate(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why a program failed, with its own messages.
fn explain(name: &str, status: ExitStatus, messages: &str, place: &Path, next: &str) -> LoadError {
    if let Some(line) = messages
        .lines()
        .rfind(|line| is_disk_full(line) || is_full_by_number(line))
    {
        // Messages of PostgreSQL's server are about its own files.
        let of_server = ["ERROR:", "FATAL:", "PANIC:"]
            .iter()
            .any(|level| line.contains(level));
        return LoadError::DiskFull {
            place: if of_server {
                SERVERS_DISK.into()
            } else {
                place.display().to_string()
            },
            why: line.trim().to_owned(),
            next: "Free space there, or choose a larger medium for it.".into(),
        };
    }
    let why = match messages.trim() {
        "" => format!("{status}; it printed nothing"),
        _ => status.to_string(),
    };
    died(name, &why, "its output", messages, next)
}

/// Whether a line of mariadb-dump's reports a full disk by its number only: `Got errno 28 on write`.
fn is_full_by_number(line: &str) -> bool {
    let number = |after: &str| {
        after
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|n| n.parse().ok())
    };
    let errno = line
        .rsplit_once("errno ")
        .and_then(|(_, after)| number(after));
    errno.is_some_and(|errno: i32| {
        [rustix::io::Errno::NOSPC, rustix::io::Errno::DQUOT]
            .iter()
            .any(|full| full.raw_os_error() == errno)
    })
}

/// The program's name and version: `pg_dump 15.18`.
pub(crate) fn version(program: &Path) -> String {
    let name = name(program);
    let Ok(output) = Command::new(program).arg("--version").output() else {
        return name;
    };
    // mariadb-backup prints it to standard error.
    let printed = [output.stdout, output.stderr].concat();
    match number(&String::from_utf8_lossy(&printed)) {
        Some(number) => format!("{name} {number}"),
        None => name,
    }
}

/// The version in a program's answer to `--version`. Some of MariaDB's print a number of their own first.
fn number(printed: &str) -> Option<&str> {
    let numbers = || {
        let words = printed
            .split_whitespace()
            .map(|word| word.trim_end_matches(','));
        words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
    };
    numbers()
        .find(|word| word.contains("MariaDB"))
        .or_else(|| numbers().next())
}

/// The first of these programs in any of these folders.
pub(crate) fn find(places: &[PathBuf], names: &[&str], next: &str) -> Result<PathBuf, LoadError> {
    let candidates = names
        .iter()
        .flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates
        .into_iter()
        .find(|program| program.is_file())
        .ok_or_else(|| {
            let searched: Vec<String> = places
                .iter()
                .map(|place| place.display().to_string())
                .collect();
            LoadError::Missing {
                what: format!("The program {}", names.join(" or ")),
                searched: format!("searched {}", searched.join(", ")),
                next: next.into(),
            }
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    use proptest::prelude::*;

    use super::*;
    use crate::scratch::start_time;

    fn shell(script: &str) -> Program<'static> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script])
            .stdin(Stdio::null())
            .process_group(0);
        Program {
            command,
            output: None,
            place: Path::new("/backup"),
            next: "Do that.",
        }
    }

    #[test]
    fn a_failure_quotes_the_programs_messages() {
        let control = LoadControl::default();
        shell("exit 0").run(&control).unwrap();
        let error = shell("echo first; echo last >&2; exit 3")
            .run(&control)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "sh ended by itself\nexit status: 3; its output: last\nDo that.",
        );
        assert_eq!(error.log(), "first\nlast");
        let full = shell("echo 'could not write: No space left on device'; echo more; exit 1");
        let error = full.run(&control).unwrap_err();
        assert!(
            matches!(&error, LoadError::DiskFull { place, .. } if place == "/backup"),
            "{error}"
        );
        let full =
            shell("echo 'query failed: ERROR:  could not extend: No space left on device'; exit 1");
        let error = full.run(&control).unwrap_err();
        assert!(
            matches!(&error, LoadError::DiskFull { place, .. } if place == "the server's disk"),
            "{error}"
        );
        let full = shell("echo 'mariadb-dump: Got errno 28 on write'; exit 1")
            .run(&control)
            .unwrap_err();
        assert!(matches!(full, LoadError::DiskFull { .. }), "{full}");
        assert!(!is_full_by_number("Got errno 13 on write") && !is_full_by_number("errno "));
    }

    #[test]
    fn what_it_writes_may_be_the_backup() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("dump");
        let program = Program {
            output: Some(File::create(&file).unwrap()),
            ..shell("echo data; echo trouble >&2; exit 1")
        };
        let error = program
            .run(&LoadControl::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("its output: trouble\n"), "{error}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "data\n");
    }

    /// Also one that does not listen, with a child that would go on.
    #[test]
    fn a_cancelled_program_ends_with_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let script = format!(
            "trap '' TERM; sleep 300 & echo $$ $! > {0}.new; mv {0}.new {0}; wait; sleep 300",
            pids.display()
        );
        let control = LoadControl::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_until(60, || pids.exists());
                control.cancel();
            });
            assert!(matches!(
                shell(&script).run(&control),
                Err(LoadError::Cancelled)
            ));
        });
        let pids: Vec<i32> = std::fs::read_to_string(&pids)
            .unwrap()
            .split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .collect();
        assert_eq!(pids.len(), 2);
        assert!(
            wait_until(60, || pids.iter().all(|&pid| start_time(pid).is_none())),
            "{pids:?}"
        );
        assert!(
            matches!(shell("exit 0").run(&control), Err(LoadError::Cancelled)),
            "nor does another one begin"
        );
    }

    #[test]
    fn versions_are_those_of_the_distribution() {
        assert_eq!(
            number("pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"),
            Some("15.18")
        );
        let printed =
            "mariadb-dump  Ver 10.19 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)";
        assert_eq!(number(printed), Some("10.11.19-MariaDB"));
        assert_eq!(number("no number"), None);
    }

    #[test]
    fn a_missing_program_is_an_error_with_the_next_step() {
        let error = find(&["/nowhere".into()], &["pg_dump"], "Install it.")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "The program pg_dump was not found\nsearched /nowhere\nInstall it."
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_quoted(messages in ".*") {
            let _ = number(&messages);
            let status = std::os::unix::process::ExitStatusExt::from_raw(256);
            let _ = explain("x", status, &messages, Path::new("/"), "next").to_string();
        }
    }
}
