//! The answer of power cuts: whether acknowledged transactions survived.

use serde::Serialize;

use super::refused::{LoadPlace, RefusedFigures};
use crate::summary::{CutSummary, PointSummary, RunFigures, Verdict};

/// All power cuts of one step on one medium. A verdict is invalid where transactions were lost, too.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CutAnswer {
    pub step: String,
    pub medium: Option<String>,
    pub drive: Option<String>,
    pub cuts: usize,
    /// Transactions of all cuts together.
    pub acknowledged: u64,
    pub lost: u64,
    /// Not acknowledged, so that either outcome is right.
    pub in_doubt: u64,
    /// Writes that the drive lost after it had acknowledged their flush.
    pub lost_flushed_writes: u64,
    /// The longest, until the database accepted connections again.
    pub recovery_ms: Option<u64>,
    /// Cuts after which it never did.
    pub not_recovered: usize,
    pub verdict: Verdict,
}

impl CutAnswer {
    /// Whether anything was lost: an answer whatever else went wrong. That nothing was lost is one of valid points only.
    pub fn is_damaged(&self) -> bool {
        self.lost > 0 || self.lost_flushed_writes > 0 || self.not_recovered > 0
    }
}

/// In the order of the run's media; `None` where not every step cut the power.
pub(super) fn of(figures: &RunFigures, refused: &RefusedFigures<'_>) -> Option<Vec<CutAnswer>> {
    let mut all: Vec<CutAnswer> = Vec::new();
    for ladder in &figures.ladders {
        let cuts: Vec<(&PointSummary, &CutSummary)> = ladder
            .points
            .iter()
            .filter_map(|point| Some((point, point.power_cut.as_ref()?)))
            .collect();
        // Other loads of the run are what it is about; what was lost is in its findings.
        if cuts.is_empty() {
            return None;
        }
        let sum = |of: fn(&CutSummary) -> u64| cuts.iter().map(|(_, cut)| of(cut)).sum();
        all.push(CutAnswer {
            step: ladder.step.clone(),
            medium: ladder.medium.clone(),
            drive: ladder.drive.clone(),
            cuts: cuts.len(),
            acknowledged: sum(|cut| cut.acknowledged),
            lost: sum(|cut| cut.lost),
            in_doubt: sum(|cut| cut.in_doubt),
            lost_flushed_writes: sum(|cut| cut.lost_flushed_writes),
            recovery_ms: cuts.iter().filter_map(|(_, cut)| cut.recovery_ms).max(),
            not_recovered: cuts
                .iter()
                .filter(|(_, cut)| cut.recovery_ms.is_none())
                .count(),
            verdict: cuts
                .iter()
                .map(|(point, _)| {
                    refused.verdict(LoadPlace::of_point(ladder, point), point.verdict)
                })
                .max()
                .unwrap_or_default(),
        });
    }
    (!all.is_empty()).then_some(all)
}
