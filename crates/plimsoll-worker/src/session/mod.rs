//! A worker's session: it runs jobs and keeps their reports, with a controller connected or without.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod jobs;
mod plan;
mod samples;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use plimsoll_load::clock::{Clock, unix_micros};
use plimsoll_load::probe::Probe;
use plimsoll_plan::units::Nanos;

use crate::frame;
use crate::journal::SessionJournal;
use crate::protocol::{HostFacts, HostTime, Incarnation, Request, VERSION, Welcome, WorkerReply};
use crate::state::{SessionId, StateDir};
use jobs::WorkerJobs;
pub use plan::{PlanRun, PlanRunner, Together};

/// Before the first controller has come.
const FIRST_PATIENCE: Nanos = Nanos::from_secs(10);

/// As [`serve`], in a process that was started for it.
pub fn serve_apart(session: &SessionId, runner: Arc<dyn PlanRunner>) -> io::Result<()> {
    // Fails for the leader of a group, which a terminal's signals reach: it goes on as one.
    let _ = rustix::process::setsid();
    serve(&StateDir::of(session)?, runner)
}

/// Serves controllers until one ends the session, or none has been connected for the patience of the last one.
pub fn serve(dir: &StateDir, runner: Arc<dyn PlanRunner>) -> io::Result<()> {
    let lock = File::create(dir.lock())?;
    // Another front was faster.
    if lock.try_lock().is_err() {
        return Ok(());
    }
    // A directory that cannot be read has nothing to remove.
    let _ = dir.sweep();
    let is_new = !SessionJournal::has_begun(&dir.journal())?;
    if !is_new {
        // Its session was killed, or ended in order and has nothing left.
        runner.clear(dir.path());
    }
    let journal = SessionJournal::open(&dir.journal())?;
    let clock = Clock::real();
    // A session of the past has nothing to watch.
    let probe = is_new
        .then(|| samples::watch(clock.clone(), journal.clone()))
        .transpose()?;
    let session = Arc::new(WorkerSession {
        clock,
        jobs: WorkerJobs::new(journal.clone(), runner, dir.path()),
        journal,
        probe: Mutex::new(probe),
        is_running: is_new,
        attached: Mutex::new(Attached {
            patience: FIRST_PATIENCE,
            ..Attached::default()
        }),
        changed: Condvar::new(),
    });
    match std::fs::remove_file(dir.socket()) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(dir.socket())?;
    let acceptor = session.clone();
    std::thread::Builder::new()
        .name("plimsoll-accept".into())
        .spawn(move || accept(&acceptor, &listener))?;
    let is_wanted = session.wait_until_unwanted();
    session.jobs.stop_all();
    drop(session.probe().take());
    if is_wanted {
        // Its journal has what nobody has read yet.
        std::fs::remove_file(dir.socket())
    } else {
        dir.remove()
    }
}

fn accept(session: &Arc<WorkerSession>, listener: &UnixListener) {
    while let Ok((stream, _)) = listener.accept() {
        let own = session.clone();
        let thread = std::thread::Builder::new().name("plimsoll-link".into());
        // Without a thread the controller tries again.
        let _ = thread.spawn(move || {
            // What fails is the connection, and the controller makes a new one.
            let _ = own.converse(stream);
        });
    }
}

struct WorkerSession {
    clock: Clock,
    jobs: WorkerJobs,
    journal: SessionJournal,
    /// None of a session that has ended.
    probe: Mutex<Option<Probe>>,
    is_running: bool,
    attached: Mutex<Attached>,
    changed: Condvar,
}

#[derive(Default)]
struct Attached {
    /// The newest connection: one that has become silent may not have noticed its end.
    stream: Option<UnixStream>,
    /// Numbers connections.
    count: u64,
    patience: Nanos,
    /// The controller wants nothing any more.
    is_left: bool,
}

impl WorkerSession {
    fn attached(&self) -> MutexGuard<'_, Attached> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the journal may still be wanted.
    fn wait_until_unwanted(&self) -> bool {
        let mut attached = self.attached();
        loop {
            if attached.is_left {
                return false;
            }
            let waits = match &attached.stream {
                Some(_) => Nanos::from_secs(3600),
                None => attached.patience,
            };
            let count = attached.count;
            let was_alone = attached.stream.is_none();
            let waited = self.changed.wait_timeout(attached, waits.into());
            let waited = waited.unwrap_or_else(PoisonError::into_inner);
            attached = waited.0;
            let is_alone = was_alone && attached.stream.is_none() && attached.count == count;
            if waited.1.timed_out() && is_alone {
                // A controller that never came has begun nothing, unless there was one before.
                let is_unused = self.is_running && count == 0;
                return !is_unused && self.journal.len() > 0;
            }
        }
    }

