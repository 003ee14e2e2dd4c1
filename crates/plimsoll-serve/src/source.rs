//! Where runs come from.

use std::path::{Path, PathBuf};

use plimsoll_record::runfile::Head;

/// A run that may be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRun {
    /// As people and addresses call it: its path in the directory that is served.
    pub name: String,
    pub path: PathBuf,
    pub head: Head,
}

/// Finds runs and renders their pages. Reads only.
pub trait RunSource: Send + Sync + 'static {
    /// In the order in which they began. Nothing outside of what is served.
    fn runs(&self) -> Result<Vec<FoundRun>, String>;

    /// Files to which something was added a short while ago: see [`crate::is_growing`]. Reads no file.
    fn growing(&self) -> Result<Vec<PathBuf>, String>;

    fn report(&self, path: &Path) -> Result<String, String>;

    /// Of two or more runs; the first is the one that the others are compared with.
    fn compare(&self, paths: &[PathBuf]) -> Result<String, String>;
}
