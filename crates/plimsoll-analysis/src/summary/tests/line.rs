//! Load lines and their bottlenecks.

use super::*;

#[test]
fn the_line_of_the_fixture_is_found_again() {
    use crate::search::{Attempt, SearchState};
    let summary = summarise(&fixture::search());
    let lines: Vec<_> = summary.figures.lines().collect();
    assert_eq!(lines.len(), 2);
    for ((ladder, line), capacity) in lines.iter().zip([431.0, 173.0]) {
        assert_eq!(
            (line.state, line.open, line.tried[0].load),
            (SearchState::Found, true, 70.0)
        );
        let (low, below) = (line.line.unwrap(), line.below.unwrap());
        assert!(
            low < capacity * 1.02 && below > capacity * 0.8 && low < below,
            "{low} to {below}"
        );
        assert!(line.tried.iter().all(|tried| tried.repeats.len() == 3));
        let load = &ladder.loads[line.load_index.unwrap()];
        assert_eq!(
            (load.load.offered_per_second, ladder.peak),
            (Some(low), line.load_index)
        );
        let of_line = line.tried.iter().find(|tried| tried.load == low).unwrap();
        assert_eq!(of_line.outcome, Attempt::Met);
        let of = |result: &ObjectiveResult| result.figure_ms.unwrap();
        assert!(of_line.repeats.iter().all(|repeat| of(repeat) <= 20.0));
        assert_eq!(
            line.bottleneck.first().map(|sign| sign.what),
            Some(Bottleneck::Locks),
            "{:?}",
            line.bottleneck
        );
    }
    let preconditions = &summary.figures.preconditions;
    assert_eq!(preconditions.len(), 2);
    assert_eq!(
        (
            preconditions[0].first_per_second,
            preconditions[0].last_per_second
        ),
        (Some(89.5), Some(71.5))
    );
    assert_eq!(
        (preconditions[0].lasted_s, preconditions[0].complete),
        (20.0, true)
    );
    let points: Vec<usize> = summary
        .figures
        .ladders
        .iter()
        .map(|ladder| ladder.points.len() / ladder.loads.len())
        .collect();
    assert_eq!(points, [3, 3, 3, 1]);
    assert_eq!(
        summary.figures.ladders[3].points[0].steady,
        Steady::NotMeant
    );
    let overloaded = |kind: &String| ["backlog_grew", "unanswered"].contains(&kind.as_str());
    let beyond = |p: &&PointSummary| kinds(p).iter().any(overloaded);
    let beyond: Vec<Verdict> = summary.figures.ladders[0]
        .points
        .iter()
        .filter(beyond)
        .map(|point| point.verdict)
        .collect();
    assert_eq!(
        beyond,
        [Verdict::Valid; 6],
        "above the line that was to be expected"
    );
    let invalid: Vec<_> = summary
        .figures
        .points()
        .filter(|point| point.verdict == Verdict::Invalid)
        .collect();
    assert!(invalid.is_empty(), "{:?}", invalid[0].findings);
}

#[test]
fn a_figure_that_did_not_change_is_no_bottleneck() {
    let mut record = fixture::search();
    for row in &mut record.waits {
        row.sessions = match row.state {
            WaitState::Lock => 4,
            WaitState::Cpu => 6,
            _ => 0,
        };
    }
    let summary = summarise(&record);
    let (_, line) = summary.figures.lines().next().unwrap();
    assert!(
        line.bottleneck
            .iter()
            .all(|sign| sign.what != Bottleneck::Locks),
        "40.0 → 40.0 %: {:?}",
        line.bottleneck
    );
}

#[test]
fn bottlenecks_are_ranked_by_evidence() {
    let mut record = fixture::search();
    let named = |record: &Record| -> Vec<&'static str> {
        summarise(record)
            .figures
            .lines()
            .next()
            .unwrap()
            .1
            .bottleneck
            .iter()
            .map(|sign| sign.what.name())
            .collect()
    };
    assert_eq!(named(&record), ["locks", "connections"]);
    record.waits.clear();
    assert_eq!(
        named(&record),
        ["connections"],
        "nothing is known of waiting sessions"
    );
    let set = |record: &mut Record, metric: Metric, subject: u32, value: f32| {
        let own = record
            .series
            .iter_mut()
            .filter(|s| s.metric == metric && s.subject == SubjectId(subject));
        own.for_each(|series| {
            series
                .samples
                .iter_mut()
                .for_each(|sample| sample.value = value)
        });
    };
    // Two workers: 190 of 200 %.
    set(&mut record, Metric::GeneratorCpu, 8, 190.0);
    set(&mut record, Metric::DeviceBusy, 2, 91.0);
    set(&mut record, Metric::CpuUser, 1, 90.0);
    set(&mut record, Metric::CpuSystem, 1, 9.0);
    set(&mut record, Metric::CpuSteal, 1, 0.0);
    assert_eq!(
        named(&record),
        ["generator", "cpu", "device_busy", "connections"]
    );
    let figures = summarise(&record)
        .figures
        .lines()
        .next()
        .unwrap()
        .1
        .bottleneck[0];
    assert_eq!(
        (figures.at_line, figures.beyond, figures.limit),
        (Some(95.0), 95.0, 80.0)
    );
    // What grows has to have grown: from the line to the load above it.
    let line = summarise(&record).figures.lines().next().unwrap().1.clone();
    let above = line
        .tried
        .iter()
        .filter(|t| t.load > line.line.unwrap())
        .map(|t| t.load)
        .fold(f64::MAX, f64::min);
    let at = |record: &Record, wanted: f64| -> Vec<(Nanos, Nanos)> {
        let points = record
            .points
            .iter()
            .filter(|p| p.offered_per_second == Some(wanted) && p.system == SubjectId(6));
        let phases = points.flat_map(|p| {
            record
                .phases
                .iter()
                .filter(|phase| phase.point == Some(p.id))
        });
        phases.map(|phase| (phase.start, phase.end)).collect()
    };
    let spans = at(&record, above);
    let writes = record
        .series
        .iter_mut()
        .filter(|s| s.metric == Metric::DeviceWriteLatency);
    for sample in writes.flat_map(|series| &mut series.samples) {
        sample.value = if spans
            .iter()
            .any(|(start, end)| *start < sample.at && sample.at <= *end)
        {
            9.0
        } else {
            2.0
        };
    }
    assert!(
        named(&record).contains(&"device_write_time"),
        "{:?}",
        named(&record)
    );
}
