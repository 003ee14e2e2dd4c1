//! The verdict of a rule on one thing.

use serde::Serialize;

use super::rule::Rule;
use super::{Evidence, Missing, Next};
use plimsoll_record::{OfferedLoad, Severity};

/// One rule about one thing. A missing verdict is never a pass: each rule has one on each thing that it can be about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleVerdict {
    pub rule: Rule,
    pub about: AuditSubject,
    #[serde(flatten)]
    pub outcome: RuleOutcome,
}

/// The outcome of a rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RuleOutcome {
    Passed {
        evidence: Vec<Evidence>,
    },
    /// What fired it, the worst first.
    Fired {
        severity: Severity,
        evidence: Vec<Evidence>,
        next: Next,
    },
    NotEvaluated {
        because: Missing,
    },
}

impl RuleOutcome {
    /// The severity of a rule that fired; else `None`.
    pub fn severity(&self) -> Option<Severity> {
        match self {
            Self::Fired { severity, .. } => Some(*severity),
            Self::Passed { .. } | Self::NotEvaluated { .. } => None,
        }
    }
}

/// What a rule was evaluated for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditSubject {
    /// A run or a claim as a whole.
    #[default]
    Whole,
    /// One load of a step.
    Load(AuditedLoad),
    /// Something with a name: a row of a published table, a backup, a sentence.
    Named(String),
    /// One side against another.
    Pair { first: String, second: String },
}

/// One load, as people find it again in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditedLoad {
    pub step: String,
    /// The system; of block I/O the medium.
    pub on: String,
    /// The job of block I/O.
    pub job: Option<String>,
    #[serde(flatten)]
    pub load: OfferedLoad,
    /// From 0.
    pub repeat: u32,
}
