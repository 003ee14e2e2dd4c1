//! Shares computed by hand, and the fixture's.

use super::*;
use crate::summary::Ticks;
use plimsoll_record::SubjectId;
use plimsoll_record::fixture;

/// A second from `start`: state, event and sessions in ten samples.
fn second(start: u64, rows: &[(WaitState, &str, u32)]) -> Vec<WaitRow> {
    let (start, end) = (Nanos::from_secs(start), Nanos::from_secs(start + 1));
    let row = |(state, event, sessions): &(WaitState, &str, u32)| WaitRow {
        subject: SubjectId(6),
        start,
        end,
        state: *state,
        event: (*event).into(),
        sessions: *sessions,
        samples: 10,
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
            .figures
            .points()
            .filter(|point| point.waits.is_some())
            .count()
            >= 6
    );
    for waits in summary
        .figures
        .points()
        .filter_map(|point| point.waits.as_ref())
    {
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
