//! One job over its rounds, and its curve.

use super::super::compare::Ratio;
use super::super::finding::Verdict;
use super::super::load_summary::RepeatedFigure;
use super::super::stats::Interval;
use super::summary::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockLatency, BlockOpSummary,
    BlockPointSummary, BlockRatios,
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
        typical: figures.and_then(|figures| typical(&points, figures.iops.median)),
        by_op: by_op(points.iter().filter(|point| point.counts)),
        points,
        figures,
        against_first: None,
        curve,
        verdict: verdict.unwrap_or_default(),
    })
}

/// A figure of several points; only that of a single point has an interval of its own.
fn over<'a>(
    points: impl Iterator<Item = &'a BlockPointSummary>,
    of: impl Fn(&BlockPointSummary) -> Option<(f64, Option<Interval>)>,
) -> Option<RepeatedFigure> {
    RepeatedFigure::of(points.map(of))
}

fn figures<'a>(
    points: impl Iterator<Item = &'a BlockPointSummary> + Clone,
) -> Option<BlockFigures> {
    Some(BlockFigures {
        rounds: points.clone().filter(|point| point.iops.is_some()).count() as u32,
        iops: over(points.clone(), |point| {
            point.iops.map(|iops| (iops, point.iops_interval))
        })?,
        mb_per_second: over(points.clone(), |point| {
            point.mb_per_second.map(|mb| (mb, None))
        })?,
        mean_us: latency(points.clone(), |latency| latency.mean_us),
        p50_us: latency(points.clone(), |latency| latency.p50_us),
        p95_us: latency(points.clone(), |latency| latency.p95_us),
        p99_us: latency(points.clone(), |latency| latency.p99_us),
        p999_us: latency(points.clone(), |latency| latency.p999_us),
        max_us: latency(points, |latency| latency.max_us),
    })
}

fn latency<'a>(
    points: impl Iterator<Item = &'a BlockPointSummary>,
    of: fn(&BlockLatency) -> f64,
) -> Option<RepeatedFigure> {
    over(points, |point| {
        point.latency.as_ref().map(|latency| (of(latency), None))
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
    let median = |of: fn(&BlockOpSummary) -> Option<f64>| {
        let values = kind.iter().map(|op| of(op).map(|value| (value, None)));
        RepeatedFigure::of(values).map(|figure| figure.median)
    };
    let latency = |of: fn(&BlockLatency) -> f64| {
        let values = kind.iter().map(|op| Some((of(&op.latency?), None)));
        RepeatedFigure::of(values).map_or(0.0, |figure| figure.median)
    };
    let is_timed = kind.iter().any(|op| op.latency.is_some());
    BlockOpSummary {
        op: kind[0].op.clone(),
        requests: median(|op| Some(op.requests as f64)).map_or(0, |requests| requests as u64),
        per_second: median(|op| Some(op.per_second)).unwrap_or_default(),
        mb_per_second: median(|op| Some(op.mb_per_second)).unwrap_or_default(),
        latency: is_timed.then(|| BlockLatency {
            mean_us: latency(|own| own.mean_us),
            p50_us: latency(|own| own.p50_us),
            p95_us: latency(|own| own.p95_us),
            p99_us: latency(|own| own.p99_us),
            p999_us: latency(|own| own.p999_us),
            max_us: latency(|own| own.max_us),
        }),
    }
}

fn typical(points: &[BlockPointSummary], median: f64) -> Option<usize> {
    let counted = points.iter().enumerate().filter(|(_, point)| point.counts);
    let apart = counted.filter_map(|(i, point)| Some((i, (point.iops? - median).abs())));
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
    Some(BlockCurvePoint {
        share_percent,
        offered_per_second: median(&points, |point| point.offered_per_second)?,
        achieved_per_second: median(&points, |point| point.iops)?,
        mb_per_second: median(&points, |point| point.mb_per_second)?,
        mean_us: median(&points, |point| {
            point.latency.map(|latency| latency.mean_us)
        }),
        p99_us: median(&points, |point| point.latency.map(|latency| latency.p99_us)),
        verdict: points
            .iter()
            .map(|point| point.verdict)
            .max()
            .unwrap_or_default(),
        points,
    })
}

fn median(points: &[BlockPointSummary], of: fn(&BlockPointSummary) -> Option<f64>) -> Option<f64> {
    let none_counts = !points.iter().any(|point| point.counts);
    let counted = points.iter().filter(|point| point.counts || none_counts);
    let figure = over(counted, |point| of(point).map(|value| (value, None)));
    figure.map(|figure| figure.median)
}

/// Against the same job on the first medium. An invalid side has no ratio.
pub(super) fn against(job: &BlockJobSummary, first: &BlockJobSummary) -> Option<BlockRatios> {
    if job.verdict.max(first.verdict) == Verdict::Invalid {
        return None;
    }
    let own = job.figures?;
    let first = first.figures?;
    let Ratio { ratio, interval } = Ratio::of(
        own.iops.median,
        own.iops.interval,
        first.iops.median,
        first.iops.interval,
    )?;
    Some(BlockRatios {
        iops: ratio,
        iops_low: interval.map(|interval| interval.low),
        iops_high: interval.map(|interval| interval.high),
        mean_latency: own
            .mean_us
            .zip(first.mean_us.filter(|mean| mean.median > 0.0))
            .map(|(own, first)| own.median / first.median),
    })
}
