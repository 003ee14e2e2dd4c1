//! The result of a gate.

use serde::Serialize;

/// The result of a gate. Ordered from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Whatever the truth within the interval, it is no worse than allowed.
    Passed,
    /// It is not known whether a figure is worse than allowed.
    Inconclusive,
    /// The whole interval is worse than allowed.
    Regression,
    /// A requirement is missed.
    Failed,
}

impl GateOutcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Inconclusive => "inconclusive",
            Self::Regression => "regression",
            Self::Failed => "failed",
        }
    }
}
