//! `plimsoll gate`: whether a run is worse than its baseline, or misses a requirement.

use std::path::Path;
use std::process::ExitCode;

use plimsoll_analysis::compare::{
    Ask, ComparedSide, GateLimits, GateOutcome, GateReport, GateResult, RequirementReport,
    RunComparison, compare, gate as judge, require,
};
use plimsoll_plan::requirement::PlanRequirement;
use plimsoll_report::versus::{
    comparison_text, gate_csv, gate_sentence, gate_text, requirement_sentence, requirement_text,
};

use super::super::io::json;
use super::sides;
use crate::cli::{Format, GateArgs};
use crate::commands::print;
use crate::failure::Failure;

const FAILED: u8 = 3;
const INCONCLUSIVE: u8 = 4;

#[derive(serde::Serialize)]
struct Gated<'a> {
    outcome: GateOutcome,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a GateReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requirements: Option<&'a RequirementReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a RunComparison>,
}

pub fn gate(args: &GateArgs) -> Result<ExitCode, Failure> {
    let Some(baseline) = &args.baseline else {
        let side = sides::one_side(&args.run)?;
        return report(args, None, required(args, &side));
    };
    let sides = sides::baseline_and_run(baseline, &args.run)?;
    let required = required(args, &sides[1]);
    report(args, Some(compared(args, baseline, &sides)?), required)
}

/// A run against its baseline.
fn compared(
    args: &GateArgs,
    baseline: &Path,
    sides: &[ComparedSide],
) -> Result<(RunComparison, GateReport), Failure> {
    let comparison = compare(sides, &Ask::default());
    let against = &comparison.others[0];
    if against.points.is_empty() {
        let text = format!(
            "{} and {} have no load in common\nGive runs of the same plan.",
            baseline.display(),
            args.run.display()
        );
        return Err(Failure::usage(text));
    }
    let limits = GateLimits {
        // The command line takes no baseline without it.
        max_regression: args.max_regression.unwrap_or_default(),
        max_latency_regression: args.max_latency_regression,
        allow: args.allow.clone(),
    };
    let gate = judge(against, &limits);
    Ok((comparison, gate))
}

/// The plan's requirements and those of the command line; `None` where there are none.
fn required(args: &GateArgs, side: &ComparedSide) -> Option<RequirementReport> {
    let given = args.require.iter().map(|requirement| PlanRequirement {
        step: None,
        requirement: *requirement,
    });
    let all: Vec<PlanRequirement> = side.requirements.iter().cloned().chain(given).collect();
    (!all.is_empty()).then(|| require(side, &all))
}

fn report(
    args: &GateArgs,
    compared: Option<(RunComparison, GateReport)>,
    required: Option<RequirementReport>,
) -> Result<ExitCode, Failure> {
    let (comparison, gate) = compared.unzip();
    let Some(result) = GateResult::new(gate, required) else {
        return Err(Failure::usage(
            "there is nothing to check: no baseline, and no requirement\nGive --baseline RUN --max-regression 3%, or \
             --require 'p99<200ms'.",
        ));
    };
    let against = result.baseline.as_ref().zip(comparison.as_ref());
    let required = result.requirements.as_ref();
    print(&match args.format {
        Format::Table => {
            let mut parts = Vec::new();
            parts.extend(comparison.as_ref().map(comparison_text));
            parts.extend(against.map(|(gate, comparison)| gate_text(gate, comparison)));
            parts.extend(required.map(requirement_text));
            parts.join("\n")
        }
        Format::Json => {
            let sentences = against.map(|(gate, comparison)| gate_sentence(gate, comparison));
            let sentences = sentences
                .into_iter()
                .chain(required.map(requirement_sentence));
            json(&Gated {
                outcome: result.outcome,
                reason: sentences.collect::<Vec<_>>().join(" "),
                gate: result.baseline.as_ref(),
                requirements: required,
                comparison: comparison.as_ref(),
            })?
        }
        Format::Csv => gate_csv(&result),
    })?;
    Ok(exit_code(result.outcome))
}

/// What a script sees of an outcome.
pub(in crate::commands) fn exit_code(outcome: GateOutcome) -> ExitCode {
    match outcome {
        GateOutcome::Passed => ExitCode::SUCCESS,
        GateOutcome::Regression | GateOutcome::Failed => ExitCode::from(FAILED),
        GateOutcome::Inconclusive => ExitCode::from(INCONCLUSIVE),
    }
}
