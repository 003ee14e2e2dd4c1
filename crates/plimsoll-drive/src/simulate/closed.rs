//! The closed loop: every completion is followed by the next request of its job.

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::offsets::Requests;
use super::profile::SimulatedProfile;
use super::result::{CountingWindow, SimulatedResult};
use crate::model::{ByRequest, Storage};

#[derive(Debug, Clone, Copy)]
struct SentByJob {
    at: u64,
    job: u32,
    is_read: bool,
}

/// The storage and the jobs that send to it.
struct Senders<S> {
    storage: S,
    requests: Vec<Requests>,
    sent: ByRequest<SentByJob>,
}

impl<S: Storage> Senders<S> {
    #[inline]
    fn send(&mut self, now: u64, job: u32) {
        let op = self.requests[job as usize].next();
        let id = self.storage.submit(Nanos(now), op);
        let sent = SentByJob {
            at: now,
            job,
            is_read: op.kind == DriveOp::Read,
        };
        self.sent.set(id, sent);
    }
}

pub fn run<S: Storage>(
    storage: S,
    capacity: Bytes,
    profile: &SimulatedProfile,
    depth: u32,
    jobs: u32,
) -> SimulatedResult {
    let jobs = jobs.clamp(1, 4096);
    let depth = depth.clamp(1, 4096);
    let requests = (0..jobs).map(|job| Requests::new(profile, capacity, job, jobs));
    let mut senders = Senders {
        storage,
        requests: requests.collect(),
        sent: ByRequest::default(),
    };
    let mut window = CountingWindow::new(profile);
    for _ in 0..depth {
        for job in 0..jobs {
            senders.send(0, job);
        }
    }
    let mut now = 0;
    while let Some(done) = senders.storage.advance(Nanos(u64::MAX)) {
        now = done.at.0;
        if !window.reaches(now, &senders.storage) {
            break;
        }
        let SentByJob { at, job, is_read } = *senders.sent.get(done.id);
        if now >= window.from {
            window.completes(now, is_read, profile.block.0);
            window.took(is_read, now - at);
        }
        senders.send(now, job);
    }
    // As many at the end as at the beginning: each that completes is followed by one.
    let unfinished = u64::from(depth) * u64::from(jobs);
    let work = senders.storage.work_by_drive();
    let outcome = window.close(now, &work);
    let offered = outcome.reads.ops + outcome.writes.ops;
    SimulatedResult {
        carried: unfinished,
        offered,
        unfinished,
        ..outcome
    }
}
