//! Facts about a run and its file.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use plimsoll_plan::units::Nanos;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    pub id: String,
    pub title: String,
    pub plimsoll_version: String,
    pub plimsoll_commit: String,
    /// The command line, passwords redacted.
    pub command: String,
    pub seed: u64,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Length of the run; of an unfinished one, up to the last thing recorded.
    pub lasted: Nanos,
    pub status: RunStatus,
    /// Why it failed: the message shown to the user.
    pub failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunStatus {
    /// Still running, or killed: the file was never closed.
    Unfinished,
    Complete,
    /// Ended by the user; what was measured is here.
    Interrupted,
    Failed,
}

impl RunStatus {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether a run file is as it was when the run was closed. Its digest is SHA-256, in hexadecimal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Integrity {
    /// The content matches the digest.
    Intact { digest: String },
    /// The content does not match the digest: the file was changed or damaged after the run.
    Changed { digest: String, found: String },
    /// The run is closed and its digest is missing: it was removed.
    NoDigest,
    /// Never closed: the run goes on, or plimsoll was killed. Also a record that is in no file yet.
    #[default]
    Open,
}
