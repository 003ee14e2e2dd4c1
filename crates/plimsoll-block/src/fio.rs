//! fio as a child process: found, started, watched, stopped.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;

use plimsoll_model::fio::{self, FioOutput};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::BlockError;

/// How requests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Libaio,
    /// One thread for each request in flight.
    Psync,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Libaio => "libaio",
            Self::Psync => "psync",
        }
    }
}

/// The fio of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fio {
    pub version: String,
    pub engine: Engine,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoOn,
    Stop,
}

const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// How many ticks fio gets to end by itself once it was asked to.
const PATIENCE: u32 = 20;

/// Whether fio can be made to end when this process is killed: setpriv(1) of util-linux 2.33 or later is there. Where it
/// is not, a killed program leaves one run behind that goes on to its end.
pub fn ends_with_us() -> bool {
    static ENDS: OnceLock<bool> = OnceLock::new();
    let ask = || {
        let mut command = Command::new(SETPRIV[0]);
        command.args(&SETPRIV[1..]).args(["fio", "--version"]).stdin(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    };
    *ENDS.get_or_init(ask)
}

/// The kernel kills what this starts as soon as the thread that started it ends.
const SETPRIV: [&str; 4] = ["setpriv", "--pdeathsig", "KILL", "--"];

fn command(args: &[String]) -> Command {
    if !ends_with_us() {
        let mut command = Command::new("fio");
        command.args(args);
        return command;
    }
    let mut command = Command::new(SETPRIV[0]);
    command.args(&SETPRIV[1..]).arg("fio").args(args);
    command
}

/// Asks fio for its version and its engines.
pub fn find() -> Result<Fio, BlockError> {
    let run = |arg: &str| Command::new("fio").arg(arg).stdin(Stdio::null()).output();
    let version = run("--version").map_err(|error| BlockError::NoFio(error.to_string()))?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    if !version.starts_with("fio-") {
        return Err(BlockError::NoFio(format!("`fio --version` says {version:?}")));
    }
    let has_libaio = run("--enghelp=libaio").is_ok_and(|output| output.status.success());
    Ok(Fio { version, engine: if has_libaio { Engine::Libaio } else { Engine::Psync } })
}

/// The command line as a shell takes it.
pub fn command_line(args: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./+:,%".contains(c);
    let quoted = |arg: &String| {
        if arg.chars().all(plain) { arg.clone() } else { format!("'{}'", arg.replace('\'', "'\\''")) }
    };
    std::iter::once("fio".to_owned()).chain(args.iter().map(quoted)).collect::<Vec<_>>().join(" ")
}

pub fn failed(job: &str, args: &[String], why: impl ToString) -> BlockError {
    BlockError::Fio { job: job.into(), why: why.to_string(), command: command_line(args) }
}

/// One run. fio is in a process group of its own, so that a Ctrl-C reaches it through us only.
pub fn run(job: &str, args: &[String], tick: &mut impl FnMut() -> Flow) -> Result<FioOutput, BlockError> {
    let mut command = command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = Running(command.spawn().map_err(|error| BlockError::NoFio(error.to_string()))?);
    let (out, err) = (reader(child.0.stdout.take()), reader(child.0.stderr.take()));
    child.wait(tick).map_err(|error| error.unwrap_or_else(|| failed(job, args, "it cannot be waited for")))?;
    let status = child.0.wait().map_err(|error| failed(job, args, error))?;
    let text = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
    let (out, err) = (text(out), text(err));
    let said = || err.lines().chain(out.lines().filter(|line| line.starts_with("fio: "))).collect::<Vec<_>>();
    if !status.success() {
        return Err(failed(job, args, format!("{status}; {}", said().join("; "))));
    }
    let output =
        fio::parse(&out).map_err(|error| BlockError::Output { job: job.into(), error, command: command_line(args) })?;
    match output.jobs.iter().find(|job| job.error != 0) {
        None => Ok(output),
        Some(failure) => Err(failed(job, args, format!("error {}; {}", failure.error, said().join("; ")))),
    }
}

/// Everything that a pipe gives; read beside, so that fio never waits for us.
fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is shown all the same.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A child that does not outlive this.
struct Running(Child);

impl Running {
    /// Until it has ended, or was stopped because `tick` said so. `Err(None)`: it cannot be watched.
    fn wait(&mut self, tick: &mut impl FnMut() -> Flow) -> Result<(), Option<BlockError>> {
        let pid = Pid::from_child(&self.0);
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|_| None)?;
        let ended = || {
            let mut fds = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
            // A signal interrupts it: as good as a tick.
            poll(&mut fds, Some(&TICK)).is_ok_and(|ready| ready > 0)
        };
        while !ended() {
            if tick() == Flow::Stop {
                let _ = kill_process_group(pid, Signal::INT);
                let _ = (0..PATIENCE).any(|_| ended());
                return Err(Some(BlockError::Cancelled));
            }
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.0.try_wait().is_ok_and(|status| status.is_some()) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fio_is_here_and_its_failures_are_told_in_its_words() {
        let fio = find().unwrap();
        assert!(fio.version.starts_with("fio-3"), "{fio:?}");
        let args = ["--name=x", "--ioengine=null", "--size=1M", "--output-format=json+"].map(String::from);
        assert_eq!(run("null", &args, &mut || Flow::GoOn).unwrap().jobs[0].error, 0);
        let error = run("bad", &["--nosuchoption=1".to_owned()], &mut || Flow::GoOn).unwrap_err().to_string();
        assert!(error.starts_with("fio failed at bad: ") && error.contains("nosuchoption"), "{error}");
        assert!(error.ends_with("The command was: fio --nosuchoption=1"), "{error}");
    }

    #[test]
    fn a_stop_ends_fio() {
        let args = ["--name=x", "--ioengine=null", "--size=1M", "--time_based=1", "--runtime=60"].map(String::from);
        let mut ticks = 0;
        let stopped = run("long", &args, &mut || {
            ticks += 1;
            if ticks > 3 { Flow::Stop } else { Flow::GoOn }
        });
        assert!(matches!(stopped, Err(BlockError::Cancelled)), "{stopped:?}");
        assert_eq!(ticks, 4);
    }

    #[test]
    fn command_lines_can_be_pasted() {
        let args = ["--name=randread 4K QD1".to_owned(), "--bs=4096".to_owned(), "it's".to_owned()];
        assert_eq!(command_line(&args), "fio '--name=randread 4K QD1' --bs=4096 'it'\\''s'");
    }
}
