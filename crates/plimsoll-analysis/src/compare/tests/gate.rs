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
    missing.points[0].key.load.users = 5;
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
        side.points[0].key.load.offered_per_second = Some(1000.0);
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
    let results: Vec<(FigureId, GateOutcome)> = gate
        .points
        .iter()
        .map(|point| (point.figure, point.outcome))
        .collect();
    assert_eq!(
        results,
        [
            (FigureId::Transactions, GateOutcome::Passed),
            (FigureId::P99, GateOutcome::Passed)
        ]
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
    let gated = of(vec![]);
    let rules: Vec<Rule> = gated.objections.iter().map(Objection::rule).collect();
    assert_eq!(
        (gated.outcome, rules, gated.points[0].reason),
        (
            GateOutcome::Inconclusive,
            vec![Rule::Victims],
            PointReason::Objection
        )
    );
    assert_eq!(of(vec![Rule::Victims]).outcome, GateOutcome::Passed);
}

/// Five repeats of this level, with these facts of the system and the host.
fn with_facts(level: f64, facts: &[(SubjectKind, &str, &str)]) -> ComparedSide {
    let configured = fixture_side(|record| {
        for (kind, key, value) in facts {
            fact(record, *kind, key, value);
        }
    });
    let rates = made::series(1, 5, 0.0, 0.002);
    ComparedSide {
        configuration: configured.configuration,
        ..side(
            "x",
            rates
                .iter()
                .map(|rate| window(&[rate * level; 60]))
                .collect(),
        )
    }
}

fn gated(baseline: &ComparedSide, run: &ComparedSide, allow: Vec<Rule>) -> GateReport {
    let limits = GateLimits {
        max_regression: 0.05,
        max_latency_regression: None,
        allow,
    };
    let compared = compare(&[baseline.clone(), run.clone()], &Ask::default());
    gate(&compared.others[0], &limits)
}

#[test]
fn data_that_plimsoll_reused_change_no_outcome() {
    let system = SubjectKind::System;
    for (level, outcome) in [
        (1.0, GateOutcome::Passed),
        (0.97, GateOutcome::Passed),
        (0.90, GateOutcome::Regression),
        (0.48, GateOutcome::Regression),
    ] {
        for (baseline, run) in [
            ("fresh", "fresh"),
            ("fresh", "reused"),
            ("reused", "fresh"),
            ("reused", "reused"),
        ] {
            let baseline = with_facts(1.0, &[(system, "data", baseline)]);
            let changed = [
                (system, "data", run),
                (system, "setting.commit_delay", "20000"),
                (system, "setting.commit_siblings", "1"),
                (system, "server_version", "16.1"),
            ];
            let gate = gated(&baseline, &with_facts(level, &changed), Vec::new());
            assert_eq!(
                (gate.outcome, gate.objections),
                (outcome, vec![]),
                "{level} {run}"
            );
        }
    }
}

#[test]
fn another_machine_beside_a_change_keeps_a_gate_open() {
    let facts = |cpu, version| {
        [
            (SubjectKind::Host, "cpu_model", cpu),
            (SubjectKind::System, "server_version", version),
        ]
    };
    let baseline = with_facts(1.0, &facts("a", "15"));
    for level in [0.48, 1.0, 2.0] {
        let moved = with_facts(level, &facts("b", "16"));
        let gate = gated(&baseline, &moved, Vec::new());
        assert_eq!(gate.outcome, GateOutcome::Inconclusive, "{level}");
        assert!(
            matches!(&gate.objections[..], [Objection::OtherMachine { factors }] if factors.len() == 2)
        );
        let gate = gated(&baseline, &moved, vec![Rule::OneFactor]);
        assert_ne!(gate.outcome, GateOutcome::Inconclusive, "accepted");
    }
    let alone = with_facts(0.48, &facts("b", "15"));
    assert_eq!(
        gated(&baseline, &alone, Vec::new()).outcome,
        GateOutcome::Regression,
        "the machine alone is what is compared"
    );
}

#[test]
fn an_inconclusive_figure_has_its_reason() {
    let long = |level: f64| side("x", vec![window(&seconds(7, level))]);
    let reason = |a: &ComparedSide, b: &ComparedSide| gated(a, b, Vec::new()).points[0].reason;
    let short = side("x", vec![window(&[1000.0; 30])]);
    assert_eq!(
        reason(&short, &short),
        PointReason::NoInterval(NotComparable::ShortWindow)
    );
    let mut invalid = long(1.0);
    invalid.points[0].verdict = Verdict::Invalid;
    assert_eq!(
        reason(&long(1.0), &invalid),
        PointReason::NoInterval(NotComparable::Invalid)
    );
    assert_eq!(
        reason(&long(1.0), &long(0.95)),
        PointReason::LimitInInterval
    );
    let halved = gated(&long(1.0), &long(0.48), Vec::new());
    assert_eq!(
        (halved.outcome, halved.points[0].one_window),
        (GateOutcome::Regression, true)
    );
}
