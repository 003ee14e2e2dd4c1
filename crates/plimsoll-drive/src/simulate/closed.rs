//! The closed loop: every completion is followed by the next request of its job.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_model::drive::DriveOp;
use plimsoll_model::units::{Bytes, Nanos};

use super::offsets::Requests;
use super::{Profile, SimulatedResult, Window};
use crate::model::Drive;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    done: u64,
    sent: u64,
    job: u32,
    is_read: bool,
}

pub fn run(
    mut drive: Drive,
    capacity: Bytes,
    profile: &Profile,
    depth: u32,
    jobs: u32,
) -> SimulatedResult {
    let jobs = jobs.clamp(1, 4096);
    let mut requests: Vec<Requests> = (0..jobs)
        .map(|job| Requests::new(profile, capacity, job, jobs))
        .collect();
    let mut window = Window::new(profile);
    let mut in_flight = BinaryHeap::new();
    let mut send = |drive: &mut Drive, now: u64, job: u32| {
        let op = requests[job as usize].next();
        let done = drive.submit(Nanos(now), op).0;
        Reverse(InFlight {
            done,
            sent: now,
            job,
            is_read: op.kind == DriveOp::Read,
        })
    };
    for _ in 0..depth.clamp(1, 4096) {
        for job in 0..jobs {
            in_flight.push(send(&mut drive, 0, job));
        }
    }
    let mut now = 0;
    while let Some(mut first) = in_flight.peek_mut() {
        let Reverse(InFlight {
            done,
            sent,
            job,
            is_read,
        }) = *first;
        if !window.reaches(done, &drive) {
            now = done;
            break;
        }
        if done >= window.from {
            window.completes(done, is_read, profile.block.0);
            window.took(is_read, done - sent);
        }
        *first = send(&mut drive, done, job);
    }
    // As many at the end as at the beginning: each that completes is followed by one.
    let (unfinished, outcome) = (in_flight.len() as u64, window.close(now, &drive));
    let offered = outcome.reads.ops + outcome.writes.ops;
    SimulatedResult {
        carried: unfinished,
        offered,
        unfinished,
        ..outcome
    }
}
