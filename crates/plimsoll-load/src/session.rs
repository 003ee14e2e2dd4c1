//! How an attempt of a transaction ends.

use crate::error::SERVERS_DISK;

/// How a business transaction ended when nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxnEnd {
    Committed,
    /// Rolled back as the workload's specification wants (TPC-C clause 2.4.1.4), really and in the database.
    RolledBack,
}

/// What went wrong with one attempt. After `Retry`, `Failed`, `Permanent` and `DiskFull` the attempt has left no trace: its database
/// transaction is rolled back. After `Lost` that is unknown: a connection that ends while a COMMIT or a function's call is on
/// its way may have been committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionError {
    /// Deadlock, serialisation failure, busy: the same intent may be tried again.
    Retry(String),
    /// The system refused this intent.
    Failed(String),
    /// What every further intent needs is gone or forbidden (a table dropped, a privilege revoked), and will not come back
    /// by itself: the lane ends with this message, whose last line is the next step.
    Permanent(String),
    /// The connection is gone; the session must be opened anew.
    Lost(String),
    /// No space is left for what the load writes: where, as far as it is known, and the system's message. The lane ends.
    DiskFull { place: String, why: String },
}

impl SessionError {
    /// A server has no space left.
    pub fn server_full(why: String) -> Self {
        Self::DiskFull {
            place: SERVERS_DISK.into(),
            why,
        }
    }

    /// What the load needs is not in the database any more.
    pub fn gone(message: &str) -> Self {
        let next =
            "The loaded tables were dropped or changed: remove the rest, or name another `schema`.";
        Self::Permanent(format!(
            "the workload's tables are no longer as they were: {message}\n{next}"
        ))
    }

    /// A right was taken away.
    pub fn forbidden(message: &str) -> Self {
        let next = "Grant this user what was revoked, or connect as the owner of the tables.";
        Self::Permanent(format!(
            "the server forbids this user what it had allowed before: {message}\n{next}"
        ))
    }

    /// An input of another workload than the session was opened for: a fault of plimsoll.
    pub fn other_work() -> Self {
        Self::Failed(
            "the session was opened for another workload: this is a fault of plimsoll".into(),
        )
    }
}
