//! Where runs come from.

use std::path::{Path, PathBuf};

use plimsoll_record::runfile::Head;
use plimsoll_report::history::ListedResult;

/// A run that may be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRun {
    /// As people and addresses call it: its path in the directory that is served.
    pub name: String,
    pub path: PathBuf,
    pub head: Head,
    /// `None` until [`RunSource::add_results`], and of a run that goes on.
    pub result: Option<ListedResult>,
}

/// Finds runs and renders their pages. Reads only.
pub trait RunSource: Send + Sync + 'static {
    /// In the order in which they began. Nothing outside of what is served.
    fn runs(&self) -> Result<Vec<FoundRun>, String>;

    /// Adds figures to runs as far as they are known or soon computed; a source may have none.
    fn add_results(&self, _runs: &mut [FoundRun]) {}

    /// Files to which something was added a short while ago: see [`crate::is_growing`]. Reads no file.
    fn growing(&self) -> Result<Vec<PathBuf>, String>;

    fn report(&self, path: &Path) -> Result<String, String>;

    /// Of two or more runs; the first is the one that the others are compared with.
    fn compare(&self, paths: &[PathBuf]) -> Result<String, String>;
}
