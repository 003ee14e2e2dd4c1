//! The figures by which a list shows a run.

use serde::Serialize;

use crate::run_summary::Summary;
use crate::summary::{FigureId, LadderSummary, LoadSummary, Verdict};

/// The highest rate of a run, the p99 there, and the run's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ListedResult {
    #[serde(flatten)]
    pub load: Option<ListedLoad>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ListedLoad {
    pub rate: f64,
    pub rate_kind: FigureId,
    pub p99_ms: Option<f64>,
}

impl ListedResult {
    /// Of points that are usable, else of all: transactions of the run's first kind, or requests of a run without any.
    pub fn of(summary: &Summary) -> Self {
        let ladders = &summary.figures.ladders;
        let usable = |load: &&LoadSummary| load.verdict != Verdict::Invalid;
        let loads = || {
            ladders
                .iter()
                .flat_map(|ladder: &LadderSummary| &ladder.loads)
        };
        let load = highest(loads().filter(usable).filter_map(ladder_load))
            .or_else(|| highest(loads().filter_map(ladder_load)))
            .or_else(|| highest(block_loads(summary)));
        Self {
            load,
            verdict: summary.verdict,
        }
    }
}

fn highest(loads: impl Iterator<Item = ListedLoad>) -> Option<ListedLoad> {
    let mut loads = loads;
    let first = loads.next()?;
    Some(loads.fold(first, |best, load| {
        let is_higher = load.rate_kind == best.rate_kind && load.rate > best.rate;
        if is_higher { load } else { best }
    }))
}

fn ladder_load(load: &LoadSummary) -> Option<ListedLoad> {
    let nopm = load
        .figures
        .get(FigureId::Nopm)
        .map(|rate| (rate.value, FigureId::Nopm));
    let completed = load.figures.get(FigureId::Transactions);
    let completed = completed.map(|rate| (rate.value, FigureId::Transactions));
    let (rate, rate_kind) = nopm.or(completed)?;
    Some(ListedLoad {
        rate,
        rate_kind,
        p99_ms: load.figures.value(FigureId::P99),
    })
}

fn block_loads(summary: &Summary) -> impl Iterator<Item = ListedLoad> {
    let media = summary.figures.blocks.iter().flat_map(|block| &block.media);
    let jobs = media.flat_map(|medium| &medium.jobs);
    jobs.filter_map(|job| {
        Some(ListedLoad {
            rate: job.figure(FigureId::Iops)?.value,
            rate_kind: FigureId::Iops,
            p99_ms: job.figure(FigureId::P99).map(|p99| p99.value),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise;

    #[test]
    fn a_run_is_listed_with_its_highest_usable_rate() {
        let record = plimsoll_record::fixture::single_point();
        let mut summary = summarise(&record);
        let load = &mut summary.figures.ladders[0].loads[0];
        load.verdict = Verdict::Valid;
        let mut higher = load.clone();
        higher.verdict = Verdict::Invalid;
        let rate = load.figures.main_rate().unwrap().value;
        for figure in higher.figures.rates_mut() {
            figure.value *= 10.0;
        }
        summary.figures.ladders[0].loads.push(higher);
        let listed = ListedResult::of(&summary);
        assert_eq!(listed.load.map(|load| load.rate), Some(rate));
        summary.figures.ladders[0].loads[0].verdict = Verdict::Invalid;
        let listed = ListedResult::of(&summary);
        assert_eq!(listed.load.map(|load| load.rate), Some(rate * 10.0));
        summary.figures.ladders.clear();
        assert_eq!(ListedResult::of(&summary).load, None);
    }
}
