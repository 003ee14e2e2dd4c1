//! Points of block I/O.

use super::load::{emulated, halves, nothing, precision, trend};
use crate::audit::input::{Counted, InFlight, LoadFacts};
use crate::audit::{AuditSubject, AuditedLoad, Missing};
use crate::summary::{BlockJobSummary, BlockMedium, BlockPointSummary, BlockSummary, Conservation};

/// Those that figures rest on: a round before a medium is steady is no figure.
pub(super) fn of_medium(step: &BlockSummary, medium: &BlockMedium) -> Vec<LoadFacts> {
    let points = medium
        .jobs
        .iter()
        .flat_map(|job| job.all_points().map(move |point| (job, point)));
    points
        .filter(|(_, point)| point.counts)
        .map(|(job, point)| of_point(step, medium, job, point))
        .collect()
}

fn of_point(
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) -> LoadFacts {
    let about = AuditSubject::Load(AuditedLoad {
        step: step.step.clone(),
        on: medium.medium.clone(),
        job: Some(job.job.clone()),
        users: point.in_flight,
        offered_per_second: point.offered_per_second,
        repeat: point.round,
    });
    if point.measured_s <= 0.0 {
        return nothing(about, point.findings.clone());
    }
    let direct = job.streams.iter().all(|stream| stream.direct);
    LoadFacts {
        findings: point.findings.clone(),
        measured_s: Some(point.measured_s),
        in_flight: in_flight(point).ok_or(Missing::NotForThisLoad),
        counted: match point.conservation {
            Conservation::Unknown => Err(Missing::NoCounts),
            counts => Ok(Counted::PerSecond(counts)),
        },
        trend: trend(point.steady),
        halves: halves(point.halves, point.steady),
        precision: precision(&repeats(job, point), point.iops_interval, point.measured_s),
        checkpoints: Err(Missing::NotForThisLoad),
        sizes: Err(if direct {
            Missing::PastTheCache
        } else {
            Missing::NoSizes
        }),
        reads: Err(if direct {
            Missing::PastTheCache
        } else {
            Missing::NoDeviceCounters
        }),
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
        ..LoadFacts::unknown(about)
    }
}

/// IOPS of the rounds that count, at the same share of full speed.
fn repeats(job: &BlockJobSummary, point: &BlockPointSummary) -> Vec<f64> {
    let same = job.all_points().filter(|other| {
        other.counts
            && other.share_percent.map(f64::to_bits) == point.share_percent.map(f64::to_bits)
    });
    same.filter_map(|other| other.iops).collect()
}

fn in_flight(point: &BlockPointSummary) -> Option<InFlight> {
    let (found, per_second) = point.in_flight_by_little.zip(point.iops)?;
    // Flushes are under way as well: their time is part of the mean.
    (point.keeps_in_flight && per_second > 0.0).then(|| InFlight {
        per_second,
        mean_ms: found / per_second * 1e3,
        asked: f64::from(point.in_flight),
        // The summary's finding has evaluated it.
        edges_percent: 0.0,
    })
}
