//! Errors of file systems.

use std::io;
use std::path::Path;

use crate::error::LoadError;

/// An error of the file system as the user should read it.
pub(crate) fn io_error(path: &Path, error: &io::Error) -> LoadError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            LoadError::disk_full(path.display().to_string(), error)
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            LoadError::ReadOnly {
                path: path.into(),
                why: error.to_string(),
            }
        }
        _ => LoadError::other(path.display().to_string(), error),
    }
}
