//! Points whose every figure is computed by hand.

use super::super::super::figure::FigureId;
use std::sync::LazyLock;

use proptest::prelude::*;

use crate::summarise;
use crate::summary::{BlockMedium, BlockPointSummary, FindingKind, LatencySummary, Verdict};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::fixture;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;
use plimsoll_record::{
    BlockPoint, BlockShare, BlockStreamInfo, Phase, PhaseId, Point, PointId, Record, Second,
    Severity, SteadyInfo, SubjectId, Window,
};

const FAST: SubjectId = SubjectId(4);

pub(super) fn stream(read_percent: u32, depth: u32) -> BlockStreamInfo {
    let from = fixture::block().blocks[0].streams[0].clone();
    BlockStreamInfo {
        read_percent,
        depth,
        threads: 1,
        ..from
    }
}

/// What ended in each second: requests of each type, all of one size and time.
pub(super) struct Each {
    pub txn: &'static str,
    pub per_second: u64,
    pub bytes: u64,
    pub us: u64,
}

/// One point after the other on the medium `fast`, of one worker, whose seconds are all alike.
pub(super) struct ByHand {
    pub record: Record,
}

impl ByHand {
    pub fn new() -> Self {
        static BASE: LazyLock<Record> = LazyLock::new(|| {
            let mut record = fixture::block();
            let r = &mut record;
            (
                r.points, r.phases, r.seconds, r.windows, r.blocks, r.shares, r.steady,
            ) = Default::default();
            (r.series, r.events, r.drive) = Default::default();
            record
        });
        let record = BASE.clone();
        Self { record }
    }

    pub fn point(
        &mut self,
        (job_index, round): (u32, u32),
        stream: &BlockStreamInfo,
        seconds: u64,
        all: &[Each],
    ) -> &mut Self {
        let n = self.record.points.len() as u32 + 1;
        let (id, phase) = (PointId(n), PhaseId(n));
        let start = self
            .record
            .phases
            .last()
            .map_or(Nanos::ZERO, |phase: &Phase| phase.end);
        let end = start + Nanos::from_secs(seconds);
        let template = fixture_point();
        self.record.points.push(Point {
            id,
            ordinal: n,
            repeat: round,
            medium: Some(FAST),
            users: stream.depth * stream.threads,
            offered_per_second: stream.per_second,
            txns: all.iter().map(|each| each.txn.to_owned()).collect(),
            ..template.0
        });
        let streams = vec![stream.clone()];
        self.record.blocks.push(BlockPoint {
            point: id,
            job_index,
            workers: 1,
            streams,
            share_percent: None,
            ..template.1
        });
        let (kind, step) = (PhaseKind::Measure, "by hand".to_owned());
        self.record.phases.push(Phase {
            id: phase,
            point: Some(id),
            step,
            kind,
            start,
            end,
            complete: true,
        });
        for (txn, each) in all.iter().enumerate() {
            self.requests((id, phase), txn as u32, (start, seconds), each);
        }
        self
    }

    fn requests(
        &mut self,
        (point, phase): (PointId, PhaseId),
        txn: u32,
        (from, seconds): (Nanos, u64),
        each: &Each,
    ) {
        let time = Nanos::from_micros(each.us);
        let hist = |n: u64| Hist::of_buckets([(time, n)], u128::from(time.0) * u128::from(n), time);
        let subject = SubjectId(6);
        for s in 0..seconds {
            let (n, start) = (each.per_second, from + Nanos::from_secs(s));
            let counts = Counts {
                offered: n,
                committed: n,
                bytes: n * each.bytes,
                ..Counts::default()
            };
            let (end, response) = (start + Nanos::SECOND, hist(n).coarse());
            self.record.seconds.push(Second {
                phase,
                subject,
                txn,
                start,
                end,
                counts,
                in_flight: 0,
                response,
                service: None,
            });
        }
        let requests = each.per_second * seconds;
        let (response, bytes) = (hist(requests), requests * each.bytes);
        self.record.shares.push(BlockShare {
            point,
            worker: 0,
            medium: FAST,
            txn,
            requests,
            bytes,
            response: response.clone(),
        });
        self.record.windows.push(Window {
            phase,
            subject,
            txn,
            response,
            service: None,
            coarse: false,
        });
    }

    pub fn summarise(&self) -> BlockMedium {
        summarise(&self.record).figures.blocks[0].media[0].clone()
    }

    fn only(&self) -> BlockPointSummary {
        self.summarise().jobs[0].points[0].clone()
    }
}

