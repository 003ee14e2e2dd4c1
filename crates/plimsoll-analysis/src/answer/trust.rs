//! Whether the figures can be used, and what limits that.

use std::mem::discriminant;

use plimsoll_record::Severity;

use super::kinds::{PointCounts, Trust, TrustLimit, TrustReason};
use super::refused::{LoadPlace, RefusedFigures};
use crate::audit::{Audit, Rule};
use crate::mend_order::{Cause, MendOrder};
use crate::summary::{Finding, FindingKind, RunFigures, Verdict};

pub(super) fn of(
    figures: &RunFigures,
    audit: &Audit,
    refused: &RefusedFigures<'_>,
    verdict: Verdict,
) -> Trust {
    Trust {
        verdict,
        points: verdicts(figures, refused).fold(PointCounts::default(), PointCounts::with),
        limits: limits(figures, audit),
    }
}

/// Of each point of transactions and of block I/O.
fn verdicts<'a>(
    figures: &'a RunFigures,
    refused: &'a RefusedFigures<'a>,
) -> impl Iterator<Item = Verdict> + 'a {
    let of_ladders = figures.ladders.iter().flat_map(move |ladder| {
        let points = ladder.points.iter();
        points.map(|point| refused.verdict(LoadPlace::of_point(ladder, point), point.verdict))
    });
    let of_blocks = figures.blocks.iter().flat_map(move |step| {
        let media = step.media.iter();
        let jobs = media.flat_map(|medium| medium.jobs.iter().map(move |job| (medium, job)));
        jobs.flat_map(move |(medium, job)| {
            let points = job.points.iter();
            points.map(move |point| {
                let place = LoadPlace::of_block(&step.step, &medium.medium, job, point);
                refused.verdict(place, point.verdict)
            })
        })
    });
    of_ladders.chain(of_blocks)
}

/// Rules that fired, and findings that no such rule is about: what a person would mend first comes first.
fn limits(figures: &RunFigures, audit: &Audit) -> Vec<TrustLimit> {
    let mut all: Vec<TrustLimit> = Rule::ALL
        .into_iter()
        // Findings are listed themselves.
        .filter(|rule| *rule != Rule::Finding)
        .filter_map(|rule| rule_limit(figures, audit, rule))
        .collect();
    let rules = all.len();
    for finding in figures.every_finding() {
        if finding.severity == Severity::Note || is_ruled(&all[..rules], finding) {
            continue;
        }
        match all[rules..].iter_mut().find(|own| own.is_like(finding)) {
            Some(own) => own.add(finding),
            None => all.push(TrustLimit {
                reason: TrustReason::Finding(finding.kind.clone()),
                because: None,
                severity: finding.severity,
                cases: 1,
            }),
        }
    }
    all.extend(audit.faults.iter().map(|fault| TrustLimit {
        reason: TrustReason::Fault(fault.clone()),
        because: None,
        severity: Severity::Error,
        cases: 1,
    }));
    all.sort_by_key(TrustLimit::order);
    all
}

fn rule_limit(figures: &RunFigures, audit: &Audit, rule: Rule) -> Option<TrustLimit> {
    let own = audit.verdicts.iter().filter(|verdict| verdict.rule == rule);
    let fired: Vec<Severity> = own
        .filter_map(|verdict| verdict.outcome.severity())
        .filter(|severity| *severity > Severity::Note)
        .collect();
    let severity = *fired.iter().max()?;
    let is_error = |own: &&Finding| {
        own.severity == Severity::Error
            && severity == Severity::Error
            && own.kind.rule() == Some(rule)
    };
    Some(TrustLimit {
        reason: TrustReason::Rule { rule },
        because: (figures.every_finding().find(is_error)).map(|own| own.kind.clone()),
        severity,
        cases: fired.len(),
    })
}

/// Whether a rule that fired is about the same.
fn is_ruled(rules: &[TrustLimit], finding: &Finding) -> bool {
    let rule = finding.kind.rule();
    rules
        .iter()
        .any(|own| own.rule().is_some() && own.rule() == rule && own.severity >= finding.severity)
}

impl Trust {
    /// What a person would mend first: of the errors, where there are any.
    pub fn reason(&self) -> Option<&TrustLimit> {
        let mut limits = self.limits.iter();
        let error = limits.find(|own| own.severity == Severity::Error);
        error.or(self.limits.first())
    }
}

impl TrustLimit {
    pub fn rule(&self) -> Option<Rule> {
        match self.reason {
            TrustReason::Rule { rule } => Some(rule),
            TrustReason::Finding(_) | TrustReason::Fault(_) => None,
        }
    }

    fn order(&self) -> MendOrder {
        match &self.reason {
            TrustReason::Rule { rule } => {
                let cause = self.because.as_ref().map(FindingKind::cause);
                MendOrder::new(cause.unwrap_or(rule.cause()), self.severity)
            }
            TrustReason::Finding(kind) => MendOrder::new(kind.cause(), self.severity),
            TrustReason::Fault(_) => MendOrder::new(Cause::Data, self.severity),
        }
    }

    fn is_like(&self, finding: &Finding) -> bool {
        let TrustReason::Finding(kind) = &self.reason else {
            return false;
        };
        let event = |kind: &FindingKind| match kind {
            FindingKind::Event { event, .. } => Some(event.clone()),
            _ => None,
        };
        discriminant(kind) == discriminant(&finding.kind) && event(kind) == event(&finding.kind)
    }

    /// The worst one is shown.
    fn add(&mut self, finding: &Finding) {
        self.cases += 1;
        if finding.severity > self.severity {
            self.severity = finding.severity;
            self.reason = TrustReason::Finding(finding.kind.clone());
        }
    }
}
