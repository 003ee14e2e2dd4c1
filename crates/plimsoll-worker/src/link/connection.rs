//! One run of a host's command, with its standard input, output and error.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::frame;
use crate::host::{HostCommand, OwnProgram};
use crate::protocol::{Request, WorkerReply};
use crate::state::SessionId;

pub(super) type ToHost = Box<dyn Write + Send>;
pub(super) type FromHost = BufReader<Box<dyn Read + Send>>;

/// The last lines of what a command writes to standard error.
const LINES_KEPT: usize = 5;
const LONGEST_KEPT: usize = 300;

/// What a host's worker is reached by.
pub(super) trait Dial: Send + Sync {
    /// Begins a connection, which can be killed while [`Self::greet`] waits.
    fn begin(&self) -> io::Result<(Box<dyn WorkerConnection>, Ends)>;

    /// Brings the worker to its first frame.
    fn greet(&self, ends: &mut Ends) -> io::Result<()>;
}

pub(super) trait WorkerConnection: Send {
    fn kill(&mut self);

    /// Returns what its command wrote to standard error.
    fn end(self: Box<Self>) -> String;
}

/// Of its standard input and output.
pub(super) struct Ends {
    pub to: ToHost,
    pub from: FromHost,
}

/// By the host's command.
pub(super) struct CommandDial {
    pub host: HostCommand,
    pub own: OwnProgram,
    pub session: SessionId,
}

impl Dial for CommandDial {
    fn begin(&self) -> io::Result<(Box<dyn WorkerConnection>, Ends)> {
        let begun = HostConnection::begin(&self.host, &self.own, &self.session);
        begun.map_err(|error| io::Error::other(format!("`{}`: {error}", self.host.0.shown_via())))
    }

    fn greet(&self, ends: &mut Ends) -> io::Result<()> {
        self.host
            .greet(&self.own, &self.session, &mut ends.to, &mut ends.from)
    }
}

struct HostConnection {
    child: Child,
    errors: Option<JoinHandle<String>>,
}

impl HostConnection {
    fn begin(
        host: &HostCommand,
        own: &OwnProgram,
        session: &SessionId,
    ) -> io::Result<(Box<dyn WorkerConnection>, Ends)> {
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
        let from: Box<dyn Read + Send> = Box::new(from);
        let ends = Ends {
            to: Box::new(to),
            from: BufReader::new(from),
        };
        Ok((Box::new(connection), ends))
    }
}

impl WorkerConnection for HostConnection {
    /// With what it has started: it leads a group of its own.
    fn kill(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // It may have ended by itself.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }

    fn end(mut self: Box<Self>) -> String {
        self.kill();
        let _ = self.child.wait();
        let errors = self.errors.take().and_then(|errors| errors.join().ok());
        errors.unwrap_or_default()
    }
}

impl Ends {
    pub fn hello(&mut self, hello: &Request) -> io::Result<WorkerReply> {
        frame::write(&mut self.to, hello)?;
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
