//! Limits without a baseline.

use super::*;
use plimsoll_plan::requirement::PlanRequirement;

fn required(side: &ComparedSide, texts: &[&str]) -> RequirementReport {
    let all: Vec<PlanRequirement> = texts
        .iter()
        .map(|text| PlanRequirement {
            step: None,
            requirement: text.parse().expect("a requirement"),
        })
        .collect();
    require(side, &all)
}

/// Response times of 4 ms at 1,000 transactions a second.
fn steady() -> ComparedSide {
    let mut side = side("x", vec![window(&[1000.0; 60]); 3]);
    for repeat in &mut side.points[0].repeats {
        repeat.figures = RepeatFigures {
            completed_per_second: Some(1000.0),
            mb_per_second: None,
            failed: 30,
            ended: 60_000,
        };
    }
    side
}

#[test]
fn doubtful_loads_in_scope_are_counted_once_each() {
    let mut side = steady();
    let both = ["p99<5ms", "failed<0.1%"];
    assert_eq!(required(&side, &both).doubtful_loads, 0);
    side.points[0].verdict = Verdict::Doubtful;
    let report = required(&side, &both);
    assert_eq!(
        (report.outcome, report.doubtful_loads),
        (GateOutcome::Passed, 1)
    );
    // No load has the figure.
    assert_eq!(required(&side, &["iops>1"]).doubtful_loads, 0);
}

#[test]
fn a_requirement_is_met_missed_or_not_known() {
    let side = steady();
    for (text, outcome, reason) in [
        ("p99<5ms", GateOutcome::Passed, RequirementReason::Met),
        ("p99<3ms", GateOutcome::Failed, RequirementReason::Missed),
        ("max<3ms", GateOutcome::Failed, RequirementReason::Missed),
        ("mean<5ms", GateOutcome::Passed, RequirementReason::Met),
        ("failed<0.1%", GateOutcome::Passed, RequirementReason::Met),
        (
            "failed<0.05%",
            GateOutcome::Failed,
            RequirementReason::Missed,
        ),
        ("failed<=0.05%", GateOutcome::Passed, RequirementReason::Met),
        (
            "throughput>999",
            GateOutcome::Passed,
            RequirementReason::Met,
        ),
        (
            "throughput>1001",
            GateOutcome::Failed,
            RequirementReason::Missed,
        ),
        (
            "nopm>1",
            GateOutcome::Inconclusive,
            RequirementReason::NoLoad,
        ),
        (
            "iops>1",
            GateOutcome::Inconclusive,
            RequirementReason::NoLoad,
        ),
    ] {
        let report = required(&side, &[text]);
        assert_eq!(
            (report.outcome, report.points[0].reason),
            (outcome, reason),
            "{text}"
        );
    }
    let both = required(&side, &["p99<5ms", "p99<3ms"]);
    assert_eq!(both.outcome, GateOutcome::Failed, "each must be met");
    // 600 values do not resolve the 99.9th percentile.
    let mut short = steady();
    short.points[0].repeats = vec![window(&[1000.0; 30])];
    assert_eq!(
        required(&short, &["p99.9<1h"]).points[0].reason,
        RequirementReason::NoFigure
    );
}

#[test]
fn an_invalid_point_cannot_meet_a_requirement() {
    let mut side = steady();
    side.points[0].verdict = Verdict::Invalid;
    for text in ["p99<1h", "p99<1us", "throughput>1", "failed<1%"] {
        let report = required(&side, &[text]);
        assert_eq!(
            (report.outcome, report.points[0].reason),
            (GateOutcome::Inconclusive, RequirementReason::Invalid),
            "{text}"
        );
    }
    let failed = required(&side, &["failed<0.01%"]);
    assert_eq!(
        failed.outcome,
        GateOutcome::Failed,
        "what failed has failed"
    );
}

#[test]
fn a_run_that_ended_early_cannot_pass() {
    let mut side = steady();
    side.runs[0].status = plimsoll_record::RunStatus::Interrupted;
    assert_eq!(
        required(&side, &["p99<5ms"]).outcome,
        GateOutcome::Inconclusive
    );
    assert_eq!(required(&side, &["p99<3ms"]).outcome, GateOutcome::Failed);
}

#[test]
fn a_step_keeps_its_own_requirements_and_a_search_none() {
    let mut side = steady();
    let own = |step: &str, text: &str| PlanRequirement {
        step: Some(step.into()),
        requirement: text.parse().unwrap(),
    };
    let outcome = |side: &ComparedSide, step: &str| require(side, &[own(step, "p99<3ms")]).outcome;
    assert_eq!(outcome(&side, "oltp"), GateOutcome::Failed);
    assert_eq!(outcome(&side, "other"), GateOutcome::Inconclusive);
    side.points[0].is_search = true;
    assert_eq!(outcome(&side, "oltp"), GateOutcome::Inconclusive);
}
