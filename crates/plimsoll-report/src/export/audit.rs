//! Audits for machines: every verdict with its fields and its text.

use plimsoll_analysis::audit::{Audit, Evidence, RuleOutcome, RuleVerdict};
use plimsoll_plan::{Threshold, ThresholdFault};
use serde::Serialize;
use serde_json::{Value, json};

use super::quoted;
use crate::audit::{Fired, about, threshold_fault};
use crate::message::Messages;

/// Changes when a name or a meaning does.
const AUDIT_VERSION: u32 = 1;

#[derive(Serialize)]
struct AuditJson<'a> {
    schema_version: u32,
    of: &'a str,
    /// The worst severity of all rules; `null`: none fired.
    worst: Option<&'static str>,
    adjusted: &'a [Threshold],
    faults: &'a [ThresholdFault],
    judged: Vec<Value>,
}

/// Several audits as a JSON array.
pub fn audit_json(audits: &[Audit]) -> String {
    let m = Messages::english();
    let all: Vec<AuditJson<'_>> = audits
        .iter()
        .map(|audit| AuditJson {
            schema_version: AUDIT_VERSION,
            of: &audit.of,
            worst: audit.worst().map(plimsoll_record::Severity::name),
            adjusted: &audit.adjusted,
            faults: &audit.faults,
            judged: audit
                .verdicts
                .iter()
                .map(|verdict| row(&m, verdict))
                .collect(),
        })
        .collect();
    // Nothing in it has a map key that is not text.
    serde_json::to_string_pretty(&all).unwrap_or_default()
}

fn row(m: &Messages, verdict: &RuleVerdict) -> Value {
    let mut value = serde_json::to_value(verdict).unwrap_or_default();
    let (text, next) = texts(m, &verdict.outcome);
    if let Value::Object(fields) = &mut value {
        fields.insert("place".to_owned(), json!(about(m, &verdict.about)));
        fields.insert("text".to_owned(), json!(text));
        if !next.is_empty() {
            fields.insert("next_text".to_owned(), json!(next));
        }
    }
    value
}

fn texts(m: &Messages, outcome: &RuleOutcome) -> (String, String) {
    let all = |evidence: &[Evidence]| {
        evidence
            .iter()
            .map(|evidence| m.evidence(evidence))
            .collect::<Vec<_>>()
            .join(" ")
    };
    match outcome {
        RuleOutcome::Passed { evidence } => (all(evidence), String::new()),
        RuleOutcome::Fired { evidence, next, .. } => (all(evidence), m.next(*next)),
        RuleOutcome::NotEvaluated { because } => (m.missing(*because), String::new()),
    }
}

/// One row for each verdict.
pub fn audit_csv(audits: &[Audit]) -> String {
    let m = Messages::english();
    let mut out = "of,rule,outcome,severity,place,text,next\n".to_owned();
    for (audit, fault) in audits
        .iter()
        .flat_map(|audit| audit.faults.iter().map(move |fault| (audit, fault)))
    {
        let Fired {
            severity,
            code,
            place,
            text,
            next,
        } = threshold_fault(&m, fault);
        let cells = [
            &audit.of,
            code,
            "fired",
            severity.name(),
            &place,
            &text,
            &next,
        ]
        .map(quoted);
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    for (audit, verdict) in audits
        .iter()
        .flat_map(|audit| audit.verdicts.iter().map(move |verdict| (audit, verdict)))
    {
        let outcome = match &verdict.outcome {
            RuleOutcome::Passed { .. } => "passed",
            RuleOutcome::Fired { .. } => "fired",
            RuleOutcome::NotEvaluated { .. } => "not_evaluated",
        };
        let severity = verdict
            .outcome
            .severity()
            .map_or("", plimsoll_record::Severity::name);
        let (text, next) = texts(&m, &verdict.outcome);
        let place = about(&m, &verdict.about);
        let cells = [
            &audit.of,
            verdict.rule.code(),
            outcome,
            severity,
            &place,
            &text,
            &next,
        ]
        .map(quoted);
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}
