//! The steps of a run: their media, jobs and rounds.

use std::collections::BTreeMap;

use super::super::figure::FigureId;
use super::super::finding::{Finding, FindingKind, Verdict};
use super::super::index::Index;
use super::super::speed::is_like_speed;
use super::job::{self, JobPoint};
use super::summary::{BlockJobSummary, BlockMedium, BlockSummary, Rounds, RoundsOfJob};
use super::{findings, point};
use plimsoll_record::{BlockPoint, Point, Severity, SteadyInfo, SubjectId};
use plimsoll_stats::rounds;
use plimsoll_stats::rounds::SteadyRule;

/// Joins the names of media that are used at once.
const AND: &str = " + ";

pub(in crate::summary) fn of_run(index: &Index) -> Vec<BlockSummary> {
    let mut steps: BTreeMap<u32, Vec<Vec<(&Point, &BlockPoint)>>> = BTreeMap::new();
    for block in &index.record.blocks {
        let Some(point) = index
            .record
            .points
            .iter()
            .find(|point| point.id == block.point)
        else {
            continue;
        };
        // Media in the order of the plan, which is that of their first points.
        let media = steps.entry(point.step_index).or_default();
        match media
            .iter_mut()
            .find(|points| points[0].0.medium == point.medium)
        {
            Some(points) => points.push((point, block)),
            None => media.push(vec![(point, block)]),
        }
    }
    steps
        .into_values()
        .map(|media| step(index, &media))
        .collect()
}

fn step(index: &Index, media: &[Vec<(&Point, &BlockPoint)>]) -> BlockSummary {
    let (point, block) = media[0][0];
    let mut summary = BlockSummary {
        step: point.step.clone(),
        step_index: point.step_index,
        workload: point.workload.clone(),
        profile: block.profile.clone(),
        media: media.iter().map(|points| medium(index, points)).collect(),
    };
    let speeds: Vec<Vec<Option<f64>>> = media.iter().map(|own| speeds(index, own)).collect();
    if let Some((first, others)) = summary.media.split_first_mut() {
        let alike = others.iter_mut().zip(&speeds[1..]);
        let alike = alike.filter(|(_, own)| are_like(own, &speeds[0]));
        for own in alike.flat_map(|(medium, _)| &mut medium.jobs) {
            let same = first.jobs.iter().find(|job| job.job_index == own.job_index);
            own.against_first = same.and_then(|first| job::against(own, first));
        }
    }
    summary
}

fn medium(index: &Index, points: &[(&Point, &BlockPoint)]) -> BlockMedium {
    let (first, block) = points[0];
    let mut measured: Vec<JobPoint> = points
        .iter()
        .map(|(point, block)| (*block, point::summarise(index, point, block)))
        .collect();
    measured.sort_by_key(|(block, point)| (block.job_index, point.round, point.point));
    let info = index
        .record
        .steady
        .iter()
        .find(|s| s.step_index == first.step_index && s.medium == first.medium);
    let (rounds, window) = info.map(|info| of_rounds(info, &measured)).unzip();
    let window = window.flatten();
    for (_, point) in &mut measured {
        point.counts = window
            .as_ref()
            .is_none_or(|window| window.contains(&point.round));
        if !point.counts {
            findings::excuse(point);
        }
    }
    let by_job =
        measured
            .into_iter()
            .fold(BTreeMap::<u32, Vec<JobPoint>>::new(), |mut jobs, own| {
                jobs.entry(own.0.job_index).or_default().push(own);
                jobs
            });
    let mut jobs: Vec<BlockJobSummary> = by_job.into_values().filter_map(job::of).collect();
    let findings: Vec<Finding> = rounds.iter().filter_map(not_reached).collect();
    for job in jobs.iter_mut().filter(|_| !findings.is_empty()) {
        job.verdict = job.verdict.max(Verdict::of(&findings));
    }
    let verdict = jobs
        .iter()
        .map(|job| job.verdict)
        .max()
        .unwrap_or_default()
        .max(Verdict::of(&findings));
    let media = media(index, points);
    let titles: Vec<String> = media
        .iter()
        .filter_map(|medium| index.drive_title(Some(*medium)))
        .collect();
    BlockMedium {
        medium: media
            .iter()
            .map(|medium| index.name(*medium))
            .collect::<Vec<_>>()
            .join(AND),
        drive: (!titles.is_empty()).then(|| titles.join(AND)),
        slower: speeds(index, points).into_iter().flatten().reduce(f64::max),
        workers: block.workers,
        worker_bytes: block.worker_bytes,
        jobs,
        rounds,
        findings,
        verdict,
    }
}

