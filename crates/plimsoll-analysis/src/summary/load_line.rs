//! What a search has found.

use serde::Serialize;

use super::objective::ObjectiveResult;
use super::sign::Sign;
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
    /// Transactions that the figure needs in each window, and how long a window may be for them.
    pub needed: u64,
    pub longest_s: f64,
    pub state: SearchState,
    /// Where no load met the objective: its figure at the lowest load.
    pub lowest: Option<LowestFigure>,
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

/// The objective's figure at the lowest load that was measured long enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LowestFigure {
    /// Median over the loads up to `up_to`.
    pub figure_ms: f64,
    pub load: f64,
    /// The highest load up to which the figure is not higher than at the lowest, by more than a fifth.
    pub up_to: f64,
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
