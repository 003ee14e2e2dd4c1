//! Why block I/O cannot be measured.

use std::path::PathBuf;

use plimsoll_import::fio_output::FioError;
use thiserror::Error;

/// Why block I/O cannot be measured. Every message ends with what to do next.
#[derive(Debug, Error)]
pub enum BlockError {
    #[error("cannot access {}\n{why}\nGive a directory on the drive, or a block device.", path.display())]
    NotThere { path: PathBuf, why: String },
    #[error(
        "{} is {what}\nGive a directory on the drive: a test file is made in it and removed. Or give a block device.",
        path.display()
    )]
    Unsuitable { path: PathBuf, what: &'static str },
    #[error("{} must not be overwritten\n{}\n{next}", path.display(), why.join("; "))]
    Refused {
        path: PathBuf,
        why: Vec<String>,
        next: String,
    },
    #[error("{} cannot be used\n{why}\n{next}", path.display())]
    TestFile {
        path: PathBuf,
        why: String,
        next: String,
    },
    #[error(
        "fio cannot be run\n{0}\nInstall it (Debian and Ubuntu: apt-get install fio; Fedora: dnf install fio)."
    )]
    NoFio(String),
    #[error(
        "{version} is too old: plimsoll needs {}.{} or later\n\
         Install a newer one (packages are linked from https://github.com/axboe/fio), or put it first in PATH.",
        oldest.0, oldest.1
    )]
    OldFio { version: String, oldest: (u32, u32) },
    #[error("fio failed at {job}: {why}\nThe command was: {command}")]
    Fio {
        job: String,
        why: String,
        command: String,
    },
    #[error("fio's output of {job} cannot be used: {error}\nThe command was: {command}")]
    Output {
        job: String,
        error: FioError,
        command: String,
    },
    /// Why a lane failed, with the command.
    #[error("{0}")]
    Lane(String),
    #[error("stopped by the user")]
    Cancelled,
}
