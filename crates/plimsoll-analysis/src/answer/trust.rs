//! Whether the figures can be used, and what limits that.

use plimsoll_record::Severity;

use super::kinds::{PointCounts, Trust, TrustLimit};
use crate::audit::{Audit, Rule};
use crate::summary::{RunFigures, Verdict};

pub(super) fn of(figures: &RunFigures, audit: &Audit, verdict: Verdict) -> Trust {
    let jobs = figures.blocks.iter().flat_map(|step| &step.media);
    let of_jobs = jobs
        .flat_map(|medium| &medium.jobs)
        .flat_map(|job| &job.points);
    let all = figures.points().map(|point| point.verdict);
    let points = all
        .chain(of_jobs.map(|point| point.verdict))
        .fold(PointCounts::default(), PointCounts::with);
    Trust {
        verdict,
        points,
        limits: limits(audit),
    }
}

fn limits(audit: &Audit) -> Vec<TrustLimit> {
    let of_rule = |rule: Rule| {
        let own = audit.verdicts.iter().filter(|verdict| verdict.rule == rule);
        let fired: Vec<Severity> = own
            .filter_map(|verdict| verdict.outcome.severity())
            .filter(|severity| *severity > Severity::Note)
            .collect();
        Some(TrustLimit {
            rule,
            severity: *fired.iter().max()?,
            cases: fired.len(),
        })
    };
    let mut all: Vec<TrustLimit> = Rule::ALL.into_iter().filter_map(of_rule).collect();
    all.sort_by_key(|own| std::cmp::Reverse(own.severity));
    all
}
