//! What a search has found.

use serde::Serialize;

use super::bottleneck::Sign;
use super::objective::ObjectiveResult;
use crate::search::{Attempt, SearchState};
use plimsoll_plan::objective::Quantile;

/// What a search has found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadLine {
    /// The objective: this figure of response time up to `limit_ms`, of one transaction type or of all (`None`).
    pub quantile: Quantile,
    pub limit_ms: f64,
    pub of: Option<String>,
    /// Whether loads are transactions offered per second; else users.
    pub open: bool,
    pub most: f64,
    pub precision: f64,
    pub state: SearchState,
    /// The line: the highest load that every repeat met, below all that were not.
    pub line: Option<f64>,
    /// The lowest load that no repeat met: the line is below it.
    pub below: Option<f64>,
    /// Index into [`super::LadderSummary::loads`] of the line.
    pub load_index: Option<usize>,
    /// In the order of trying.
    pub tried: Vec<TriedLoad>,
    /// What stood out at the lowest load above the line, the strongest sign first; empty where nothing did.
    pub bottleneck: Vec<Sign>,
}

/// One load, over all its repeats.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedLoad {
    pub load: f64,
    pub outcome: Attempt,
    /// Index into [`super::LadderSummary::loads`].
    pub load_index: usize,
    pub repeats: Vec<ObjectiveResult>,
}
