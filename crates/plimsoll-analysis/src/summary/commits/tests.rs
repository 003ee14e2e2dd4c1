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
    commits(&mut record, 1.4);
    assert!(disagreements(&record) >= 6);
    record
        .points
        .iter_mut()
        .for_each(|point| point.medium = None);
    assert_eq!(disagreements(&record), 0, "others may use it");
    let mut record = fixture::lasting(60);
    commits(&mut record, 0.5);
    assert!(disagreements(&record) >= 6);
}

/// As many of the first type in each second, and none of others.
fn set_committed(record: &mut Record, committed: u64) {
    record.seconds.edit(|seconds| {
        for second in seconds {
            let n = if second.txn == 0 { committed } else { 0 };
            second.counts = Counts {
                offered: n,
                committed: n,
                ..Counts::default()
            };
        }
    });
}

#[test]
fn what_a_server_commits_by_itself_is_no_contradiction_at_a_low_rate() {
    let mut record = fixture::lasting(60);
    ramp_for_long(&mut record);
    set_committed(&mut record, 5);
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
    assert!(counted(10.0) >= 6);
    assert!(
        counted(1.0) >= 6,
        "commits that are missing are not made up for"
    );
}

/// Four sessions make seven commits each before they are used, and PostgreSQL counts them up to ten seconds late.
#[test]
fn what_sessions_commit_while_they_are_set_up_is_no_contradiction() {
    let of_window = |seconds: u64, committed: u64, rate: f32| {
        let mut record = fixture::lasting(seconds);
        set_committed(&mut record, committed);
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

/// Commits of one session, in ms, and when PostgreSQL shows how many of them.
struct SimulatedSession {
    commits: Vec<u64>,
    shown: Vec<(u64, u64)>,
}

impl SimulatedSession {
    /// As `pgstat_report_stat` does: between transactions, once a second, or after ten seconds of rest.
    fn new(commits: Vec<u64>) -> Self {
        let mut shown = Vec::new();
        let (mut last, mut pending) = (0, 0);
        for (i, at) in commits.iter().enumerate() {
            pending += 1;
            let rests = commits.get(i + 1).is_none_or(|next| next - at > 10_000);
            if at - last >= 1000 || rests {
                last = if at - last >= 1000 { *at } else { at + 10_000 };
                shown.push((last, pending));
                pending = 0;
            }
        }
        Self { commits, shown }
    }
}

fn random(state: &mut u64, below: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 33) % below
}

/// Sessions whose speed changes every few seconds by up to 100 times, and which rest where `rests`.
fn sessions(state: &mut u64, end: u64, rests: bool) -> Vec<SimulatedSession> {
    let n = 1 + random(state, 16);
    let paces: Vec<u64> = (0..1 + end / 3000)
        .map(|_| [5, 20, 80, 500][random(state, 4) as usize])
        .collect();
    let session = |_| {
        let (mut at, mut commits) = (1000, Vec::new());
        while at < end {
            let pace = paces[(at / 3000) as usize];
            at += 1 + pace / 2 + random(state, pace);
            if rests && random(state, 20) == 0 {
                at += random(state, 15_000);
            }
            commits.push(at);
        }
        commits.retain(|at| *at < end);
        SimulatedSession::new(commits)
    };
    (0..n).map(session).collect()
}

/// A point with three seconds of warm-up and `window` of measurement; the server counts `factor` times what it should.
fn simulated(seed: u64, window: u64, rests: bool, factor: f64) -> Record {
    let mut state = seed;
    let end = (4 + window) * 1000;
    let sessions = sessions(&mut state, end, rests);
    let mut record = fixture::single_point();
    let phases = [(PhaseKind::Warm, 1, 4), (PhaseKind::Measure, 4, 4 + window)];
    let base = record.phases[0].clone();
    let point = record.points[0].id;
    let second = record.seconds.unpack()[0].clone();
    let system = record.points[0].system;
    let count = |from: u64, to: u64| {
        let all = sessions.iter().flat_map(|own| &own.commits);
        all.filter(|at| (from..to).contains(at)).count() as u64
    };
    (record.phases, record.seconds) = Default::default();
    for (n, (kind, start, end)) in phases.into_iter().enumerate() {
        record.phases.push(Phase {
            id: plimsoll_record::PhaseId(n as u32 + 1),
            kind,
            point: Some(point),
            start: Nanos::from_secs(start),
            end: Nanos::from_secs(end),
            complete: true,
            ..base.clone()
        });
        for at in start..end {
            let n_committed = count(at * 1000, at * 1000 + 1000);
            record.seconds.push(plimsoll_record::Second {
                phase: plimsoll_record::PhaseId(n as u32 + 1),
                start: Nanos::from_secs(at),
                end: Nanos::from_secs(at + 1),
                txn: 0,
                in_flight: 0,
                counts: Counts {
                    offered: n_committed,
                    committed: n_committed,
                    ..Counts::default()
                },
                ..second.clone()
            });
        }
    }
    record.points[0].connections = sessions.len() as u32;
    let shown_by = |ms: u64| {
        let shown = sessions.iter().flat_map(|own| &own.shown);
        let shown = shown.filter(|(at, _)| *at <= ms).map(|(_, n)| n);
        shown.sum::<u64>() as f64 * factor
    };
    let readings: Vec<u64> = (1..5 + window)
        .map(|s| s * 1000 + random(&mut state, 300))
        .collect();
    let samples = readings.windows(2).map(|pair| plimsoll_record::Sample {
        at: Nanos::from_millis(pair[1]),
        over: Nanos::from_millis(pair[1] - pair[0]),
        value: ((shown_by(pair[1]) - shown_by(pair[0])) * 1e3 / (pair[1] - pair[0]) as f64) as f32,
    });
    record.series = vec![plimsoll_record::Series {
        subject: system,
        metric: Metric::DbCommits,
        samples: samples.collect(),
    }];
    let mut response = plimsoll_record::hist::Hist::new();
    response.record(Nanos::from_millis(5));
    response.record(Nanos::from_millis(if rests { 5 } else { 750 }));
    record.windows.retain(|own| own.txn == 0);
    record.windows.truncate(1);
    for own in &mut record.windows {
        own.phase = plimsoll_record::PhaseId(2);
        own.service = None;
        own.response = response.clone();
    }
    (record.events, record.checks, record.waits) = (Vec::new(), Vec::new(), Vec::new());
    record
}

fn severities(record: &Record) -> Vec<Severity> {
    let ticks = crate::summary::Ticks::of(record);
    let index = Index::new(record, &ticks);
    let figures = crate::summary::point::summarise(&index, &record.points[0]);
    let is_one = |finding: &&Finding| matches!(finding.kind, FindingKind::CommitsDisagree { .. });
    let own = figures.findings.iter().filter(is_one);
    own.map(|finding| finding.severity).collect()
}

#[test]
fn what_postgres_shows_late_is_no_contradiction_at_any_rate_and_in_any_window() {
    for seed in 0..120 {
        for (window, rests) in [(2, false), (2, true), (9, false), (20, true)] {
            let record = simulated(seed, window, rests, 1.0);
            let found = severities(&record);
            assert!(found.is_empty(), "seed {seed}, {window} s, rests: {rests}");
        }
    }
}

#[test]
fn commits_that_do_not_add_up_are_an_error() {
    for seed in 0..20 {
        for factor in [0.3, 2.5] {
            let found = severities(&simulated(seed, 60, false, factor));
            assert_eq!(found, [Severity::Error], "seed {seed}, {factor} times");
        }
    }
}
