//! What a server reports about itself, as numbers.

use plimsoll_record::WaitState;
use plimsoll_record::metric::Metric;

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
