//! The open loop: requests are due at a rate, whatever becomes of them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::offsets::Requests;
use super::profile::{ArrivalSpacing, SimulatedProfile};
use super::result::{CountingWindow, SimulatedResult};
use crate::model::{Drive, Op, Random};

pub struct Rate {
    pub per_second: f64,
    pub arrivals: ArrivalSpacing,
    pub depth: u32,
    pub most_waiting: usize,
}

impl Rate {
    /// Nanoseconds to the next arrival.
    fn gap(&self, random: &mut Random) -> f64 {
        let mean = 1e9 / self.per_second.clamp(1e-3, 1e9);
        match self.arrivals {
            ArrivalSpacing::Constant => mean,
            ArrivalSpacing::Poisson => -mean * (1.0 - random.unit()).ln(),
        }
    }
}

pub fn run(
    drive: Drive,
    capacity: Bytes,
    profile: &SimulatedProfile,
    rate: &Rate,
) -> SimulatedResult {
    let mut requests = Requests::new(profile, capacity, 0, 1);
    let mut random = Random::new(!profile.seed);
    let mut host = Host::new(drive, profile, rate);
    let mut due = 0.0;
    let mut now = 0;
    let ended = loop {
        if let Err(ended) = host.reaches(now) {
            break ended;
        }
        host.arrives(now, requests.next());
        due += rate.gap(&mut random);
        now = due as u64;
    };
    host.close(ended)
}

/// The host's side: what waits, what is in flight, what was counted.
struct Host {
    drive: Drive,
    window: CountingWindow,
    depth: usize,
    most_waiting: usize,
    block: u64,
    /// Completions of what holds a place in flight, and when those that wait are sent: both ahead of the present.
    in_flight: BinaryHeap<Reverse<u64>>,
    waiting: VecDeque<u64>,
    last_sent: u64,
    /// What was not dropped and has not completed; true for a read.
    unfinished: BinaryHeap<Reverse<(u64, bool)>>,
    carried: Option<u64>,
    offered: u64,
    queued: u64,
    dropped: u64,
}

impl Host {
    fn new(drive: Drive, profile: &SimulatedProfile, rate: &Rate) -> Self {
        Self {
            drive,
            window: CountingWindow::new(profile),
            depth: rate.depth.clamp(1, 65_536) as usize,
            most_waiting: rate.most_waiting,
            block: profile.block.0,
            in_flight: BinaryHeap::new(),
            waiting: VecDeque::new(),
            last_sent: 0,
            unfinished: BinaryHeap::new(),
            carried: None,
            offered: 0,
            queued: 0,
            dropped: 0,
        }
    }

    /// Time has come to an arrival: what completes until then is counted in its order, for the window may be over
    /// before. `Err`: when that was.
    fn reaches(&mut self, now: u64) -> Result<(), u64> {
        while let Some(Reverse((done, is_read))) = self
            .unfinished
            .peek()
            .copied()
            .filter(|first| first.0.0 <= now)
        {
            self.comes_to(done)?;
            self.window.completes(done, is_read, self.block);
            self.unfinished.pop();
        }
        self.comes_to(now)
    }

    fn comes_to(&mut self, now: u64) -> Result<(), u64> {
        if now >= self.window.from {
            self.carried.get_or_insert(self.unfinished.len() as u64);
        }
        if self.window.reaches(now, &self.drive) {
            Ok(())
        } else {
            Err(now)
        }
    }

    fn arrives(&mut self, now: u64, op: Op) {
        let is_counted = now >= self.window.from;
        self.offered += u64::from(is_counted);
        self.waiting.retain(|sent| *sent > now);
        if self.waiting.len() >= self.most_waiting {
            self.dropped += u64::from(is_counted);
            return;
        }
        let sent = slot(&mut self.in_flight, self.depth, now).max(self.last_sent);
        self.last_sent = sent;
        if sent > now {
            self.waiting.push_back(sent);
            self.queued += u64::from(is_counted);
        }
        let done = self.drive.submit(Nanos(sent), op).0;
        self.in_flight.push(Reverse(done));
        let is_read = op.kind == DriveOp::Read;
        self.unfinished.push(Reverse((done, is_read)));
        if is_counted {
            self.window.took(is_read, done - now);
        }
    }

    fn close(self, ended: u64) -> SimulatedResult {
        let unfinished = self.unfinished.len() as u64;
        // Without a single arrival in the measured time nothing was left out of it either.
        let carried = self.carried.unwrap_or(unfinished);
        let Self {
            offered,
            queued,
            dropped,
            ..
        } = self;
        SimulatedResult {
            carried,
            offered,
            unfinished,
            queued,
            dropped,
            ..self.window.close(ended, &self.drive)
        }
    }
}

/// When one more request may be in flight.
fn slot(in_flight: &mut BinaryHeap<Reverse<u64>>, depth: usize, now: u64) -> u64 {
    while in_flight.peek().is_some_and(|Reverse(done)| *done <= now) {
        in_flight.pop();
    }
    if in_flight.len() < depth {
        return now;
    }
    in_flight.pop().map_or(now, |Reverse(done)| done)
}
