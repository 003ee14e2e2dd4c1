//! Points of block I/O.

use super::facts::RecordFacts;
use super::load::{emulated, halves, nothing, precision, trend};
use super::{printed, suspicions};
use crate::audit::input::{Counted, InFlight, Known, LoadFacts};
use crate::audit::{AuditSubject, AuditedLoad, Missing};
use crate::summary::{
    BlockJobSummary, BlockMedium, BlockPointSummary, BlockSummary, Conservation, FigureId,
};
use plimsoll_record::metric::Metric;
use plimsoll_record::{BlockStreamInfo, PointId};

/// Those that figures rest on: a round before a medium is steady is no figure.
pub(super) fn of_medium(
    facts: &RecordFacts<'_>,
    step: &BlockSummary,
    medium: &BlockMedium,
) -> Vec<LoadFacts> {
    let points = medium
        .jobs
        .iter()
        .flat_map(|job| job.all_points().map(move |point| (job, point)));
    points
        .filter(|(_, point)| point.counts)
        .map(|(job, point)| of_point(facts, step, medium, job, point))
        .collect()
}

fn of_point(
    facts: &RecordFacts<'_>,
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) -> LoadFacts {
    let about = AuditSubject::Load(AuditedLoad {
        step: step.step.clone(),
        on: medium.medium.clone(),
        job: Some(job.job.clone()),
        load: point.load(),
        repeat: point.round,
    });
    if point.measured_s <= 0.0 {
        return nothing(about, point.findings.clone());
    }
    let buffered = buffered(facts, job, PointId(point.point));
    LoadFacts {
        points: vec![PointId(point.point)],
        findings: point.findings.clone(),
        measured_s: Some(point.measured_s),
        in_flight: in_flight(point).ok_or(Missing::NotForThisLoad),
        counted: match point.conservation {
            Conservation::Unknown => Err(Missing::NoCounts),
            counts => Ok(Counted::PerSecond(counts)),
        },
        trend: trend(point.steady, point.measured_s),
        halves: halves(point.halves, point.steady, point.measured_s),
        precision: precision(
            &repeats(job, point),
            point
                .figures
                .get(FigureId::Iops)
                .and_then(|rate| rate.interval),
            point.measured_s,
        ),
        checkpoints: Err(Missing::NotForThisLoad),
        sizes: sizes(facts, medium, buffered),
        buffered,
        suspicions: suspicions::of_point(facts, job, point),
        reads: match buffered {
            Ok(false) => Err(Missing::PastTheCache),
            _ => suspicions::device_reads(facts, PointId(point.point))
                .ok_or(Missing::NoDeviceCounters),
        },
        generator: Err(Missing::NoGenerator),
        lag: Err(Missing::NoLag),
        dropped: Err(Missing::NotForThisLoad),
        steal: point.steal_percent.ok_or(Missing::NoHost),
        other_cpu: Err(point
            .steal_percent
            .map_or(Missing::NoHost, |_| Missing::NoSystemCpu)),
        tpm_nopm: Err(Missing::NotForThisLoad),
        conditions: Err(Missing::NotForThisLoad),
        emulated: emulated(point.drives.iter()),
        printed: printed::rows(facts.record, &[PointId(point.point)]),
        ..LoadFacts::unknown(about)
    }
}

/// Whether requests may be answered from the page cache: reads, and writes that nothing makes the tool wait for.
fn buffered(facts: &RecordFacts<'_>, job: &BlockJobSummary, point: PointId) -> Known<bool> {
    // Of jobs that are reported together, and without their options, the modes are not known.
    if ["cache", "group", "job"]
        .iter()
        .any(|what| facts.lacks(point, what))
    {
        return Err(Missing::NoCacheMode);
    }
    let is_buffered = |stream: &BlockStreamInfo| {
        !stream.direct && (stream.read_percent > 0 || stream.sync == "none")
    };
    Ok(job.streams.iter().any(is_buffered))
}

/// MB of all files, and of the machine's memory.
fn sizes(
    facts: &RecordFacts<'_>,
    medium: &BlockMedium,
    buffered: Known<bool>,
) -> Known<(f64, f64)> {
    if !buffered? {
        return Err(Missing::PastTheCache);
    }
    let data = u64::from(medium.workers) as f64 * medium.worker_bytes as f64 / 1e6;
    let memory = facts.highest(Metric::MemoryTotal).ok_or(Missing::NoSizes)? / 1e6;
    (data > 0.0)
        .then_some((data, memory))
        .ok_or(Missing::NoSizes)
}

/// IOPS of the rounds that count, at the same share of full speed.
fn repeats(job: &BlockJobSummary, point: &BlockPointSummary) -> Vec<f64> {
    let same = job.all_points().filter(|other| {
        other.counts
            && other.share_percent.map(f64::to_bits) == point.share_percent.map(f64::to_bits)
    });
    same.filter_map(|other| other.value(FigureId::Iops))
        .collect()
}

fn in_flight(point: &BlockPointSummary) -> Option<InFlight> {
    let (found, per_second) = point.in_flight_by_little.zip(point.value(FigureId::Iops))?;
    // Flushes are under way as well: their time is part of the mean.
    (point.keeps_in_flight && per_second > 0.0).then(|| InFlight {
        per_second,
        mean_ms: found / per_second * 1e3,
        asked: f64::from(point.in_flight),
        // The summary's finding has evaluated it.
        edges_percent: 0.0,
    })
}
