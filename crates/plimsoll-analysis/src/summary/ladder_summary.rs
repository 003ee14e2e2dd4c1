//! One step on one medium.

use serde::Serialize;

use super::data::DataState;
use super::finding::Finding;
use super::fleet::Fleet;
use super::load_line::LoadLine;
use super::load_summary::LoadSummary;
use super::point_summary::PointSummary;
use super::scaling::Scaling;
use plimsoll_plan::Interference;

/// One step on one medium: the points that belong on one curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderSummary {
    pub step: String,
    pub step_index: u32,
    pub system: String,
    pub medium: Option<String>,
    /// What people call the drive that is emulated on the medium; `None` where nothing is.
    pub drive: Option<String>,
    /// Whether that drive is simulated in virtual time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// How many times slower than rated that drive ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    pub workload: String,
    pub mode: String,
    /// Of the first of the systems, when the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataState>,
    /// What the systems share their medium with.
    pub scene: Interference,
    /// By index in the ladder, and by repeat; of a search by load.
    pub points: Vec<PointSummary>,
    /// Each load over its repeats.
    pub loads: Vec<LoadSummary>,
    /// Index of the load with the highest rate among those that are not invalid; of a search the load line's.
    pub peak: Option<usize>,
    /// What the search has found, where the step is one.
    pub line: Option<LoadLine>,
    /// How rates grow with users, in closed loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// Conditions verified at the end of the step, beside those of the points.
    pub findings: Vec<Finding>,
    /// Where the figures are sums: the systems behind them.
    pub fleet: Option<Fleet>,
}

impl LadderSummary {
    /// The system whose facts stand for all: of several equal ones the first.
    pub fn first_system(&self) -> &str {
        let first = self.fleet.as_ref().and_then(|fleet| fleet.systems.first());
        first.map_or(self.system.as_str(), String::as_str)
    }
}
