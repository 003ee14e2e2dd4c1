//! Windows too short for an interval, and windows whose percentiles are kept coarsely.

use super::{evaluate, fired, fired_on, good, load_with, percentile};
use crate::audit::input::RelatedFigures;
use crate::audit::{Evidence, Next, Rule, RuleOutcome};
use crate::summary::{FigureId, FigureSet};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity;
use plimsoll_record::hist::COARSE_ERROR_PERCENT;

#[test]
fn a_window_without_an_interval_is_a_warning_and_a_note_of_a_probe() {
    let mut input = good();
    input.loads[0].figures.set(FigureId::IntervalPercent, None);
    load_with(
        &mut input,
        [(FigureId::MeasuredS, 120.0), (FigureId::Runs, 2.0)],
    );
    let verdicts = evaluate(&input, &Thresholds::default());
    assert_eq!(fired(&verdicts), [(Rule::Short, Severity::Warning)]);
    let short = verdicts
        .iter()
        .find(|verdict| verdict.rule == Rule::Short)
        .expect("a rule");
    let RuleOutcome::Fired { evidence, next, .. } = &short.outcome else {
        panic!("{short:?}")
    };
    assert_eq!(*next, Next::MeasureLongerOrRepeat);
    let expected = Evidence::NoInterval {
        measured_s: 120.0,
        fewest_s: 300.0,
        repeats: 2,
        fewest_repeats: 3,
    };
    assert_eq!(evidence, &[expected]);
    input.loads[0].probe = true;
    assert_eq!(fired_on(&input), [(Rule::Short, Severity::Note)]);
    load_with(&mut input, [(FigureId::IntervalPercent, 4.9)]);
    assert_eq!(fired_on(&input), []);
}

#[test]
fn percentiles_of_coarse_buckets_are_plausible_within_their_resolution() {
    // All took 9.7 ms; the middle of the bucket that holds them lies at 10.
    let row = |resolution_percent: f64| RelatedFigures {
        percentiles: vec![
            percentile("p50", 0.5, 10.0),
            percentile("p99", 0.99, 10.0),
            percentile("max", 1.0, 9.7),
        ],
        figures: FigureSet::from_iter([(FigureId::Mean, 9.7)]),
        resolution_percent,
        ..RelatedFigures::default()
    };
    let mut input = good();
    input.loads[0].rows = vec![row(0.0)];
    assert_eq!(fired_on(&input), [(Rule::Plausible, Severity::Error)]);
    input.loads[0].rows = vec![row(COARSE_ERROR_PERCENT)];
    assert_eq!(fired_on(&input), []);
}
