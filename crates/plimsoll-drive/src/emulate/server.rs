//! One thread that reads requests from /dev/fuse and answers each when it is due.
//!
//! It does everything that is timed: data, model, undo log, answers. A thread of its own for the answers would cost each
//! request two changes of thread, and a second processor for most of the time. Names and attributes are left to the
//! library, which has a thread of its own behind a socket that stands for /dev/fuse.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use plimsoll_plan::units::Nanos;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, send};

use super::clock;
use super::engine::Engine;
use super::priority;
use super::wire::{self, DataRequest, KernelRequest, LARGEST, Reply, RequestArrival};

/// How long before the next due time sleeping ends and polling begins, which is how late a sleep ends. To poll for longer
/// would keep the processor from those who bring requests and take answers.
const SPIN: Nanos = Nanos::from_micros(30);
/// How long the end of the emulation may go unnoticed.
const NAP: Nanos = Nanos::from_millis(100);
/// Requests that are read in one go and count as arrived together.
const BATCH: usize = 8;
/// Of a request beside its data.
const MOST_HEADERS: usize = 4096;
/// So many nodes fit one message to the library.
const FORGETS: usize = 4096;

/// Whatever holds the data of the files.
pub trait DataPath: Send + Sync {
    /// Hands the request to the engine, or answers it.
    fn handle(&self, request: DataRequest, arrival: RequestArrival);
}

pub struct RequestServer {
    device: Arc<OwnedFd>,
    /// The library's end of the conversation is at the other end of it.
    library: Arc<OwnedFd>,
    engine: Arc<Engine>,
    data: Arc<dyn DataPath>,
}

/// The filesystem was unmounted, or its connection was broken.
struct Gone;

impl RequestServer {
    /// `device` does not block; `library` is a socket that keeps messages apart.
    pub fn new(
        device: Arc<OwnedFd>,
        library: Arc<OwnedFd>,
        engine: Arc<Engine>,
        data: Arc<dyn DataPath>,
    ) -> Self {
        Self {
            device,
            library,
            engine,
            data,
        }
    }

    /// The thread's whole life: until the filesystem is unmounted or the engine ends. An error means that the library's
    /// threads may still wait.
    pub fn run(&self) -> rustix::io::Result<()> {
        clock::be_punctual();
        let mut buffer = vec![0; LARGEST as usize + MOST_HEADERS];
        let mut answers = self.engine.answers();
        self.engine.set_goes_first(priority::go_first());
        while !self.engine.has_ended() {
            let began = clock::now();
            let answered = answers.send_due(began);
            let Ok(taken) = self.take_requests(&mut buffer) else {
                break;
            };
            if answered + taken > 0 {
                self.engine.worked(clock::now().saturating_sub(began));
            } else {
                self.wait(began);
            }
        }
        rustix::net::shutdown(&self.library, Shutdown::Both)
    }

    /// Until something may have to be done.
    fn wait(&self, now: Nanos) {
        let wake_at = self.engine.next_due().map(|due| due.saturating_sub(SPIN));
        if wake_at.is_some_and(|at| at <= now) {
            return std::hint::spin_loop();
        }
        let nap = wake_at.map_or(NAP, |at| at.saturating_sub(now).min(NAP));
        let mut device = [PollFd::new(&self.device, PollFlags::IN)];
        // Every outcome means: look again.
        let _ = rustix::event::poll(&mut device, Some(&clock::timespec(nap)));
    }

    /// Reads what has arrived, at most [`BATCH`], and no more once an answer is due. Returns how many there were.
    fn take_requests(&self, buffer: &mut [u8]) -> Result<usize, Gone> {
        let arrived = clock::now();
        for taken in 0..BATCH {
            match rustix::io::read(&self.device, &mut *buffer) {
                Ok(len) => self.take(&buffer[..len], arrived),
                Err(Errno::AGAIN) => return Ok(taken),
                // The program that asked was killed meanwhile.
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(_) => return Err(Gone),
            }
            if self
                .engine
                .next_due()
                .is_some_and(|due| due <= clock::now())
            {
                return Ok(taken + 1);
            }
        }
        Ok(BATCH)
    }

    fn take(&self, message: &[u8], at: Nanos) {
        match wire::parse(message) {
            KernelRequest::Data { unique, request } => {
                let reply = Reply::new(Arc::clone(&self.device), unique, &request);
                self.data.handle(request, RequestArrival { at, reply });
            }
            KernelRequest::Other => match wire::split_forgets(message, FORGETS) {
                None => self.pass_on(message),
                Some(parts) => parts.iter().for_each(|part| self.pass_on(part)),
            },
            KernelRequest::Malformed => self.refuse(message),
        }
    }

    fn pass_on(&self, message: &[u8]) {
        if send(&self.library, message, SendFlags::NOSIGNAL).is_err() {
            self.refuse(message);
        }
    }

    /// Answers with EIO what nobody else will answer, so that no program waits for ever.
    fn refuse(&self, message: &[u8]) {
        if let Some(reply) = Reply::to_message(Arc::clone(&self.device), message) {
            reply.fail(Errno::IO);
        }
    }
}

/// Passes the library's answers to the kernel until the library ends.
pub fn pass_answers(library: &OwnedFd, device: &OwnedFd) {
    let mut buffer = vec![0; LARGEST as usize];
    loop {
        match rustix::io::read(library, &mut buffer[..]) {
            Ok(0) => return,
            // Refused when the kernel no longer wants the answer.
            Ok(len) => drop(rustix::io::write(device, &buffer[..len])),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
