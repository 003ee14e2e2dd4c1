//! Waits of a server's sessions.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::SubjectId;
use plimsoll_plan::units::Nanos;

/// Sessions of a server in one second that were in one state, and waited for what the server gives one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitRow {
    /// The system.
    pub subject: SubjectId,
    pub start: Nanos,
    pub end: Nanos,
    pub state: WaitState,
    /// Such as `WALSync`; empty where the server names nothing.
    pub event: String,
    /// Sessions in this state, summed over the samples: mean number = `sessions / samples`.
    pub sessions: u32,
    /// Samples in this second; the same in each of its rows.
    pub samples: u32,
}

/// State of a session, as far as its server reports it. Every sampled session is in exactly one.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WaitState {
    /// At work and waiting for nothing: on a CPU, or for one.
    Cpu,
    /// For data to be read from files.
    DataRead,
    /// For data to be written to files.
    DataWrite,
    /// For the log (WAL, redo log, binlog) to be written or flushed, or for others who do that.
    Log,
    /// For locks of transactions: rows, tables.
    Lock,
    /// For short locks in the server: latches, buffers, mutexes.
    Latch,
    /// In a transaction, for the client's next statement.
    Client,
    /// For the client, in no transaction.
    Idle,
    /// Anything else.
    Other,
}

impl WaitState {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}
