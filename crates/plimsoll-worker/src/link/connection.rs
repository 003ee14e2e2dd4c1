//! One run of a host's command, with its standard input, output and error.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::thread::JoinHandle;

use plimsoll_plan::units::Nanos;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::frame;
use crate::host::{HostCommand, OwnProgram};
use crate::protocol::{Request, VERSION, WorkerReply};
use crate::state::SessionId;

pub(super) type FromHost = BufReader<ChildStdout>;

/// The last lines of what a command writes to standard error.
const LINES_KEPT: usize = 5;
const LONGEST_KEPT: usize = 300;

pub(super) struct HostConnection {
    child: Child,
    errors: Option<JoinHandle<String>>,
}

/// Of its standard input and output.
pub(super) struct Ends {
    pub to: ChildStdin,
    pub from: FromHost,
}

impl HostConnection {
    pub fn begin(
        host: &HostCommand,
        own: &OwnProgram,
        session: &SessionId,
    ) -> io::Result<(Self, Ends)> {
        let mut child = host.prepare(own, session).spawn()?;
        let missing = || io::Error::other("it has no standard input and output");
        let to = child.stdin.take().ok_or_else(missing)?;
        let from = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let errors = std::thread::Builder::new()
            .name("plimsoll-errors".into())
            .spawn(move || last_lines(errors))?;
        let connection = Self {
            child,
            errors: Some(errors),
        };
        let from = BufReader::new(from);
        Ok((connection, Ends { to, from }))
    }

    /// With what it has started: it leads a group of its own.
    pub fn kill(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // It may have ended by itself.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }

    /// Returns what it wrote to standard error.
    pub fn end(mut self) -> String {
        self.kill();
        let _ = self.child.wait();
        let errors = self.errors.take().and_then(|errors| errors.join().ok());
        errors.unwrap_or_default()
    }
}

impl Ends {
    pub fn greet(
        &mut self,
        host: &HostCommand,
        own: &OwnProgram,
        session: &SessionId,
    ) -> io::Result<()> {
        host.greet(own, session, &mut self.to, &mut self.from)
    }

    pub fn hello(&mut self, received: u64, patience: Nanos) -> io::Result<WorkerReply> {
        let hello = Request::Hello {
            version: VERSION,
            received,
            patience,
        };
        frame::write(&mut self.to, &hello)?;
        let reply = frame::read(&mut self.from)?;
        reply.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

fn last_lines(errors: ChildStderr) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut lines = BufReader::new(errors).split(b'\n');
    while let Some(Ok(line)) = lines.next() {
        let line: String = String::from_utf8_lossy(&line)
            .trim_end()
            .chars()
            .take(LONGEST_KEPT)
            .collect();
        kept.push(line);
        if kept.len() > LINES_KEPT {
            kept.remove(0);
        }
    }
    kept.join(" · ")
}
