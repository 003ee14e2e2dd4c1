//! Figures of runs that other tools measured.

use serde::{Deserialize, Serialize};

use crate::PointId;
use plimsoll_plan::units::Nanos;

/// A figure as another tool printed it. Nothing is computed from it and it merges with nothing: a percentile of another
/// tool is kept as printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    pub point: PointId,
    /// The tool and its version: `sysbench 1.0.20`.
    pub source: String,
    /// Transaction type, or part of the load; empty: all.
    pub txn: String,
    /// As the tool names it.
    pub name: String,
    pub value: f64,
    /// The digits that the tool printed.
    pub printed: String,
    pub unit: String,
    /// Start and end of the part of the time that it is about; `None`: all of it.
    pub over: Option<(Nanos, Nanos)>,
}
