//! Media side by side: the same step at the same load, against the first medium.

use super::estimate::Estimate;
use super::figure::{FigureId, FigureSet};
use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::Verdict;
use super::ladder_summary::LadderSummary;
use super::load_summary::LoadSummary;
use super::ratio::Ratio;
use super::speed::is_like_speed;
use super::stats::Interval;
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

/// All media at one point of the ladder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedLoad {
    #[serde(flatten)]
    pub load: OfferedLoad,
    /// In the order of the media; `None` where a medium has no such point or nothing was measured at it.
    pub figures: Vec<Option<ComparedFigures>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ComparedFigures {
    pub rate: f64,
    pub rate_interval: Option<Interval>,
    /// Response time of the first transaction type (New-Order), or of all types.
    pub p99_ms: Option<f64>,
    pub verdict: Verdict,
    /// Against the first medium. `None` on the first, where one of the two points is invalid, and where one medium was
    /// slowed more than the other.
    pub rate_ratio: Option<Ratio>,
    /// Of a percentile there is no interval.
    pub p99_ratio: Option<f64>,
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
    let rate = if nopm {
        FigureId::Nopm
    } else {
        FigureId::Transactions
    };
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
            let first = first.filter(|_| is_other && is_usable(&load));
            compared(
                &load.figures,
                load.verdict,
                first.map(|own| &own.figures),
                rate,
            )
        }));
    }
    ComparedLoad {
        load: offered,
        figures,
    }
}

/// `first` are those that ratios are against.
fn compared(
    own: &FigureSet,
    verdict: Verdict,
    first: Option<&FigureSet>,
    rate: FigureId,
) -> Option<ComparedFigures> {
    let Estimate {
        value, interval, ..
    } = own.get(rate)?;
    let first = first.filter(|first| first.get(rate).is_some());
    let ratio = |figure| own.ratio(figure, first?);
    Some(ComparedFigures {
        rate: value,
        rate_interval: interval,
        p99_ms: own.value(FigureId::P99),
        verdict,
        rate_ratio: ratio(rate),
        p99_ratio: ratio(FigureId::P99).map(|own| own.ratio),
    })
}
