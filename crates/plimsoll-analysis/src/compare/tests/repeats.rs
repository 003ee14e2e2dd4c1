//! Intervals from one window and from repeats.

use super::*;

/// A second of some 200 transactions, whose number scatters by chance about a level that wanders.
fn counted_window(seed: u64, n: usize, correlation: f64) -> Repeat {
    let chance = made::series(seed + 1_000_000, n, 0.0, 1.0);
    let level = made::series(seed, n, correlation, 0.1);
    let count = |(level, chance): (f64, f64)| {
        let expected = level / 5.0;
        (expected + (chance / 1000.0 - 1.0) * expected.sqrt())
            .round()
            .max(1.0)
    };
    window(&level.into_iter().zip(chance).map(count).collect::<Vec<_>>())
}

#[test]
fn intervals_of_one_window_cover_the_truth_or_there_is_none() {
    for (seconds, correlation) in [(60, 0.8), (120, 0.8), (120, 0.95), (300, 0.8)] {
        let (mut rates, mut medians) = (Vec::new(), Vec::new());
        for trial in 0..50 {
            let [a, b] = [0, 1].map(|i| {
                side(
                    "x",
                    vec![counted_window(trial * 2 + i, seconds, correlation)],
                )
            });
            let found = compared(&a, &b, &Ask::default());
            let covers = |interval: Interval| interval.low <= 1.0 && 1.0 <= interval.high;
            rates.extend(found.rate.interval().map(covers));
            medians.extend(found.times[0].interval().map(covers));
        }
        for covered in [rates, medians] {
            let (held, of) = (covered.iter().filter(|held| **held).count(), covered.len());
            assert!(
                held * 100 >= of * 90,
                "{seconds} s, {correlation}: {held} of {of}"
            );
        }
    }
}

#[test]
fn percentiles_of_repeats_need_no_seconds() {
    // sysbench --histogram: a histogram for each run, and nothing else of its response times.
    let run = |level: f64| Repeat {
        slices: Vec::new(),
        ..window(&made::series(level as u64, 60, 0.0, 0.1))
    };
    let four = side("x", [1.0, 2.0, 3.0, 4.0].map(run).to_vec());
    let point = compared(&four, &four, &Ask::default());
    assert_eq!(point.times.len(), 4);
    for time in &point.times[..3] {
        let ratio = time.interval().expect("an interval");
        assert!(
            ratio.low < 1.0 && ratio.mean == 1.0 && ratio.high > 1.0,
            "{time:?}"
        );
    }
    let limits = GateLimits {
        max_regression: 0.5,
        max_latency_regression: Some(0.5),
        allow: Vec::new(),
    };
    let compared = compare(&[four.clone(), four], &Ask::default());
    assert_eq!(
        gate(&compared.others[0], &limits).outcome,
        GateOutcome::Passed
    );
}

#[test]
fn a_percentile_is_that_of_the_ladder() {
    // Each thousand latencies of one value; all of them together have another 99th percentile than the middle repeat.
    let run = |ms: u64| Repeat {
        slices: Vec::new(),
        latency: plimsoll_record::hist::Hist::of_buckets(
            [(Nanos::from_millis(ms), 1000)],
            0,
            Nanos::SECOND,
        ),
        ..rates(&[1000.0; 60])
    };
    for (repeats, expected) in [
        (vec![10, 30, 11], 11.0),
        (vec![10, 30], 20.0),
        (vec![10], 10.0),
    ] {
        let own = side("x", repeats.into_iter().map(run).collect());
        let point = compared(&own, &own, &Ask::default());
        let p99 = point
            .times
            .iter()
            .find(|time| time.figure == FigureId::P99)
            .expect("a percentile");
        let first = p99.first.unwrap().value;
        assert!((first / expected - 1.0).abs() < 0.001, "{p99:?}");
        assert!(
            p99.interval()
                .is_none_or(|ratio| ratio.low < 1.0 && ratio.mean == 1.0),
            "{p99:?}"
        );
    }
}
