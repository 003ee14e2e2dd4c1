//! Figures of the fixture's block I/O against each other.

mod by_hand;
mod rounds;

use crate::summary::FigureId;
use std::sync::LazyLock;

use crate::summary::{BlockJobSummary, FindingKind, Verdict};
use crate::{Summary, summarise};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::fixture;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Sample, Series, Subject, SubjectId, SubjectKind};

fn summary_of_fixture() -> &'static Summary {
    static MADE: LazyLock<Summary> = LazyLock::new(|| summarise(&fixture::block()));
    &MADE
}

#[test]
fn block_io_is_in_no_ladder() {
    let summary = summary_of_fixture();
    assert!(
        summary.figures.ladders.is_empty()
            && summary.figures.comparisons.is_empty()
            && summary.figures.preconditions.is_empty()
    );
    assert_eq!(
        (summary.figures.headline, summary.figures.points().count()),
        (None, 0)
    );
    assert_eq!(summary.figures.blocks.len(), 2);
    assert_eq!(
        summary.verdict,
        Verdict::Invalid,
        "the verdict of a run includes block I/O"
    );
    assert_eq!(summary.figures.diagnoses.len(), 4);
    assert_eq!(
        summary
            .figures
            .diagnoses
            .iter()
            .filter_map(|found| found.medium.as_deref())
            .collect::<Vec<_>>(),
        ["fast", "fast", "slow"]
    );
}

#[test]
fn the_fixtures_rounds_match_its_description() {
    let [fast, slow] = summary_of_fixture().figures.blocks[0].media.as_slice() else {
        panic!("two media")
    };
    assert_eq!(
        (fast.medium.as_str(), slow.medium.as_str()),
        ("fast", "slow")
    );
    assert_eq!((fast.drive.as_deref(), slow.drive.is_some()), (None, true));
    assert_eq!(fast.rounds.as_ref().unwrap().reached_at, Some(3));
    assert_eq!(slow.rounds.as_ref().unwrap().reached_at, None);
    let late = &slow.jobs[1].points[1];
    assert!(
        late.findings
            .iter()
            .any(|finding| matches!(finding.kind, FindingKind::Emulated { .. })),
        "{:?}",
        late.findings
    );
    assert_eq!(
        (late.verdict, slow.jobs[1].verdict),
        (Verdict::Invalid, Verdict::Invalid)
    );
    assert_eq!(
        (slow.jobs[1].against_first.clone(), slow.jobs[0].verdict),
        (None, Verdict::Doubtful)
    );
    assert!(late.drives.iter().all(|drive| !drive.ops.is_empty()) && late.drives.len() == 1);
    let apart = |job: &BlockJobSummary| {
        let all = job.points.iter().flat_map(|point| &point.findings);
        all.filter(|finding| matches!(finding.kind, FindingKind::WorkersApart { .. }))
            .count()
    };
    assert_eq!(slow.jobs.iter().map(apart).collect::<Vec<_>>(), [0, 0, 4]);
}

#[test]
fn curves_rest_on_the_rounds_that_count() {
    let job = &summary_of_fixture().figures.blocks[0].media[0].jobs[0];
    assert_eq!(
        job.curve
            .iter()
            .map(|rate| rate.share_percent)
            .collect::<Vec<_>>(),
        [25.0, 75.0, 120.0]
    );
    for rate in &job.curve {
        let rounds = rate.points.iter().map(|point| (point.round, point.counts));
        assert_eq!(
            rounds.collect::<Vec<_>>(),
            [(0, false), (1, true), (2, true), (3, true)]
        );
        let mut achieved: Vec<f64> = rate.points[1..]
            .iter()
            .filter_map(|point| point.value(FigureId::Iops))
            .collect();
        achieved.sort_by(f64::total_cmp);
        let iops = rate.figures.value(FigureId::Iops).unwrap();
        assert_eq!(iops, achieved[1]);
        let reached = iops > rate.offered_per_second * 0.99;
        assert_eq!(reached, rate.share_percent < 100.0, "{rate:?}");
    }
}

#[test]
fn ratios_are_of_medians_with_the_interval_of_a_ratio() {
    let [fast, slow] = summary_of_fixture().figures.blocks[0].media.as_slice() else {
        panic!("two media")
    };
    assert!(fast.jobs.iter().all(|job| job.against_first.is_none()));
    let of = |figure| [slow, fast].map(|medium| medium.jobs[0].figure(figure).unwrap());
    let [a, b] = of(FigureId::Iops);
    let got = |figure| {
        let ratios = slow.jobs[0].against_first.as_ref().unwrap();
        ratios.get(figure).unwrap()
    };
    let expected = a.value / b.value;
    assert_eq!(got(FigureId::Iops).ratio, expected);
    let interval = a.interval.unwrap().ratio_to(b.interval.unwrap()).unwrap();
    let ends = got(FigureId::Iops).interval.unwrap();
    assert_eq!((ends.low, ends.high), (interval.low, interval.high));
    assert!(
        interval.low < expected && expected < interval.high && interval.degrees >= 2.0,
        "{interval:?}"
    );
    let [a, b] = of(FigureId::Mean);
    assert_eq!(got(FigureId::Mean).ratio, a.value / b.value);
}

