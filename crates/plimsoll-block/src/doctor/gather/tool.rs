//! Runs programs that report on a disk, with a time limit.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use plimsoll_record::message::doctor::{ArrayUnknownCause, HealthFault};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::doctor::smart::HealthFailure;

/// A disk that does not answer its controller keeps the program that asks waiting for minutes.
const PATIENCE_S: i64 = 2;
/// After it was killed.
const LAST_PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// Where programs for root are, when the path of an ordinary user does not lead there.
const PLACES: [&str; 3] = ["", "/usr/sbin/", "/sbin/"];

#[derive(Debug, PartialEq, Eq)]
pub enum ToolFailure {
    NotInstalled,
    Failed(HealthFailure),
}

impl ToolFailure {
    /// Why an array that the program shows is unknown.
    pub fn of_array(&self) -> ArrayUnknownCause {
        match self {
            Self::NotInstalled => ArrayUnknownCause::NotInstalled,
            Self::Failed(failure) if failure.cause == HealthFault::TimedOut => {
                ArrayUnknownCause::TimedOut
            }
            Self::Failed(_) => ArrayUnknownCause::NoAnswer,
        }
    }
}

fn failed(name: &'static str, error: std::io::Error) -> ToolFailure {
    of(name, HealthFault::Error, error)
}

fn of(name: &'static str, cause: HealthFault, what: impl ToString) -> ToolFailure {
    ToolFailure::Failed(HealthFailure::new(cause, name, what))
}

/// What a program prints, whatever its exit code: those of SMART are the disk's state.
pub fn run(name: &'static str, args: &[&str]) -> Result<String, ToolFailure> {
    run_within(name, args, PATIENCE_S)
}

/// As [`run`]; `seconds` is how long it is waited for.
pub fn run_within(name: &'static str, args: &[&str], seconds: i64) -> Result<String, ToolFailure> {
    let mut child = start(name, args)?;
    let pipe = child.0.stdout.take();
    // Read beside, so that the program never waits for us.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.map(|mut pipe| pipe.read_to_end(&mut bytes))
            .transpose()
            .map(|_| bytes)
    });
    let patience = Timespec {
        tv_sec: seconds,
        tv_nsec: 0,
    };
    if !ends_within(&child.0, patience).map_err(|error| failed(name, error.into()))? {
        return Err(of(name, HealthFault::TimedOut, seconds));
    }
    let bytes = reader
        .join()
        .map_err(|_| of(name, HealthFault::OutputLost, ""))?
        .map_err(|error| failed(name, error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.trim().is_empty() {
        Err(of(name, HealthFault::NoOutput, ""))
    } else {
        Ok(text)
    }
}

fn ends_within(child: &Child, time: Timespec) -> Result<bool, Errno> {
    let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut ended = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
    Ok(poll(&mut ended, Some(&time)) == Ok(1))
}

fn start(name: &'static str, args: &[&str]) -> Result<ChildGuard, ToolFailure> {
    for place in PLACES {
        let mut command = Command::new(format!("{place}{name}"));
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => return Ok(ChildGuard(child)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(name, error)),
        }
    }
    Err(ToolFailure::NotInstalled)
}

/// A child that does not outlive this, unless not even the kernel can end it.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        if !self.0.try_wait().is_ok_and(|status| status.is_some()) {
            let _ = self.0.kill();
            // One that waits for a drive does not end before that answers: it is left to itself then.
            let _ = ends_within(&self.0, LAST_PATIENCE);
            let _ = self.0.try_wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_prints_counts_and_not_its_exit_code() {
        assert_eq!(
            run("sh", &["-c", "echo printed; exit 4"]),
            Ok("printed\n".into())
        );
        assert_eq!(run("no-such-program", &[]), Err(ToolFailure::NotInstalled));
        assert_eq!(run("true", &[]), Err(of("true", HealthFault::NoOutput, "")));
    }

    #[test]
    fn one_that_does_not_answer_is_not_waited_for() {
        let error = run("sleep", &["60"]).unwrap_err();
        assert_eq!(error, of("sleep", HealthFault::TimedOut, 2));
    }
}
