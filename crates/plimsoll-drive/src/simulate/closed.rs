//! The closed loop: every completion is followed by the next request of its job.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::offsets::Requests;
use super::profile::SimulatedProfile;
use super::result::{CountingWindow, SimulatedResult};
use crate::model::Drive;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RequestInFlight {
    done: u64,
    sent: u64,
    job: u32,
    is_read: bool,
}

/// The drive and the jobs that send to it.
struct Senders {
    drive: Drive,
    requests: Vec<Requests>,
}

impl Senders {
    #[inline]
    fn send(&mut self, now: u64, job: u32) -> Reverse<RequestInFlight> {
        let op = self.requests[job as usize].next();
        Reverse(RequestInFlight {
            done: self.drive.submit(Nanos(now), op).0,
            sent: now,
            job,
            is_read: op.kind == DriveOp::Read,
        })
    }
}

pub fn run(
    drive: Drive,
    capacity: Bytes,
    profile: &SimulatedProfile,
    depth: u32,
    jobs: u32,
) -> SimulatedResult {
    let jobs = jobs.clamp(1, 4096);
    let requests = (0..jobs).map(|job| Requests::new(profile, capacity, job, jobs));
    let mut senders = Senders {
        drive,
        requests: requests.collect(),
    };
    let mut window = CountingWindow::new(profile);
    let mut in_flight = BinaryHeap::new();
    for _ in 0..depth.clamp(1, 4096) {
        for job in 0..jobs {
            in_flight.push(senders.send(0, job));
        }
    }
    let mut now = 0;
    while let Some(mut first) = in_flight.peek_mut() {
        let Reverse(RequestInFlight {
            done,
            sent,
            job,
            is_read,
        }) = *first;
        if !window.reaches(done, &senders.drive) {
            now = done;
            break;
        }
        if done >= window.from {
            window.completes(done, is_read, profile.block.0);
            window.took(is_read, done - sent);
        }
        *first = senders.send(done, job);
    }
    // As many at the end as at the beginning: each that completes is followed by one.
    let unfinished = in_flight.len() as u64;
    let outcome = window.close(now, &senders.drive);
    let offered = outcome.reads.ops + outcome.writes.ops;
    SimulatedResult {
        carried: unfinished,
        offered,
        unfinished,
        ..outcome
    }
}
