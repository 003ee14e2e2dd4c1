//! The audit as text: fired rules by severity, one line for all cases that fired alike; other rules by code.

use plimsoll_analysis::audit::{
    About, Audit, AuditedLoad, Evidence, Rule, RuleOutcome, RuleVerdict,
};
use plimsoll_plan::ThresholdFault;
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
    for verdict in audit
        .verdicts
        .iter()
        .filter(|verdict| verdict.outcome.severity().is_some())
    {
        match groups.iter_mut().find(|group| alike(group[0], verdict)) {
            Some(group) => group.push(verdict),
            None => groups.push(vec![verdict]),
        }
    }
    let faults = audit.faults.iter().map(|fault| threshold_fault(m, fault));
    let mut all: Vec<Fired> = faults
        .chain(
            groups
                .into_iter()
                .filter_map(|group| describe(m, &group, findings)),
        )
        .collect();
    all.sort_by_key(|fired| std::cmp::Reverse(fired.severity));
    all
}

/// Used instead of a rule's code.
const THRESHOLDS: &str = "THRESHOLDS";

/// A threshold of the plan that was not used, as an error.
pub(crate) fn threshold_fault(m: &Messages, fault: &ThresholdFault) -> Fired {
    let text = m.threshold_fault(fault);
    let next = m.text("fault-next");
    Fired {
        severity: Severity::Error,
        code: THRESHOLDS,
        place: String::new(),
        text,
        next,
    }
}

fn alike(a: &RuleVerdict, b: &RuleVerdict) -> bool {
    let kinds = |verdict: &RuleVerdict| match &verdict.outcome {
        RuleOutcome::Fired { evidence, .. } => evidence
            .iter()
            .map(std::mem::discriminant)
            .collect::<Vec<_>>(),
        RuleOutcome::Passed { .. } | RuleOutcome::NotEvaluated { .. } => Vec::new(),
    };
    let pair = |verdict: &RuleVerdict| matches!(verdict.about, About::Pair { .. });
    a.rule == b.rule
        && a.outcome.severity() == b.outcome.severity()
        && kinds(a) == kinds(b)
        && pair(a) == pair(b)
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
        n => m.text_with(
            "audit-places",
            &[("n", n.to_string()), ("place", about(m, &first.about))],
        ),
    };
    let text = sentences(m, evidence, findings);
    Some(Fired {
        severity: *severity,
        code: first.rule.code(),
        place,
        text,
        next: m.next(*next),
    })
}

fn sentences(m: &Messages, evidence: &[Evidence], findings: Findings) -> String {
    let one = |evidence: &Evidence| match (evidence, findings) {
        (Evidence::Found { .. }, Findings::Above) => m.text("audit-see-above"),
        _ => m.evidence(evidence),
    };
    let mut all: Vec<String> = evidence.iter().map(one).collect();
    all.dedup();
    all.join(" ")
}

/// By rule, with the evidence of the first case.
pub(crate) fn passed(m: &Messages, audit: &Audit) -> Vec<Quiet> {
    by_rule(audit, |outcomes| {
        let own: Vec<&Vec<Evidence>> = outcomes
            .iter()
            .filter_map(|outcome| passed_with(outcome))
            .collect();
        let text = own
            .first()
            .map(|evidence| sentences(m, evidence, Findings::Here))?;
        Some((own.len(), text))
    })
}

fn passed_with(outcome: &RuleOutcome) -> Option<&Vec<Evidence>> {
    match outcome {
        RuleOutcome::Passed { evidence } => Some(evidence),
        RuleOutcome::Fired { .. } | RuleOutcome::NotEvaluated { .. } => None,
    }
}

/// By rule, with every reason once.
pub(crate) fn not_evaluated(m: &Messages, audit: &Audit) -> Vec<Quiet> {
    by_rule(audit, |outcomes| {
        let because = |outcome: &&RuleOutcome| match outcome {
            RuleOutcome::NotEvaluated { because } => Some(*because),
            RuleOutcome::Fired { .. } | RuleOutcome::Passed { .. } => None,
        };
        let all: Vec<_> = outcomes.iter().filter_map(because).collect();
        let mut reasons = all.clone();
        reasons.sort_unstable();
        reasons.dedup();
        let text: Vec<String> = reasons
            .into_iter()
            .map(|reason| m.missing(reason))
            .collect();
        (!all.is_empty()).then(|| (all.len(), text.join("; ")))
    })
}

fn by_rule(audit: &Audit, of: impl Fn(&[&RuleOutcome]) -> Option<(usize, String)>) -> Vec<Quiet> {
    let line = |rule: Rule| {
        let own: Vec<&RuleOutcome> = audit
            .verdicts
            .iter()
            .filter(|verdict| verdict.rule == rule)
            .map(|verdict| &verdict.outcome)
            .collect();
        of(&own).map(|(places, text)| Quiet {
            code: rule.code(),
            places,
            text,
        })
    };
    Rule::ALL.into_iter().filter_map(line).collect()
}

/// The subject; empty for the whole run.
pub(crate) fn about(m: &Messages, about: &About) -> String {
    match about {
        About::Whole => String::new(),
        About::Named(name) => name.clone(),
        About::Pair { first, second } => m.text_with(
            "audit-pair",
            &[("first", first.clone()), ("second", second.clone())],
        ),
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
        text = m.text_with(
            "audit-load-repeat",
            &[("load", text), ("repeat", (load.repeat + 1).to_string())],
        );
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
    let of = |severity| {
        whole(
            fired
                .iter()
                .filter(|fired| fired.severity == severity)
                .count() as f64,
        )
    };
    let rules = |is: fn(&RuleOutcome) -> bool| {
        let has = |rule: &Rule| {
            let mut own = audit
                .verdicts
                .iter()
                .filter(|verdict| verdict.rule == *rule);
            own.clone().any(|verdict| is(&verdict.outcome))
                && !own.any(|verdict| verdict.outcome.severity().is_some())
        };
        Rule::ALL.iter().filter(|rule| has(rule)).count()
    };
    let passed = rules(|outcome| matches!(outcome, RuleOutcome::Passed { .. }));
    let skipped = Rule::ALL.iter().filter(|rule| {
        let mut own = audit
            .verdicts
            .iter()
            .filter(|verdict| verdict.rule == **rule);
        own.all(|verdict| matches!(verdict.outcome, RuleOutcome::NotEvaluated { .. }))
    });
    vec![
        ("errors", of(Severity::Error)),
        ("warnings", of(Severity::Warning)),
        ("notes", of(Severity::Note)),
        ("passed", passed.to_string()),
        ("skipped", skipped.count().to_string()),
    ]
}

/// Thresholds that the plan changes, one sentence each.
pub(crate) fn adjusted(m: &Messages, audit: &Audit) -> Vec<String> {
    let one = |threshold: &plimsoll_plan::Threshold| {
        let args = [
            ("what", threshold.what.trim_end_matches('.').to_owned()),
            ("value", three(threshold.value)),
            ("default", three(threshold.default)),
            ("unit", threshold.unit.to_owned()),
        ];
        m.text_with("audit-adjusted", &args)
    };
    audit.adjusted.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
