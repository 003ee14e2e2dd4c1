mod array_phases;
mod cut;
mod drive;
mod line;

use crate::audit::Rule;
use crate::summarise;
use std::ops::RangeFrom;
use std::sync::LazyLock;

use super::*;
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::fixture;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CheckDetail, EventKind};
use plimsoll_record::metric::Metric;
use plimsoll_record::{
    Check, Event, Phase, PhaseId, PointId, Second, Seconds, Severity, SubjectId, WaitState, Window,
};

/// One point of two users: 1 s warm, `seconds` of measurement, 1 s cool, counts set by hand.
fn by_hand(seconds: &[(Counts, u64)]) -> Record {
    // Windows are large, and others come in their place.
    static BASE: LazyLock<Record> = LazyLock::new(|| Record {
        windows: Vec::new(),
        ..fixture::single_point()
    });
    let mut record = BASE.clone();
    let phase = |id: u32, kind, from: u64, to: u64| Phase {
        id: PhaseId(id),
        point: Some(PointId(1)),
        step: "ladder".into(),
        kind,
        start: Nanos::from_secs(from),
        end: Nanos::from_secs(to),
        complete: true,
    };
    let end = 1 + seconds.len() as u64;
    record.phases = vec![
        phase(1, PhaseKind::Measure, 1, end),
        phase(2, PhaseKind::Cool, end, end + 1),
    ];
    record.points[0].users = 2;
    (record.windows, record.seconds) = (Vec::new(), Seconds::default());
    (record.series, record.events, record.checks) = (Vec::new(), Vec::new(), Vec::new());
    let mut response = Hist::new();
    for (i, (counts, in_flight)) in seconds.iter().enumerate() {
        (0..counts.completed()).for_each(|ms| response.record(Nanos::from_millis(ms + 1)));
        record
            .seconds
            .push(second(PhaseId(1), 1 + i as u64, *counts, *in_flight));
    }
    let subject = record.points[0].system;
    record.windows.push(Window {
        phase: PhaseId(1),
        subject,
        txn: 0,
        response,
        service: None,
        coarse: false,
    });
    record
}

fn second(phase: PhaseId, at: u64, counts: Counts, in_flight: u64) -> Second {
    Second {
        phase,
        subject: SubjectId(6),
        txn: 0,
        start: Nanos::from_secs(at),
        end: Nanos::from_secs(at + 1),
        counts,
        in_flight,
        response: Default::default(),
        service: None,
    }
}

fn set_counts(record: &mut Record, seconds: RangeFrom<usize>, counts: Counts) {
    record.seconds.edit(|all| {
        for second in &mut all[seconds] {
            second.counts = counts;
        }
    });
}

fn orders(committed: u64, rolled_back: u64) -> Counts {
    let offered = committed + rolled_back;
    Counts {
        offered,
        committed,
        rolled_back,
        round_trips: offered * 3,
        ..Counts::default()
    }
}

fn kinds(point: &PointSummary) -> Vec<String> {
    codes(&point.findings)
}

