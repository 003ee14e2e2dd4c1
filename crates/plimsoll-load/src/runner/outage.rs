//! Connections that are lost, and opened again: how long to wait in between, how long to go on trying, and which events to report.

use std::sync::{Mutex, PoisonError};

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Absence;
use plimsoll_record::message::EventKind;
use plimsoll_stats::Rng;

use super::events::Events;

/// How long a connection is tried to be opened again before the lane is given up: longer than a server takes to restart
/// or a cluster to fail over.
pub const PATIENCE: Nanos = Nanos::from_secs(60);

/// An outage is over when no connection is away and none was for this long: users who think notice late that theirs is
/// gone.
const QUIET: Nanos = Nanos::from_secs(5);

const FIRST_PAUSE_MS: u64 = 50;
/// Short, because it is a part of the response times of those who wait.
const LONGEST_PAUSE_MS: u64 = 1_000;

/// Pauses before attempts to connect: doubled each time, half of each random, so that a thousand connections do not come
/// back to a starting server all at once ("equal jitter": Brooker, Exponential Backoff And Jitter, AWS 2015).
#[derive(Debug)]
pub struct Backoff {
    rng: Rng,
    attempts: u32,
}

impl Backoff {
    pub fn new(seed: u64, round: u32, connection: u32) -> Self {
        let path = [
            u64::from_be_bytes(*b" backoff"),
            u64::from(round),
            u64::from(connection),
        ];
        Self {
            rng: Rng::stream(seed, &path),
            attempts: 0,
        }
    }

    /// The connection has proved to be good.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }

    pub fn next(&mut self) -> Nanos {
        let whole = (FIRST_PAUSE_MS << self.attempts.min(10)).min(LONGEST_PAUSE_MS);
        self.attempts = self.attempts.saturating_add(1);
        let half = Nanos::from_millis(whole).0 / 2;
        Nanos(half + self.rng.between(0, half))
    }
}

/// From the first connection's loss until all are back: one for the whole lane, however many notice.
struct OngoingOutage {
    from: Nanos,
    why: String,
    lost: u64,
    /// Attempts to connect that failed.
    refused: u64,
    reopened: u64,
    first_back: Nanos,
    last_back: Nanos,
}

/// A transaction in which its connection was lost.
pub struct Loss<'a> {
    pub connection: u32,
    pub began: Nanos,
    pub noticed: Nanos,
    pub why: &'a str,
}

/// From the loss of a connection until one is open again.
#[derive(Clone, Copy)]
struct Gap {
    /// Until when it is in [`OutageState::absence`]; at first its beginning.
    counted: Nanos,
    /// Whether it is known that the server is away, and not this connection alone.
    confirmed: bool,
}

#[derive(Default)]
struct OutageState {
    /// Connections that are lost now.
    away: u32,
    gap: Option<Gap>,
    /// Not yet taken.
    absence: Absence,
    /// Until when the time of lost connections is in it.
    counted: Nanos,
    current: Option<OngoingOutage>,
    outages: u64,
    lost: u64,
    reopened: u64,
}

impl OutageState {
    /// Adds the time since the last change.
    fn count(&mut self, now: Nanos) {
        self.absence.connections += now.saturating_sub(self.counted) * u64::from(self.away);
        self.counted = self.counted.max(now);
        if let Some(gap) = self.gap.as_mut().filter(|gap| gap.confirmed) {
            self.absence.server += now.saturating_sub(gap.counted);
            gap.counted = gap.counted.max(now);
        }
    }
}

/// The lane's account of its connections.
pub struct Outages {
    connections: u32,
    state: Mutex<OutageState>,
}

