//! The audit as text: fired rules by severity, one entry for all cases that fired alike; other rules by code.

use std::mem::{Discriminant, discriminant};

use plimsoll_analysis::mend_order::{Cause, MendOrder};
use plimsoll_analysis::summary::FindingKind;

use plimsoll_analysis::audit::{
    Audit, AuditFault, AuditSubject, AuditedLoad, Evidence, Missing, Rule, RuleOutcome, RuleVerdict,
};
use plimsoll_record::Severity;

use crate::message::Messages;
use crate::number::{three, whole};
use crate::point_set::{self, PointLoad, SetPoint};

/// A rule that fired.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fired {
    pub severity: Severity,
    pub code: &'static str,
    /// Empty where it is about all.
    pub place: String,
    pub text: String,
    /// The figures behind the text; may be empty.
    pub detail: String,
    pub next: String,
}

impl Fired {
    fn order(&self) -> MendOrder {
        let cause = Rule::parse(self.code).map_or(Cause::Data, Rule::cause);
        MendOrder::new(cause, self.severity)
    }

    /// All that it rests on.
    pub fn evidence(&self) -> String {
        let colon = if self.place.is_empty() { "" } else { ": " };
        let space = if self.detail.is_empty() { "" } else { " " };
        format!("{}{colon}{}{space}{}", self.place, self.text, self.detail)
    }
}

/// A rule that did not fire: the number of cases and the evidence, or the reason why it was not evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SilentRule {
    pub code: &'static str,
    pub places: usize,
    pub text: String,
}

/// Where a run's findings are shown besides the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FindingsPlacement {
    /// Above the audit, so that it need not repeat them.
    Above,
    /// Only in the audit.
    Here,
}

/// The worst first, of equals what a person would mend first; cases in which a rule fired alike are one entry.
pub(crate) fn fired(m: &Messages, audit: &Audit, findings: FindingsPlacement) -> Vec<Fired> {
    let mut groups: Vec<CaseGroup> = Vec::new();
    let verdicts = audit.verdicts.iter();
    for verdict in verdicts.filter(|own| own.outcome.severity().is_some()) {
        match groups.iter_mut().find(|group| group.is_like(verdict)) {
            Some(group) => group.add(verdict),
            None => groups.push(CaseGroup::of(verdict)),
        }
    }
    let faults = audit.faults.iter();
    let mut all: Vec<Fired> = faults.map(|fault| audit_fault(m, fault)).collect();
    let groups = groups.iter();
    all.extend(groups.filter_map(|group| group.describe(m, audit, findings)));
    all.sort_by_key(Fired::order);
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
        detail: String::new(),
        next: m.text("fault-next"),
    }
}

/// Cases in which a rule fired alike.
struct CaseGroup<'a> {
    cases: Vec<&'a RuleVerdict>,
    /// The first of those with the most evidence: its figures are shown for all.
    shown: &'a RuleVerdict,
}

impl<'a> CaseGroup<'a> {
    fn of(case: &'a RuleVerdict) -> Self {
        Self {
            cases: vec![case],
            shown: case,
        }
    }

    /// Errors are alike where they rest on the same evidence, others also where they rest on a part of it.
    fn is_like(&self, case: &RuleVerdict) -> bool {
        let own = evidence_kinds(self.shown);
        let other = evidence_kinds(case);
        let is_part = own.iter().all(|kind| other.contains(kind))
            || other.iter().all(|kind| own.contains(kind));
        let severity = case.outcome.severity();
        self.shown.rule == case.rule
            && self.shown.outcome.severity() == severity
            && discriminant(&self.shown.about) == discriminant(&case.about)
            && (own == other || (is_part && severity < Some(Severity::Error)))
    }

    fn add(&mut self, case: &'a RuleVerdict) {
        self.cases.push(case);
        if evidence_kinds(case).len() > evidence_kinds(self.shown).len() {
            self.shown = case;
        }
    }

    fn describe(&self, m: &Messages, audit: &Audit, findings: FindingsPlacement) -> Option<Fired> {
        let RuleOutcome::Fired {
            severity,
            evidence,
            next,
        } = &self.shown.outcome
        else {
            return None;
        };
        let mut text = sentences(m, evidence, findings);
        let place = match self.cases.len() {
            1 => about(m, &self.shown.about),
            _ => {
                text = self.with_place(m, text, findings);
                self.places(m, audit)
            }
        };
        Some(Fired {
            severity: *severity,
            code: self.shown.rule.code(),
            place,
            text,
            detail: match findings {
                FindingsPlacement::Above => String::new(),
                FindingsPlacement::Here => details(m, evidence),
            },
            next: m.next(*next),
        })
    }

    /// The text of one case, which has its figures; a text that is the same for all has no place.
    fn with_place(&self, m: &Messages, text: String, findings: FindingsPlacement) -> String {
        let is_same = self.cases.iter().all(|case| match &case.outcome {
            RuleOutcome::Fired { evidence, .. } => sentences(m, evidence, findings) == text,
            RuleOutcome::Passed { .. } | RuleOutcome::NotEvaluated { .. } => true,
        });
        if is_same {
            return text;
        }
        let args = [("place", about(m, &self.shown.about)), ("text", text)];
        m.text_with("audit-at", &args)
    }

