//! Audits for machines: every verdict with its fields and its text.

use plimsoll_analysis::audit::{Audit, AuditFault, Evidence, RuleOutcome, RuleVerdict};
use plimsoll_plan::Threshold;
use plimsoll_record::Severity;
use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::{Fired, about, audit_fault};
use crate::message::Messages;
use crate::table::Table;

/// Changes when a name or a meaning does.
const AUDIT_VERSION: u32 = 1;

#[derive(Serialize)]
struct AuditJson<'a> {
    schema_version: u32,
    of: &'a str,
    /// The worst severity of all rules; `null`: none fired.
    worst: Option<&'static str>,
    adjusted: &'a [Threshold],
    faults: &'a [AuditFault],
    judged: Vec<Value>,
}

/// Several audits as a JSON array.
pub fn audit_json(audits: &[Audit]) -> String {
    let m = Messages::english();
    let all: Vec<AuditJson<'_>> = audits
        .iter()
        .map(|audit| AuditJson::of(&m, audit))
        .collect();
    // Nothing in it has a map key that is not text.
    serde_json::to_string_pretty(&all).unwrap_or_default()
}

impl<'a> AuditJson<'a> {
    fn of(m: &Messages, audit: &'a Audit) -> Self {
        Self {
            schema_version: AUDIT_VERSION,
            of: &audit.of,
            worst: audit.worst().map(Severity::name),
            adjusted: &audit.adjusted,
            faults: &audit.faults,
            judged: audit.verdicts.iter().map(|own| row(m, own)).collect(),
        }
    }
}

fn row(m: &Messages, verdict: &RuleVerdict) -> Value {
    let mut value = serde_json::to_value(verdict).unwrap_or_default();
    let texts = OutcomeText::of(m, &verdict.outcome);
    if let Value::Object(fields) = &mut value {
        fields.insert("place".to_owned(), json!(about(m, &verdict.about)));
        fields.insert("text".to_owned(), json!(texts.text));
        if !texts.next.is_empty() {
            fields.insert("next_text".to_owned(), json!(texts.next));
        }
    }
    value
}

/// The sentence of an outcome, and what to do next.
struct OutcomeText {
    text: String,
    next: String,
}

impl OutcomeText {
    fn of(m: &Messages, outcome: &RuleOutcome) -> Self {
        let mut next = String::new();
        let text = match outcome {
            RuleOutcome::Passed { evidence } => sentences(m, evidence),
            RuleOutcome::Fired {
                evidence,
                next: own,
                ..
            } => {
                next = m.next(*own);
                sentences(m, evidence)
            }
            RuleOutcome::NotEvaluated { because } => m.missing(*because),
        };
        Self { text, next }
    }
}

fn sentences(m: &Messages, evidence: &[Evidence]) -> String {
    let all: Vec<String> = evidence.iter().map(|own| m.evidence(own)).collect();
    all.join(" ")
}

/// One row for each threshold that was not used, and for each verdict.
pub(crate) fn table<'a>() -> Table<'a, AuditRow<'a>> {
    Table::<AuditRow<'_>>::new("audit")
        .field("of", |r| r.of)
        .field("rule", |r| r.rule)
        .field("outcome", |r| r.outcome)
        .field("severity", |r| r.severity.map(Severity::name))
        .field("place", |r| r.place.clone())
        .field("text", |r| r.text.clone())
        .field("next", |r| r.next.clone())
}

pub fn audit_csv(audits: &[Audit]) -> String {
    let m = Messages::english();
    let mut rows = Vec::new();
    for audit in audits {
        let faults = audit.faults.iter();
        rows.extend(faults.map(|fault| AuditRow::of_fault(&audit.of, audit_fault(&m, fault))));
    }
    for audit in audits {
        let verdicts = audit.verdicts.iter();
        rows.extend(verdicts.map(|verdict| AuditRow::of_verdict(&m, &audit.of, verdict)));
    }
    table().to_csv(rows)
}

pub(crate) struct AuditRow<'a> {
    of: &'a str,
    rule: &'static str,
    outcome: &'static str,
    severity: Option<Severity>,
    place: String,
    text: String,
    next: String,
}

impl<'a> AuditRow<'a> {
    fn of_fault(of: &'a str, fault: Fired) -> Self {
        Self {
            of,
            rule: fault.code,
            outcome: "fired",
            severity: Some(fault.severity),
            place: fault.place,
            text: fault.text,
            next: fault.next,
        }
    }

    fn of_verdict(m: &Messages, of: &'a str, verdict: &RuleVerdict) -> Self {
        let OutcomeText { text, next } = OutcomeText::of(m, &verdict.outcome);
        Self {
            of,
            rule: verdict.rule.code(),
            outcome: match &verdict.outcome {
                RuleOutcome::Passed { .. } => "passed",
                RuleOutcome::Fired { .. } => "fired",
                RuleOutcome::NotEvaluated { .. } => "not_evaluated",
            },
            severity: verdict.outcome.severity(),
            place: about(m, &verdict.about),
            text,
            next,
        }
    }
}
