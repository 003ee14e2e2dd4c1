//! The rule about findings of the summary that no other rule evaluates, so that run and audit have one verdict.

use super::result::RuleResult;
use crate::audit::input::{AuditInput, LoadInput, SubjectFindings};
use crate::audit::{AuditSubject, Evidence, Missing, Next, Rule, RuleOutcome, RuleVerdict};
use crate::summary::Finding;
use plimsoll_record::Severity;

/// `verdicts` are those of all other rules.
pub(super) fn evaluate(input: &AuditInput, verdicts: &[RuleVerdict]) -> Vec<RuleVerdict> {
    // A published table has no findings.
    if input.file.is_none() {
        return Vec::new();
    }
    let mut all: Vec<RuleVerdict> = Vec::new();
    for SubjectFindings { about, findings } in &input.others {
        let result = evaluate_findings(about, findings, verdicts);
        all.extend(
            result
                .has_fired()
                .then(|| result.verdict(Rule::Finding, about)),
        );
    }
    all.extend(input.loads.iter().map(|load| of_load(load, verdicts)));
    all
}

fn of_load(load: &LoadInput, verdicts: &[RuleVerdict]) -> RuleVerdict {
    let mut result = evaluate_findings(&load.about, &load.findings, verdicts);
    if load.window_s().is_err() {
        result.missing(Missing::NothingMeasured);
    } else if !result.has_fired() {
        result.pass(Evidence::NoFinding);
    }
    result.verdict(Rule::Finding, &load.about)
}

fn evaluate_findings(
    about: &AuditSubject,
    findings: &[Finding],
    verdicts: &[RuleVerdict],
) -> RuleResult {
    let mut result = RuleResult::default();
    for finding in findings.iter().filter(|own| own.severity > Severity::Note) {
        let is_covered = finding.kind.rule().is_some_and(|rule| {
            let mut own = verdicts.iter().filter(|verdict| verdict.rule == rule);
            own.any(|verdict| {
                let is_same = verdict.about == *about || is_of_no_load(rule);
                is_same && is_covered_by(verdict, finding)
            })
        });
        if !is_covered {
            let finding_kind = finding.kind.clone();
            let evidence = Evidence::Found {
                finding: finding_kind,
            };
            result.fail(evidence, finding.severity, Next::MendFinding);
        }
    }
    result
}

/// Whether the rule fired on the same. Whether a rate was steady enough is up to the thresholds of the plan.
fn is_covered_by(verdict: &RuleVerdict, finding: &Finding) -> bool {
    let is_passed = matches!(verdict.outcome, RuleOutcome::Passed { .. });
    verdict.outcome.severity() >= Some(finding.severity)
        || (verdict.rule == Rule::Steady && is_passed)
}

/// Rules about systems and about bytes that were moved.
fn is_of_no_load(rule: Rule) -> bool {
    matches!(rule, Rule::Thin | Rule::Rate)
}
