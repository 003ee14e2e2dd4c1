//! Media side by side: the same step at the same load, against the first medium.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figure::{FigureId, FigureSet};
use super::finding::Verdict;
use super::ladder_summary::LadderSummary;
use super::load_summary::LoadSummary;
use super::ratio::RatioSet;
use super::speed::is_like_speed;
use plimsoll_plan::Interference;
use plimsoll_record::OfferedLoad;

/// One step that was run on several media.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub step: String,
    pub mode: String,
    /// What the systems shared their medium with, on all media.
    pub scene: Interference,
    /// Whether rates are NOPM; else transactions per second.
    pub nopm: bool,
    /// In the plan's order; the first is what the others are compared with.
    pub media: Vec<ComparedMedium>,
    pub loads: Vec<ComparedLoad>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedMedium {
    /// Index into [`super::RunFigures::ladders`].
    pub ladder: usize,
    pub medium: String,
    /// What is emulated or simulated on it.
    pub drive: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
}

impl Comparison {
    pub fn rate(&self) -> FigureId {
        FigureId::transactions(self.nopm)
    }
}

/// All media at one point of the ladder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedLoad {
    #[serde(flatten)]
    pub load: OfferedLoad,
    /// In the order of the media; `None` where a medium has no such point or nothing was measured at it.
    pub figures: Vec<Option<ComparedFigures>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedFigures {
    #[serde(flatten)]
    pub figures: FigureSet,
    pub verdict: Verdict,
    /// Against the first medium. Empty on the first, where one of the two points is invalid, and where one medium was
    /// slowed more than the other.
    pub ratios: RatioSet,
}

/// Index of the step, mode, interference.
type StepKey<'a> = (u32, &'a str, Interference);

/// Steps with ladders on more than one medium. Searches try other loads on each; their lines stand side by side.
pub(super) fn comparisons(ladders: &[LadderSummary]) -> Vec<Comparison> {
    let mut steps: BTreeMap<StepKey<'_>, Vec<(usize, &LadderSummary)>> = BTreeMap::new();
    for (i, ladder) in ladders
        .iter()
        .enumerate()
        .filter(|(_, ladder)| ladder.medium.is_some() && ladder.line.is_none())
    {
        steps
            .entry((ladder.step_index, &ladder.mode, ladder.scene))
            .or_default()
            .push((i, ladder));
    }
    steps
        .into_values()
        .filter(|ladders| ladders.len() > 1)
        .map(|ladders| compare(&ladders))
        .collect()
}

fn compare(ladders: &[(usize, &LadderSummary)]) -> Comparison {
    let first = ladders[0].1;
    let mut measured: Vec<&LoadSummary> = ladders
        .iter()
        .flat_map(|(_, ladder)| &ladder.loads)
        .collect();
    measured.retain(|load| load.figures.get(FigureId::Transactions).is_some());
    let nopm = !measured.is_empty()
        && measured
            .iter()
            .all(|load| load.figures.get(FigureId::Nopm).is_some());
    let rate = FigureId::transactions(nopm);
    let mut loads: Vec<ComparedLoad> = Vec::new();
    for load in ladders.iter().flat_map(|(_, ladder)| &ladder.loads) {
        if !loads.iter().any(|known| known.load == load.load) {
            loads.push(compare_load(ladders, load.load, rate));
        }
    }
    Comparison {
        step: first.step.clone(),
        mode: first.mode.clone(),
        scene: first.scene,
        nopm,
        media: ladders
            .iter()
            .map(|(i, ladder)| ComparedMedium {
                ladder: *i,
                medium: ladder.medium.clone().unwrap_or_default(),
                drive: ladder.drive.clone(),
                is_simulated: ladder.is_simulated,
            })
            .collect(),
        loads,
    }
}

fn compare_load(
    ladders: &[(usize, &LadderSummary)],
    offered: OfferedLoad,
    rate: FigureId,
) -> ComparedLoad {
    let loads: Vec<Option<&LoadSummary>> = ladders
        .iter()
        .map(|(_, ladder)| ladder.loads.iter().find(|load| load.load == offered))
        .collect();
    let is_usable = |load: &&LoadSummary| load.verdict < Verdict::Invalid;
    let first = loads[0].filter(is_usable);
    let mut figures: Vec<Option<ComparedFigures>> = Vec::new();
    for (place, (load, (_, ladder))) in loads.iter().zip(ladders).enumerate() {
        let is_other = place > 0 && is_like_speed(ladder.slower, ladders[0].1.slower);
        figures.push(load.and_then(|load| {
            load.figures.get(rate)?;
            let first = first
                .filter(|first| is_other && is_usable(&load) && first.figures.get(rate).is_some());
            let ratios =
                first.map(|first| load.figures.ratios(&[rate, FigureId::P99], &first.figures));
            Some(ComparedFigures {
                figures: load.figures.clone(),
                verdict: load.verdict,
                ratios: ratios.unwrap_or_default(),
            })
        }));
    }
    ComparedLoad {
        load: offered,
        figures,
    }
}
