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

/// The error at a folder of another user.
pub(super) fn belongs_to(folder: &Path, owner: &str) -> LoadError {
    let place = folder.display();
    LoadError::Refused {
        what: place.to_string(),
        why: format!("it belongs to {owner}, who has used plimsoll on this medium"),
        next: format!(
            "Run plimsoll as that user, or give the medium another directory. When no run of {owner} is going, they can \
             remove it: rm -r '{place}'"
        ),
    }
}
