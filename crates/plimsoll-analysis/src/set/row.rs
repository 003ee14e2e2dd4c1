//! The rows of a set and its axes.

use plimsoll_record::OfferedLoad;
use serde::Serialize;

use crate::summary::{FigureSet, Finding, Verdict};
use plimsoll_plan::Interference;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetAxisSummary {
    pub name: String,
    pub key: String,
    pub values: Vec<String>,
}

/// One load of a step under one combination of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetRow {
    pub step: String,
    /// The system with its medium.
    pub system: String,
    /// What else used the systems' medium.
    pub scene: Interference,
    /// Users, or transactions per second that were offered.
    #[serde(flatten)]
    pub load: OfferedLoad,
    pub choice: Vec<usize>,
    pub runs: usize,
    /// Medians over the runs.
    #[serde(flatten)]
    pub figures: FigureSet,
    /// The worst of its runs'.
    pub verdict: Verdict,
    /// What people call the drive that was emulated, with how much slower it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// Whether that drive was simulated in virtual time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// How many times slower than rated that drive ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    /// What its verdict comes from, of all points, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Finding>,
}
