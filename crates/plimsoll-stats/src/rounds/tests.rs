//! The criterion on rounds as fio recorded them, and on any others against its wording in the specification.

use proptest::prelude::*;

use super::*;

/// Recorded with fio 3.33 on a virtual machine of 2 CPUs with a cloud disk, in requests per second.
///
/// Buffered random reads of 4 KiB on a file of 256 MiB, 1 s each: the page cache fills, then holds it all.
const SETTLES: [f64; 14] = [
    18268.7, 23685.3, 32245.8, 50973.0, 162388.0, 434593.0, 517954.0, 531108.0, 537080.9, 474371.0,
    518820.2, 458728.0, 447786.0, 528249.0,
];
/// The same on 768 MiB: the cache was still filling when the last round ended.
const DRIFTS: [f64; 19] = [
    10114.0, 9867.0, 11240.0, 15053.0, 16518.0, 18998.0, 20105.0, 10461.0, 25871.0, 26591.0,
    31896.0, 39371.0, 45062.0, 43966.0, 45263.0, 57905.0, 61025.0, 79275.0, 114309.0,
];
/// Buffered random writes of 4 KiB with an fsync after each 600,000 of them, 1 s each.
const OSCILLATES: [f64; 19] = [
    337873.0, 262367.0, 126104.0, 373511.0, 100982.0, 334179.0, 266086.0, 120844.0, 311564.0,
    167903.0, 106685.0, 246635.0, 246786.0, 37069.0, 300592.0, 262639.0, 38127.0, 294267.0,
    268168.0,
];
/// Direct random reads of 4 KiB, one at a time, 2 s each, on a machine that had other things to do.
const NOISY: [f64; 12] = [
    15480.8, 16592.7, 17654.2, 16480.8, 18350.3, 17017.0, 18517.7, 18401.8, 18546.5, 15965.5,
    17188.9, 15868.1,
];

const SNIA: SteadyRule = SteadyRule::SNIA;

fn near(got: f64, expected: f64) -> bool {
    (got - expected).abs() <= 1e-9 * got.abs().max(expected.abs()).max(1.0)
}

#[test]
fn rounds_that_settle_are_steady_when_the_rise_has_left_the_window() {
    let (round, fit) = first_steady(&SETTLES, &SNIA).unwrap();
    // 434593 517954 531108 537080.9 474371: range 102487.9 of 499021.4, 20.5 %, is not; the next five are.
    assert_eq!((round, fit.from), (10, 6));
    assert!((fit.mean - 515_866.82).abs() < 0.01, "{fit:?}");
    assert!((fit.range_percent - 12.156_18).abs() < 1e-4, "{fit:?}");
    // (−2·517954 − 531108 + 474371 + 2·518820.2) / 10 · 4 = −22001.84.
    assert!((fit.slope_percent + 4.265_02).abs() < 1e-4, "{fit:?}");
    assert!(
        (fit.line_from - (fit.mean + 11_000.92)).abs() < 0.01
            && (fit.line_to - (fit.mean - 11_000.92)).abs() < 0.01
    );
}

#[test]
fn rounds_that_drift_are_never_steady() {
    assert_eq!(first_steady(&DRIFTS, &SNIA), None);
    // The slope alone exceeds its limit.
    assert_eq!(
        first_steady(
            &DRIFTS,
            &SteadyRule {
                range: f64::INFINITY,
                ..SNIA
            }
        ),
        None
    );
}

#[test]
fn rounds_that_oscillate_are_never_steady() {
    assert_eq!(first_steady(&OSCILLATES, &SNIA), None);
    // A line through them is nearly level; the range exceeds its limit.
    assert!(
        first_steady(
            &OSCILLATES,
            &SteadyRule {
                range: f64::INFINITY,
                ..SNIA
            }
        )
        .is_some()
    );
    assert_eq!(
        first_steady(
            &OSCILLATES,
            &SteadyRule {
                slope: f64::INFINITY,
                ..SNIA
            }
        ),
        None
    );
}

#[test]
fn noisy_rounds_without_direction_are_steady() {
    let (round, fit) = first_steady(&NOISY, &SNIA).unwrap();
    assert_eq!(
        (round, fit.from),
        (5, 1),
        "the first window rises by 13.3 %"
    );
    assert!(
        fit.range_percent > 10.0 && fit.slope_percent.abs() < 5.0,
        "{fit:?}"
    );
}

#[test]
fn too_few_rounds_and_rounds_of_nothing_have_no_fit() {
    assert_eq!(fit(&[], &SNIA), None);
    assert_eq!(fit(&[9.0; 4], &SNIA), None);
    assert_eq!(fit(&[0.0; 9], &SNIA), None);
    assert_eq!(
        fit(&[9.0], &SteadyRule { window: 1, ..SNIA }),
        None,
        "one round has no line"
    );
    assert_eq!(fit(&[9.0], &SteadyRule { window: 0, ..SNIA }), None);
    assert_eq!(fit(&[1.0, f64::NAN, 1.0, 1.0, 1.0], &SNIA), None);
    assert_eq!(fit(&[f64::MAX; 5], &SNIA), None, "their sum is no number");
}

#[test]
fn all_jobs_have_to_be_steady_at_once() {
    let later = [1.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0];
    let sooner = [9.0, 9.0, 9.0, 9.0, 9.0, 1.0, 1.0];
    assert_eq!(all_steady(&[&later], &SNIA), Some(5));
    assert_eq!(all_steady(&[&sooner], &SNIA), Some(4));
    assert_eq!(all_steady(&[&later, &sooner], &SNIA), None);
    assert_eq!(all_steady(&[&later[1..], &sooner], &SNIA), Some(4));
    assert_eq!(
        all_steady(&[&later[..5], &later], &SNIA),
        None,
        "a job that was not measured is not steady"
    );
    assert_eq!(all_steady::<&[f64]>(&[], &SNIA), None);
}

