//! Percentiles of a window are those of what was due in it, whenever that ended.

use super::*;

/// The lane ends a little after its timeline.
const OVER: Nanos = Nanos::from_millis(17_020);
const SERVICE: Nanos = Nanos::from_millis(5);

struct DueTransaction {
    due: Nanos,
    end: Nanos,
}

impl DueTransaction {
    fn response(&self) -> Nanos {
        self.end.min(OVER) - self.due
    }

    fn is_unfinished(&self) -> bool {
        self.end > OVER
    }
}

/// What a rate does to `users` connections of a system that stands still now and then, in the order of due times. In a
/// window of ten seconds after two.
fn window(per_second: u64, users: usize, stalls: &[Stall]) -> Vec<DueTransaction> {
    let mut free = std::collections::VecDeque::from(vec![Nanos::ZERO; users]);
    let mut all = Vec::new();
    for i in 0..12 * per_second {
        let due = Nanos(i * 1_000_000_000 / per_second);
        let start = due.max(free.pop_front().unwrap());
        let mut end = start + SERVICE;
        for Stall { at, lasts } in stalls {
            if start < *at + *lasts && end > *at {
                end += *at + *lasts - start.max(*at);
            }
        }
        // All end in the order in which they begin.
        free.push_back(end);
        all.push(DueTransaction { due, end });
    }
    all.retain(|one| (Nanos::from_secs(2)..Nanos::from_secs(12)).contains(&one.due));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Stalls of any length at any moment, across either edge of the window or both.
    #[test]
    fn percentiles_of_an_open_loop_are_those_of_all_that_was_due_in_the_window(
        rate in 20u64..200, users in 1usize..20, at in 0u64..14_000, lasts in 0u64..14_000, later in 0u64..3_000, again in 0u64..2_000,
    ) {
        let stalls = [(at, lasts), (at + lasts + later, again)].map(|(at, lasts)| Stall {
            at: Nanos::from_millis(at),
            lasts: Nanos::from_millis(lasts),
        });
        let script = MockScript { latency: SERVICE, stalls: stalls.to_vec(), ..MockScript::default() };
        let lane = run(spec(script, open(rate as f64, users as u32, 10_000)));
        lane.conserved();
        let truth = window(rate, users, &stalls);
        // What ends at the very moment at which the lane does may be seen or not.
        prop_assume!(truth.iter().all(|one| one.end != OVER));
        let mut times: Vec<Nanos> = truth.iter().map(DueTransaction::response).collect();
        times.sort_unstable();
        let response = lane.measured().response;
        prop_assert_eq!(response.count(), times.len() as u64);
        let unfinished = truth.iter().filter(|one| one.is_unfinished()).count();
        prop_assert_eq!(response.unfinished().map_or(0, |own| own.count), unfinished as u64);
        for quantile in [0.5, 0.9, 0.99, 0.999, 1.0] {
            let rank = ((quantile * times.len() as f64).ceil() as usize).max(1);
            let (found, expected) = (response.quantile(quantile).unwrap(), times[rank - 1]);
            let off = found.as_millis_f64() / expected.as_millis_f64() - 1.0;
            prop_assert!(off.abs() < 0.002, "{quantile}: {found:?}, not {expected:?}");
        }
    }
}

#[test]
fn a_stall_that_ends_after_the_window_is_in_its_percentiles() {
    let stall = Stall {
        at: Nanos::from_millis(11_700),
        lasts: Nanos::from_secs(4),
    };
    let script = MockScript {
        stalls: vec![stall],
        ..latency(5)
    };
    for load in [open(100.0, 16, 1_000), LoadShape::closed(1)] {
        let lane = run(spec(script.clone(), load));
        lane.conserved();
        let response = lane.measured().response;
        assert!(response.max() >= Some(Nanos::from_secs(4)), "{load:?}");
        assert_eq!(response.unfinished(), None);
    }
    let open = run(spec(script, open(100.0, 16, 1_000)));
    assert!(open.measured().response.quantile(0.98) > Some(Nanos::from_millis(3_800)));
}

#[test]
fn what_never_ends_counts_with_its_age() {
    let stall = Stall {
        at: Nanos::from_secs(11),
        lasts: Nanos::from_secs(60),
    };
    let script = MockScript {
        stalls: vec![stall],
        ..latency(5)
    };
    let lane = run(spec(script, open(100.0, 4, 1_000)));
    lane.conserved();
    let measured = lane.measured();
    let unfinished = measured.response.unfinished().unwrap();
    assert_eq!(unfinished.count, 100);
    assert_eq!(unfinished.least, OVER - Nanos::from_millis(11_990));
    assert_eq!(
        measured.response.count(),
        1_000,
        "all that was due in ten seconds"
    );
    assert_eq!(
        measured.service().unfinished().unwrap().count,
        4,
        "the others were never started"
    );
}
