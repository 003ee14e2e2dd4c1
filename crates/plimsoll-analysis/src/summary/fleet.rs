//! Equal systems under load at the same time, behind their sums.

use serde::Serialize;

use super::figure::FigureSet;
use super::finding::Verdict;

/// The systems behind a ladder of sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fleet {
    /// Their names.
    pub systems: Vec<String>,
    /// One for each of [`super::LadderSummary::points`].
    pub points: Vec<FleetPoint>,
}

/// What the systems did at one point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetPoint {
    /// One for each system, in their order.
    pub systems: Vec<FleetShare>,
    /// Of their main rates (NOPM, or transactions per second).
    pub mean: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// `None` with fewer than two systems that have a rate.
    pub cv_percent: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetShare {
    pub system: String,
    #[serde(flatten)]
    pub figures: FigureSet,
    pub verdict: Verdict,
}
