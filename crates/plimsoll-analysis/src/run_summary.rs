//! A run's figures, audit and verdict.

use plimsoll_record::Record;
use serde::Serialize;

use crate::audit::{Audit, audit};
use crate::summary::{RunFigures, Verdict, figures_and_timelines};

/// All that is computed from one record: the shape of `--format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    #[serde(flatten)]
    pub figures: RunFigures,
    /// The worst of all findings and of the audit. The doctor's findings stand for themselves.
    pub verdict: Verdict,
    /// Results of the audit's rules.
    pub audit: Audit,
}

/// Computes figures, audits them, and then decides how far they can be trusted: the only place that does.
pub fn summarise(record: &Record) -> Summary {
    let figures = figures_and_timelines(record);
    let audit = audit(record, &figures);
    Summary {
        verdict: figures.worst_finding().max(audit.verdict()),
        figures,
        audit,
    }
}
