//! One job in one round, at full speed or at one rate.

use std::collections::BTreeMap;

use super::super::drive;
use super::super::drive_summary::DriveSummary;
use super::super::estimate::Estimate;
use super::super::figure::FigureId;
use super::super::figure_set::FigureSet;
use super::super::finding::{Finding, Verdict};
use super::super::index::Index;
use super::super::latency::{LatencySummary, TxnSummary};
use super::super::point as plain;
use super::super::point_summary::PointSummary;
use super::super::printed::{PrintedLatencies, mean_ms};
use super::super::tick::{TickRows, window};
use super::findings;
use super::summary::{
    BlockOpSummary, BlockPointSummary, BlockSecond, BlockWorkerSummary, cv_percent,
};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::{BlockPoint, BlockShare, Point, SubjectId};

pub(super) fn summarise(index: &Index, point: &Point, block: &BlockPoint) -> BlockPointSummary {
    let figures = plain::summarise(index, point);
    let shares: Vec<&BlockShare> = index
        .record
        .shares
        .iter()
        .filter(|share| share.point == point.id)
        .collect();
    let measured_s = figures.measured_s;
    let workers = workers(index, point, &shares, measured_s);
    let whole = &figures.overall;
    let mut summary = BlockPointSummary {
        point: point.id.0,
        round: point.repeat,
        counts: true,
        share_percent: block.share_percent,
        offered_per_second: point.offered_per_second,
        measured_s,
        figures: FigureSet::default()
            .with(FigureId::Iops, figures.figures.get(FigureId::Transactions))
            .with(
                FigureId::MbPerSecond,
                mb_per_second(whole.counts.bytes, measured_s),
            )
            .with_times(whole.response),
        iops_spread: figures.spreads.get(&FigureId::Transactions).copied(),
        steady: figures.steady,
        halves: figures.halves,
        steal_percent: figures.resources.host_cpu_steal_percent,
        conservation: figures.conservation,
        by_op: figures
            .types
            .iter()
            .filter_map(|op| of_op(op, measured_s))
            .collect(),
        workers_cv_percent: cv_percent(&workers),
        workers,
        in_flight_by_little: in_flight(index, point, &figures, &shares),
        in_flight: point.users,
        keeps_in_flight: keeps_in_flight(point, block),
        seconds: seconds(index, point),
        drives: Vec::new(),
        findings: Vec::new(),
        verdict: Verdict::Valid,
    };
    let (drives, mut found) = media(index, point, &figures, &shares);
    summary.drives = drives;
    found.extend(findings::of_point(block, &figures, &shares, &summary));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    summary.verdict = Verdict::of(&found);
    summary.findings = found;
    summary
}

/// The emulated drives among the point's media, and the point's findings: of several media at once those of each.
fn media(
    index: &Index,
    point: &Point,
    figures: &PointSummary,
    shares: &[&BlockShare],
) -> (Vec<DriveSummary>, Vec<Finding>) {
    let mut drives: Vec<DriveSummary> = figures.drive.iter().cloned().collect();
    let mut found = figures.findings.clone();
    if point.medium.is_none() {
        let phases = index.load_phases(point);
        for medium in media_of(shares.iter().copied()) {
            let own = plain::summarise(
                index,
                &Point {
                    medium: Some(medium),
                    ..point.clone()
                },
            );
            found.extend(drive::findings(&own, window(&phases), None));
            drives.extend(own.drive.map(without_energy));
        }
    }
    (drives, found)
}

/// The requests are those of all media, the power is that of one.
fn without_energy(mut drive: DriveSummary) -> DriveSummary {
    for member in &mut drive.members {
        member.joules_per_transaction = None;
    }
    drive
}

fn of_op(op: &TxnSummary, measured_s: f64) -> Option<BlockOpSummary> {
    let requests = op.counts.completed();
    (measured_s > 0.0).then(|| BlockOpSummary {
        op: op.name.clone(),
        requests,
        figures: figures(requests, op.counts.bytes, measured_s, op.response),
    })
}

fn figures(
    requests: u64,
    bytes: u64,
    measured_s: f64,
    latency: Option<LatencySummary>,
) -> FigureSet {
    let iops = Estimate::single(requests as f64 / measured_s, None);
    FigureSet::default()
        .with(FigureId::Iops, iops)
        .with(FigureId::MbPerSecond, mb_per_second(bytes, measured_s))
        .with_times(latency)
}

/// `None` where nothing was measured.
fn mb_per_second(bytes: u64, measured_s: f64) -> Option<Estimate> {
    Estimate::single(bytes as f64 / 1e6 / measured_s, None).filter(|_| measured_s > 0.0)
}

