//! One process of fio: starts it, reads its output, ends it.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use plimsoll_import::fio_output::{Documents, Piece};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::confine::restrict_this_thread;
use super::flow::Flow;
use crate::BlockError;

const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// How many ticks fio gets to end by itself once it was asked to.
const PATIENCE: u32 = 20;

/// Whether fio can be made to end when this process is killed: setpriv(1) of util-linux 2.33 or later is there. Where it
/// is not, a killed program leaves one run behind that goes on to its end.
pub fn ends_with_us() -> bool {
    static ENDS: OnceLock<bool> = OnceLock::new();
    *ENDS.get_or_init(|| {
        let mut command = Command::new(SETPRIV[0]);
        command
            .args(&SETPRIV[1..])
            .args(["fio", "--version"])
            .stdin(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    })
}

/// The kernel kills what this starts as soon as the thread that started it ends.
const SETPRIV: [&str; 4] = ["setpriv", "--pdeathsig", "KILL", "--"];

/// A run of fio.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FioCommand {
    pub args: Vec<String>,
    /// Where it is started; `None`: where this program is.
    pub directory: Option<PathBuf>,
    /// What it reads from standard input: a job file, whose name is `-`.
    pub input: Option<String>,
    /// The files, devices and directories that it may write to.
    pub writable: Vec<PathBuf>,
}

impl FioCommand {
    fn process(&self) -> Command {
        let mut command = Command::new(if ends_with_us() { SETPRIV[0] } else { "fio" });
        if ends_with_us() {
            command.args(&SETPRIV[1..]).arg("fio");
        }
        let input = if self.input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        command
            .args(&self.args)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

/// Starts fio on a thread that can write to nothing else, and neither can fio. The thread lives until the sender is dropped,
/// because fio is killed when it ends.
fn spawn_confined(command: &FioCommand) -> Result<(Child, Sender<()>), BlockError> {
    let (keeper, released): (_, Receiver<()>) = channel();
    let (started, child) = channel();
    let mut process = command.process();
    let writable = command.writable.clone();
    std::thread::spawn(move || {
        let child = restrict_this_thread(&writable)
            .and_then(|()| process.spawn().map_err(|error| error.to_string()));
        // An error means that nobody waits for it any more.
        let _ = started.send(child);
        let _ = released.recv();
    });
    let child = child
        .recv()
        .unwrap_or_else(|_| Err("its thread ended early".into()))
        .map_err(BlockError::NoFio)?;
    Ok((child, keeper))
}

/// A piece of fio's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FioEvent {
    /// JSON.
    Document(String),
    /// A line for people, on either output.
    Message(String),
    /// Nothing more follows on standard output: fio has ended.
    End,
}

/// The first lines that fio prints for people.
#[derive(Debug, Clone, Default)]
pub(crate) struct FioMessages(Vec<String>);

impl FioMessages {
    const MOST: usize = 20;

    pub fn push(&mut self, line: String) {
        if self.0.len() < Self::MOST && !line.trim().is_empty() {
            self.0.push(line);
        }
    }

    pub fn all(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for FioMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relevant: Vec<&str> = self
            .0
            .iter()
            .map(String::as_str)
            .filter(|line| !is_routine(line))
            .collect();
        f.write_str(&relevant.join("; "))
    }
}

/// Lines that fio prints when all is well: one for each job, how many it starts, and that it ends on a signal.
fn is_routine(line: &str) -> bool {
    let job = line.split_once(": (g=").is_some();
    job || line == "..."
        || ["Starting ", "fio: terminating on signal", "fio-"]
            .iter()
            .any(|start| line.starts_with(start))
}

/// A process that does not outlive this. It is in a group of its own, so that a Ctrl-C reaches it through us only.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    readers: Vec<JoinHandle<()>>,
    /// Keeps the thread that started it.
    _keeper: Sender<()>,
}

impl Process {
    /// Starts fio. `on_event` is called from threads that read both outputs, so that fio never waits for us.
    pub fn start(
        command: &FioCommand,
        on_event: impl Fn(FioEvent) + Clone + Send + 'static,
    ) -> Result<Self, BlockError> {
        let (mut child, keeper) = spawn_confined(command)?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), command.input.clone()) {
            // fio that ends before it has read all says why itself.
            std::thread::spawn(move || pipe.write_all(input.as_bytes()));
        }
        let out = child.stdout.take();
        let errors = child.stderr.take();
        let on_error_line = on_event.clone();
        let readers = vec![
            std::thread::spawn(move || {
                let mut documents = Documents::default();
                lines(out, |line| match documents.line(&line) {
                    Some(Piece::Document(text)) => on_event(FioEvent::Document(text)),
                    Some(Piece::Message(line)) => on_event(FioEvent::Message(line)),
                    None => {}
                });
                on_event(FioEvent::End);
            }),
            std::thread::spawn(move || {
                lines(errors, |line| on_error_line(FioEvent::Message(line)))
            }),
        ];
        Ok(Self {
            child,
            readers,
            _keeper: keeper,
        })
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until it has ended, or stops it when `tick` returns [`Flow::Stop`]; [`Self::wait`] waits for what cannot be
    /// watched.
    pub fn watch(&mut self, tick: &mut impl FnMut() -> Flow) -> Flow {
        let Ok(handle) = pidfd_open(self.pid(), PidfdFlags::empty()) else {
            return Flow::GoOn;
        };
        while !ends_within_tick(&handle) {
            if tick() == Flow::Stop {
                self.interrupt();
                let _ = (0..PATIENCE).any(|_| ends_within_tick(&handle));
                return Flow::Stop;
            }
        }
        Flow::GoOn
    }

    /// Asks it to end: requests under way finish, and it prints its totals.
    pub fn interrupt(&self) {
        // It may have ended.
        let _ = kill_process_group(self.pid(), Signal::INT);
    }

    /// Ends it at once.
    pub fn kill(&self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
    }

    /// Waits until it has ended and all its output was read.
    pub fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait();
        for reader in self.readers.drain(..) {
            // A panic there has printed itself; what was read until then counts.
            let _ = reader.join();
        }
        status
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.child.try_wait().is_ok_and(|status| status.is_some()) {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// Every line until the end, or until an error.
fn lines(pipe: Option<impl Read>, mut take: impl FnMut(String)) {
    let Some(pipe) = pipe else { return };
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    while pipe.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        take(String::from_utf8_lossy(&line).trim_end().to_owned());
        line.clear();
    }
}

fn ends_within_tick(process: &OwnedFd) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
    // A signal interrupts it: as good as a tick.
    poll(&mut fds, Some(&TICK)).is_ok_and(|ready| ready > 0)
}
