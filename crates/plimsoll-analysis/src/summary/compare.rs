//! Media side by side: the same step at the same load, against the first medium.

use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::Verdict;
use super::ladder_summary::LadderSummary;
use super::load_summary::LoadSummary;
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

/// A ratio of two means; its 95 % interval where both have one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    pub ratio: f64,
    pub interval: Option<Interval>,
}

/// An interval that reaches further than this factor from its ratio, up or down, answers nothing.
const UNCERTAIN_FACTOR: f64 = 2.0;

impl Ratio {
    /// Whether its interval is too wide for an answer.
    pub fn is_uncertain(&self) -> bool {
        self.interval.is_some_and(|own| {
            own.low * UNCERTAIN_FACTOR < self.ratio || own.high > self.ratio * UNCERTAIN_FACTOR
        })
    }

    /// `None` for a ratio to nothing.
    pub(crate) fn of(
        rate: f64,
        interval: Option<Interval>,
        first: f64,
        of_first: Option<Interval>,
    ) -> Option<Self> {
        let ratio = (first > 0.0).then(|| rate / first)?;
        let interval = interval
            .zip(of_first)
            .and_then(|(own, first)| own.ratio_to(first));
        Some(Self {
            ratio,
            interval: interval.map(|interval| interval.with(ratio)),
        })
    }
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
    measured.retain(|load| load.completed_per_second.is_some());
    let nopm = !measured.is_empty() && measured.iter().all(|load| load.nopm.is_some());
    let mut loads: Vec<ComparedLoad> = Vec::new();
    for load in ladders.iter().flat_map(|(_, ladder)| &ladder.loads) {
        if !loads.iter().any(|known| known.load == load.load) {
            loads.push(compare_load(ladders, load.load, nopm));
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
    nopm: bool,
) -> ComparedLoad {
    let own = ladders
        .iter()
        .map(|(_, ladder)| ladder.loads.iter().find(|load| load.load == offered));
    let mut figures: Vec<Option<ComparedFigures>> = own
        .map(|load| load.and_then(|load| of(load, nopm)))
        .collect();
    let first_speed = ladders[0].1.slower;
    if let Some(first) = figures[0].filter(|first| first.verdict < Verdict::Invalid) {
        let others = ladders[1..].iter().zip(&mut figures[1..]);
        for other in others
            .filter(|((_, ladder), _)| is_like_speed(ladder.slower, first_speed))
            .filter_map(|(_, figures)| figures.as_mut())
            .filter(|other| other.verdict < Verdict::Invalid)
        {
            other.rate_ratio = Ratio::of(
                other.rate,
                other.rate_interval,
                first.rate,
                first.rate_interval,
            );
            let p99 = other
                .p99_ms
                .zip(first.p99_ms)
                .filter(|(_, first)| *first > 0.0);
            other.p99_ratio = p99.map(|(other, first)| other / first);
        }
    }
    ComparedLoad {
        load: offered,
        figures,
    }
}

fn of(load: &LoadSummary, nopm: bool) -> Option<ComparedFigures> {
    let rate = if nopm {
        load.nopm?
    } else {
        load.completed_per_second?
    };
    Some(ComparedFigures {
        rate: rate.median,
        rate_interval: rate.interval,
        p99_ms: load.p99_ms.map(|p99| p99.median),
        verdict: load.verdict,
        rate_ratio: None,
        p99_ratio: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_widths_of_a_ratio_add_in_squares() {
        let around = |mean: f64, half: f64| Some(Interval::new(mean, mean - half, mean + half));
        // 3 % and 4 % make 5 %.
        let ratio = Ratio::of(50.0, around(50.0, 1.5), 200.0, around(200.0, 8.0)).unwrap();
        let interval = ratio.interval.unwrap();
        assert_eq!(ratio.ratio, 0.25);
        assert!(
            (interval.low - 0.2375).abs() < 1e-3 && (interval.high - 0.2625).abs() < 1e-3,
            "{interval:?}"
        );
        assert_eq!(
            Ratio::of(50.0, None, 200.0, around(200.0, 8.0))
                .unwrap()
                .interval,
            None
        );
        assert_eq!(
            Ratio::of(50.0, None, 0.0, None),
            None,
            "there is no ratio to nothing"
        );
    }
}
