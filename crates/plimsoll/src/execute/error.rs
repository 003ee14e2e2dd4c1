//! Why a run ends before its last step.

use plimsoll_load::error::LoadError;
use plimsoll_record::runfile::RunFileError;

use super::lateness::LateDrive;
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
