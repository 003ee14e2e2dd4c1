use plimsoll_plan::schedule::Tick;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::{Absence, Counts, TransactionStats};
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
    assert_eq!(merger.lose(1), Nanos::SECOND);
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
            merged.extend(merger.add(part, second(PhaseKind::Measure, 0, 1000, &own)));
        }
        let mut all = Hist::new();
        responses.iter().for_each(|(_, ns)| all.record(Nanos(*ns)));
        prop_assert_eq!(merged.len(), 1);
        prop_assert_eq!(&merged[0].tallies[0].response, &all);
        prop_assert_eq!(merged[0].tallies[0].counts.committed, responses.len() as u64);
        prop_assert_eq!(merged[0].in_flight, 4);
    }
}
