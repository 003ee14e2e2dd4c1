//! Shares computed by hand, and the fixture's.

use super::*;
use crate::summary::Ticks;
use crate::{Summary, summarise};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::fixture;
use plimsoll_record::lane::Counts;
use plimsoll_record::{Record, SubjectId};

/// A second from `start`: state, event and sessions in ten samples.
fn second(start: u64, rows: &[(WaitState, &str, u32)]) -> Vec<WaitRow> {
    let (start, end) = (Nanos::from_secs(start), Nanos::from_secs(start + 1));
    let row = |(state, event, seen): &(WaitState, &str, u32)| WaitRow {
        subject: SubjectId(6),
        start,
        end,
        state: *state,
        event: (*event).into(),
        seen: *seen,
        looks: 10,
    };
    rows.iter().map(row).collect()
}

fn of(waits: Vec<WaitRow>) -> Option<WaitSummary> {
    let mut record = fixture::single_point();
    record.waits = waits;
    record.points[0].system = SubjectId(6);
    let ticks = Ticks::of(&record);
    let index = Index::new(&record, &ticks);
    summarise_window(&index)
}

fn summarise_window(index: &Index) -> Option<WaitSummary> {
    let window = Phase {
        start: Nanos::from_secs(5),
        end: Nanos::from_secs(7),
        ..index.record.phases[0].clone()
    };
    super::summarise(index, &index.record.points[0], &window)
}

#[test]
fn shares_are_of_all_sampled_sessions() {
    let mut waits = second(4, &[(WaitState::Other, "before", 900)]);
    waits.extend(second(
        5,
        &[
            (WaitState::Cpu, "", 10),
            (WaitState::Log, "WALSync", 30),
            (WaitState::Log, "WALWrite", 5),
            (WaitState::Idle, "ClientRead", 5),
        ],
    ));
    waits.extend(second(
        6,
        &[
            (WaitState::Cpu, "", 30),
            (WaitState::Log, "WALSync", 15),
            (WaitState::Client, "", 5),
        ],
    ));
    waits.extend(second(7, &[(WaitState::Other, "after", 900)]));
    let summary = of(waits).unwrap();
    assert_eq!((summary.samples, summary.sessions), (20, 5.0));
    let shares: Vec<_> = summary
        .states
        .iter()
        .map(|s| (s.state, s.percent, s.sessions, s.busy_percent))
        .collect();
    assert_eq!(
        shares,
        [
            (WaitState::Cpu, 40.0, 2.0, Some(40.0 / 90.0 * 100.0)),
            (WaitState::Log, 50.0, 2.5, Some(50.0 / 90.0 * 100.0)),
            (WaitState::Client, 5.0, 0.25, None),
            (WaitState::Idle, 5.0, 0.25, None),
        ]
    );
    let log = summary.of(WaitState::Log).unwrap();
    let events: Vec<_> = log
        .events
        .iter()
        .map(|e| (e.event.as_str(), e.percent))
        .collect();
    assert_eq!(events, [("WALSync", 45.0), ("WALWrite", 5.0)]);
    assert_eq!(
        summary.most().map(|share| share.state),
        Some(WaitState::Log)
    );
    // Residuals of CPU: 10 − 0.4·50 = −10 and 30 − 0.4·50 = 10: √(2/1·200) / 100 = 0.2.
    let error = summary
        .of(WaitState::Cpu)
        .unwrap()
        .standard_error_percent
        .unwrap();
    assert!((error - 20.0).abs() < 1e-9, "{error}");
    assert!(summary.is_rough());
}

#[test]
fn one_second_has_no_error_and_no_sessions_have_no_shares() {
    let summary = of(second(5, &[(WaitState::Lock, "tuple", 7)])).unwrap();
    assert_eq!(
        (
            summary.states[0].percent,
            summary.states[0].standard_error_percent
        ),
        (100.0, None)
    );
    assert_eq!(of(second(5, &[(WaitState::Idle, "", 0)])), None);
    assert_eq!(of(Vec::new()), None);
}

#[test]
fn shares_of_the_fixture_add_up() {
    let summary = crate::summarise(&fixture::record());
    assert!(
        summary
            .points()
            .filter(|point| point.waits.is_some())
            .count()
            >= 6
    );
    for waits in summary.points().filter_map(|point| point.waits.as_ref()) {
        let sum: f64 = waits.states.iter().map(|share| share.percent).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{sum}");
        let busy: f64 = waits
            .states
            .iter()
            .filter_map(|share| share.busy_percent)
            .sum();
        assert!((busy - 100.0).abs() < 1e-9, "{busy}");
    }
}

fn disagreements(record: &Record) -> usize {
    let is_one = |finding: &&Finding| matches!(finding.kind, FindingKind::CommitsDisagree { .. });
    let summary: Summary = summarise(record);
    summary
        .points()
        .map(|point| point.findings.iter().filter(is_one).count())
        .sum()
}