/// At full speed, of jobs that keep all their requests in flight: fio empties its queue before a flush, the page cache
/// answers while requests are handed over, and rates, think time and a queue that adapts itself leave requests out.
fn keeps_in_flight(point: &Point, block: &BlockPoint) -> bool {
    const LEAVE_OUT: [&str; 5] = [
        "rate",
        "rate_iops",
        "thinktime",
        "latency_target",
        "iodepth_low",
    ];
    let closed = block.share_percent.is_none()
        && !block.streams.is_empty()
        && block.streams.iter().all(|s| {
            s.per_second.is_none() && (s.depth == 1 || (s.direct && !s.sync.starts_with("flush")))
        });
    closed
        && point.users > 0
        && !LEAVE_OUT
            .iter()
            .any(|key| point.parameters.contains_key(*key))
}

/// Little's law: the mean number under way is rate × mean time, summed over all kinds of requests. A thread that waits
/// for a flush has no request under way, so flushes count.
fn in_flight(
    index: &Index,
    point: &Point,
    figures: &PointSummary,
    shares: &[&BlockShare],
) -> Option<f64> {
    let printed = PrintedLatencies::of_point(index.record, point.id);
    let mut seconds = 0.0;
    for (txn, op) in figures.types.iter().enumerate() {
        let requests = op.counts.completed();
        seconds += match op.response {
            Some(response) => requests as f64 * response.mean_ms / 1e3,
            None if requests == 0 => 0.0,
            // Without the time of one kind nothing is known about all.
            None if figures.imported.is_some() => {
                printed_seconds(&printed, txn as u32, op, shares)?
            }
            None => 0.0,
        };
    }
    (figures.measured_s > 0.0 && seconds > 0.0).then(|| seconds / figures.measured_s)
}

/// Time of all requests of a kind by the printed means: of all of them, or of each of several workers.
fn printed_seconds(
    printed: &[PrintedLatencies],
    txn: u32,
    op: &TxnSummary,
    shares: &[&BlockShare],
) -> Option<f64> {
    if let Some(mean) = mean_ms(printed, &op.name) {
        return Some(op.counts.completed() as f64 * mean.ms / 1e3);
    }
    let own: Vec<&&BlockShare> = shares.iter().filter(|share| share.txn == txn).collect();
    let mut seconds = 0.0;
    for share in &own {
        let mean = mean_ms(printed, &format!("{}, job {}", op.name, share.worker + 1))?;
        seconds += share.requests as f64 * mean.ms / 1e3;
    }
    (!own.is_empty()).then_some(seconds)
}

fn workers(
    index: &Index,
    point: &Point,
    shares: &[&BlockShare],
    measured_s: f64,
) -> Vec<BlockWorkerSummary> {
    let mut by_worker: BTreeMap<(u32, SubjectId), (u64, u64, Hist)> = BTreeMap::new();
    for share in shares
        .iter()
        .filter(|share| point.is_counted(share.txn as usize))
    {
        let (requests, bytes, response) =
            by_worker.entry((share.worker, share.medium)).or_default();
        *requests = requests.saturating_add(share.requests);
        *bytes = bytes.saturating_add(share.bytes);
        response.merge(&share.response);
    }
    by_worker
        .into_iter()
        .filter_map(|((worker, medium), (requests, bytes, response))| {
            (measured_s > 0.0).then(|| BlockWorkerSummary {
                worker,
                medium: index.name(medium),
                figures: figures(requests, bytes, measured_s, LatencySummary::of(&response)),
            })
        })
        .collect()
}

/// Warm-up included, so that a chart shows what came before the window.
fn seconds(index: &Index, point: &Point) -> Vec<BlockSecond> {
    index
        .load_phases(point)
        .iter()
        .flat_map(|phase| {
            let measured = phase.kind == PhaseKind::Measure;
            index
                .ticks
                .of_phase(phase)
                .map(|tick| second(point, tick, measured))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn second(point: &Point, tick: TickRows<'_>, measured: bool) -> BlockSecond {
    let mut latency = CoarseHist::default();
    let mut requests = 0u64;
    let mut bytes = 0u64;
    for row in tick.rows().filter(|row| point.is_counted(row.txn as usize)) {
        requests = requests.saturating_add(row.counts.completed());
        bytes = bytes.saturating_add(row.counts.bytes);
        latency.merge(&row.response());
    }
    BlockSecond {
        at_s: tick.end().as_secs_f64(),
        seconds: tick.seconds(),
        measured,
        requests,
        bytes,
        p50_us: latency.quantile(0.5).map(Nanos::as_micros_f64),
        p95_us: latency.quantile(0.95).map(Nanos::as_micros_f64),
        p99_us: latency.quantile(0.99).map(Nanos::as_micros_f64),
        max_us: latency.max().map(Nanos::as_micros_f64),
    }
}

/// In the order of the workers.
pub(super) fn media_of<'a>(shares: impl Iterator<Item = &'a BlockShare>) -> Vec<SubjectId> {
    let mut media = Vec::new();
    for share in shares {
        if !media.contains(&share.medium) {
            media.push(share.medium);
        }
    }
    media
}
