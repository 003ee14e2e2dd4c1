//! Searches for the load line.

use serde::{Deserialize, Serialize};

use crate::SubjectId;
use plimsoll_plan::objective::Objective;

/// A search for the load line of a step on a medium; its points hold the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchInfo {
    pub step: String,
    pub step_index: u32,
    pub system: SubjectId,
    pub medium: Option<SubjectId>,
    pub objective: Objective,
    /// No more than this was to be offered: users in a closed loop, transactions per second in an open one.
    pub most: f64,
    /// How close the lowest load that failed had to come to the highest that met the objective, as a share.
    pub precision: f64,
}
