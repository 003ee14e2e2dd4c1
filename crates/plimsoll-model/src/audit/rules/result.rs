//! What a rule has looked at so far, and what follows.

use crate::audit::{About, Evidence, Missing, Next, Rule, RuleOutcome, RuleVerdict};
use crate::record::Severity;

/// Collects what a rule looks at: several things in turn, of which some may not be known.
#[derive(Debug, Default)]
pub(super) struct RuleResult {
    /// The worst, and what to do about the first of that severity.
    fired: Option<(Severity, Next)>,
    bad: Vec<Evidence>,
    good: Vec<Evidence>,
    missing: Vec<Missing>,
}

impl RuleResult {
    /// Something that is as it has to be, or not.
    pub fn at(&mut self, holds: bool, evidence: Evidence, severity: Severity, next: Next) {
        if holds {
            self.good.push(evidence);
        } else {
            self.bad(evidence, severity, next);
        }
    }

    pub fn bad(&mut self, evidence: Evidence, severity: Severity, next: Next) {
        if self.fired.is_none_or(|(worst, _)| severity > worst) {
            self.fired = Some((severity, next));
            self.bad.insert(0, evidence);
        } else {
            self.bad.push(evidence);
        }
    }

    pub fn good(&mut self, evidence: Evidence) {
        self.good.push(evidence);
    }

    pub fn untold(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// Nothing known is no pass; something unknown beside what is known is told with it.
    pub fn judged(self, rule: Rule, about: &About) -> RuleVerdict {
        let Self { fired, bad, mut good, missing } = self;
        let untold = missing.iter().map(|missing| Evidence::Untold { missing: *missing });
        let outcome = match fired {
            // What is as it has to be says nothing against it.
            Some((severity, next)) => RuleOutcome::Fired { severity, evidence: bad, next },
            None if good.is_empty() => {
                RuleOutcome::NotEvaluated { because: missing.first().copied().unwrap_or(Missing::NothingMeasured) }
            }
            None => {
                good.extend(untold);
                RuleOutcome::Passed { evidence: good }
            }
        };
        RuleVerdict { rule, about: about.clone(), outcome }
    }
}
