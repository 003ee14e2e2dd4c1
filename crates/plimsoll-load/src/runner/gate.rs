//! Lanes that start at the same time, although their connections take different times to open.

use std::sync::Arc;

use plimsoll_plan::units::Nanos;
use tokio::sync::watch;

use crate::clock::Clock;

/// Shared by the lanes of one point. When all of them have come to it, those left out that could not, it opens for a start
/// time.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<Standing>>);

#[derive(Debug, Clone, Copy)]
struct Standing {
    expected: u32,
    here: u32,
    /// How long after the last one has come the lanes start.
    lead: Nanos,
    start: Option<Nanos>,
}

impl Gate {
    pub fn of(lanes: u32) -> Self {
        Self::with_lead(lanes, Nanos::ZERO)
    }

    /// Of lanes elsewhere, which the start time takes a while to reach.
    pub fn with_lead(lanes: u32, lead: Nanos) -> Self {
        let standing = Standing {
            expected: lanes,
            here: 0,
            lead,
            start: None,
        };
        Self(Arc::new(watch::channel(standing).0))
    }

    /// Waits until all are here; returns when they start.
    pub async fn pass(&self, clock: &Clock) -> Nanos {
        self.come(clock, None);
        let mut standing = self.0.subscribe();
        // The sender is in self: an error cannot come.
        let opened = standing.wait_for(|standing| standing.start.is_some()).await;
        let start = opened.ok().and_then(|standing| standing.start);
        start.unwrap_or_else(|| clock.now())
    }

    /// Waits until all others are here.
    pub async fn others(&self) {
        let mut standing = self.0.subscribe();
        // The sender is in self: an error cannot come.
        let _ = standing
            .wait_for(|standing| standing.here + 1 >= standing.expected)
            .await;
    }

    /// Comes to it with the start time, which was chosen elsewhere.
    pub fn open(&self, clock: &Clock, start: Nanos) {
        self.come(clock, Some(start));
    }

    fn come(&self, clock: &Clock, start: Option<Nanos>) {
        self.0.send_modify(|standing| {
            standing.here += 1;
            standing.start = standing.start.or(start);
            standing.settle(clock);
        });
    }

    /// Will not come: the others are not to wait.
    pub fn leave(&self, clock: &Clock) {
        self.0.send_modify(|standing| {
            standing.expected = standing.expected.saturating_sub(1);
            standing.settle(clock);
        });
    }
}

impl Standing {
    fn settle(&mut self, clock: &Clock) {
        if self.here >= self.expected {
            self.start.get_or_insert(clock.now() + self.lead);
        }
    }
}
