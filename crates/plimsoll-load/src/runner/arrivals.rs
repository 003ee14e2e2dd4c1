//! The open loop: intents become due on a schedule of their own, whether or not the system keeps up.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use plimsoll_model::lane::{Arrivals, LoadShape};
use plimsoll_model::plan::resolved::Workload;
use plimsoll_model::units::Nanos;

use super::tally::{Notebook, Offered, Outcome, Settled};
use crate::rng::Rng;
use crate::workload::{Input, Source};

/// An intent with its due time, which may lie ahead.
#[derive(Debug)]
pub struct Intent {
    pub due: Nanos,
    pub input: Input,
    /// It was due before any user asked for it, and is already counted as offered.
    pub counted: bool,
}

/// Intents that wait for a user. Bounded: one that finds it full is dropped and counted.
pub struct ArrivalQueue {
    state: Mutex<State>,
    /// Where offered and dropped intents are noted.
    pub notebook: Notebook,
}

struct State {
    schedule: Schedule,
    next: Nanos,
    /// No intent becomes due at or after this time.
    until: Nanos,
    waiting: VecDeque<Intent>,
    capacity: usize,
    sources: Vec<Source>,
    drawn: usize,
}

/// The distances between due times.
struct Schedule {
    rng: Rng,
    per_second: f64,
    arrivals: Arrivals,
    count: u64,
    elapsed: f64,
}

impl Schedule {
    /// Constant arrivals are computed from their number, not summed, so that rounding does not accumulate.
    fn next(&mut self) -> Nanos {
        match self.arrivals {
            Arrivals::Constant => {
                let due = self.count as f64 / self.per_second;
                self.count += 1;
                Nanos::from_secs_f64(due)
            }
            Arrivals::Poisson => {
                self.elapsed += self.rng.exponential(1.0 / self.per_second);
                Nanos::from_secs_f64(self.elapsed)
            }
        }
    }
}

impl ArrivalQueue {
    /// `None` for a closed loop.
    pub fn new(load: LoadShape, workload: &Workload, (seed, round): (u64, u32), until: Nanos) -> Option<Self> {
        let LoadShape::Open { users, per_second, arrivals, queue, .. } = load else { return None };
        let mut schedule = Schedule {
            rng: Rng::stream(seed, &[u64::MAX, u64::from(round)]),
            per_second,
            arrivals,
            count: 0,
            elapsed: 0.0,
        };
        let state = State {
            next: schedule.next(),
            schedule,
            until,
            waiting: VecDeque::new(),
            capacity: queue as usize,
            sources: (0..users).map(|user| Source::new(workload, seed, round, user)).collect(),
            drawn: 0,
        };
        Some(Self { state: Mutex::new(state), notebook: Notebook::default() })
    }

    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets everything become due that is due by `now`.
    pub fn pump(&self, now: Nanos) {
        self.with(|state| state.pump(now, &self.notebook));
    }

    /// The next intent: one that waits, or the next one to become due, reserved for the caller. `None` at the end.
    pub fn take(&self, now: Nanos) -> Option<Intent> {
        self.with(|state| {
            state.pump(now, &self.notebook);
            state.waiting.pop_front().or_else(|| (state.next < state.until).then(|| state.draw(false)))
        })
    }

    /// No intent becomes due from now on.
    pub fn close(&self, now: Nanos) {
        self.with(|state| state.until = state.until.min(now));
    }

    /// Drops and counts what still waits.
    pub fn drop_waiting(&self, now: Nanos) {
        self.with(|state| {
            state.pump(now, &self.notebook);
            state.waiting.drain(..).for_each(|intent| drop_intent(&self.notebook, &intent, now));
        });
    }
}

impl State {
    fn draw(&mut self, counted: bool) -> Intent {
        let due = self.next;
        self.next = self.schedule.next();
        let source = self.drawn % self.sources.len();
        self.drawn += 1;
        Intent { due, input: self.sources[source].next(), counted }
    }

    fn pump(&mut self, now: Nanos, notebook: &Notebook) {
        while self.next <= now && self.next < self.until {
            let intent = self.draw(true);
            notebook.offered(Offered { txn: intent.input.txn() as u8, due: intent.due });
            if self.waiting.len() < self.capacity {
                self.waiting.push_back(intent);
            } else {
                let due = intent.due;
                drop_intent(notebook, &intent, due);
            }
        }
    }
}

fn drop_intent(notebook: &Notebook, intent: &Intent, at: Nanos) {
    notebook.settled(Outcome {
        txn: intent.input.txn() as u8,
        settled: Settled::Dropped,
        retries: 0,
        round_trips: 0,
        due: intent.due,
        start: at,
        end: at,
    });
}
