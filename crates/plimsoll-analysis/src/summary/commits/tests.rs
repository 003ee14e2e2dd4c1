//! Commits counted apart from what clients saw.

use super::*;
use crate::summarise;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::Record;
use plimsoll_record::fixture;
use plimsoll_record::lane::Counts;

fn disagreements(record: &Record) -> usize {
    let is_one = |finding: &&Finding| matches!(finding.kind, FindingKind::CommitsDisagree { .. });
    let summary = summarise(record);
    summary
        .figures
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
