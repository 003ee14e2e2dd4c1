//! Which loads are of one workload.

use super::*;

fn with(parameters: &[(&str, &str)]) -> ComparedSide {
    let own = parameters
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    fixture_side(|record| record.points[0].parameters = own.collect())
}

fn against(a: &ComparedSide, b: &ComparedSide, ask: &Ask) -> Against {
    compare(&[a.clone(), b.clone()], ask).others.remove(0)
}

fn has_ratio(a: &ComparedSide, b: &ComparedSide, ask: &Ask) -> bool {
    against(a, b, ask).points[0].rate.ratio.is_some()
}

#[test]
fn parameters_make_workloads_unlike() {
    let job = |script, scale, bs, ioengine| {
        with(&[
            ("script", script),
            ("scale", scale),
            ("bs", bs),
            ("ioengine", ioengine),
        ])
    };
    let base = job("a", "10", "4k", "libaio");
    for (other, unlike) in [
        (job("b", "10", "4096", "libaio"), vec!["script"]),
        (job("a", "20", "8k", "libaio"), vec!["bs", "scale"]),
        (job("a", "10", "4k", "io_uring"), vec![]),
        (with(&[("script", "a"), ("think_time", "3")]), vec![]),
    ] {
        let found = against(&base, &other, &Ask::default());
        let point = &found.points[0];
        let keys: Vec<&str> = point.unlike.iter().map(|own| own.key.as_str()).collect();
        assert_eq!(keys, unlike);
        assert_eq!(
            (point.rate.ratio.is_none(), point.times.is_empty()),
            (!unlike.is_empty(), !unlike.is_empty())
        );
        assert!(!found.differences.is_empty(), "every difference is shown");
        let anyway = Ask {
            anyway: true,
            ..Ask::default()
        };
        assert!(has_ratio(&base, &other, &anyway));
    }
}

#[test]
fn what_is_compared_may_differ() {
    let [small, large] = ["10", "20"].map(|scale| with(&[("scale", scale)]));
    let named = |group| Ask {
        factor: Some(group),
        ..Ask::default()
    };
    assert!(has_ratio(&small, &large, &named(Group::Sizes)));
    assert!(!has_ratio(&small, &large, &named(Group::Workload)));
    let limits = GateLimits {
        max_regression: 0.99,
        max_latency_regression: None,
        allow: vec![Rule::OneFactor],
    };
    let gated = gate(&against(&small, &large, &Ask::default()), &limits);
    assert_eq!(
        (gated.outcome, gated.points[0].reason),
        (
            GateOutcome::Inconclusive,
            PointReason::NoInterval(NotComparable::Unlike)
        )
    );
}

#[test]
fn of_several_loads_those_of_one_workload_are_partners() {
    let with = |scripts: [&str; 2]| {
        let mut side = side("x", vec![window(&[1000.0; 60])]);
        let of = |script: &str| {
            let one = fixture_side(|record| {
                record.points[0].parameters = [("script".into(), script.into())].into()
            });
            SidePoint {
                workload: one.points[0].workload.clone(),
                ..side.points[0].clone()
            }
        };
        side.points = scripts.map(of).to_vec();
        side
    };
    let against = compare(&[with(["a", "b"]), with(["b", "a"])], &Ask::default())
        .others
        .remove(0);
    assert_eq!(against.points.len(), 2);
    assert!(
        against
            .points
            .iter()
            .all(|point| point.unlike.is_empty() && point.rate.ratio.is_some())
    );
}

#[test]
fn a_value_that_one_side_does_not_record_is_no_difference() {
    let recorded = fixture_side(|record| {
        fact(record, SubjectKind::Host, "kernel", "1");
        fact(record, SubjectKind::Host, "memory", "x");
    });
    let silent = fixture_side(|record| {
        record.facts.clear();
        record.plan = RecordedPlan::Imported;
        fact(record, SubjectKind::System, "import.file", "theirs.txt");
    });
    assert_eq!(rules(&recorded, &silent, &Ask::default()), [Rule::Repeat]);
    assert!(
        !differences(&recorded.configuration, &silent.configuration).is_empty(),
        "and is shown"
    );
}
