//! The exit code of a gate.

use super::*;

#[test]
fn a_gate_passes_fails_or_is_inconclusive() {
    let of = |level: f64, spread: f64, seed: u64| {
        let rates = made::series(seed, 5, 0.0, spread);
        side(
            "x",
            rates
                .iter()
                .map(|rate| window(&[rate * level; 60]))
                .collect(),
        )
    };
    let limits = |latency: Option<f64>| GateLimits {
        max_regression: 0.03,
        max_latency_regression: latency,
        allow: Vec::new(),
    };
    let gated = |b: &ComparedSide, latency: Option<f64>| {
        let against = compare(&[of(1.0, 0.002, 1), b.clone()], &Ask::default())
            .others
            .remove(0);
        gate(&against, &limits(latency))
    };
    let outcomes = |level: f64, spread: f64| gated(&of(level, spread, 2), None).outcome;
    assert_eq!(outcomes(1.0, 0.002), GateOutcome::Passed);
    assert_eq!(
        outcomes(0.98, 0.002),
        GateOutcome::Passed,
        "worse, by less than is allowed"
    );
    assert_eq!(outcomes(0.90, 0.002), GateOutcome::Regression);
    assert_eq!(outcomes(0.97, 0.02), GateOutcome::Inconclusive);
    let slow = gated(&of(0.90, 0.002, 2), Some(0.2));
    assert_eq!(
        slow.points.iter().map(|p| p.outcome).collect::<Vec<_>>(),
        [GateOutcome::Regression, GateOutcome::Passed]
    );
    let mut missing = of(1.0, 0.002, 2);
    missing.points[0].place.load.users = 5;
    assert_eq!(
        gated(&missing, None).outcome,
        GateOutcome::Inconclusive,
        "a missing load cannot pass"
    );
}

#[test]
fn in_an_open_loop_the_gate_checks_latency() {
    let of = |level: f64| {
        let mut side = side(
            "x",
            (0..5)
                .map(|i| window(&[level * (1.0 + f64::from(i) / 1000.0); 60]))
                .collect(),
        );
        side.points[0].place.load.offered_per_second = Some(1000.0);
        side
    };
    let limits = GateLimits {
        max_regression: 0.03,
        max_latency_regression: None,
        allow: Vec::new(),
    };
    let against = compare(&[of(1000.0), of(1000.0)], &Ask::default())
        .others
        .remove(0);
    let gate = gate(&against, &limits);
    let results: Vec<(bool, GateOutcome)> = gate
        .points
        .iter()
        .map(|point| (point.latency, point.outcome))
        .collect();
    assert_eq!(
        results,
        [(false, GateOutcome::Passed), (true, GateOutcome::Passed)]
    );
}

#[test]
fn a_rule_that_forbids_keeps_a_gate_open_unless_it_is_allowed() {
    let a = side(
        "a",
        (0..3)
            .map(|i| window(&[1000.0 + f64::from(i); 60]))
            .collect(),
    );
    let mut b = a.clone();
    b.points[0].systems = 2;
    let against = compare(&[a, b], &Ask::default()).others.remove(0);
    let of = |allow: Vec<Rule>| {
        gate(
            &against,
            &GateLimits {
                max_regression: 0.03,
                max_latency_regression: None,
                allow,
            },
        )
    };
    assert_eq!(
        (of(vec![]).outcome, of(vec![]).forbidden_by),
        (GateOutcome::Inconclusive, vec![Rule::Victims])
    );
    assert_eq!(of(vec![Rule::Victims]).outcome, GateOutcome::Passed);
}
