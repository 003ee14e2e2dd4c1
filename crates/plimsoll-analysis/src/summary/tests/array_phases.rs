//! Points during which members of an array fail.

use super::*;

fn at(record: &Record, seconds: u64, kind: EventKind) -> Event {
    Event {
        at: Nanos::from_secs(1 + seconds),
        subject: record.points[0].medium,
        severity: Severity::Note,
        kind,
    }
}

/// Ten orders a second, five while the array is degraded, eight while it is rebuilt.
fn failed_and_rebuilt() -> Record {
    let rates = [(10, 20), (5, 20), (8, 20), (10, 20)];
    let seconds = rates.map(|(rate, seconds)| vec![(orders(rate, 0), 0); seconds]);
    let mut record = by_hand(&seconds.concat());
    record.seconds.edit(|seconds| {
        for (n, second) in seconds.iter_mut().enumerate() {
            let mut response = Hist::new();
            response.record(Nanos::from_millis(if n < 20 { 10 } else { 40 }));
            second.response = response.coarse();
        }
    });
    let failed = EventKind::MemberFailed {
        member: 2,
        data_lost: false,
    };
    let rebuilt = EventKind::MemberRebuilt {
        member: 2,
        seconds: 20.0,
    };
    record.events = vec![
        at(&record, 20, failed),
        at(&record, 40, EventKind::MemberReplaced { member: 2 }),
        at(&record, 60, rebuilt),
    ];
    record
}

#[test]
fn a_point_is_divided_by_the_failures_of_its_array() {
    let point = only(&failed_and_rebuilt());
    let array = point.array.unwrap();
    let states: Vec<&str> = array.phases.iter().map(|own| own.state.name()).collect();
    assert_eq!(states, ["whole", "degraded", "rebuilding", "rebuilt"]);
    let values = |figure| -> Vec<f64> {
        let phases = array.phases.iter();
        phases.filter_map(|own| own.figures.value(figure)).collect()
    };
    assert_eq!(values(array.rate()), [600.0, 300.0, 480.0, 600.0]);
    let ratios = array.phases.iter();
    let ratios = ratios.filter_map(|own| Some(own.ratios.get(array.rate())?.ratio));
    assert_eq!(ratios.collect::<Vec<f64>>(), [1.0, 0.5, 0.8, 1.0]);
    let p99 = values(FigureId::P99);
    assert!((p99[0] / 10.0 - 1.0).abs() < 0.04 && (p99[1] / 40.0 - 1.0).abs() < 0.04);
    assert_eq!(array.phases[2].from_s, 40.0);
    assert!(array.phases.iter().all(|own| !own.is_unfinished));
    // Of ten seconds five may be of the rebuild: 9 orders a second in the mean.
    assert_eq!(array.normal_after_s, Some(35.0));
    let names = kinds_of_events(&failed_and_rebuilt());
    assert_eq!(names, [""; 0], "the plan orders them");
}

fn kinds_of_events(record: &Record) -> Vec<String> {
    let kinds = kinds(&only(record)).into_iter();
    kinds.filter(|kind| kind == "event").collect()
}

#[test]
fn a_load_that_stays_low_does_not_become_normal() {
    let mut record = failed_and_rebuilt();
    record.seconds.edit(|seconds| seconds.truncate(60));
    assert_eq!(only(&record).array.unwrap().normal_after_s, None);
    record.events.clear();
    assert_eq!(only(&record).array, None);
}

#[test]
fn a_rebuild_that_does_not_end_in_the_window_is_unfinished() {
    let unfinished = |record: &Record| -> Vec<bool> {
        let phases = only(record).array.unwrap().phases;
        phases.iter().map(|own| own.is_unfinished).collect()
    };
    let mut record = failed_and_rebuilt();
    record.events.truncate(2);
    assert_eq!(unfinished(&record), [false, false, true]);
    // Another event ends the phase, and not the rebuild.
    let lost = EventKind::MemberFailed {
        member: 1,
        data_lost: true,
    };
    record.events.push(at(&record, 60, lost));
    assert_eq!(unfinished(&record), [false, false, true, false]);
    let mut record = failed_and_rebuilt();
    let slow = EventKind::MemberSlowed {
        member: 1,
        factor: 10.0,
    };
    record.events.insert(2, at(&record, 50, slow));
    assert_eq!(unfinished(&record), [false, false, true, false, false]);
}

#[test]
fn lost_data_are_a_state_of_their_own() {
    let mut record = failed_and_rebuilt();
    let lost = EventKind::MemberFailed {
        member: 1,
        data_lost: true,
    };
    record.events[1] = at(&record, 30, lost);
    record.events.truncate(2);
    let phases = only(&record).array.unwrap().phases;
    assert_eq!(phases.last().unwrap().state, ArrayState::DataLost);
}

#[test]
fn the_worst_that_holds_names_a_phase() {
    let mut record = failed_and_rebuilt();
    let slow = EventKind::MemberSlowed {
        member: 1,
        factor: 10.0,
    };
    let recovered = EventKind::MemberRecovered { member: 1 };
    let network = |gbit| EventKind::NetworkChanged {
        gbit,
        usual_gbit: 25,
    };
    let failed = EventKind::MemberFailed {
        member: 1,
        data_lost: false,
    };
    let kinds = [
        slow.clone(),
        network(1),
        recovered,
        network(25),
        failed.clone(),
    ];
    let events = (1..).zip(kinds);
    record.events = events.map(|(n, kind)| at(&record, 10 * n, kind)).collect();
    let phases = only(&record).array.unwrap().phases;
    let states: Vec<&str> = phases.iter().map(|own| own.state.name()).collect();
    let expected = ["whole", "slow", "slow", "network", "recovered", "degraded"];
    assert_eq!(states, expected);
    // One that returns is as slow as it was; a new one is not.
    let rebuilt = EventKind::MemberRebuilt {
        member: 1,
        seconds: 1.0,
    };
    for (back, last) in [
        (EventKind::MemberReturned { member: 1 }, "slow"),
        (EventKind::MemberReplaced { member: 1 }, "rebuilt"),
    ] {
        let mut record = failed_and_rebuilt();
        let kinds = [slow.clone(), failed.clone(), back, rebuilt.clone()];
        let events = (1..).zip(kinds);
        record.events = events.map(|(n, kind)| at(&record, 10 * n, kind)).collect();
        let phases = only(&record).array.unwrap().phases;
        assert_eq!(phases.last().unwrap().state.name(), last);
    }
}
