//! The systems that can be put under load. Each engine is a folder of its own: sessions, loading, checking, and, where
//! plimsoll can run the server itself, starting and stopping it.

#[cfg(test)]
mod contract;
pub mod insight;
pub mod mariadb;
pub mod mock;
mod opener;
pub mod postgres;
pub mod server;
pub(crate) mod sql;
pub mod sqlite;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use plimsoll_plan::resolved::{Sysbench, Workload};

use crate::error::LoadError;
pub use opener::{AnySession, Opener};

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

/// How a load ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    Fresh,
    /// This population was there already, as its last run left it.
    Reused,
}

/// Which data set's conditions are verified.
#[derive(Debug, Clone, Copy)]
pub enum CheckedData<'a> {
    Tpcc,
    Sysbench(&'a Sysbench),
}

impl<'a> From<&'a Workload> for CheckedData<'a> {
    fn from(workload: &'a Workload) -> Self {
        match workload {
            Workload::Tpcc(_) => Self::Tpcc,
            Workload::Sysbench(sysbench) => Self::Sysbench(sysbench),
        }
    }
}

/// The result of a consistency condition on a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionResult {
    /// Of the specification: `3.3.2.1`.
    pub clause: &'static str,
    pub holds: bool,
    /// A sentence; with the first violation's key and both values when the condition does not hold.
    pub detail: String,
}

impl ConditionResult {
    /// The detail without the clause that it begins with, for places that name it already.
    pub fn statement(&self) -> &str {
        let rest = self.detail.strip_prefix(self.clause);
        rest.and_then(|rest| rest.strip_prefix(": "))
            .unwrap_or(&self.detail)
    }
}
