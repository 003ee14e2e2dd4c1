//! The systems that can be put under load. Each engine is a folder of its own: sessions, loading, checking, and, where
//! plimsoll can run the server itself, starting and stopping it.

pub(crate) mod client_environment;
#[cfg(test)]
pub(crate) mod contract;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod insight;
pub mod mariadb;
pub mod mock;
pub mod mysql;
mod opener;
pub mod password;
pub mod postgres;
mod readings;
pub mod server;
mod server_url;
mod servers;
pub(crate) mod sql;
pub mod sqlite;
pub mod sqlserver;
pub(crate) mod wire;
mod work_session;

use plimsoll_plan::resolved::{Sysbench, Workload};

pub use crate::control::LoadControl;
use crate::session::{SessionError, TxnEnd};
pub use crate::workload::ConditionResult;
use crate::workload::Input;
pub use opener::{AnySession, Opener, ServerSession};
pub use work_session::{ServerConnection, WorkSession};

/// One connection, used by one virtual user at a time.
///
/// Sessions live on the thread that opened them; futures need not be `Send`. A blocking engine (SQLite) blocks inside
/// `run` and declares it with [`Opener::connections_per_worker`].
#[allow(async_fn_in_trait)]
pub trait Session {
    /// Runs one attempt of one business transaction.
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError>;

    /// Requests sent to the system since the last call (for an embedded engine: statements executed).
    fn take_round_trips(&mut self) -> u64;
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
