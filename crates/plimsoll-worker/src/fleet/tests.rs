use plimsoll_plan::schedule::Tick;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::{Absence, Counts, LateTimes, TransactionStats};
use proptest::prelude::*;

use super::*;

fn second(phase: PhaseKind, start_ms: u64, end_ms: u64, responses: &[u64]) -> LaneSecond {
    let mut stats = TransactionStats::default();
    for &response in responses {
        stats.record(Nanos(response), Nanos(response));
    }
    let counts = Counts {
        offered: responses.len() as u64,
        committed: responses.len() as u64,
        ..Counts::default()
    };
    let (_, response, service) = stats.into_parts();
    LaneSecond {
        tick: Tick {
            start: Nanos::from_millis(start_ms),
            end: Nanos::from_millis(end_ms),
            phase,
        },
        in_flight: 1,
        tallies: vec![TransactionStats::new(counts, response, service)],
        earlier: Vec::new(),
        late: 0,
        overflow: 0,
        merge_lag: Nanos::ZERO,
        absence: Absence::default(),
    }
}

fn committed(seconds: &[LaneSecond]) -> Vec<u64> {
    let of = |second: &LaneSecond| second.tallies[0].counts.committed;
    seconds.iter().map(of).collect()
}

#[test]
fn a_second_waits_for_the_slowest_and_a_closed_phase_is_passed() {
    use PhaseKind::{Cool, Measure};
    let mut merger = SecondMerger::new(2);
    assert!(merger.add(0, second(Measure, 0, 1000, &[1; 5])).is_empty());
    assert!(
        merger
            .add(0, second(Measure, 1000, 2000, &[1; 4]))
            .is_empty()
    );
    assert_eq!(
        committed(&merger.add(1, second(Measure, 0, 1000, &[1; 6]))),
        [11]
    );
    // An order closes the second part a little earlier, before its second begins.
    let passed = merger.add(1, second(Cool, 1000, 1800, &[1; 3]));
    assert_eq!(committed(&passed), [4]);
    let cool = merger.add(0, second(Cool, 2000, 2900, &[1; 2]));
    assert_eq!(committed(&cool), [5]);
    let tick = cool[0].tick;
    assert_eq!(
        (tick.start, tick.end),
        (Nanos::SECOND, Nanos::from_millis(2900))
    );
    assert!(merger.add(0, second(Cool, 2900, 3900, &[1])).is_empty());
    assert_eq!(committed(&merger.end(1)), [1]);
    assert!(merger.end(0).is_empty());
}

#[test]
fn what_a_lost_part_has_not_sent_is_a_hole() {
    use PhaseKind::Measure;
    let mut merger = SecondMerger::new(2);
    merger.add(0, second(Measure, 0, 1000, &[1; 5]));
    assert_eq!(
        committed(&merger.add(1, second(Measure, 0, 1000, &[1]))),
        [6]
    );
    merger.add(0, second(Measure, 1000, 2000, &[1; 5]));
    assert_eq!(merger.reached(1), Nanos::SECOND);
    assert!(
        merger
            .add(0, second(Measure, 2000, 3000, &[1; 5]))
            .is_empty()
    );
    assert!(merger.end(0).is_empty());
}

proptest! {
    /// Whatever generator a transaction ran on: counts and histogram are those of one that ran all.
    #[test]
    fn four_generators_count_as_one(
        responses in prop::collection::vec((0usize..4, 1_000u64..9_000_000_000), 0..200),
    ) {
        let mut merger = SecondMerger::new(4);
        let mut merged = Vec::new();
        for part in 0..4 {
            let own: Vec<u64> =
                responses.iter().filter(|(of, _)| *of == part).map(|(_, ns)| *ns).collect();
            let mut second = second(PhaseKind::Measure, 0, 1000, &own);
            let (_, response, service) = second.tallies[0].clone().into_parts();
            let place = TickPlace { phase: PhaseKind::Warm, ordinal: 3 };
            let tallies = vec![TransactionStats::new(Counts::default(), response, service)];
            second.earlier = vec![LateTimes { place, tallies }];
            merged.extend(merger.add(part, second));
        }
        let mut all = Hist::new();
        responses.iter().for_each(|(_, ns)| all.record(Nanos(*ns)));
        prop_assert_eq!(merged.len(), 1);
        prop_assert_eq!(&merged[0].tallies[0].response, &all);
        prop_assert_eq!(merged[0].tallies[0].counts.committed, responses.len() as u64);
        prop_assert_eq!(merged[0].in_flight, 4);
        prop_assert_eq!(merged[0].earlier.len(), 1, "times of the same second are added up");
        prop_assert_eq!(&merged[0].earlier[0].tallies[0].response, &all);
    }
}

fn past(origin: Option<Nanos>) -> RejoinedParts {
    let timeline = Timeline {
        warm: Nanos::ZERO,
        measure: Nanos::from_millis(2_500),
        cool: Nanos::SECOND,
    };
    let lane = PastLane {
        job: JobId(1),
        timeline,
        origin,
    };
    RejoinedParts::new(lane, 2)
}

#[test]
fn a_lane_of_the_past_starts_with_its_last_part_where_the_run_file_has_it() {
    let at = Nanos::from_secs;
    let mut parts = past(Some(at(7)));
    assert_eq!(parts.start(1, Some(at(8))), None);
    assert!(parts.awaits_start());
    assert_eq!(parts.start(0, None), Some(at(7)));
    assert!(!parts.awaits_start());
    let mut parts = past(None);
    parts.start(0, Some(at(8)));
    assert_eq!(parts.start(1, Some(at(9))), Some(at(8)));
}

#[test]
fn a_part_of_the_past_ends_with_the_second_that_was_cut_short() {
    use PhaseKind::{Cool, Measure};
    let tick = |phase, start, end| second(phase, start, end, &[]).tick;
    let mut parts = past(None);
    for (part, phase, start, end, ends) in [
        (0, Measure, 0, 1000, false),
        (1, Measure, 0, 700, true),
        (0, Measure, 1000, 2000, false),
        // As planned: the measurement ends there.
        (0, Measure, 2000, 2500, false),
        (1, Cool, 700, 900, true),
        (0, Cool, 2500, 2600, false),
    ] {
        assert_eq!(
            parts.ends_with(part, tick(phase, start, end)),
            ends,
            "{part} {start}"
        );
    }
}
