//! Backups: taken of a running system onto a directory, and restored as a second, separate system.
//!
//! What an engine does for it is in its own folder; what all of them need is here: programs that are run to their end,
//! and files that are copied and flushed.

use std::path::Path;

use plimsoll_plan::units::Nanos;

use crate::control::LoadControl;

pub(crate) mod files;
pub(crate) mod program;

/// A backup that has been taken, and is on its medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Lengths of the backup's files.
    pub bytes: u64,
    /// What took it, with its version.
    pub program: String,
    /// How many connections, threads or processes of it read at the same time.
    pub jobs: u32,
}

/// Lengths of all files below a directory so far, for a series while a backup is taken or restored.
pub fn written(dir: &Path) -> u64 {
    crate::scratch::data_size(dir).map_or(0, |size| size.0)
}

/// How many may work at the same time, and whether they still shall.
#[derive(Clone, Copy)]
pub(crate) struct BackupControl<'a> {
    pub jobs: u32,
    pub control: &'a LoadControl,
}

/// What a restore did, beside the server.
pub(crate) struct Timed {
    pub program: String,
    pub bytes: u64,
    pub began: Nanos,
    pub ended: Nanos,
}
