//! The audit as text: fired rules by severity, one line for all cases that fired alike; other rules by code.

use std::mem::{Discriminant, discriminant};

use plimsoll_analysis::audit::{
    About, Audit, AuditFault, AuditedLoad, Evidence, Missing, Rule, RuleOutcome, RuleVerdict,
};
use plimsoll_record::Severity;

use crate::message::Messages;
use crate::number::{three, whole};

/// A rule that fired.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fired {
    pub severity: Severity,
    pub code: &'static str,
    /// Empty where it is about all.
    pub place: String,
    pub text: String,
    pub next: String,
}

impl Fired {
    pub fn place_and_text(&self) -> String {
        let colon = if self.place.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", self.place, self.text)
    }
}

/// A rule that did not fire: the number of cases and the evidence, or the reason why it was not evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quiet {
    pub code: &'static str,
    pub places: usize,
    pub text: String,
}

/// Where a run's findings are shown besides the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Findings {
    /// Above the audit, so that it need not repeat them.
    Above,
    /// Only in the audit.
    Here,
}

/// The worst first; cases in which a rule fired alike are one entry with the evidence of the first.
pub(crate) fn fired(m: &Messages, audit: &Audit, findings: Findings) -> Vec<Fired> {
    let mut groups: Vec<Vec<&RuleVerdict>> = Vec::new();
    let verdicts = audit.verdicts.iter();
    for verdict in verdicts.filter(|own| own.outcome.severity().is_some()) {
        match groups.iter_mut().find(|group| alike(group[0], verdict)) {
            Some(group) => group.push(verdict),
            None => groups.push(vec![verdict]),
        }
    }
    let faults = audit.faults.iter();
    let mut all: Vec<Fired> = faults.map(|fault| audit_fault(m, fault)).collect();
    let groups = groups.iter();
    all.extend(groups.filter_map(|group| describe(m, group, findings)));
    all.sort_by_key(|fired| std::cmp::Reverse(fired.severity));
    all
}

/// Used instead of a rule's code.
const PLAN: &str = "PLAN";

/// Why nothing is evaluated, as an error.
pub(crate) fn audit_fault(m: &Messages, fault: &AuditFault) -> Fired {
    Fired {
        severity: Severity::Error,
        code: PLAN,
        place: String::new(),
        text: m.audit_fault(fault),
        next: m.text("fault-next"),
    }
}

fn alike(a: &RuleVerdict, b: &RuleVerdict) -> bool {
    a.rule == b.rule
        && a.outcome.severity() == b.outcome.severity()
        && evidence_kinds(a) == evidence_kinds(b)
        && is_about_pair(a) == is_about_pair(b)
}

fn evidence_kinds(verdict: &RuleVerdict) -> Vec<Discriminant<Evidence>> {
    match &verdict.outcome {
        RuleOutcome::Fired { evidence, .. } => evidence.iter().map(discriminant).collect(),
        RuleOutcome::Passed { .. } | RuleOutcome::NotEvaluated { .. } => Vec::new(),
    }
}

fn is_about_pair(verdict: &RuleVerdict) -> bool {
    matches!(verdict.about, About::Pair { .. })
}

fn describe(m: &Messages, group: &[&RuleVerdict], findings: Findings) -> Option<Fired> {
    let first = group.first()?;
    let RuleOutcome::Fired {
        severity,
        evidence,
        next,
    } = &first.outcome
    else {
        return None;
    };
    let place = match group.len() {
        1 => about(m, &first.about),
        n => {
            let args = [("n", n.to_string()), ("place", about(m, &first.about))];
            m.text_with("audit-places", &args)
        }
    };
    Some(Fired {
        severity: *severity,
        code: first.rule.code(),
        place,
        text: sentences(m, evidence, findings),
        next: m.next(*next),
    })
}

fn sentences(m: &Messages, evidence: &[Evidence], findings: Findings) -> String {
    let mut all: Vec<String> = Vec::new();
    for own in evidence {
        all.push(match (own, findings) {
            (Evidence::Found { .. }, Findings::Above) => m.text("audit-see-above"),
            _ => m.evidence(own),
        });
    }
    all.dedup();
    all.join(" ")
}

/// By rule, with the evidence of the first case.
pub(crate) fn passed(m: &Messages, audit: &Audit) -> Vec<Quiet> {
    let mut all = Vec::new();
    for rule in Rule::ALL {
        let own: Vec<&[Evidence]> = outcomes(audit, rule).filter_map(passed_with).collect();
        if let Some(first) = own.first() {
            all.push(Quiet {
                code: rule.code(),
                places: own.len(),
                text: sentences(m, first, Findings::Here),
            });
        }
    }
    all
}

