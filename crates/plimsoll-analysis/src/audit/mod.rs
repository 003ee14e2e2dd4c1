//! The audit: rules that a figure has to survive before it may be quoted.
//!
//! Evidence (`input`) is gathered from a record and its summary, or from a published table ([`claim`]); rules (`rules`)
//! are functions of that and of [`Thresholds`], nothing else. A rule that cannot be evaluated reports the missing
//! input: it never passes.

pub mod claim;
mod evidence;
mod gather;
mod input;
mod rule;
mod rules;
mod verdict;

use plimsoll_plan::{RecordedPlan, Threshold, Thresholds};
use serde::Serialize;

pub use crate::missing::Missing;
pub use evidence::{DropCause, Evidence, GeneratorStopCause};
pub use rule::{Next, Rule};
pub(crate) use rules::unequal;
pub use verdict::{AuditSubject, AuditedLoad, RuleOutcome, RuleVerdict};

use crate::summary::{Contradictions, RunFigures, Verdict};
use plimsoll_record::{Record, Severity};

/// The verdicts of all rules on one run, one claim, or one run against another.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Audit {
    /// The title of the run or claim; of two runs, of both.
    pub of: String,
    /// Thresholds that the plan or claim has changed.
    pub adjusted: Vec<Threshold>,
    pub faults: Vec<AuditFault>,
    /// By rule. Each has at least one.
    #[serde(rename = "judged")]
    pub verdicts: Vec<RuleVerdict>,
}

/// Why rules are not evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum AuditFault {
    /// The plan of the record: what was measured, and with which thresholds it is to be compared, is not known.
    PlanUnreadable { reason: String },
}

impl Audit {
    fn of(title: String, thresholds: &Thresholds, input: &input::AuditInput) -> Self {
        Self {
            of: title,
            adjusted: thresholds.adjusted(),
            faults: Vec::new(),
            verdicts: rules::evaluate(input, thresholds),
        }
    }

    /// By the thresholds of a plan. Where it cannot be read, only whether the file is intact is evaluated.
    fn by_plan(title: String, plan: &RecordedPlan, input: &input::AuditInput) -> Self {
        match (plan.resolved(), plan.fault()) {
            (Some(plan), _) => Self::of(title, &plan.audit, input),
            (None, None) => Self::of(title, &Thresholds::default(), input),
            (None, Some(why)) => Self {
                of: title,
                adjusted: Vec::new(),
                faults: vec![AuditFault::PlanUnreadable {
                    reason: why.to_owned(),
                }],
                verdicts: rules::evaluate_file(input),
            },
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
            Some(Severity::Note) | None => Verdict::Valid,
        }
    }

    /// Whether a figure must not be quoted.
    pub fn has_errors(&self) -> bool {
        self.worst() == Some(Severity::Error)
    }
}

/// One run, with what it compares within itself.
pub fn audit(record: &Record, summary: &RunFigures) -> Audit {
    Audit::by_plan(
        record.run.title.clone(),
        &record.plan,
        &gather::of_run(record, summary),
    )
}

/// Points of a run whose figures contradict each other, each with the rule that finds it.
pub(crate) fn contradictions(record: &Record, summary: &RunFigures) -> Contradictions {
    let plan = record.plan.resolved();
    let thresholds = plan.map_or_else(Thresholds::default, |plan| plan.audit);
    let loads = gather::loads(record, summary);
    let found = loads.iter().filter_map(|load| {
        let rule = rules::contradiction(load, &thresholds)?;
        Some(load.points.iter().map(move |point| (*point, rule.code())))
    });
    found.flatten().collect()
}

/// One run against another, each where it has its highest rate; thresholds are those of the first. `unlike` is in what their
/// workloads differ, as a comparison finds it. `None` where one has no figure that could be compared.
pub fn audit_pair(
    first: (&Record, &RunFigures),
    second: (&Record, &RunFigures),
    unlike: Option<Evidence>,
) -> Option<Audit> {
    let input = input::AuditInput {
        pairs: vec![gather::of_runs(first, second, unlike)?],
        ..input::AuditInput::default()
    };
    let title = format!("{} / {}", first.0.run.title, second.0.run.title);
    let mut audit = Audit::by_plan(title, &first.0.plan, &input);
    // Verdicts on one run alone are in the audit of each.
    audit
        .verdicts
        .retain(|verdict| verdict.about != AuditSubject::Whole);
    Some(audit)
}