#[test]
fn media_at_once_are_one_with_the_drives_of_all() {
    let step = &summary_of_fixture().figures.blocks[1];
    let [both] = step.media.as_slice() else {
        panic!("one row for both")
    };
    assert_eq!(
        (both.medium.as_str(), both.workers, step.profile.as_str()),
        ("fast + slow", 3, "")
    );
    let point = &both.jobs[1].points[0];
    assert_eq!(
        point
            .workers
            .iter()
            .map(|worker| worker.medium.as_str())
            .collect::<Vec<_>>(),
        ["fast", "fast", "slow"]
    );
    assert_eq!(point.drives.len(), 1);
    let sum: f64 = point
        .workers
        .iter()
        .filter_map(|worker| worker.figures.value(FigureId::Iops))
        .sum();
    assert!((sum - point.value(FigureId::Iops).unwrap()).abs() < 1e-6);
}

/// The requests are those of both media: for each of them the power of one is known.
#[test]
fn of_media_at_once_no_drive_has_an_energy_for_each_request() {
    let mut record = fixture::block();
    let mediums = record.subjects.iter();
    let mediums = mediums.filter(|own| own.kind == SubjectKind::Medium);
    let names: Vec<String> = mediums.map(|own| own.name.clone()).collect();
    let end = record.phases.iter().map(|phase| phase.end).max().unwrap();
    for (n, medium) in (0..).zip(names) {
        let id = SubjectId(9_000 + n);
        record.subjects.push(Subject {
            id,
            kind: SubjectKind::Member,
            name: format!("0@{medium}"),
        });
        let samples = (1..=end.0 / Nanos::SECOND.0).map(|second| Sample {
            at: Nanos::from_secs(second),
            over: Nanos::SECOND,
            value: 5.0,
        });
        record.series.push(Series {
            subject: id,
            metric: Metric::MemberWatts,
            samples: samples.collect(),
        });
    }
    let summary = summarise(&record);
    let energies = |step: usize| -> Vec<bool> {
        let jobs = summary.figures.blocks[step]
            .media
            .iter()
            .flat_map(|own| &own.jobs);
        let drives = jobs
            .flat_map(|job| &job.points)
            .flat_map(|point| &point.drives);
        let members = drives.flat_map(|drive| &drive.members);
        members
            .map(|own| own.joules_per_transaction.is_some())
            .collect()
    };
    assert!(energies(0).contains(&true), "of one medium it is known");
    assert!(!energies(1).is_empty() && !energies(1).contains(&true));
}

#[test]
fn a_drive_that_is_late_makes_media_at_once_invalid() {
    let mut record = fixture::block();
    let last = record.points.last().unwrap().id;
    let phase = record
        .phases
        .iter()
        .find(|p| p.point == Some(last) && p.kind == PhaseKind::Measure)
        .unwrap()
        .clone();
    for row in record
        .drive
        .iter_mut()
        .filter(|row| row.start >= phase.start && row.end <= phase.end)
    {
        (row.late, row.beyond) = (row.modelled.clone(), row.ops);
    }
    let summary = summarise(&record);
    assert_eq!(
        summary.figures.blocks[1].media[0].jobs[1].verdict,
        Verdict::Invalid
    );
    assert_ne!(
        summary.figures.blocks[1].media[0].jobs[0].verdict,
        Verdict::Invalid
    );
}

#[test]
fn rows_without_their_point_or_seconds_are_no_figures() {
    let mut record = fixture::block();
    record.seconds = Default::default();
    record.windows.clear();
    record.points.pop();
    let summary = summarise(&record);
    let jobs = || {
        summary
            .figures
            .blocks
            .iter()
            .flat_map(|block| &block.media)
            .flat_map(|medium| &medium.jobs)
    };
    assert!(
        jobs().all(|job| job.figures.is_none() && job.typical.is_none() && job.curve.is_empty())
    );
    assert_eq!(summary.verdict, Verdict::Invalid);
    let gone = summary.figures.blocks[1].media[0].jobs.len();
    assert_eq!(gone, 1, "the job whose point is not there");
}