/// Both limits as the specification states them: every pair is within the range, and the line by the normal equations.
fn is_steady(window: &[f64], rule: &SteadyRule, slack: f64) -> bool {
    let n = window.len() as f64;
    let mean = window.iter().sum::<f64>() / n;
    let apart = window
        .iter()
        .flat_map(|a| window.iter().map(move |b| a - b))
        .fold(0.0f64, f64::max);
    let points = || window.iter().enumerate().map(|(i, y)| (i as f64 + 1.0, *y));
    let sum = |of: fn((f64, f64)) -> f64| points().map(of).sum::<f64>();
    let (x, y, xx, xy) = (
        sum(|p| p.0),
        sum(|p| p.1),
        sum(|p| p.0 * p.0),
        sum(|p| p.0 * p.1),
    );
    let slope = (n * xy - x * y) / (n * xx - x * x);
    apart <= rule.range * mean * slack && slope.abs() * (n - 1.0) <= rule.slope * mean * slack
}

fn rates() -> impl Strategy<Value = Vec<f64>> {
    // Around a level, so that steady and unsteady ones both come up.
    (1.0..1e6f64, 0.0..0.4f64, 5..12usize).prop_flat_map(|(level, noise, n)| {
        prop::collection::vec((1.0 - noise)..=(1.0 + noise), n)
            .prop_map(move |all| all.iter().map(|x| x * level).collect())
    })
}

fn rules() -> impl Strategy<Value = SteadyRule> {
    (2..7u32, 0.05..0.5f64, 0.05..0.5f64).prop_map(|(window, range, slope)| SteadyRule {
        window,
        range,
        slope,
    })
}

proptest! {
    #[test]
    fn the_criterion_is_the_specifications(rounds in rates(), rule in rules()) {
        let Some(fit) = fit(&rounds, &rule) else { return Err(TestCaseError::reject("too few rounds")) };
        let window = &rounds[rounds.len() - rule.window as usize..];
        prop_assert!(!fit.steady || is_steady(window, &rule, 1.0 + 1e-6), "{fit:?} is called steady");
        prop_assert!(fit.steady || !is_steady(window, &rule, 1.0 - 1e-6), "{fit:?} is called unsteady");
        prop_assert_eq!(fit.from as usize + rule.window as usize, rounds.len());
        prop_assert!(near(fit.line_from + fit.line_to, 2.0 * fit.mean), "the line goes through the middle: {:?}", fit);
    }

    #[test]
    fn the_unit_does_not_matter(rounds in rates(), factor in 1e-3..1e3f64) {
        let scaled: Vec<f64> = rounds.iter().map(|rate| rate * factor).collect();
        let (a, b) = (fit(&rounds, &SNIA).unwrap(), fit(&scaled, &SNIA).unwrap());
        prop_assert!(near(a.range_percent, b.range_percent) && near(a.slope_percent, b.slope_percent), "{a:?} {b:?}");
        prop_assert!(near(a.mean * factor, b.mean) && near(a.line_to * factor, b.line_to), "{a:?} {b:?}");
    }

    #[test]
    fn backwards_the_line_falls_as_it_rose(rounds in rates()) {
        let n = SNIA.window as usize;
        let backwards: Vec<f64> = rounds.iter().rev().copied().collect();
        let (a, b) = (fit(&rounds[..n], &SNIA).unwrap(), fit(&backwards[rounds.len() - n..], &SNIA).unwrap());
        prop_assert!((a.slope_percent + b.slope_percent).abs() < 1e-6, "{a:?} {b:?}");
        prop_assert!(near(a.range_percent, b.range_percent), "{a:?} {b:?}");
    }

    #[test]
    fn what_stays_the_same_is_steady(rate in 1e-3..1e9f64, n in 5..30usize) {
        let (round, fit) = first_steady(&vec![rate; n], &SNIA).unwrap();
        prop_assert_eq!(round, 4, "as soon as the window is full");
        prop_assert!(fit.range_percent.abs() < 1e-9 && fit.slope_percent.abs() < 1e-9 && near(fit.mean, rate));
    }

    /// Along a line the range is the change: 10 % of the mean is the slope's limit, whatever the window.
    #[test]
    fn a_line_is_steady_up_to_the_slopes_limit(level in 1.0..1e6f64, window in 2..9u32, falls in any::<bool>()) {
        let rule = SteadyRule { window, ..SNIA };
        let steady_by = |percent: f64| {
            let step = level * percent / 100.0 / f64::from(window - 1) * if falls { -1.0 } else { 1.0 };
            let middle = f64::from(window - 1) / 2.0;
            let line: Vec<f64> = (0..window).map(|i| level + step * (f64::from(i) - middle)).collect();
            fit(&line, &rule).unwrap().steady
        };
        prop_assert!(steady_by(9.999) && steady_by(10.0) && !steady_by(10.001));
    }

    /// The first of all prefixes that are steady.
    #[test]
    fn the_first_steady_round_is_the_first(rounds in rates()) {
        let all: Vec<usize> =
            (0..rounds.len()).filter(|last| fit(&rounds[..=*last], &SNIA).is_some_and(|fit| fit.steady)).collect();
        let found = first_steady(&rounds, &SNIA);
        prop_assert_eq!(found.map(|(round, _)| round as usize), all.first().copied());
        prop_assert_eq!(found.map(|(round, _)| round), all_steady(&[&rounds], &SNIA));
    }
}
