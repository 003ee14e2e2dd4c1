//! Run files: a run is one SQLite file that can be mailed, reopened, rendered again and compared years later.
//!
//! While a run lasts, everything is written once a second in one transaction (WAL), so that whatever ends plimsoll
//! leaves a file that opens and holds all but the last second. Closing a run folds the WAL in: one file remains.

mod backup;
mod block;
mod database;
mod digest;
mod drive;
mod file;
mod head;
mod live;
mod open;
mod outage;
mod outcomes;
mod reader;
mod reported;
mod row;
mod samples;
mod seconds;
mod series;
mod waits;
mod whole;
mod writer;

use std::path::PathBuf;

use thiserror::Error;

pub use file::RunFile;
pub use head::{Head, LABEL, read_head};
pub use live::{
    LiveCursor, LivePhase, LiveRows, LiveSample, LiveSecond, LiveSystem, read_live, read_plan,
};
pub use reader::{read, require_intact};

#[derive(Debug, Error)]
pub enum RunFileError {
    #[error("{} cannot be opened: {why}\nplimsoll list DIRECTORY shows the run files there.", path.display())]
    Open { path: PathBuf, why: String },
    #[error(
        "{} is not a run file of plimsoll\nGive a file that plimsoll run or plimsoll import wrote (NAME.plimsoll).",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "{} was written by plimsoll {version} (schema {schema}); this plimsoll reads schema {known} and older\n\
         Open it with plimsoll {version} or newer.",
        path.display()
    )]
    Newer {
        path: PathBuf,
        version: String,
        schema: i32,
        known: i32,
    },
    #[error("{} exists already\nGive another name with --output, or move the file away.", path.display())]
    Exists { path: PathBuf },
    #[error(
        "{} does not match its digest\n\
         The file was changed or damaged after its run had ended.\n\
         Take it from a backup; plimsoll audit and plimsoll report still open it.",
        path.display()
    )]
    Changed { path: PathBuf },
    #[error(
        "{} has no digest\n\
         It was removed after the run had been closed.\n\
         Take the file from a backup; plimsoll audit and plimsoll report still open it.",
        path.display()
    )]
    NoDigest { path: PathBuf },
    #[error("{} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("the run file {} cannot be written: {why}", path.display())]
    Write { path: PathBuf, why: String },
}

#[cfg(test)]
mod tests;
