//! The audit: rules that a figure has to survive before it may be quoted.
//!
//! Evidence ([`input`]) is gathered from a record and its summary, or from a published table ([`claim`]); rules ([`rules`])
//! are functions of that and of [`Thresholds`], nothing else. A rule that cannot be evaluated reports the missing
//! input: it never passes.

pub mod claim;
mod evidence;
mod gather;
mod input;
mod rule;
mod rules;
mod verdict;

use plimsoll_plan::{PlanThresholds, Threshold, ThresholdFault, Thresholds};
use serde::Serialize;

pub use evidence::{Evidence, Missing, Next};
pub use rule::Rule;
pub(crate) use rules::unequal;
pub use verdict::{About, AuditedLoad, DropCause, RuleOutcome, RuleVerdict};

use crate::summary::{Figures, Verdict};
use plimsoll_record::{Record, Severity};

/// The verdicts of all rules on one run, one claim, or one run against another.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Audit {
    /// The title of the run or claim; of two runs, of both.
    pub of: String,
    /// Thresholds that the plan or claim has changed.
    pub adjusted: Vec<Threshold>,
    /// Thresholds of the plan that cannot be used: rules compared figures with the defaults instead.
    pub faults: Vec<ThresholdFault>,
    /// By rule. Each has at least one.
    #[serde(rename = "judged")]
    pub verdicts: Vec<RuleVerdict>,
}

impl Audit {
    fn of(title: impl Into<String>, plan: PlanThresholds, input: &input::AuditInput) -> Self {
        let PlanThresholds { thresholds, faults } = plan;
        Self {
            of: title.into(),
            adjusted: thresholds.adjusted(),
            faults,
            verdicts: rules::evaluate(input, &thresholds),
        }
    }

    /// The worst severity of all rules.
    pub fn worst(&self) -> Option<Severity> {
        let fault = (!self.faults.is_empty()).then_some(Severity::Error);
        self.verdicts
            .iter()
            .filter_map(|verdict| verdict.outcome.severity())
            .chain(fault)
            .max()
    }

    pub fn verdict(&self) -> Verdict {
        match self.worst() {
            Some(Severity::Error) => Verdict::Invalid,
            Some(Severity::Warning) => Verdict::Doubtful,
            Some(Severity::Note) | None => Verdict::Sound,
        }
    }

    /// Whether a figure must not be quoted.
    pub fn has_errors(&self) -> bool {
        self.worst() == Some(Severity::Error)
    }
}

/// One run, with what it compares within itself.
pub fn audit(record: &Record, summary: &Figures) -> Audit {
    Audit::of(
        &record.run.title,
        PlanThresholds::of(&record.plan_resolved),
        &gather::of_run(record, summary),
    )
}

/// One run against another, each where it has its highest rate; thresholds are those of the first. `unlike` is in what their
/// workloads differ, as a comparison finds it. `None` where one has no figure that could be compared.
pub fn audit_pair(
    first: (&Record, &Figures),
    second: (&Record, &Figures),
    unlike: Option<Evidence>,
) -> Option<Audit> {
    let input = input::AuditInput {
        pairs: vec![gather::of_runs(first, second, unlike)?],
        ..input::AuditInput::default()
    };
    let title = format!("{} / {}", first.0.run.title, second.0.run.title);
    let mut audit = Audit::of(title, PlanThresholds::of(&first.0.plan_resolved), &input);
    // Verdicts on one run alone are in the audit of each.
    audit
        .verdicts
        .retain(|verdict| verdict.about != About::Whole);
    Some(audit)
}