/// So that what sessions commit while they are set up is visible before the window.
fn ramp_for_long(record: &mut Record) {
    let warm = record
        .phases
        .iter_mut()
        .filter(|phase| phase.kind == PhaseKind::Warm);
    warm.for_each(|phase| phase.start = phase.start.saturating_sub(VISIBLE_AFTER));
}

#[test]
fn commits_that_clients_did_not_make_are_a_finding_on_a_server_of_plimsolls() {
    let mut record = fixture::lasting(60);
    ramp_for_long(&mut record);
    assert_eq!(
        disagreements(&record),
        0,
        "the fixture's database counts what its clients see"
    );
    let commits = |record: &mut Record, factor: f32| {
        let of_commits = record
            .series
            .iter_mut()
            .filter(|series| series.metric == Metric::DbCommits);
        of_commits.for_each(|series| {
            series
                .samples
                .iter_mut()
                .for_each(|sample| sample.value *= factor)
        });
    };
    commits(&mut record, 1.04);
    assert_eq!(
        disagreements(&record),
        0,
        "4 % may lie at the edges of 60 s"
    );
    commits(&mut record, 1.06);
    assert!(disagreements(&record) >= 6);
    record
        .points
        .iter_mut()
        .for_each(|point| point.medium = None);
    assert_eq!(disagreements(&record), 0, "others may use it");
    let mut record = fixture::lasting(60);
    commits(&mut record, 0.9);
    assert!(disagreements(&record) >= 6);
}

#[test]
fn what_a_server_commits_by_itself_is_no_contradiction_at_a_low_rate() {
    let mut record = fixture::lasting(60);
    ramp_for_long(&mut record);
    for second in &mut record.seconds {
        let n = if second.txn == 0 { 5 } else { 0 };
        second.counts = Counts {
            offered: n,
            committed: n,
            ..Counts::default()
        };
    }
    let mut counted = |rate: f32| {
        let of_commits = record
            .series
            .iter_mut()
            .filter(|series| series.metric == Metric::DbCommits);
        of_commits.for_each(|series| {
            series
                .samples
                .iter_mut()
                .for_each(|sample| sample.value = rate)
        });
        disagreements(&record)
    };
    assert_eq!(counted(5.9), 0);
    assert!(counted(6.5) >= 6);
    assert!(
        counted(4.5) >= 6,
        "commits that are missing are not made up for"
    );
}

/// Four sessions make seven commits each before they are used, and PostgreSQL counts them up to ten seconds late.
#[test]
fn what_sessions_commit_while_they_are_set_up_is_no_contradiction() {
    let of_window = |seconds: u64, committed: u64, rate: f32| {
        let mut record = fixture::lasting(seconds);
        for second in &mut record.seconds {
            let n = if second.txn == 0 { committed } else { 0 };
            second.counts = Counts {
                offered: n,
                committed: n,
                ..Counts::default()
            };
        }
        record
            .points
            .iter_mut()
            .for_each(|point| point.connections = 4);
        let of_commits = record
            .series
            .iter_mut()
            .filter(|series| series.metric == Metric::DbCommits);
        of_commits.for_each(|series| {
            series
                .samples
                .iter_mut()
                .for_each(|sample| sample.value = rate)
        });
        disagreements(&record)
    };
    // As measured: six seconds at five a second beside four others, and 28 commits more.
    assert_eq!(
        of_window(6, 5, 9.47),
        0,
        "PostgreSQL counts 28 commits of four sessions late"
    );
    assert!(of_window(60, 5, 9.47) >= 6, "they come once");
    assert!(of_window(60, 500, 550.0) >= 6, "beside many they are few");
}

#[test]
fn counters_that_cover_a_part_of_the_window_are_not_compared() {
    let mut record = fixture::lasting(60);
    let of_commits = record
        .series
        .iter_mut()
        .filter(|series| series.metric == Metric::DbCommits);
    for series in of_commits {
        series
            .samples
            .iter_mut()
            .for_each(|sample| sample.value *= 1.9);
        let mut kept = 0;
        series.samples.retain(|_| {
            kept += 1;
            kept % 2 == 0
        });
    }
    assert_eq!(disagreements(&record), 0);
}

#[test]
fn counters_become_figures() {
    let summary = summarise(&fixture::record());
    let point = &summary.ladders[0].points[1];
    let database = point.database.clone().unwrap();
    let of = |name: &str| {
        point
            .metrics
            .iter()
            .find(|mean| mean.subject == point.system && mean.metric == name)
            .unwrap()
            .mean
    };
    let (hits, reads) = (of("db_buffer_hits"), of("db_buffer_reads"));
    assert_eq!(
        database.buffer_hit_percent,
        Some(hits / (hits + reads) * 100.0)
    );
    let rate = point.completed_per_second.unwrap();
    assert_eq!(database.log_bytes_per_txn, Some(of("db_log_bytes") / rate));
    assert_eq!(database.log_syncs_per_txn, Some(of("db_log_syncs") / rate));
    assert!(database.growth_mb.is_some());
}
