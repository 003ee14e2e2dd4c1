//! Progress of work that takes long, and its stop button.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::LoadError;

/// A load's progress and its stop button. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct LoadControl(Arc<LoadState>);

#[derive(Debug, Default)]
struct LoadState {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl LoadControl {
    /// A load of `rows` rows begins (anew).
    pub fn start(&self, rows: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(rows, Ordering::Relaxed);
    }

    /// `rows` more rows are in the database.
    pub fn add(&self, rows: u64) {
        self.0.done.fetch_add(rows, Ordering::Relaxed);
    }

    pub fn rows_done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Zero before the load has begun.
    pub fn rows_total(&self) -> u64 {
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
