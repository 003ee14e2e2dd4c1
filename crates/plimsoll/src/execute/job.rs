//! A run's inputs, complete before anything is touched.

use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_plan::RecordedPlan;
use plimsoll_plan::resolved::{ResolvedPlan, redact};
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::{RunInfo, RunStatus};
use plimsoll_worker::session::Together;

/// A plan to run, and where to record it.
#[derive(Debug)]
pub struct Job {
    pub plan: ResolvedPlan,
    /// Seed of the inputs: the plan's, or drawn.
    pub seed: u64,
    pub plan_text: String,
    pub output: PathBuf,
    pub run_id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The command line as it was given.
    pub command: String,
    /// The user's name for it: a commit, a version.
    pub label: Option<String>,
    pub quiet: bool,
    pub virtual_time: bool,
    /// Devices and files of others that block steps may overwrite.
    pub overwrite: Vec<PathBuf>,
    /// If one of these drives falls behind, the run ends there, to begin again with its next factor; any other: it goes on.
    pub next_factors: Vec<NextFactor>,
    /// The hosts that run the same plan in step with this one.
    pub together: Option<Arc<Together>>,
    /// Printed before the run and recorded with it: the plan's warnings, and what was cleared.
    pub notes: Vec<EventKind>,
}

/// The factor at which drives that were compared as they ran go on, should one of them fall behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextFactor {
    /// None: all whose speed plimsoll chose.
    pub media: Vec<String>,
    pub factor: u32,
}

impl NextFactor {
    pub fn is_for(&self, medium: &str) -> bool {
        self.media.is_empty() || self.media.iter().any(|name| name == medium)
    }
}

impl Job {
    pub(super) fn run_info(&self) -> RunInfo {
        RunInfo {
            id: self.run_id.clone(),
            title: self.plan.title.clone(),
            plimsoll_version: env!("CARGO_PKG_VERSION").into(),
            plimsoll_commit: env!("PLIMSOLL_COMMIT").into(),
            command: redact(&self.command),
            seed: self.seed,
            started_at: self.started_at.clone(),
            lasted: Nanos::ZERO,
            status: RunStatus::Unfinished,
            failure: None,
        }
    }

    pub(super) fn plan_text_redacted(&self) -> String {
        redact(&self.plan_text)
    }

    /// With the seed filled in.
    pub(super) fn recorded_plan(&self) -> RecordedPlan {
        RecordedPlan::new(ResolvedPlan {
            seed: Some(self.seed),
            ..self.plan.clone()
        })
    }
}
