//! One job over its rounds, and its curve.

use super::super::estimate::Estimate;
use super::super::figure::{FigureId, FigureSet};
use super::super::finding::Verdict;
use super::super::ratio::RatioSet;
use super::summary::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockOpSummary, BlockPointSummary,
};
use plimsoll_record::BlockPoint;

/// A point with what it was asked to do.
pub(super) type JobPoint<'a> = (&'a BlockPoint, BlockPointSummary);

/// `points` are all of one job, by round.
pub(super) fn of(points: Vec<JobPoint<'_>>) -> Option<BlockJobSummary> {
    let block = points.first()?.0;
    let (full, shares): (Vec<JobPoint>, Vec<JobPoint>) = points
        .into_iter()
        .partition(|(block, _)| block.share_percent.is_none());
    let points: Vec<BlockPointSummary> = full.into_iter().map(|(_, point)| point).collect();
    let figures = figures(points.iter().filter(|point| point.counts));
    let curve = curve(shares);
    let verdict = points
        .iter()
        .map(|point| point.verdict)
        .chain(curve.iter().map(|point| point.verdict))
        .max();
    Some(BlockJobSummary {
        job: block.job.clone(),
        job_index: block.job_index,
        streams: block.streams.clone(),
        typical: figures
            .as_ref()
            .and_then(|own| typical(&points, own.figures.value(FigureId::Iops)?)),
        by_op: by_op(points.iter().filter(|point| point.counts)),
        points,
        figures,
        against_first: None,
        curve,
        verdict: verdict.unwrap_or_default(),
    })
}

/// Over these rounds; `None` where nothing was measured.
fn figures<'a>(
    points: impl Iterator<Item = &'a BlockPointSummary> + Clone,
) -> Option<BlockFigures> {
    let figures = FigureSet::over(points.clone().map(|point| &point.figures));
    figures.get(FigureId::Iops)?;
    Some(BlockFigures {
        rounds: points
            .filter(|point| point.value(FigureId::Iops).is_some())
            .count() as u32,
        figures,
    })
}

/// Each kind of request over the rounds that have it.
fn by_op<'a>(points: impl Iterator<Item = &'a BlockPointSummary>) -> Vec<BlockOpSummary> {
    let mut kinds: Vec<Vec<&BlockOpSummary>> = Vec::new();
    for op in points.flat_map(|point| &point.by_op) {
        match kinds.iter_mut().find(|kind| kind[0].op == op.op) {
            Some(kind) => kind.push(op),
            None => kinds.push(vec![op]),
        }
    }
    kinds.iter().map(|kind| median_op(kind)).collect()
}

fn median_op(kind: &[&BlockOpSummary]) -> BlockOpSummary {
    let requests = kind
        .iter()
        .map(|op| Estimate::single(op.requests as f64, None));
    BlockOpSummary {
        op: kind[0].op.clone(),
        requests: Estimate::over(requests).map_or(0, |requests| requests.value as u64),
        figures: FigureSet::over(kind.iter().map(|op| &op.figures)),
    }
}

fn typical(points: &[BlockPointSummary], median: f64) -> Option<usize> {
    let counted = points.iter().enumerate().filter(|(_, point)| point.counts);
    let apart =
        counted.filter_map(|(i, point)| Some((i, (point.value(FigureId::Iops)? - median).abs())));
    apart
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(i, _)| i)
}

/// The rates that were offered.
fn curve(points: Vec<JobPoint<'_>>) -> Vec<BlockCurvePoint> {
    let mut by_share: Vec<(f64, Vec<BlockPointSummary>)> = Vec::new();
    for (block, point) in points {
        let Some(share) = block.share_percent else {
            continue;
        };
        match by_share
            .iter_mut()
            .find(|(own, _)| own.total_cmp(&share).is_eq())
        {
            Some((_, points)) => points.push(point),
            None => by_share.push((share, vec![point])),
        }
    }
    by_share.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    by_share
        .into_iter()
        .filter_map(|(share, points)| curve_point(share, points))
        .collect()
}

/// `None` where nothing was measured. Where no counted round reached the rate, all rounds count.
fn curve_point(share_percent: f64, points: Vec<BlockPointSummary>) -> Option<BlockCurvePoint> {
    let none_counts = !points.iter().any(|point| point.counts);
    let counted = points.iter().filter(|point| point.counts || none_counts);
    let figures = FigureSet::over(counted.clone().map(|point| &point.figures));
    figures.get(FigureId::Iops)?;
    let offered = counted.map(|point| Estimate::single(point.offered_per_second?, None));
    Some(BlockCurvePoint {
        share_percent,
        offered_per_second: Estimate::over(offered)?.value,
        figures,
        verdict: points
            .iter()
            .map(|point| point.verdict)
            .max()
            .unwrap_or_default(),
        points,
    })
}

/// Against the same job on the first medium. An invalid side has no ratio.
pub(super) fn against(job: &BlockJobSummary, first: &BlockJobSummary) -> Option<RatioSet> {
    if job.verdict.max(first.verdict) == Verdict::Invalid {
        return None;
    }
    let first = &first.figures.as_ref()?.figures;
    let own = &job.figures.as_ref()?.figures;
    let ratios = own.ratios(&[FigureId::Iops, FigureId::Mean], first);
    ratios.get(FigureId::Iops).is_some().then_some(ratios)
}
