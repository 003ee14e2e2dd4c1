//! SQLite, embedded: one file on the medium, in WAL mode with synchronous=FULL.
//!
//! SQLite admits one writer at a time. Users of one process queue for it first come, first served ([`WriterQueue`]), so
//! that waiting is part of the service time and no session starves; readers do not queue.

mod backup;
mod check;
mod client;
mod connection;
mod insight;
mod load;
mod queue;
mod schema;
mod session;
mod simulated;
pub mod sysbench;
#[cfg(test)]
mod tests;

pub use backup::TimedFiles;
pub(crate) use backup::{back_up, restore, row_counts};
pub use check::{check, commit_counts, facts, orders_added, recover};
#[cfg(test)]
pub(crate) use client::SqliteClient;
pub(crate) use insight::SqliteInsight;
pub use load::{forget, is_loaded, load};
pub use queue::WriterQueue;
pub use session::SqliteSession;
pub use simulated::{SimulatedSession, recover_simulated};
pub(crate) use simulated::{back_up_simulated, restore_simulated};