/// How many times slower than rated the media ran.
fn speeds(index: &Index, points: &[(&Point, &BlockPoint)]) -> Vec<Option<f64>> {
    let media = media(index, points).into_iter();
    media.map(|medium| index.slower(Some(medium))).collect()
}

/// Whether all of them ran at one speed.
fn are_like(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
    let first = a.first().copied().flatten();
    a.iter().chain(b).all(|own| is_like_speed(*own, first))
}

/// What the points are on: their medium, or the media of their workers.
fn media(index: &Index, points: &[(&Point, &BlockPoint)]) -> Vec<SubjectId> {
    points
        .iter()
        .map(|(point, _)| media_of_point(index, point))
        .find(|media| !media.is_empty())
        .unwrap_or_default()
}

fn media_of_point(index: &Index, point: &Point) -> Vec<SubjectId> {
    if let Some(medium) = point.medium {
        return vec![medium];
    }
    let shares = index.record.shares.iter();
    point::media_of(shares.filter(|share| share.point == point.id))
}

/// How the rounds went, and which of them count: the steady window, or the last one.
fn of_rounds(
    info: &SteadyInfo,
    measured: &[JobPoint<'_>],
) -> (Rounds, Option<std::ops::RangeInclusive<u32>>) {
    let rule = SteadyRule {
        window: info.window,
        range: info.range,
        slope: info.slope,
    };
    let mut jobs: BTreeMap<u32, RoundsOfJob> = BTreeMap::new();
    for (block, point) in measured
        .iter()
        .filter(|(block, _)| block.share_percent.is_none())
    {
        let job = jobs.entry(block.job_index).or_insert_with(|| RoundsOfJob {
            job: block.job.clone(),
            iops: Vec::new(),
            fit: None,
        });
        let iops = &mut job.iops;
        // A series ends where a round is missing.
        iops.extend(
            point
                .value(FigureId::Iops)
                .filter(|_| point.round as usize == iops.len()),
        );
    }
    let mut jobs: Vec<RoundsOfJob> = jobs.into_values().collect();
    let series: Vec<&[f64]> = jobs.iter().map(|job| job.iops.as_slice()).collect();
    let reached_at = rounds::all_steady(&series, &rule);
    let done = series
        .iter()
        .map(|iops| iops.len())
        .max()
        .unwrap_or_default() as u32;
    for job in &mut jobs {
        let upto = reached_at.map_or(job.iops.len(), |last| last as usize + 1);
        job.fit = rounds::fit(&job.iops[..upto.min(job.iops.len())], &rule);
    }
    let last = reached_at.or(done.checked_sub(1));
    let window = last.map(|last| (last + 1).saturating_sub(rule.window)..=last);
    let rounds = Rounds {
        window: info.window,
        range_percent_limit: info.range * 100.0,
        slope_percent_limit: info.slope * 100.0,
        most_rounds: info.most_rounds,
        reached_at,
        jobs,
    };
    (rounds, window)
}

fn not_reached(rounds: &Rounds) -> Option<Finding> {
    let done = rounds
        .jobs
        .iter()
        .map(|job| job.iops.len())
        .max()
        .unwrap_or_default() as u32;
    let kind = FindingKind::SteadyNotReached {
        rounds: done,
        window: rounds.window,
    };
    rounds
        .reached_at
        .is_none()
        .then(|| kind.with(Severity::Warning))
}
