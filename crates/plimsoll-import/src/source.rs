//! What is given to an import.

use plimsoll_plan::units::Nanos;
use plimsoll_record::RunInfo;

use super::tool::Tool;

/// One file.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Its name without directories.
    pub name: &'a str,
    pub text: &'a str,
    /// Given by the user; `None`: detected from the content.
    pub tool: Option<Tool>,
}

/// Information about a run that its files may lack, given by the user.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// `started_at`, `lasted` and `status` are filled in; the rest stands as it is.
    pub run: RunInfo,
    /// Name of the step, instead of the tool's.
    pub step: Option<String>,
    /// When the load started, since 1970, for sources without it.
    pub started: Option<Nanos>,
    /// Users, for sources without it.
    pub users: Option<u32>,
    /// The medium of the data.
    pub medium: Option<String>,
}