    /// One connection, from its hello to its end.
    fn converse(&self, mut stream: UnixStream) -> io::Result<()> {
        let Some(Request::Hello {
            version,
            incarnation,
            received,
            patience,
        }) = frame::read(&mut stream)?
        else {
            return Ok(());
        };
        if version != VERSION {
            let why = format!(
                "the worker speaks version {VERSION} of the protocol, the controller {version}: use the same plimsoll on both hosts"
            );
            return frame::write(&mut stream, &WorkerReply::Refused { why });
        }
        if !self.is_meant(incarnation, received) {
            let answered = frame::write(&mut stream, &WorkerReply::Forgotten);
            self.end_unless_used();
            return answered;
        }
        let count = self.attach(&stream, patience)?;
        let result = self.exchange(&stream, received);
        self.detach(count);
        result
    }

    /// Whether this is the session that the controller knows, with all reports that it has received.
    fn is_meant(&self, incarnation: Option<Incarnation>, received: u64) -> bool {
        let own = self.journal.incarnation();
        incarnation.is_none_or(|known| known == own) && received <= self.journal.len()
    }

    /// A session that was begun in place of one that is lost leaves nothing.
    fn end_unless_used(&self) {
        let mut attached = self.attached();
        attached.is_left |= self.is_running && attached.count == 0;
        drop(attached);
        self.changed.notify_all();
    }

    fn watch_disks(&self) {
        if let Some(probe) = self.probe().as_ref() {
            samples::watch_disks(probe);
        }
    }

    fn probe(&self) -> MutexGuard<'_, Option<Probe>> {
        self.probe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attach(&self, stream: &UnixStream, patience: Nanos) -> io::Result<u64> {
        let own = stream.try_clone()?;
        let mut attached = self.attached();
        if let Some(old) = attached.stream.replace(own) {
            // It may have ended by itself.
            let _ = old.shutdown(Shutdown::Both);
        }
        attached.patience = patience;
        attached.count += 1;
        Ok(attached.count)
    }

    fn detach(&self, count: u64) {
        let mut attached = self.attached();
        if attached.count == count {
            attached.stream = None;
        }
        drop(attached);
        self.changed.notify_all();
    }

    fn exchange(&self, stream: &UnixStream, received: u64) -> io::Result<()> {
        let out = Mutex::new(stream.try_clone()?);
        send(
            &out,
            &WorkerReply::Welcome(Welcome {
                version: VERSION,
                incarnation: self.journal.incarnation(),
                is_running: self.is_running,
                reports: self.journal.len(),
                facts: facts(),
            }),
        )?;
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reports = scope.spawn(|| {
                let sent = self.send_reports(&out, received, &is_over);
                // The other side cannot be written to, or the journal not read: both need a new connection.
                let _ = stream.shutdown(Shutdown::Both);
                sent
            });
            let requests = self.obey(stream, &out);
            is_over.store(true, Ordering::Release);
            let _ = stream.shutdown(Shutdown::Both);
            self.journal.wake();
            let sent = reports.join().unwrap_or(Ok(()));
            requests.and(sent)
        })
    }

    fn send_reports(
        &self,
        out: &Mutex<UnixStream>,
        received: u64,
        is_over: &AtomicBool,
    ) -> io::Result<()> {
        let is_over = || is_over.load(Ordering::Acquire);
        for number in received.. {
            let Some(frame) = self.journal.frame(number, &is_over)? else {
                break;
            };
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            io::Write::write_all(&mut *out, &frame)?;
        }
        Ok(())
    }

    fn obey(&self, mut stream: &UnixStream, out: &Mutex<UnixStream>) -> io::Result<()> {
        while let Some(request) = frame::read(&mut stream)? {
            match request {
                Request::Hello { .. } => {}
                Request::Ping { sent } => {
                    let clock = HostTime {
                        clock: self.clock.now(),
                        date: unix_micros(),
                    };
                    // The controller may be gone already, and its farewell still unread.
                    let _ = send(out, &WorkerReply::Pong { sent, clock });
                }
                Request::Run { job, task } if self.is_running => {
                    self.jobs.run(job, task, &self.clock)?;
                }
                Request::Run { .. } => {}
                Request::Start { job, at } => self.jobs.start(job, at),
                Request::Meet { job, meeting } => self.jobs.meet(job, meeting),
                Request::WatchDisks => self.watch_disks(),
                Request::Order { job, order } => self.jobs.order(job, order),
                Request::Leave => {
                    self.attached().is_left = true;
                    self.changed.notify_all();
                    return Ok(());
                }
            }
            if let Some(why) = self.journal.failed() {
                return send(out, &WorkerReply::Refused { why });
            }
        }
        Ok(())
    }
}

fn send(out: &Mutex<UnixStream>, reply: &WorkerReply) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    frame::write(&mut *out, reply)
}

fn facts() -> HostFacts {
    let system = rustix::system::uname();
    let disks = samples::disks().into_iter();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    HostFacts {
        host_name: text(system.nodename()),
        kernel: text(system.release()),
        architecture: text(system.machine()),
        processors: std::thread::available_parallelism().map_or(0, |n| n.get() as u32),
        program: env!("CARGO_PKG_VERSION").into(),
        disks: disks.map(|disk| disk.name).collect(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
