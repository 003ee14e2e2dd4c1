//! Progress of work that takes long, and its stop button.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::LoadError;

/// The work's progress and its stop button. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct LoadControl(Arc<LoadState>);

#[derive(Debug, Default)]
struct LoadState {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl LoadControl {
    /// Work of so many rows or bytes begins (anew).
    pub fn start(&self, total: u64) {
        self.reach(0);
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// So many more are done.
    pub fn add(&self, more: u64) {
        self.0.done.fetch_add(more, Ordering::Relaxed);
    }

    /// So many are done.
    pub fn reach(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }

    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Zero before the work has begun.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// [`LoadError::Cancelled`] once [`Self::cancel`] was called: for `?` between two batches.
    pub fn check(&self) -> Result<(), LoadError> {
        if self.is_cancelled() {
            Err(LoadError::Cancelled)
        } else {
            Ok(())
        }
    }
}
