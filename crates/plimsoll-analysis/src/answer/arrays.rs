//! The answer of a run in which members of an array failed: its load before, without them, and while they were rebuilt.

use serde::Serialize;

use super::refused::{LoadPlace, RefusedFigures};
use crate::summary::{ArrayPhases, RunFigures, Verdict};

/// One step on one medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayAnswer {
    pub step: String,
    pub medium: Option<String>,
    pub drive: Option<String>,
    pub array: ArrayPhases,
    /// Consistency conditions were verified after it, and hold.
    pub is_consistent: Option<bool>,
    pub verdict: Verdict,
}

/// In the order of the run's media; `None` where not every step had events of arrays.
pub(super) fn of(figures: &RunFigures, refused: &RefusedFigures<'_>) -> Option<Vec<ArrayAnswer>> {
    let mut all = Vec::new();
    for ladder in &figures.ladders {
        let point = ladder.points.first()?;
        let array = point.array.clone()?;
        // What is verified then may come from memory.
        let is_verified = point.consistency.verified > 0 && !array.has_lost_data();
        all.push(ArrayAnswer {
            step: ladder.step.clone(),
            medium: ladder.medium.clone(),
            drive: ladder.drive.clone(),
            array,
            is_consistent: is_verified.then(|| point.consistency.holds()),
            verdict: refused.verdict(LoadPlace::of_point(ladder, point), point.verdict),
        });
    }
    (!all.is_empty()).then_some(all)
}