fn passed_with(outcome: &RuleOutcome) -> Option<&[Evidence]> {
    match outcome {
        RuleOutcome::Passed { evidence } => Some(evidence),
        RuleOutcome::Fired { .. } | RuleOutcome::NotEvaluated { .. } => None,
    }
}

/// By rule, with every reason once.
pub(crate) fn not_evaluated(m: &Messages, audit: &Audit) -> Vec<Quiet> {
    let mut all = Vec::new();
    for rule in Rule::ALL {
        let mut reasons: Vec<Missing> = outcomes(audit, rule).filter_map(missing).collect();
        let places = reasons.len();
        reasons.sort_unstable();
        reasons.dedup();
        let text: Vec<String> = reasons.into_iter().map(|own| m.missing(own)).collect();
        if places > 0 {
            all.push(Quiet {
                code: rule.code(),
                places,
                text: text.join("; "),
            });
        }
    }
    all
}

fn missing(outcome: &RuleOutcome) -> Option<Missing> {
    match outcome {
        RuleOutcome::NotEvaluated { because } => Some(*because),
        RuleOutcome::Fired { .. } | RuleOutcome::Passed { .. } => None,
    }
}

/// Of one rule in all cases.
fn outcomes(audit: &Audit, rule: Rule) -> impl Iterator<Item = &RuleOutcome> {
    let verdicts = audit.verdicts.iter();
    verdicts
        .filter(move |verdict| verdict.rule == rule)
        .map(|verdict| &verdict.outcome)
}

/// The subject; empty for the whole run.
pub(crate) fn about(m: &Messages, about: &About) -> String {
    match about {
        About::Whole => String::new(),
        About::Named(name) => name.clone(),
        About::Pair { first, second } => {
            let args = [("first", first.clone()), ("second", second.clone())];
            m.text_with("audit-pair", &args)
        }
        About::Load(load) => load_text(m, load),
    }
}

fn load_text(m: &Messages, load: &AuditedLoad) -> String {
    let users = [("users", load.users.to_string())];
    let mut text = match load.offered_per_second {
        Some(rate) => m.text_with("audit-load-rate", &[("rate", three(rate))]),
        None if load.job.is_some() => m.text_with("audit-load-in-flight", &users),
        None if load.users == 1 => m.text("audit-load-one"),
        None => m.text_with("audit-load-users", &users),
    };
    if load.repeat > 0 {
        let args = [("load", text), ("repeat", (load.repeat + 1).to_string())];
        text = m.text_with("audit-load-repeat", &args);
    }
    let mut args = vec![
        ("load", text),
        ("step", load.step.clone()),
        ("on", load.on.clone()),
    ];
    match &load.job {
        Some(job) => {
            args.push(("job", job.clone()));
            m.text_with("audit-load-job", &args)
        }
        None => m.text_with("audit-load", &args),
    }
}

/// Number of findings of each severity, and of rules that passed or were not evaluated.
pub(crate) fn counts(audit: &Audit, fired: &[Fired]) -> Vec<(&'static str, String)> {
    let mut passed = 0;
    let mut skipped = 0;
    for rule in Rule::ALL {
        let mut own = outcomes(audit, rule);
        let has_fired = outcomes(audit, rule).any(|outcome| outcome.severity().is_some());
        if own.any(|outcome| passed_with(outcome).is_some()) {
            passed += usize::from(!has_fired);
        } else {
            skipped += usize::from(!has_fired);
        }
    }
    vec![
        ("errors", of_severity(fired, Severity::Error)),
        ("warnings", of_severity(fired, Severity::Warning)),
        ("notes", of_severity(fired, Severity::Note)),
        ("passed", passed.to_string()),
        ("skipped", skipped.to_string()),
    ]
}

fn of_severity(fired: &[Fired], severity: Severity) -> String {
    let own = fired.iter().filter(|fired| fired.severity == severity);
    whole(own.count() as f64)
}

/// Thresholds that the plan changes, one sentence each.
pub(crate) fn adjusted(m: &Messages, audit: &Audit) -> Vec<String> {
    let thresholds = audit.adjusted.iter();
    thresholds
        .map(|threshold| {
            let args = [
                ("what", threshold.what.trim_end_matches('.').to_owned()),
                ("value", three(threshold.value)),
                ("default", three(threshold.default)),
                ("unit", threshold.unit.to_owned()),
            ];
            m.text_with("audit-adjusted", &args)
        })
        .collect()
}

#[cfg(test)]
mod tests;
