//! The evidence of a rule so far, and its verdict.

use crate::audit::input::Known;
use crate::audit::{AuditSubject, Evidence, Missing, Next, Rule, RuleOutcome, RuleVerdict};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity;

/// A rule, and what it checks of a subject.
pub(super) type RuleCheck<T> = (Rule, fn(&T, &Thresholds, &mut RuleResult));

/// The verdicts of rules about one subject.
pub(super) fn verdicts<T>(
    rules: &[RuleCheck<T>],
    subject: &T,
    about: &AuditSubject,
    thresholds: &Thresholds,
) -> Vec<RuleVerdict> {
    let verdicts = rules.iter().map(|(rule, check)| {
        let mut result = RuleResult::default();
        check(subject, thresholds, &mut result);
        result.verdict(*rule, about)
    });
    verdicts.collect()
}

/// Collects the evidence of a rule: several inputs in turn, some of which may be missing.
#[derive(Debug, Default)]
pub(super) struct RuleResult {
    /// The worst, and what to do about the first of that severity.
    fired: Option<(Severity, Next)>,
    bad: Vec<Evidence>,
    good: Vec<Evidence>,
    missing: Vec<Missing>,
}

impl RuleResult {
    /// An input that meets its limit, or not.
    pub fn check(&mut self, holds: bool, evidence: Evidence, severity: Severity, next: Next) {
        if holds {
            self.good.push(evidence);
        } else {
            self.fail(evidence, severity, next);
        }
    }

    /// A share that must not exceed its limit.
    pub fn at_most(
        &mut self,
        evidence: &'static str,
        share: Known<f64>,
        limit_percent: f64,
        (severity, next): (Severity, Next),
    ) {
        if let Some(percent) = self.read(share) {
            let evidence = Evidence::AtMost {
                evidence,
                percent,
                limit_percent,
            };
            self.check(percent <= limit_percent, evidence, severity, next);
        }
    }

    /// A number that must reach its limit.
    pub fn at_least(
        &mut self,
        evidence: &'static str,
        number: Known<f64>,
        fewest: f64,
        (severity, next): (Severity, Next),
    ) {
        if let Some(found) = self.read(number) {
            let evidence = Evidence::AtLeast {
                evidence,
                found,
                fewest,
            };
            self.check(found >= fewest, evidence, severity, next);
        }
    }

    /// A figure that may be off what it should be by no more than its limit.
    pub fn within(
        &mut self,
        evidence: &'static str,
        off: Known<f64>,
        limit_percent: f64,
        (severity, next): (Severity, Next),
    ) {
        if let Some(off_percent) = self.read(off) {
            let evidence = Evidence::Off {
                evidence,
                off_percent,
                limit_percent,
            };
            let is_within = off_percent.abs() <= limit_percent;
            self.check(is_within, evidence, severity, next);
        }
    }

    /// An input, or `None` and a note that it is missing.
    pub fn read<T>(&mut self, known: Known<T>) -> Option<T> {
        known.map_err(|missing| self.missing(missing)).ok()
    }

    pub fn fail(&mut self, evidence: Evidence, severity: Severity, next: Next) {
        if self.fired.is_none_or(|(worst, _)| severity > worst) {
            self.fired = Some((severity, next));
            self.bad.insert(0, evidence);
        } else {
            self.bad.push(evidence);
        }
    }

    pub fn pass(&mut self, evidence: Evidence) {
        self.good.push(evidence);
    }

    pub fn missing(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    pub fn has_fired(&self) -> bool {
        self.fired.is_some()
    }

    /// Without evidence a rule does not pass; inputs missing beside others are listed with the evidence.
    pub fn verdict(self, rule: Rule, about: &AuditSubject) -> RuleVerdict {
        let Self {
            fired,
            bad,
            mut good,
            missing,
        } = self;
        let absent = missing
            .iter()
            .map(|missing| Evidence::MissingInput { missing: *missing });
        let outcome = match fired {
            // A rule that fires has only the evidence against the figure.
            Some((severity, next)) => RuleOutcome::Fired {
                severity,
                evidence: bad,
                next,
            },
            None if good.is_empty() => RuleOutcome::NotEvaluated {
                because: missing.first().copied().unwrap_or(Missing::NothingMeasured),
            },
            None => {
                good.extend(absent);
                RuleOutcome::Passed { evidence: good }
            }
        };
        RuleVerdict {
            rule,
            about: about.clone(),
            outcome,
        }
    }
}
