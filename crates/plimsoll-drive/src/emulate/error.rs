//! Why an emulated drive could not be set up.

use std::fmt;
use std::path::Path;

/// The beginning of errors about an emulator that is gone.
pub const SILENCE: &str = "the drive's emulator";

/// What went wrong, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}\n{next}")]
pub struct EmulatorError {
    pub why: String,
    pub next: String,
    /// FUSE, or what the block form needs beside it, is not to be had here; a plain directory would do.
    pub no_fuse: bool,
}

impl EmulatorError {
    pub fn new(why: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            next: next.into(),
            no_fuse: false,
        }
    }

    /// The emulator is gone, as opposed to a command that failed.
    pub fn is_silence(&self) -> bool {
        self.why.starts_with(SILENCE)
    }

    pub fn no_fuse(why: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            no_fuse: true,
            ..Self::new(why, next)
        }
    }

    /// For `map_err`: a file or directory of the emulator's own.
    pub fn at<E: fmt::Display>(path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.display().to_string();
        move |why| {
            Self::new(
                format!("{path}: {why}"),
                "Give the drive a directory that this user may write to.",
            )
        }
    }
}
