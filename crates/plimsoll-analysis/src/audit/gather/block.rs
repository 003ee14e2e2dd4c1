//! Points of block I/O.

use super::facts::RecordFacts;
use super::load::{data_and_memory, half_percent, nothing, precision, put_emulated, put_window};
use super::{printed, suspicions};
use crate::audit::input::{Known, LoadInput};
use crate::audit::{AuditSubject, AuditedLoad, Missing};
use crate::summary::{
    BlockJobSummary, BlockMedium, BlockPointSummary, BlockSummary, FigureId, FigureSet,
};
use plimsoll_record::metric::Metric;
use plimsoll_record::{BlockStreamInfo, PointId};

/// Figures that block I/O does not have.
const OF_TRANSACTIONS: [FigureId; 4] = [
    FigureId::Checkpoints,
    FigureId::Dropped,
    FigureId::Nopm,
    FigureId::ConditionsVerified,
];

/// Those that figures rest on: a round before a medium is steady is no figure.
pub(super) fn of_medium(
    facts: &RecordFacts<'_>,
    step: &BlockSummary,
    medium: &BlockMedium,
) -> Vec<LoadInput> {
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
) -> LoadInput {
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
    let id = PointId(point.point);
    let buffered = buffered(facts, job, id);
    let mut load = LoadInput {
        points: vec![id],
        findings: point.findings.clone(),
        buffered: buffered == Ok(true),
        suspicions: suspicions::of_point(facts, job, point),
        rows: printed::rows(facts.record, &[id]),
        ..LoadInput::unknown(about)
    };
    put_window(
        &mut load,
        point.measured_s,
        point.conservation,
        point.steady,
        point.halves,
    );
    put_emulated(point.drives.iter(), &mut load);
    let figures = &mut load.figures;
    for figure in OF_TRANSACTIONS {
        figures.miss(figure, Missing::NotForThisLoad);
    }
    let in_flight = in_flight(point).ok_or(Missing::NotForThisLoad);
    figures.put_all(FigureId::InFlight, in_flight);
    let precision = precision(
        &repeats(job, point),
        half_percent(point.figures.get(FigureId::Iops)),
    );
    figures.put_all(FigureId::IntervalPercent, Ok(precision));
    figures.put_all(FigureId::DataMb, sizes(facts, medium, buffered));
    let reads = match buffered {
        Ok(false) => Err(Missing::PastTheCache),
        _ => suspicions::device_reads(facts, id).ok_or(Missing::NoDeviceCounters),
    };
    figures.put(FigureId::DeviceReads, reads);
    let steal = point.steal_percent.ok_or(Missing::NoHost);
    figures.put(FigureId::StealPercent, steal);
    if steal.is_ok() {
        figures.miss(FigureId::OtherCpuPercent, Missing::NoSystemCpu);
    }
    load
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
fn sizes(facts: &RecordFacts<'_>, medium: &BlockMedium, buffered: Known<bool>) -> Known<FigureSet> {
    if !buffered? {
        return Err(Missing::PastTheCache);
    }
    let data = u64::from(medium.workers) as f64 * medium.worker_bytes as f64 / 1e6;
    let memory = facts.highest(Metric::MemoryTotal).ok_or(Missing::NoSizes)? / 1e6;
    (data > 0.0)
        .then(|| data_and_memory(data, memory))
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

fn in_flight(point: &BlockPointSummary) -> Option<FigureSet> {
    let (found, per_second) = point.in_flight_by_little.zip(point.value(FigureId::Iops))?;
    // Flushes are under way as well: their time is part of the mean. What edges of the window do, the summary's finding has
    // evaluated.
    (point.keeps_in_flight && per_second > 0.0).then(|| {
        FigureSet::from_iter([
            (FigureId::PerSecond, per_second),
            (FigureId::TimeInFlight, found / per_second * 1e3),
            (FigureId::InFlight, f64::from(point.in_flight)),
        ])
    })
}
