//! Why a run ends before its last step.

use std::fmt;

use plimsoll_analysis::summary::TooLate;
use plimsoll_load::error::LoadError;
use plimsoll_record::runfile::RunFileError;

use crate::failure::Failure;

/// Why a run ends before its last step.
pub(super) enum RunError {
    Interrupted,
    Failed(String),
    /// The database's content is wrong. After a power cut that is a result, and the plan continues with its next step.
    Broken(String),
    /// An emulated drive could not answer in time, and the run can begin again with slower ones.
    Late(LateDrive),
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
            other => Self::Failed(other.to_string()),
        }
    }
}

pub(super) type StepResult<T> = Result<T, RunError>;

pub(super) fn ended_unexpectedly(system: &str, error: &LoadError) -> String {
    format!(
        "the server of system {system} ended unexpectedly: {error}
The run file has everything measured until then."
    )
}

pub(super) fn not_prepared(what: &str) -> RunError {
    RunError::Failed(format!(
        "a {what} is used that was not prepared: this is a fault of plimsoll"
    ))
}
