//! The open loop: requests are due at a rate, whatever becomes of them.

use std::collections::VecDeque;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::offsets::Requests;
use super::profile::{ArrivalSpacing, SimulatedProfile};
use super::result::{CountingWindow, SimulatedResult};
use crate::model::{ByRequest, Completion, Op, Random, Storage};

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

pub fn run<S: Storage>(
    storage: S,
    capacity: Bytes,
    profile: &SimulatedProfile,
    rate: &Rate,
) -> SimulatedResult {
    let mut requests = Requests::new(profile, capacity, 0, 1);
    let mut random = Random::new(!profile.seed);
    let mut host = Host::new(storage, profile, rate);
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

/// What the host keeps of a request.
#[derive(Debug, Clone, Copy)]
struct DueRequest {
    due: u64,
    op: Op,
    /// It was due in the measured time.
    is_counted: bool,
}

/// The host's side: what waits, what is in flight, what was counted.
struct Host<S> {
    storage: S,
    window: CountingWindow,
    depth: usize,
    most_waiting: usize,
    block: u64,
    in_flight: usize,
    sent: ByRequest<DueRequest>,
    /// The oldest first.
    waiting: VecDeque<DueRequest>,
    carried: Option<u64>,
    offered: u64,
    queued: u64,
    dropped: u64,
}

impl<S: Storage> Host<S> {
    fn new(storage: S, profile: &SimulatedProfile, rate: &Rate) -> Self {
        Self {
            storage,
            window: CountingWindow::new(profile),
            depth: rate.depth.clamp(1, 65_536) as usize,
            most_waiting: rate.most_waiting,
            block: profile.block.0,
            in_flight: 0,
            sent: ByRequest::default(),
            waiting: VecDeque::new(),
            carried: None,
            offered: 0,
            queued: 0,
            dropped: 0,
        }
    }

    /// Time has come to an arrival: what completes until then is counted in its order, for the window may be over
    /// before. `Err`: when that was.
    fn reaches(&mut self, now: u64) -> Result<(), u64> {
        while let Some(at) = self.storage.next_event().filter(|at| at.0 <= now) {
            self.comes_to(at.0)?;
            if let Some(done) = self.storage.advance(at) {
                let is_read = self.completes(done);
                self.window.completes(done.at.0, is_read, self.block);
            }
        }
        self.comes_to(now)
    }

    fn comes_to(&mut self, now: u64) -> Result<(), u64> {
        if now >= self.window.from && self.carried.is_none() {
            self.carried = Some(self.unfinished());
        }
        if self.window.reaches(now, &self.storage) {
            Ok(())
        } else {
            Err(now)
        }
    }

    /// What was not dropped and has not completed.
    fn unfinished(&self) -> u64 {
        (self.in_flight + self.waiting.len()) as u64
    }

    fn arrives(&mut self, now: u64, op: Op) {
        let is_counted = now >= self.window.from;
        self.offered += u64::from(is_counted);
        let request = DueRequest {
            due: now,
            op,
            is_counted,
        };
        if self.waiting.len() >= self.most_waiting {
            self.dropped += u64::from(is_counted);
        } else if self.in_flight >= self.depth {
            self.queued += u64::from(is_counted);
            self.waiting.push_back(request);
        } else {
            self.send(now, request);
        }
    }

    fn send(&mut self, now: u64, request: DueRequest) {
        let id = self.storage.submit(Nanos(now), request.op);
        self.sent.set(id, request);
        self.in_flight += 1;
    }

    /// Makes room for one that waits; true for a read.
    fn completes(&mut self, done: Completion) -> bool {
        let request = *self.sent.get(done.id);
        let is_read = request.op.kind == DriveOp::Read;
        if request.is_counted {
            self.window.took(is_read, done.at.0 - request.due);
        }
        self.in_flight -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.send(done.at.0, next);
        }
        is_read
    }

    fn close(mut self, ended: u64) -> SimulatedResult {
        let unfinished = self.unfinished();
        let work = self.storage.work_by_drive();
        // Requests that were due in the measured time count with their latency, whenever they complete.
        while self.unfinished() > 0
            && let Some(done) = self.storage.advance(Nanos(u64::MAX))
        {
            self.completes(done);
        }
        SimulatedResult {
            // Without a single arrival in the measured time nothing was left out of it either.
            carried: self.carried.unwrap_or(unfinished),
            offered: self.offered,
            unfinished,
            queued: self.queued,
            dropped: self.dropped,
            ..self.window.close(ended, &work)
        }
    }
}
