//! Run files: a run is one SQLite file that can be mailed, reopened, rendered again and compared years later.
//!
//! While a run lasts, everything is written once a second in one transaction (WAL), so that whatever ends plimsoll
//! leaves a file that opens and holds all but the last second. Closing a run folds the WAL in: one file remains.

mod block;
mod columns;
mod digest;
mod drive;
mod file;
mod head;
mod known_schema;
mod live;
mod new_file;
mod open;
mod outcomes;
mod reader;
mod recovery;
mod reopened;
mod restrict;
mod row;
mod samples;
mod seconds;
mod series;
mod totals;
mod waits;
mod whole;
mod writer;

use std::path::PathBuf;

use thiserror::Error;

use crate::SCHEMA_VERSION;

pub use file::RunFile;
pub use head::{Head, LABEL, read_head};
pub use live::{
    LiveCursor, LivePhase, LiveRows, LiveSample, LiveSecond, LiveSystem, read_live, read_plan,
};
pub use reader::{read, require_intact};
pub use reopened::JoinedCopy;
pub use totals::{AddedSecond, TotalsCursor, TotalsRows, read_added};

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
        "{} cannot be read: it has schema {schema}\n\
         This plimsoll reads schema {SCHEMA_VERSION} only.\n\
         Open it with the plimsoll that wrote it: {version}.",
        path.display()
    )]
    Newer {
        path: PathBuf,
        version: String,
        schema: i32,
    },
    #[error(
        "{} cannot be read: it has schema {schema}\n\
         This plimsoll reads schema {SCHEMA_VERSION} only.\n\
         Open it with plimsoll 0.1, which reads schemas 1 to 9.",
        path.display()
    )]
    Older { path: PathBuf, schema: i32 },
    #[error(
        "{} holds {what}, which no plimsoll makes\n\
         It was changed after its run, or is not what its name claims: nothing more of it is read.\n\
         Take it from a backup, or remove that with another program (sqlite3).",
        path.display()
    )]
    Schema { path: PathBuf, what: String },
    #[error(
        "{} cannot be created: {} lies there without it\n\
         It may hold the last seconds of another run, whose file was moved without it.\n\
         Move it to that file, or give another name with --output.",
        path.display(), beside.display()
    )]
    Leftover { path: PathBuf, beside: PathBuf },
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
    #[error("{} is closed: its run was not killed\nThere is nothing to join; plimsoll report {} shows it.", path.display(), path.display())]
    Closed { path: PathBuf },
    #[error(
        "{} is in use: its run goes on, or another program has it open\nJoin it when its plimsoll has ended.",
        path.display()
    )]
    InUse { path: PathBuf },
    #[error("{} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("the run file {} cannot be written: {why}", path.display())]
    Write { path: PathBuf, why: String },
}

#[cfg(test)]
mod tests;
