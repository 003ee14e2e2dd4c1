//! Intents that all connections of a lane share: those of an open loop, which become due on a schedule of their own
//! whether or not the system keeps up, and those of users who share fewer connections than they are.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Mutex, PoisonError};

use plimsoll_plan::load::LoadShape;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneSpec;
use plimsoll_stats::Rng;

use super::rate::Schedule;
use super::tally::{Notebook, Offered, Settled, SettledIntent};
use super::user::User;
use crate::workload::{Input, Source};

/// An intent with its due time, which may lie ahead.
pub struct Intent {
    pub due: Nanos,
    pub input: Input,
    /// It was due before any connection asked for it, and is already counted as offered.
    pub counted: bool,
    /// Who wants it and comes back afterwards, where users share connections.
    pub user: Option<Box<User>>,
}

/// Intents in the order of their due times, across all connections and threads of the lane.
///
/// A connection without work reserves the one that is due next. The reserved ones are always the earliest of all, because
/// a new intent enters only when a connection has finished one and takes the earliest itself: no intent waits while a
/// connection is idle.
///
/// What waits when the load ends is still run while cooling lasts, with its due time, and dropped at the end of
/// that: counted as in flight until then, and as offered in the second in which it became due.
pub struct IntentQueue {
    state: Mutex<IntentQueueState>,
    /// Where offered and dropped intents are noted.
    pub notebook: Notebook,
}

struct IntentQueueState {
    origin: Origin,
    /// No intent becomes due at or after this time.
    until: Nanos,
    /// Due, and waiting for a connection. Bounded: one that finds it full is dropped and counted.
    waiting: VecDeque<Intent>,
    capacity: usize,
}

/// Where intents come from.
enum Origin {
    Rate {
        schedule: Schedule,
        next: Nanos,
        sources: Vec<Source>,
        drawn: usize,
    },
    /// The users who key or think; those whose turn it is are with their intents.
    Users(BinaryHeap<Reverse<NextIntent>>),
}

/// A user's next intent.
struct NextIntent {
    due: Nanos,
    input: Input,
    user: Box<User>,
}

impl NextIntent {
    /// By due time, then by user, so that a run with a seed has one course only.
    fn key(&self) -> (Nanos, u32) {
        (self.due, self.user.number)
    }
}

impl PartialEq for NextIntent {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for NextIntent {}

impl PartialOrd for NextIntent {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NextIntent {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl IntentQueue {
    /// `None` for a closed loop in which every user has a connection.
    pub fn new(spec: &LaneSpec, until: Nanos) -> Option<Self> {
        let (origin, capacity) = match spec.load {
            LoadShape::Closed { users, connections } if connections < users => {
                (Origin::users(spec), users)
            }
            LoadShape::Closed { .. } => return None,
            LoadShape::Open {
                users,
                per_second,
                to_per_second,
                arrivals,
                queue,
            } => {
                // The same of every generator.
                let rng = Rng::stream(spec.seed.load, &[u64::MAX, u64::from(spec.round)]);
                let rates = (per_second, to_per_second);
                let mut schedule =
                    Schedule::new(rates, arrivals, &spec.timeline, rng).dealt_out(spec.share);
                let sources = (0..spec.share.count(users))
                    .map(|own| {
                        let user = spec.share.number(own);
                        Source::new(&spec.workload, spec.seed, spec.round, user)
                    })
                    .collect();
                (
                    Origin::Rate {
                        next: schedule.next(),
                        schedule,
                        sources,
                        drawn: 0,
                    },
                    spec.share.count(queue),
                )
            }
        };
        let state = IntentQueueState {
            origin,
            until,
            waiting: VecDeque::new(),
            capacity: capacity as usize,
        };
        Some(Self {
            state: Mutex::new(state),
            notebook: Notebook::default(),
        })
    }

    fn with<R>(&self, f: impl FnOnce(&mut IntentQueueState) -> R) -> R {
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
            state
                .waiting
                .pop_front()
                .or_else(|| state.draw(state.until))
        })
    }

    /// A user keys its next intent, which becomes due then.
    pub fn come_back(&self, mut user: Box<User>, spec: &LaneSpec, now: Nanos) {
        let (pause, input) = user.next(spec);
        self.with(|state| match &mut state.origin {
            Origin::Users(turns) => turns.push(Reverse(NextIntent {
                due: now + pause,
                input,
                user,
            })),
            // An open loop's intents have no user.
            Origin::Rate { .. } => {}
        });
    }

    /// Whether nothing waits and nothing becomes due any more.
    pub fn is_over(&self, now: Nanos) -> bool {
        self.with(|state| {
            state.pump(now, &self.notebook);
            state.waiting.is_empty() && state.origin.next_due().is_none_or(|due| due >= state.until)
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
            state
                .waiting
                .drain(..)
                .for_each(|intent| drop_intent(&self.notebook, &intent, now));
        });
    }
}

impl Origin {
    fn users(spec: &LaneSpec) -> Self {
        let turns = (0..spec.share.count(spec.load.users())).map(|number| {
            let mut user = Box::new(User::new(spec, number));
            let (due, input) = user.next(spec);
            Reverse(NextIntent { due, input, user })
        });
        Self::Users(turns.collect())
    }

    fn next_due(&self) -> Option<Nanos> {
        match self {
            Self::Rate { next, .. } => Some(*next),
            Self::Users(turns) => turns.peek().map(|Reverse(turn)| turn.due),
        }
    }

    fn draw(&mut self) -> Option<Intent> {
        match self {
            Self::Rate {
                schedule,
                next,
                sources,
                drawn,
            } => {
                let due = std::mem::replace(next, schedule.next());
                let source = *drawn % sources.len();
                *drawn += 1;
                Some(Intent {
                    due,
                    input: sources[source].next(),
                    counted: false,
                    user: None,
                })
            }
            Self::Users(turns) => {
                let Reverse(NextIntent { due, input, user }) = turns.pop()?;
                Some(Intent {
                    due,
                    input,
                    counted: false,
                    user: Some(user),
                })
            }
        }
    }
}

impl IntentQueueState {
    /// The next intent that becomes due before `end`.
    fn draw(&mut self, end: Nanos) -> Option<Intent> {
        self.origin.next_due().filter(|due| *due < end)?;
        self.origin.draw()
    }

    fn pump(&mut self, now: Nanos, notebook: &Notebook) {
        // Due at `now` itself is due.
        let end = self.until.min(Nanos(now.0.saturating_add(1)));
        while let Some(mut intent) = self.draw(end) {
            intent.counted = true;
            notebook.offered(Offered {
                txn: intent.input.txn() as u8,
                due: intent.due,
            });
            if self.waiting.len() < self.capacity {
                // At the back, unless another thread was faster with a later one.
                let place = self
                    .waiting
                    .partition_point(|waiting| waiting.due <= intent.due);
                self.waiting.insert(place, intent);
            } else {
                let due = intent.due;
                drop_intent(notebook, &intent, due);
            }
        }
    }
}

fn drop_intent(notebook: &Notebook, intent: &Intent, at: Nanos) {
    notebook.settled(SettledIntent {
        txn: intent.input.txn() as u8,
        settled: Settled::Dropped,
        retries: 0,
        round_trips: 0,
        due: intent.due,
        start: at,
        end: at,
    });
}
