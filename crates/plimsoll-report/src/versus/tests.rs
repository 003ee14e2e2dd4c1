use insta::assert_snapshot;
use plimsoll_analysis::audit::{Evidence, Rule};
use plimsoll_analysis::compare::{
    Against, Ask, Difference, Effect, Factor, FigureComparison, GateLimits, GateOutcome,
    GateReport, GatedPoint, Group, IntervalBasis, Mark, NotComparable, Objection, PointComparison,
    PointReason, RunComparison, SideInfo, SidePart,
};
use plimsoll_analysis::summary::{Estimate, FigureId, Interval, Ratio, Verdict};
use plimsoll_plan::Interference;
use plimsoll_record::{LoadKey, OfferedLoad, Severity};
use plimsoll_stats::RankTest;

use super::{comparison_csv, comparison_page, comparison_text, gate_sentence, gate_text};

fn place(users: u32, medium: &str) -> LoadKey {
    LoadKey {
        step: "oltp".into(),
        system: "db".into(),
        medium: Some(medium.into()),
        scene: Interference::Alone,
        job: None,
        load: OfferedLoad::closed(users),
    }
}

fn factor(group: Group, names: &[&str]) -> Factor {
    Factor {
        group,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn part(repeats: usize) -> SidePart {
    SidePart {
        repeats,
        systems: 1,
        measured_s: 60.0 * repeats as f64,
        verdict: Verdict::Valid,
    }
}

fn point(
    users: u32,
    ratio: f64,
    half: f64,
    effect: Effect,
    method: IntervalBasis,
) -> PointComparison {
    let interval = (effect != Effect::NotEvaluated).then_some(Interval::new(
        ratio,
        ratio - half,
        ratio + half,
    ));
    let p99 = FigureComparison {
        figure: FigureId::P99,
        first: Estimate::single(12.5, None),
        second: Estimate::single(8.8, None),
        ratio: Some(Ratio {
            ratio: 0.704,
            interval: Some(Interval::new(0.704, 0.68, 0.73)),
        }),
        difference: Some(Interval::new(-3.7, -4.1, -3.2)),
        effect: Effect::Less,
    };
    PointComparison {
        place: place(users, "sata"),
        second_place: place(users, "nvme"),
        method,
        first: part(5),
        second: part(5),
        rate: FigureComparison {
            figure: FigureId::Nopm,
            first: Estimate::single(41_203.0, None),
            second: Estimate::single(41_203.0 * ratio, None),
            ratio: Some(Ratio { ratio, interval }),
            difference: None,
            effect,
        },
        times: vec![p99],
        ranks: Some(RankTest {
            first: 5,
            second: 5,
            p: 0.0079,
            cliffs_delta: 1.0,
        }),
        unlike: Vec::new(),
    }
}

/// The first side is invalid there.
fn invalid(users: u32) -> PointComparison {
    let basis = IntervalBasis::None {
        because: NotComparable::Invalid,
    };
    let mut own = point(users, 1.0, 0.0, Effect::NotEvaluated, basis);
    own.first.verdict = Verdict::Invalid;
    own.rate.ratio = None;
    own
}

/// Each kind of sentence once, and every figure another.
fn comparison() -> RunComparison {
    let side = |label: &str, commit: &str| SideInfo {
        label: label.into(),
        titles: vec!["How far does <this> go?".into()],
        run_ids: vec![format!("id-{label}")],
        started_at: "2026-11-22T08:00:00Z".into(),
        commit: commit.into(),
    };
    let mut of_windows = point(77, 1.31, 0.0, Effect::NotEvaluated, IntervalBasis::Windows);
    of_windows.rate.ratio = Some(Ratio {
        ratio: 1.31,
        interval: Some(Interval::new(1.31, 1.2, 1.42)),
    });
    let none = IntervalBasis::None {
        because: NotComparable::ShortWindow,
    };
    let difference =
        |group: Group, of: &str, key: &str, first: &str, second: Option<&str>| Difference {
            group,
            of: of.into(),
            key: key.into(),
            first: Some(first.into()),
            second: second.map(str::to_owned),
        };
    RunComparison {
        schema_version: 1,
        ask: Ask {
            minimum_effect: 0.01,
            ..Ask::default()
        },
        sides: vec![side("A", "aaa"), side("B", "bbb")],
        others: vec![Against {
            side: 1,
            differences: vec![
                difference(
                    Group::Drives,
                    "sata",
                    "drive",
                    "micron-5200",
                    Some("kingston-dc1500m"),
                ),
                difference(Group::Kernel, "", "kernel", "6.1", None),
            ],
            factors: vec![
                factor(Group::Kernel, &["kernel"]),
                factor(Group::Drives, &["drive", "form"]),
            ],
            marks: vec![Mark {
                rule: Rule::Repeat,
                severity: Severity::Warning,
                evidence: Evidence::RepeatSpread {
                    spread_percent: 5.25,
                    effect_percent: -3.1,
                },
            }],
            points: vec![
                point(8, 1.4213, 0.04, Effect::More, IntervalBasis::Repeats),
                point(16, 0.9689, 0.011, Effect::Less, IntervalBasis::Repeats),
                point(32, 0.9951, 0.0152, Effect::NotShown, IntervalBasis::Repeats),
                point(64, 1.0012, 0.002, Effect::TooSmall, IntervalBasis::Repeats),
                of_windows,
                point(89, 1.25, 0.0, Effect::NotEvaluated, none),
                invalid(144),
            ],
            only_first: vec![place(1, "sata")],
            only_second: Vec::new(),
        }],
    }
}

#[test]
fn a_comparison_as_text() {
    assert_snapshot!(comparison_text(&comparison()));
}

#[test]
fn what_an_imported_side_lacks_is_folded() {
    let mut own = comparison();
    let difference = |key: &str, first: Option<&str>, second: Option<&str>| Difference {
        group: Group::Kernel,
        of: String::new(),
        key: key.into(),
        first: first.map(str::to_owned),
        second: second.map(str::to_owned),
    };
    own.others[0].differences = vec![
        difference("kernel", Some("6.1"), Some("6.2")),
        difference("swappiness", None, Some("60")),
    ];
    assert!(
        comparison_text(&own).contains("swappiness"),
        "one of two own runs that lacks something is listed"
    );
    own.others[0]
        .differences
        .push(difference("import.vmstat", Some("12.txt"), None));
    assert!(
        comparison_text(&own).contains("swappiness"),
        "an own run that another tool's output was joined to"
    );
    own.others[0]
        .differences
        .push(difference("import.tool", Some("sysbench"), None));
    let text = comparison_text(&own);
    assert!(!text.contains("swappiness") && text.contains("6.2") && text.contains("sysbench"));
    assert!(text.contains("1 more known only of B"), "{text}");
    let page = comparison_page("A & B", &[own]);
    let (shown, folded) = page.split_once("<details>").unwrap();
    assert!(!shown.contains("swappiness") && folded.contains("swappiness"));
}

#[test]
fn a_missing_ratio_is_stated_once() {
    let mut own = comparison();
    let because = NotComparable::Speeds;
    let mut unequal = invalid(144);
    unequal.first.verdict = Verdict::Valid;
    unequal.method = IntervalBasis::None { because };
    own.others[0].points.push(unequal);
    let text = comparison_text(&own);
    let sentence = "no ratio: their drives ran at unlike speeds.";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn a_comparison_as_csv() {
    assert_snapshot!(comparison_csv(&comparison()));
}

#[test]
fn a_comparison_page_loads_nothing() {
    let page = comparison_page("A & B", &[comparison()]);
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("<script"),
        "nothing from outside"
    );
    assert!(
        page.contains("How far does &#60;this&#62; go?")
            || page.contains("How far does &lt;this&gt; go?")
    );
    assert!(page.matches("<svg").count() == 2 && page.matches("class=\"dot more\"").count() == 1);
    assert!(
        !page.contains("NaN") && !page.contains("inf\""),
        "every coordinate is a number"
    );
    assert!(page.contains("Several things differ"), "{page}");
    assert!(
        page.contains("class=\"verdict doubtful\"") || page.contains("doubtful"),
        "few repeats make no ratio invalid"
    );
}

#[test]
fn an_error_stands_before_the_ratio_in_plain_words() {
    let mut own = comparison();
    own.others[0].marks.push(Mark {
        rule: Rule::Victims,
        severity: Severity::Error,
        evidence: Evidence::Victims {
            first: 8,
            second: 12,
            noise_first: String::new(),
            noise_second: String::new(),
        },
    });
    for shown in [comparison_text(&own), comparison_page("A & B", &[own])] {
        let why = shown.find("Do not quote this ratio: 8 systems were loaded");
        let ratio = shown.find("B does 0.969 times");
        assert!(why.is_some() && why < ratio, "{shown}");
    }
}

fn gated(users: u32, figure: FigureId, low: f64, high: f64, reason: PointReason) -> GatedPoint {
    GatedPoint {
        place: place(users, "sata"),
        figure,
        ratio: Some(Interval::new((low + high) / 2.0, low, high)),
        limit: if figure.is_time() { 1.1 } else { 0.97 },
        outcome: match reason {
            PointReason::Within => GateOutcome::Passed,
            PointReason::Beyond => GateOutcome::Regression,
            _ => GateOutcome::Inconclusive,
        },
        reason,
        one_window: false,
    }
}

fn gate(outcome: GateOutcome, points: Vec<GatedPoint>) -> GateReport {
    GateReport {
        limits: GateLimits {
            max_regression: 0.03,
            max_latency_regression: Some(0.1),
            allow: Vec::new(),
        },
        outcome,
        points,
        objections: Vec::new(),
        missing: Vec::new(),
    }
}

#[test]
fn a_gate_as_text() {
    let points = vec![
        gated(8, FigureId::Nopm, 0.98, 1.01, PointReason::Within),
        gated(16, FigureId::Nopm, 0.46, 0.50, PointReason::Beyond),
        gated(16, FigureId::P99, 1.05, 1.2, PointReason::LimitInInterval),
    ];
    let gate = gate(GateOutcome::Regression, points);
    assert_snapshot!(gate_text(&gate, &comparison()));
}

#[test]
fn an_inconclusive_gate_names_its_reason() {
    let within = || gated(8, FigureId::Nopm, 0.98, 1.01, PointReason::Within);
    let open = |users: u32, reason| gated(users, FigureId::Nopm, 0.9, 1.01, reason);
    let sentence = |gate: &GateReport| gate_sentence(gate, &comparison());
    let of = |reason| {
        let users = match reason {
            PointReason::NoInterval(NotComparable::Invalid) => 144,
            _ => 89,
        };
        let points = vec![within(), open(users, reason)];
        sentence(&gate(GateOutcome::Inconclusive, points))
    };
    let mut all = vec![
        of(PointReason::LimitInInterval),
        of(PointReason::NoPercentile),
        of(PointReason::NoInterval(NotComparable::ShortWindow)),
        of(PointReason::NoInterval(NotComparable::Invalid)),
        of(PointReason::NoInterval(NotComparable::Unlike)),
    ];
    let missing = GateReport {
        missing: vec![place(1, "sata")],
        ..gate(GateOutcome::Inconclusive, vec![within()])
    };
    all.push(sentence(&missing));
    let moved = GateReport {
        objections: vec![Objection::OtherMachine {
            factors: comparison().others[0].factors.clone(),
        }],
        ..gate(
            GateOutcome::Inconclusive,
            vec![open(16, PointReason::Objection)],
        )
    };
    all.push(sentence(&moved));
    assert_snapshot!(all.join("\n"));
}