    fn places(&self, m: &Messages, audit: &Audit) -> String {
        let cases = self.cases.iter();
        let points: Option<Vec<SetPoint>> = cases.map(|case| set_point(&case.about)).collect();
        if let Some(points) = points {
            return point_set::describe(m, &points, points_of(audit, self.shown.rule));
        }
        let cases = self.cases.iter();
        let names: Vec<String> = cases.map(|case| about(m, &case.about)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let args = [
            ("n", names.len().to_string()),
            ("which", point_set::list(m, &names)),
        ];
        m.text_with("audit-cases", &args)
    }
}

/// The points that a rule is about.
fn points_of(audit: &Audit, rule: Rule) -> usize {
    let verdicts = audit.verdicts.iter();
    let own = verdicts.filter(|verdict| verdict.rule == rule);
    own.filter(|verdict| matches!(verdict.about, AuditSubject::Load(_)))
        .count()
}

fn set_point(about: &AuditSubject) -> Option<SetPoint> {
    let AuditSubject::Load(load) = about else {
        return None;
    };
    Some(SetPoint {
        step: load.step.clone(),
        on: load.on.clone(),
        job: load.job.clone(),
        load: match load.load.offered_per_second {
            Some(rate) => PointLoad::PerSecond(rate),
            None if load.job.is_some() => PointLoad::InFlight(load.load.users),
            None => PointLoad::Users(load.load.users),
        },
    })
}

/// What distinguishes pieces of evidence of one kind.
#[derive(PartialEq)]
struct EvidenceKind {
    evidence: Discriminant<Evidence>,
    finding: Option<Discriminant<FindingKind>>,
    shared_name: Option<&'static str>,
}

fn evidence_kinds(verdict: &RuleVerdict) -> Vec<EvidenceKind> {
    let RuleOutcome::Fired { evidence, .. } = &verdict.outcome else {
        return Vec::new();
    };
    let kinds = evidence.iter().map(|own| EvidenceKind {
        evidence: discriminant(own),
        finding: match own {
            Evidence::Found { finding } => Some(discriminant(finding)),
            _ => None,
        },
        shared_name: own.shared_name(),
    });
    kinds.collect()
}

/// The figures behind findings that are evidence.
fn details(m: &Messages, evidence: &[Evidence]) -> String {
    let findings = evidence.iter().filter_map(|own| match own {
        Evidence::Found { finding } => Some(m.finding_detail(finding)),
        _ => None,
    });
    let details: Vec<String> = findings.filter(|detail| !detail.is_empty()).collect();
    details.join(" ")
}

fn sentences(m: &Messages, evidence: &[Evidence], findings: FindingsPlacement) -> String {
    let mut all: Vec<String> = Vec::new();
    for own in evidence {
        all.push(match (own, findings) {
            (Evidence::Found { .. }, FindingsPlacement::Above) => m.text("audit-see-above"),
            _ => m.evidence(own),
        });
    }
    all.dedup();
    all.join(" ")
}

/// By rule, with the evidence of the first case.
pub(crate) fn passed(m: &Messages, audit: &Audit) -> Vec<SilentRule> {
    let mut all = Vec::new();
    for rule in Rule::ALL {
        let own: Vec<&[Evidence]> = outcomes(audit, rule).filter_map(passed_with).collect();
        if let Some(first) = own.first() {
            all.push(SilentRule {
                code: rule.code(),
                places: own.len(),
                text: sentences(m, first, FindingsPlacement::Here),
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
pub(crate) fn not_evaluated(m: &Messages, audit: &Audit) -> Vec<SilentRule> {
    let mut all = Vec::new();
    for rule in Rule::ALL {
        let mut reasons: Vec<Missing> = outcomes(audit, rule).filter_map(missing).collect();
        let places = reasons.len();
        reasons.sort_unstable();
        reasons.dedup();
        let text: Vec<String> = reasons.into_iter().map(|own| m.missing(own)).collect();
        if places > 0 {
            all.push(SilentRule {
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
pub(crate) fn about(m: &Messages, about: &AuditSubject) -> String {
    match about {
        AuditSubject::Whole => String::new(),
        AuditSubject::Named(name) => name.clone(),
        AuditSubject::Pair { first, second } => {
            let args = [("first", first.clone()), ("second", second.clone())];
            m.text_with("audit-pair", &args)
        }
        AuditSubject::Load(load) => load_text(m, load),
    }
}

fn load_text(m: &Messages, load: &AuditedLoad) -> String {
    let users = [("users", load.load.users.to_string())];
    let mut text = match load.load.offered_per_second {
        Some(rate) => m.text_with("audit-load-rate", &[("rate", three(rate))]),
        // An output of another tool does not report it.
        None if load.load.users == 0 => m.text("load-unknown"),
        None if load.job.is_some() => m.text_with("audit-load-in-flight", &users),
        None if load.load.users == 1 => m.text("audit-load-one"),
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

/// Whether the figures can be quoted, and the rules that forbid it.
pub(crate) fn answer(m: &Messages, audit: &Audit, fired: &[Fired], passed: usize) -> String {
    let id = match audit.worst() {
        Some(Severity::Error) => "audit-answer-error",
        Some(Severity::Warning) => "audit-answer-warning",
        _ if passed == 0 => "audit-answer-unknown",
        _ => "audit-answer-clean",
    };
    let worst = fired.iter();
    let worst = worst.filter(|fired| Some(fired.severity) == audit.worst());
    let mut codes: Vec<&str> = worst.map(|fired| fired.code).collect();
    codes.dedup();
    let args = [
        ("of", audit.of.clone()),
        ("codes", codes.join(", ")),
        ("passed", passed.to_string()),
        ("rules", Rule::ALL.len().to_string()),
    ];
    m.text_with(id, &args)
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
