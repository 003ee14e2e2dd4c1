//! `plimsoll gate`: whether a run is worse than its baseline.

use std::process::ExitCode;

use plimsoll_analysis::compare::{
    Ask, GateLimits, GateOutcome, RunComparison, compare, gate as judge,
};
use plimsoll_report::versus::{comparison_csv, comparison_text, gate_sentence, gate_text};

use super::super::io::json;
use super::sides;
use crate::cli::{Format, GateArgs};
use crate::commands::print;
use crate::failure::Failure;

const REGRESSION: u8 = 3;
const INCONCLUSIVE: u8 = 4;

#[derive(serde::Serialize)]
struct Gated<'a> {
    outcome: GateOutcome,
    reason: String,
    gate: plimsoll_analysis::compare::GateReport,
    comparison: &'a RunComparison,
}

pub fn gate(args: &GateArgs) -> Result<ExitCode, Failure> {
    let sides = sides::baseline_and_run(&args.baseline, &args.run)?;
    let comparison = compare(&sides, &Ask::default());
    let against = &comparison.others[0];
    if against.points.is_empty() {
        let text = format!(
            "{} and {} have no load in common\nGive runs of the same plan.",
            args.baseline.display(),
            args.run.display()
        );
        return Err(Failure::usage(text));
    }
    let limits = GateLimits {
        max_regression: args.max_regression,
        max_latency_regression: args.max_latency_regression,
        allow: args.allow.clone(),
    };
    let gate = judge(against, &limits);
    let outcome = gate.outcome;
    print(&match args.format {
        Format::Table => format!(
            "{}\n{}",
            comparison_text(&comparison),
            gate_text(&gate, &comparison)
        ),
        Format::Json => json(&Gated {
            outcome,
            reason: gate_sentence(&gate, &comparison),
            gate,
            comparison: &comparison,
        })?,
        Format::Csv => comparison_csv(&comparison),
    })?;
    Ok(match outcome {
        GateOutcome::Passed => ExitCode::SUCCESS,
        GateOutcome::Regression => ExitCode::from(REGRESSION),
        GateOutcome::Inconclusive => ExitCode::from(INCONCLUSIVE),
    })
}