fn fixture_point() -> (Point, BlockPoint) {
    static FIRST: LazyLock<(Point, BlockPoint)> = LazyLock::new(|| {
        let record = fixture::block();
        (record.points[0].clone(), record.blocks[0].clone())
    });
    FIRST.clone()
}

fn kinds(point: &BlockPointSummary) -> Vec<(&FindingKind, Severity)> {
    point
        .findings
        .iter()
        .map(|finding| (&finding.kind, finding.severity))
        .collect()
}

pub(super) const READS: Each = Each {
    txn: "read",
    per_second: 1000,
    bytes: 4096,
    us: 2000,
};

#[test]
fn every_figure_of_one_job_by_hand() {
    let mut run = ByHand::new();
    let writes = Each {
        txn: "write",
        per_second: 500,
        bytes: 8192,
        us: 5000,
    };
    let point = run
        .point((0, 0), &stream(67, 5), 6, &[READS, writes])
        .only();
    assert_eq!(
        (point.value(FigureId::Iops), point.measured_s, point.round),
        (Some(1500.0), 6.0, 0)
    );
    // 1000 · 4096 + 500 · 8192 bytes, MB of 10⁶.
    assert_eq!(point.value(FigureId::MbPerSecond), Some(8.192));
    let [mean, max, p50, p99] = [FigureId::Mean, FigureId::Max, FigureId::P50, FigureId::P99]
        .map(|time| point.value(time).unwrap());
    assert_eq!((mean, max), (3.0, 5.0));
    // Two thirds took 2 ms.
    assert!(
        (p50 / 2.0 - 1.0).abs() < 0.001 && (p99 / 5.0 - 1.0).abs() < 0.001,
        "{p50} {p99}"
    );
    // 1000/s · 2 ms + 500/s · 5 ms.
    assert_eq!((point.in_flight_by_little, point.in_flight), (Some(4.5), 5));
    let ops: Vec<_> = point
        .by_op
        .iter()
        .map(|op| {
            let rates = [FigureId::Iops, FigureId::MbPerSecond];
            let rates = rates.map(|figure| op.figures.value(figure).unwrap());
            (op.op.as_str(), op.requests, rates)
        })
        .collect();
    assert_eq!(
        ops,
        [
            ("read", 6000, [1000.0, 4.096]),
            ("write", 3000, [500.0, 4.096])
        ]
    );
    let second = &point.seconds[2];
    assert_eq!(
        (second.at_s, second.requests, second.bytes, second.measured),
        (3.0, 1500, 8_192_000, true)
    );
    let worker = &point.workers[0];
    let of_worker = [FigureId::Iops, FigureId::MbPerSecond, FigureId::Mean];
    assert_eq!(
        (
            worker.medium.as_str(),
            of_worker.map(|figure| worker.figures.value(figure))
        ),
        ("fast", [Some(1500.0), Some(8.192), Some(3.0)])
    );
    assert_eq!(point.workers_cv_percent, None);
    assert_eq!(
        (
            point
                .figures
                .get(FigureId::Iops)
                .and_then(|rate| rate.interval),
            point.steady.name(),
            point.verdict
        ),
        (None, "yes", Verdict::Valid)
    );
}

#[test]
fn flushes_stand_beside_what_they_make_durable() {
    let mut run = ByHand::new();
    let one = BlockStreamInfo {
        sync: "flush:1".into(),
        ..stream(0, 1)
    };
    let writes = Each {
        txn: "write",
        per_second: 100,
        bytes: 2048,
        us: 1000,
    };
    let syncs = Each {
        txn: "sync",
        per_second: 100,
        bytes: 0,
        us: 9000,
    };
    let point = run.point((0, 0), &one, 5, &[writes, syncs]).only();
    assert_eq!(
        (point.value(FigureId::Iops), point.value(FigureId::Max)),
        (Some(100.0), Some(1.0))
    );
    assert_eq!(point.seconds[0].requests, 100);
    let of_worker = point.workers[0].figures.value(FigureId::Iops);
    assert_eq!(of_worker, Some(100.0));
    let sync = point.by_op.iter().find(|op| op.op == "sync").unwrap();
    assert_eq!(
        (
            sync.figures.value(FigureId::Iops),
            sync.figures.value(FigureId::Mean)
        ),
        (Some(100.0), Some(9.0))
    );
    // A thread that waits for a flush is not idle: 100/s · (1 + 9) ms.
    assert_eq!(
        (point.in_flight_by_little, point.verdict),
        (Some(1.0), Verdict::Valid)
    );
}

