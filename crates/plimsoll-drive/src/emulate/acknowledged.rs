//! What has been answered, as far as a power cut asks.
//!
//! The thread that answers notes it here, under a lock of its own that is held for moments only: it must not wait for
//! the thread that reads requests, which is at work on data. [`super::undo::UndoLog`] acts on it before it does
//! anything else.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a flush covers, which is what arrived before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// Writes with a lower id arrived before.
    pub upto: u64,
    /// Of them, those that were not answered yet: no drive owes their durability to whoever asked for the flush.
    pub unanswered: BTreeSet<u64>,
}

#[derive(Debug, Default)]
struct AcknowledgedState {
    unanswered: BTreeSet<u64>,
    /// Answered flushes that the undo log has not applied.
    flushes: Vec<Covered>,
    /// Of a write since the last power cut.
    first: u64,
}

#[derive(Debug, Default)]
pub struct Acknowledged(Mutex<AcknowledgedState>);

impl Acknowledged {
    fn lock(&self) -> MutexGuard<'_, AcknowledgedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write_arrived(&self, id: u64) {
        self.lock().unanswered.insert(id);
    }

    /// To be called before the answers go out.
    pub fn writes(&self, ids: impl IntoIterator<Item = u64>) {
        let mut ids = ids.into_iter().peekable();
        if ids.peek().is_some() {
            let mut state = self.lock();
            for id in ids {
                state.unanswered.remove(&id);
            }
        }
    }

    pub fn flush_arrived(&self, upto: u64) -> Covered {
        Covered {
            upto,
            unanswered: self.lock().unanswered.clone(),
        }
    }

    /// To be called before the answer goes out. False when the power failed meanwhile: then the flush failed.
    #[must_use]
    pub fn flush(&self, covered: Covered) -> bool {
        let mut state = self.lock();
        let counts = covered.upto >= state.first;
        if counts {
            state.flushes.push(covered);
        }
        counts
    }

    /// The flushes that were answered since the last call.
    pub fn flushes(&self) -> Vec<Covered> {
        std::mem::take(&mut self.lock().flushes)
    }

    /// The power fails: from now on no flush counts that covers less than `first`. Gives what was answered before.
    pub fn power_off(&self, first: u64) -> (Vec<Covered>, BTreeSet<u64>) {
        let mut state = self.lock();
        state.first = first;
        (
            std::mem::take(&mut state.flushes),
            std::mem::take(&mut state.unanswered),
        )
    }
}
