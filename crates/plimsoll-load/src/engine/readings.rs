//! What a server reports about itself, as numbers.

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::WaitState;
use plimsoll_record::message::EventKind;
use plimsoll_record::metric::Metric;

use crate::error::LoadError;

/// How many of plimsoll's sessions one sample found in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCount {
    pub state: WaitState,
    /// The server's own name for what they wait for; empty where it names nothing.
    pub event: String,
    pub sessions: u32,
}

/// Counters since the server's start for metrics that are rates, values of now for gauges; each metric once.
pub type Reading = Vec<(Metric, f64)>;

/// A connection that asks a server about itself.
#[allow(async_fn_in_trait)]
pub trait ServerInsight: Sized {
    /// Errors: the server cannot be reached, refuses, or is too old to be asked.
    async fn connect(conninfo: &str, schema: &str) -> Result<Self, LoadError>;

    /// What plimsoll's own sessions do at this moment; the one that asks is left out.
    async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError>;

    async fn read(&mut self) -> Result<Reading, LoadError>;

    /// Of the data.
    async fn size(&mut self) -> Result<Bytes, LoadError>;

    /// The least time from an answer to the next sample: a server may show the same again before it.
    fn rest(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Where the wait states come from.
    fn source(&self) -> String;

    /// What this server does not report, and what would change that: each a sentence.
    fn lacks(&self) -> Vec<EventKind>;
}
