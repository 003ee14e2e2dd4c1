//! Why a run ends before its last step.

use std::fmt;

use plimsoll_analysis::summary::TooLate;
use plimsoll_load::error::LoadError;
use plimsoll_record::runfile::RunFileError;

use crate::failure::{Failure, FailureReason};

/// Why a run ends before its last step.
#[derive(Debug)]
pub(super) enum RunError {
    Interrupted,
    Failed(FailureReason),
    /// The database's content is wrong. After a power cut that is a result, and the plan continues with its next step.
    Broken(String),
    /// An emulated drive could not answer in time, and the run can begin again with slower ones.
    Late(LateDrive),
    /// A requirement is missed, and the plan wants the run to end then.
    Missed(String),
    /// The run file itself cannot be written.
    Unrecorded(Failure),
}

/// An emulated drive that could not answer in time: rule EMULATED makes the point invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct LateDrive {
    pub medium: String,
    /// Where: the point's title.
    pub point: String,
    pub late: TooLate,
}

impl RunError {
    pub fn failed(why: impl Into<FailureReason>) -> Self {
        Self::Failed(why.into())
    }
}

impl fmt::Display for LateDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the emulator of {} fell behind at {}: the run begins again with slower drives",
            self.medium, self.point
        )
    }
}

impl From<RunFileError> for RunError {
    fn from(error: RunFileError) -> Self {
        Self::Unrecorded(error.into())
    }
}

impl From<LoadError> for RunError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Cancelled => Self::Interrupted,
            other => Self::failed(other),
        }
    }
}

pub(super) type StepResult<T> = Result<T, RunError>;

/// With the reason and the next step of `death`.
pub(super) fn ended_unexpectedly(system: &str, death: &LoadError) -> FailureReason {
    let mut reason = FailureReason::from(death);
    let what = format!("the server of system {system} ended unexpectedly");
    reason.text = match (death, reason.text.split_once('\n')) {
        (LoadError::Died { .. }, Some((_, why_and_next))) => format!("{what}\n{why_and_next}"),
        _ => format!("{what}: {}", reason.text),
    };
    reason
}

pub(super) fn not_prepared(what: &str) -> RunError {
    RunError::failed(format!(
        "a {what} is used that was not prepared: this is a fault of plimsoll"
    ))
}