impl Outages {
    pub fn new(connections: u32) -> Self {
        Self {
            connections,
            state: Mutex::default(),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut OutageState) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A connection was lost. The outage's first one is reported.
    pub fn lost(&self, loss: &Loss, events: &Events) {
        let Loss {
            connection,
            began,
            noticed: now,
            why,
        } = *loss;
        let first = self.with(|state| {
            state.count(now);
            // A server that is killed while it waits for its disk takes a while to go. What was under way then never
            // completes: that time is in no service time.
            state.absence.connections += now.saturating_sub(began);
            state.away += 1;
            state.lost += 1;
            let gap = state.gap.get_or_insert(Gap {
                counted: now,
                confirmed: false,
            });
            gap.confirmed |= state.away >= self.connections;
            let first = state.current.is_none();
            state.outages += u64::from(first);
            let current = state.current.get_or_insert_with(|| OngoingOutage {
                from: now,
                why: why.into(),
                lost: 0,
                refused: 0,
                reopened: 0,
                first_back: Nanos::ZERO,
                last_back: Nanos::ZERO,
            });
            current.lost += 1;
            first
        });
        if first {
            events.report(EventKind::ConnectionLost {
                connection,
                error: why.into(),
            });
        }
    }

    /// An attempt to open a lost connection failed; a server `is_there` that only takes no more of them.
    pub fn refused(&self, is_there: bool) {
        self.with(|state| {
            state
                .gap
                .iter_mut()
                .for_each(|gap| gap.confirmed |= !is_there);
            state
                .current
                .iter_mut()
                .for_each(|current| current.refused += 1);
        });
    }

    /// Time without a server up to `now` that was not taken before.
    pub fn take_absence(&self, now: Nanos) -> Absence {
        self.with(|state| {
            state.count(now);
            std::mem::take(&mut state.absence)
        })
    }

    pub fn reopened(&self, now: Nanos) {
        self.with(|state| {
            state.count(now);
            state.away -= 1;
            state.gap = None;
            state.reopened += 1;
            if let Some(current) = &mut state.current {
                if current.reopened == 0 {
                    current.first_back = now;
                }
                current.reopened += 1;
                current.last_back = now;
            }
        });
    }

    /// Whether connections are away, or were a moment ago.
    pub fn is_under_way(&self) -> bool {
        self.with(|state| state.current.is_some())
    }

    /// Reports an outage that is over.
    pub fn settle(&self, now: Nanos, events: &Events) {
        let over = self.with(|state| {
            if state.away == 0
                && state
                    .current
                    .as_ref()
                    .is_some_and(|outage| outage.last_back + QUIET <= now)
            {
                state.current.take()
            } else {
                None
            }
        });
        if let Some(outage) = over {
            events.report(outage.event(self.connections));
        }
    }

    /// Reports at the lane's end what is not yet reported.
    pub fn end(&self, now: Nanos, events: &Events) {
        let (left, away) = self.with(|state| (state.current.take(), state.away));
        match left {
            Some(outage) if away == 0 => events.report(outage.event(self.connections)),
            Some(outage) => events.report(EventKind::NotReconnected {
                lost: outage.lost,
                away,
                from_s: outage.from.as_secs_f64(),
                until_s: now.as_secs_f64(),
            }),
            None => {}
        }
        let (outages, lost, reopened) =
            self.with(|state| (state.outages, state.lost, state.reopened));
        if outages > 1 {
            events.report(EventKind::ConnectionsLost {
                outages,
                lost,
                reopened,
            });
        }
    }
}

impl OngoingOutage {
    fn event(&self, connections: u32) -> EventKind {
        EventKind::Reconnected {
            // One session that an administrator ended is not the server's absence.
            server_away: self.refused > 0 || self.lost >= u64::from(connections),
            connections,
            lost: self.lost,
            reopened: self.reopened,
            refused: self.refused,
            from_s: self.from.as_secs_f64(),
            first_s: self.first_back.as_secs_f64(),
            last_s: self.last_back.as_secs_f64(),
            error: self.why.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_differ_between_connections() {
        let pauses = |connection| {
            let mut backoff = Backoff::new(1, 2, connection);
            (0..12).map(|_| backoff.next()).collect::<Vec<_>>()
        };
        for (n, pause) in pauses(3).into_iter().enumerate() {
            let whole = Nanos::from_millis((50 << n).min(1_000));
            assert!(
                Nanos(whole.0 / 2) <= pause && pause <= whole,
                "{n}: {pause}"
            );
        }
        assert_eq!(pauses(3), pauses(3));
        assert_ne!(pauses(3), pauses(4));
        let mut backoff = Backoff::new(1, 2, 3);
        backoff.attempts = u32::MAX;
        backoff.next();
        backoff.reset();
        assert!(backoff.next() <= Nanos::from_millis(50));
    }
}