#[test]
fn a_short_window_has_a_rate_and_no_interval() {
    let point = ByHand::new()
        .point((0, 0), &stream(100, 2), 3, &[READS])
        .only();
    assert_eq!(
        (
            point.value(FigureId::Iops),
            point
                .figures
                .get(FigureId::Iops)
                .and_then(|rate| rate.interval)
        ),
        (Some(1000.0), None)
    );
    assert_eq!(
        kinds(&point),
        [(
            &FindingKind::ShortWindow { measured_s: 3.0 },
            Severity::Warning
        )]
    );
}

#[test]
fn fewer_in_flight_than_asked_for_is_a_finding() {
    let off = |depth| {
        let point = ByHand::new()
            .point((0, 0), &stream(100, depth), 5, &[READS])
            .only();
        kinds(&point)
            .iter()
            .map(|(kind, _)| (*kind).clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(off(2), []);
    assert_eq!(
        off(4),
        [FindingKind::InFlightOff {
            found: 2.0,
            asked: 4
        }]
    );
    // At a rate there is room on purpose, and a few requests show nothing.
    let limited = BlockStreamInfo {
        per_second: Some(1000.0),
        ..stream(100, 4)
    };
    assert_eq!(
        ByHand::new()
            .point((0, 0), &limited, 5, &[READS])
            .only()
            .findings,
        []
    );
    let few = Each {
        per_second: 15,
        us: 2000,
        ..READS
    };
    assert_eq!(
        ByHand::new()
            .point((0, 0), &stream(100, 4), 5, &[few])
            .only()
            .findings,
        []
    );
}

#[test]
fn a_rate_that_is_not_reached_is_doubtful_below_full_speed() {
    let of = |share: Option<f64>, offered: f64| {
        let mut run = ByHand::new();
        run.point(
            (0, 0),
            &BlockStreamInfo {
                per_second: Some(offered),
                ..stream(100, 2)
            },
            5,
            &[READS],
        );
        run.record.blocks[0].share_percent = share;
        let job = run.summarise().jobs[0].clone();
        let point = job.all_points().next().unwrap().clone();
        (
            point.verdict,
            kinds(&point)
                .first()
                .map(|(kind, severity)| ((*kind).clone(), *severity)),
        )
    };
    let missed = FindingKind::RateNotReached {
        offered: 1250.0,
        achieved: 1000.0,
        percent: 20.0,
    };
    assert_eq!(
        of(Some(80.0), 1250.0),
        (Verdict::Doubtful, Some((missed.clone(), Severity::Warning)))
    );
    assert_eq!(
        of(Some(120.0), 1250.0),
        (Verdict::Valid, Some((missed.clone(), Severity::Note)))
    );
    assert_eq!(
        of(None, 1250.0),
        (Verdict::Doubtful, Some((missed, Severity::Warning)))
    );
    // 5000 independent arrivals scatter by 71.
    assert_eq!(of(Some(80.0), 1014.0), (Verdict::Valid, None));
    assert_eq!(of(Some(80.0), 990.0), (Verdict::Valid, None));
}

#[test]
fn reads_of_what_was_never_written_are_doubtful() {
    let of = |read_percent, fill| {
        let mut run = ByHand::new();
        run.point((0, 0), &stream(read_percent, 2), 5, &[READS]);
        run.record.blocks[0].fill = fill;
        run.only()
            .findings
            .into_iter()
            .map(|finding| finding.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(50, 0.5), [FindingKind::NeverWritten { fill: 0.5 }]);
    assert_eq!((of(50, 1.0), of(0, 0.0)), (vec![], vec![]));
}

#[test]
fn workers_that_do_not_do_the_same_are_named_with_their_medium() {
    let with = |shares: &[(SubjectId, u64)]| {
        let mut run = ByHand::new();
        run.point((0, 0), &stream(100, 2), 5, &[READS]);
        let own = run.record.shares.pop().unwrap();
        for (worker, (medium, requests)) in shares.iter().enumerate() {
            let (worker, medium, requests) = (worker as u32, *medium, *requests);
            run.record.shares.push(BlockShare {
                worker,
                medium,
                requests,
                ..own.clone()
            });
        }
        run.only()
            .findings
            .into_iter()
            .map(|finding| finding.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(with(&[(FAST, 2600), (FAST, 2400)]), []);
    let slow = SubjectId(5);
    assert_eq!(
        with(&[(FAST, 4000), (slow, 1000)]),
        [],
        "different media do not do the same"
    );
    let found = with(&[(FAST, 3000), (FAST, 1000), (slow, 1000)]);
    let [
        FindingKind::WorkersApart {
            medium,
            cv_percent,
            lowest,
            highest,
        },
    ] = found.as_slice()
    else {
        panic!("{found:?}")
    };
    // Mean 2000, standard deviation √2 · 1000.
    assert_eq!((medium.as_str(), *lowest, *highest), ("fast", 200.0, 600.0));
    assert!((cv_percent - 70.710_678).abs() < 1e-5, "{cv_percent}");
    let lost = with(&[(FAST, 2600), (FAST, 2399)]);
    assert_eq!(
        lost,
        [FindingKind::WorkersDisagree {
            op: "read".into(),
            workers: 4999,
            counted: 5000
        }]
    );
    assert_eq!(with(&[]), [], "a point that was cut short has none");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever was counted, figures are numbers, kinds of requests add up to the whole, and Little's law holds of it.
    #[test]
    fn figures_are_numbers_and_add_up(
        reads in 0u64..5000, writes in 0u64..5000, us in 1u64..2_000_000, depth in 1u32..64, seconds in 1u64..7,
    ) {
        let each = [Each { per_second: reads, us, ..READS }, Each { txn: "write", per_second: writes, bytes: 512, us: us * 2 }];
        let point = ByHand::new().point((0, 0), &stream(50, depth), seconds, &each).only();
        let iops = point.value(FigureId::Iops).unwrap();
        let sum = |figure| point.by_op.iter().filter_map(|op| op.figures.value(figure)).sum::<f64>();
        prop_assert!((sum(FigureId::Iops) - iops).abs() < 1e-6);
        prop_assert!((sum(FigureId::MbPerSecond) - point.value(FigureId::MbPerSecond).unwrap()).abs() < 1e-9);
        prop_assert!(point.seconds.iter().map(|second| second.requests).sum::<u64>() == (reads + writes) * seconds);
        let expected = reads as f64 * us as f64 / 1e6 + writes as f64 * us as f64 / 5e5;
        prop_assert!((point.in_flight_by_little.unwrap_or_default() - expected).abs() <= expected * 1e-9);
        prop_assert_eq!(point.value(FigureId::Mean).is_some(), reads + writes > 0);
        prop_assert!(LatencySummary::times().filter_map(|time| point.value(time)).all(f64::is_finite));
    }

    #[test]
    fn rubbish_in_the_rows_of_block_io_never_panics(changes in prop::collection::vec((0u8..14, any::<u64>()), 1..6)) {
        let mut run = ByHand::new();
        run.point((0, 0), &stream(50, 2), 2, &[READS]).point((0, 1), &stream(50, 2), 2, &[READS]);
        let first = run.record.points[0].clone();
        run.record.steady = vec![SteadyInfo {
            step: first.step,
            step_index: first.step_index,
            medium: first.medium,
            window: 2,
            range: 0.2,
            slope: 0.1,
            most_rounds: 2,
        }];
        changes.into_iter().for_each(|(which, value)| damage(&mut run.record, which, value));
        let summary = summarise(&run.record);
        let jobs = summary.figures.blocks.iter().flat_map(|block| &block.media).flat_map(|medium| &medium.jobs);
        prop_assert!(jobs.filter_map(|job| job.figure(FigureId::Iops)).all(|iops| iops.value.is_finite()));
    }
}

fn damage(record: &mut Record, which: u8, value: u64) {
    let number = f64::from_bits(value);
    let (block, share, steady) = (
        &mut record.blocks[0],
        &mut record.shares[0],
        &mut record.steady[0],
    );
    match which {
        0 => block.share_percent = Some(number),
        1 => block.streams.clear(),
        2 => block
            .streams
            .iter_mut()
            .for_each(|stream| stream.per_second = Some(number)),
        3 => block.fill = number,
        4 => (share.requests, share.bytes) = (value, value),
        5 => share.txn = value as u32,
        6 => (steady.window, steady.range) = (value as u32, number),
        7 => record.points[0].offered_per_second = Some(number),
        8 => record.points[0].users = value as u32,
        9 => record.points[1].repeat = value as u32,
        10 => record.points[0].txns.clear(),
        11 => record.points[0].medium = None,
        12 => record.phases[0].end = Nanos(value),
        _ => share.worker = value as u32,
    }
}