fn codes(findings: &[Finding]) -> Vec<String> {
    let name = |f: &Finding| {
        serde_json::to_value(&f.kind).unwrap()["finding"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    findings.iter().map(name).collect()
}

fn only(record: &Record) -> PointSummary {
    summarise(record).figures.ladders[0].points[0].clone()
}

#[test]
fn rates_are_counts_over_measured_time() {
    let mut record = by_hand(&[(orders(8, 2), 0), (orders(7, 3), 0)]);
    record.seconds.edit(|s| s[0].counts.retries = 5);
    // A quarter of a second at the end: what the plan wanted does not matter, what was recorded does.
    let last = Second {
        end: Nanos::from_millis(3250),
        ..second(PhaseId(1), 3, orders(2, 1), 0)
    };
    record.seconds.push(last);
    record.phases[0].end = Nanos::from_millis(3250);
    let point = only(&record);
    assert_eq!(point.measured_s, 2.25);
    assert_eq!(point.value(FigureId::Tpm), Some(23.0 * 60.0 / 2.25));
    assert_eq!(point.value(FigureId::Nopm), Some(17.0 * 60.0 / 2.25));
    assert_eq!(
        point.value(FigureId::TpmPerUser),
        point.value(FigureId::Tpm).map(|tpm| tpm / 2.0)
    );
    assert_eq!(point.value(FigureId::RolledBack), Some(600.0 / 23.0));
    assert_eq!(point.value(FigureId::RoundTrips), Some(3.0));
    assert_eq!(point.overall.counts.retries, 5);
    assert_eq!(point.types[0].share_percent, Some(100.0));
    assert_eq!(point.types[1].completed_per_minute, Some(0.0));
}

#[test]
fn warm_and_cool_do_not_enter() {
    let mut record = by_hand(&[(orders(8, 2), 0), (orders(8, 2), 0)]);
    record
        .seconds
        .push(second(PhaseId(2), 3, orders(1000, 0), 0));
    let point = only(&record);
    assert_eq!(point.value(FigureId::Tpm), Some(600.0));
    assert_eq!(point.conservation, Conservation::Holds { seconds: 3 });
    assert_eq!(kinds(&point), ["short_window"]);
    assert_eq!(point.verdict, Verdict::Doubtful);
}

#[test]
fn other_workloads_have_rates_but_no_tpm() {
    let mut record = by_hand(&[(orders(8, 2), 0)]);
    record.points[0].txns = vec!["read".into()];
    let point = only(&record);
    assert_eq!(
        (
            point.value(FigureId::Tpm),
            point.value(FigureId::Nopm),
            point.value(FigureId::TpmPerUser),
            point
                .figures
                .get(FigureId::Tpm)
                .and_then(|rate| rate.interval)
        ),
        (None, None, None, None)
    );
    assert_eq!(point.value(FigureId::Transactions), Some(10.0));
    assert_eq!(point.main_rate(), Some(10.0));
}

#[test]
fn each_doubt_is_a_finding() {
    let steady = [(orders(10, 0), 0); 10];
    let base = by_hand(&steady);
    assert_eq!(kinds(&only(&base)), Vec::<String>::new());
    type Spoil = fn(&mut Record);
    let cases: [(&str, Verdict, Spoil); 12] = [
        ("phase_incomplete", Verdict::Doubtful, |r| {
            r.phases[0].complete = false
        }),
        ("phase_incomplete", Verdict::Valid, |r| {
            r.phases[1].complete = false
        }),
        ("nothing_completed", Verdict::Invalid, |r| {
            set_counts(r, 0.., orders(0, 0));
            r.windows.clear();
        }),
        ("coarse_window", Verdict::Doubtful, |r| {
            r.windows[0].coarse = true
        }),
        ("seconds_missing", Verdict::Doubtful, |r| {
            r.phases[0].end = Nanos::from_secs(12)
        }),
        ("counts_broken", Verdict::Invalid, |r| {
            r.seconds.edit(|s| s[4].in_flight = 1)
        }),
        ("not_drained", Verdict::Doubtful, |r| {
            r.seconds
                .edit(|s| (s[9].in_flight, s[9].counts.offered) = (1, 11))
        }),
        ("histogram_disagrees", Verdict::Invalid, |r| {
            r.windows[0].response.record(Nanos::SECOND)
        }),
        ("unsteady", Verdict::Doubtful, |r| {
            set_counts(r, 0.., orders(0, 0));
            set_counts(r, 5.., orders(20, 0));
        }),
        ("not_served", Verdict::Valid, |r| {
            r.seconds
                .edit(|s| (s[3].counts.failed, s[3].counts.offered) = (1, 11))
        }),
        ("not_served", Verdict::Doubtful, |r| {
            r.seconds
                .edit(|s| (s[3].counts.dropped, s[3].counts.offered) = (2, 12))
        }),
        ("event", Verdict::Invalid, |r| {
            let event = |at| Event {
                at: Nanos::from_secs(at),
                subject: None,
                severity: Severity::Error,
                kind: EventKind::stored("overflow", "9 lost"),
            };
            r.events = vec![event(3), event(4)];
        }),
    ];
    for (name, verdict, damage) in cases {
        let mut record = base.clone();
        damage(&mut record);
        let summary = summarise(&record);
        let point = &summary.figures.ladders[0].points[0];
        assert_eq!(
            (kinds(point), point.verdict),
            (vec![name.to_owned()], verdict),
            "{:?}",
            point.findings
        );
        assert_eq!(
            summary.figures.headline.is_some(),
            verdict < Verdict::Invalid
        );
    }
}

#[test]
fn a_growing_backlog_is_a_finding() {
    // 100 offered and 96 served each second: nothing fails, nothing is dropped, and the queue is 40 longer at the end.
    let served = |n| Counts {
        offered: 100,
        ..orders(n, 0)
    };
    let mut seconds: Vec<(Counts, u64)> = (1..=10).map(|s| (served(96), 4 * s)).collect();
    let mut record = by_hand(&seconds);
    record.points[0].offered_per_second = Some(100.0);
    let drained = Second {
        counts: Counts {
            offered: 0,
            ..orders(40, 0)
        },
        ..second(PhaseId(2), 11, orders(0, 0), 0)
    };
    record.seconds.push(drained);
    let point = only(&record);
    assert_eq!(
        (kinds(&point), point.verdict),
        (vec!["backlog_grew".to_owned()], Verdict::Doubtful)
    );
    // Eleven in a hundred without an answer are too many.
    record.seconds.edit(|seconds| {
        seconds[9].counts.offered += 80;
        seconds[9].in_flight += 80;
        seconds[10].counts.dropped += 80;
    });
    let point = only(&record);
    assert_eq!(
        (kinds(&point), point.verdict),
        (vec!["unanswered".to_owned()], Verdict::Invalid)
    );
    record.points[0].offered_per_second = None;
    assert_eq!(
        kinds(&only(&record)),
        Vec::<String>::new(),
        "a closed loop offers no more than is served"
    );
    seconds
        .iter_mut()
        .for_each(|(counts, _)| *counts = served(100));
    seconds[9] = (served(90), 10);
    record = by_hand(
        &seconds
            .iter()
            .map(|(c, n)| (*c, if *n == 10 { 10 } else { 0 }))
            .collect::<Vec<_>>(),
    );
    record.points[0].offered_per_second = Some(100.0);
    assert!(
        !kinds(&only(&record)).contains(&"backlog_grew".to_owned()),
        "1 % may be chance"
    );
}

#[test]
fn a_last_tick_of_milliseconds_is_no_second() {
    let mut record = by_hand(&[(orders(10, 0), 0); 4]);
    let last = Second {
        end: Nanos::from_millis(5002),
        ..second(PhaseId(1), 5, orders(1, 0), 0)
    };
    record.seconds.push(last);
    record.phases[0].end = Nanos::from_millis(5002);
    let point = only(&record);
    let spread = point.spreads[&FigureId::Transactions];
    assert!(spread.max < 11.0, "{spread:?}");
    assert!(point.short, "four seconds and a bit are no five");
}

#[test]
fn clipped_values_are_a_finding() {
    let mut record = by_hand(&[(orders(10, 0), 0); 10]);
    let mut hist = Hist::new();
    (0..100).for_each(|i| {
        hist.record(if i == 0 {
            Nanos::from_secs(4000)
        } else {
            Nanos::SECOND
        })
    });
    record.windows[0].response = hist;
    assert_eq!(kinds(&only(&record)), ["clipped"]);
}

#[test]
fn a_failed_condition_makes_the_point_invalid_and_is_named() {
    let mut record = by_hand(&[(orders(10, 0), 0); 10]);
    let check = |n: u32, holds| Check {
        point: Some(PointId(1)),
        subject: SubjectId(6),
        clause: format!("3.3.2.{n}"),
        holds,
        detail: CheckDetail::from("W_YTD is 7, sum(H_AMOUNT) is 8".to_owned()),
    };
    record.checks = vec![check(1, true), check(8, false)];
    let point = only(&record);
    assert_eq!(
        (point.consistency.verified, point.consistency.failed.clone()),
        (2, vec!["3.3.2.8".to_owned()])
    );
    assert!(!point.consistency.holds());
    assert_eq!(
        (kinds(&point), point.verdict),
        (vec!["condition_fails".to_owned()], Verdict::Invalid)
    );
    // At the end of the step it is the ladder's.
    record
        .checks
        .iter_mut()
        .for_each(|check| check.point = None);
    let summary = summarise(&record);
    assert_eq!(summary.figures.ladders[0].points[0].findings, Vec::new());
    assert_eq!(
        (
            summary.figures.ladders[0].points[0].verdict,
            summary.figures.headline
        ),
        (Verdict::Invalid, None)
    );
    assert_eq!(
        Verdict::of(&summary.figures.ladders[0].findings),
        Verdict::Invalid
    );
    assert_eq!(summary.verdict, Verdict::Invalid);
}

#[test]
fn a_verification_that_failed_makes_its_step_invalid() {
    let mut record = by_hand(&[(orders(10, 0), 0); 10]);
    let end = record.phases.iter().map(|phase| phase.end).max().unwrap();
    record.events.push(Event {
        at: end + Nanos::from_secs(1),
        subject: Some(SubjectId(6)),
        severity: Severity::Error,
        kind: EventKind::NotVerified {
            step: "oltp".into(),
            error: "role is not permitted to log in".into(),
        },
    });
    let summary = summarise(&record);
    let ladder = &summary.figures.ladders[0];
    assert_eq!(codes(&ladder.findings), ["verification_failed"]);
    assert_eq!(ladder.points[0].verdict, Verdict::Invalid);
    assert_eq!(
        (summary.figures.headline, summary.verdict),
        (None, Verdict::Invalid)
    );
    let audit = &summary.audit.verdicts;
    let mut of_rule = audit.iter().filter(|verdict| verdict.rule == Rule::Consist);
    assert!(of_rule.any(|verdict| verdict.outcome.severity() == Some(Severity::Error)));
}

#[test]
fn nothing_measured_gives_no_figures() {
    let summary = summarise(&fixture::nothing_measured());
    let point = &summary.figures.ladders[0].points[0];
    assert_eq!(
        (
            point.value(FigureId::Tpm),
            point.value(FigureId::Nopm),
            point.value(FigureId::Transactions)
        ),
        (None, None, None)
    );
    assert_eq!(
        (summary.figures.headline, point.verdict),
        (None, Verdict::Invalid)
    );
    assert_eq!(kinds(point)[0], "nothing_measured");
}

#[test]
fn the_fixture_matches_its_description() {
    let record = fixture::record();
    let summary = summarise(&record);
    let shape: Vec<(String, Option<String>, usize)> = summary
        .figures
        .ladders
        .iter()
        .map(|l| (l.step.clone(), l.medium.clone(), l.points.len()))
        .collect();
    let some = |name: &str| Some(name.to_owned());
    let ladder = "ladder".to_owned();
    assert_eq!(
        shape,
        [
            (ladder.clone(), some("fast"), 3),
            (ladder, some("slow"), 3),
            ("open".into(), some("fast"), 3)
        ]
    );
    let closed = &summary.figures.ladders[0].points[2];
    assert_eq!(closed.verdict, Verdict::Valid, "{:?}", closed.findings);
    assert!(
        closed.types.iter().all(|txn| txn.service.is_none()) && closed.overall.service.is_none()
    );
    let open = &summary.figures.ladders[2].points[0];
    let (response, service) = (
        open.overall.response.unwrap(),
        open.overall.service.unwrap(),
    );
    assert!(
        response.ms(FigureId::P99) > service.ms(FigureId::P99) && response.count == service.count
    );
    assert_eq!(
        summary.figures.headline,
        Some(Headline {
            ladder: 0,
            load_index: 2
        })
    );
    let broken = &summary.figures.ladders[1].points[1];
    assert_eq!(
        (broken.verdict, broken.consistency.failed.clone()),
        (Verdict::Invalid, vec!["3.3.2.4".to_owned()])
    );
    assert!(kinds(&summary.figures.ladders[1].points[2]).contains(&"event".to_owned()));
    let cut = &summary.figures.ladders[2].points[2];
    assert!(
        ["phase_incomplete", "coarse_window"]
            .iter()
            .all(|k| kinds(cut).contains(&(*k).to_owned())),
        "{cut:?}"
    );
    assert!(
        summary
            .figures
            .points()
            .all(|p| !matches!(p.conservation, Conservation::Broken { .. }))
    );
    assert_eq!(closed.resources.device.as_deref(), Some("nvme0n1"));
    assert_eq!(broken.resources.device.as_deref(), Some("sda"));
    assert_eq!(TPCC_TXNS.len(), closed.types.len());
}

#[test]
fn the_generators_cost_is_per_completed_transaction() {
    let record = fixture::record();
    let point = summarise(&record).figures.ladders[0].points[1].clone();
    let cpu = point.resources.generator_cpu_percent.unwrap();
    let expected = cpu / 100.0 * point.measured_s * 1e6 / point.overall.counts.completed() as f64;
    assert_eq!(point.resources.generator_cpu_us_per_txn, Some(expected));
}

#[test]
fn an_embedded_systems_cpu_is_not_called_the_generators() {
    let mut record = fixture::record();
    record
        .series
        .retain(|series| series.metric != Metric::SystemCpu);
    let resources = summarise(&record).figures.ladders[0].points[1]
        .resources
        .clone();
    assert!(resources.generator_cpu_percent.is_some());
    assert_eq!(resources.generator_cpu_us_per_txn, None);
    assert_eq!(
        resources.generator_cpu_withheld,
        Some(Withheld::EmbeddedSystem)
    );
    // A server that exists is not watched, and is no part of plimsoll.
    record
        .points
        .iter_mut()
        .for_each(|point| point.medium = None);
    let points = summarise(&record);
    assert!(
        points
            .figures
            .points()
            .all(|p| p.resources.generator_cpu_withheld.is_none())
    );
    assert!(
        points
            .figures
            .points()
            .any(|p| p.resources.generator_cpu_us_per_txn.is_some())
    );
}

/// Overwrites one thing of the record, chosen by `which`, with `value`.
fn damage(record: &mut Record, which: u8, value: u64) {
    let (at, rows) = (value as usize, record.seconds.len());
    match which {
        0 => record
            .seconds
            .edit(|all| all.iter_mut().for_each(|s| s.txn = value as u32)),
        1 => record.seconds.edit(|s| s[at % rows].end = Nanos(value)),
        2 => record.seconds.edit(|s| s[at % rows].start = Nanos(value)),
        3 => record
            .seconds
            .edit(|s| s[at % rows].counts.committed = value >> 8),
        4 => record.phases[0].end = Nanos(value),
        5 => record
            .phases
            .iter_mut()
            .for_each(|phase| phase.start = Nanos(value)),
        6 => record.points[0].txns.truncate(at % 6),
        7 => record.points[0].users = value as u32,
        8 => record.points[0].offered_per_second = Some(f64::from_bits(value)),
        9 => record.windows[0].txn = value as u32,
        10 => record.subjects.clear(),
        11 => record.seconds.edit(|s| s.truncate(at % 3)),
        12 => record.phases.truncate(at % 3),
        13 => record.points[0].system = SubjectId(value as u32),
        14 => record.points.push(record.points[0].clone()),
        _ => record.windows.clear(),
    }
}

proptest::proptest! {
    #[test]
    fn a_record_of_rubbish_never_panics(changes in proptest::collection::vec((0u8..16, proptest::num::u64::ANY), 1..6)) {
        let mut record = by_hand(&[(orders(10, 0), 0); 3]);
        for (which, value) in changes {
            if !record.seconds.is_empty() && !record.phases.is_empty() && !record.windows.is_empty() {
                damage(&mut record, which, value);
            }
        }
        let summary = summarise(&record);
        let finite = |figure: Option<f64>| figure.is_none_or(f64::is_finite);
        proptest::prop_assert!(summary.figures.points().all(|p| finite(p.value(FigureId::Tpm)) && finite(p.value(FigureId::Nopm)) && p.steady.figures().is_none_or(|(range, slope)| range.is_finite() && slope.is_finite())));
    }
}
