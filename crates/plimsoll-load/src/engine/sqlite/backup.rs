//! Backups of a SQLite database, by its backup API (backup.html): pages of one snapshot, while others write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Nanos;
use plimsoll_virtual::{fiber, vfs};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, Error};

use super::client::SqliteClient;
use super::connection::{
    create_timed, directory, explain, open_read_only, open_read_only_timed, open_timed,
};
use crate::backup::{BackupControl, Taken, Timed, files};
use crate::clock::monotonic;
use crate::engine::sql::facts::count_rows;
use crate::error::LoadError;
use crate::scratch::wait_until;

/// The database of a backup, and of what is restored of one.
const NAME: &str = "tpcc.db";
/// Between two checks for a stop.
const PAGES: i32 = 256;

/// Names of the VFS through which a copy goes in virtual time.
#[derive(Debug, Clone)]
pub struct TimedFiles {
    pub from: String,
    pub to: String,
}

impl TimedFiles {
    /// For what goes back.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
        }
    }
}

/// Takes a backup into the directory `to`, whatever is written meanwhile.
pub(crate) fn back_up(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
    task: BackupControl<'_>,
    to: &Path,
    timed: Option<&TimedFiles>,
) -> Result<Taken, LoadError> {
    let source = open_timed(path, pragmas, timed.map(|own| own.from.as_str()))?;
    let vfs = timed.map(|own| own.to.as_str());
    let bytes = copy(&source, path, &to.join(NAME), task, vfs)?;
    Ok(Taken {
        bytes,
        program: program(),
        jobs: 1,
    })
}

/// Makes a database in the directory `to` of a backup in `from`.
pub(crate) fn restore(
    task: BackupControl<'_>,
    from: &Path,
    to: &Path,
    timed: Option<&TimedFiles>,
) -> Result<(PathBuf, Timed), LoadError> {
    let backup = from.join(NAME);
    let path = to.join(NAME);
    match timed {
        Some(own) => vfs::forget_cached(&own.from, from),
        None => files::forget_cached(from)?,
    }
    let now = || fiber::now().unwrap_or_else(monotonic);
    let began: Nanos = now();
    let source = match timed {
        Some(own) => open_read_only_timed(&backup, &own.from)?,
        None => open_read_only(&backup)?,
    };
    let vfs = timed.map(|own| own.to.as_str());
    copy(&source, &backup, &path, task, vfs)?;
    let ended = now();
    Ok((
        path,
        Timed {
            program: program(),
            bytes: crate::backup::written(from),
            began,
            ended,
        },
    ))
}

fn program() -> String {
    format!("SQLite backup API {}", rusqlite::version())
}

/// Copies a database into a new file; its length, once it is on its medium.
///
/// A backup begins anew whenever another connection has written between two steps, and under load it would never end. A
/// transaction that reads keeps one snapshot for all steps. In WAL mode no session waits for that, but the log grows as long
/// as it lasts.
fn copy(
    source: &Connection,
    from: &Path,
    to: &Path,
    task: BackupControl<'_>,
    vfs: Option<&str>,
) -> Result<u64, LoadError> {
    let reading = |error: Error| explain(from, "backing up", &error);
    let writing = |error: Error| explain(to, "writing", &error);
    source
        .execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")
        .map_err(reading)?;
    let mut target = create_timed(to, vfs).map_err(writing)?;
    {
        let backup = Backup::new(source, &mut target).map_err(writing)?;
        while next_pages(&backup, task).map_err(writing)? {
            task.control.check()?;
        }
    }
    source.execute_batch("COMMIT").map_err(reading)?;
    target.close().map_err(|(_, error)| writing(error))?;
    let to = directory(to);
    match vfs {
        // SQLite itself has synced what it wrote.
        Some(_) => Ok(crate::backup::written(to)),
        None => files::flush(to, task.control),
    }
}

/// Whether there are more.
fn next_pages(backup: &Backup<'_, '_>, task: BackupControl<'_>) -> rusqlite::Result<bool> {
    let mut stepped = backup.step(PAGES);
    // Another process holds the database's locks, if only to recover it.
    wait_until(5, || {
        let waits = matches!(stepped, Ok(StepResult::Busy | StepResult::Locked))
            && !task.control.is_cancelled();
        if waits {
            stepped = backup.step(PAGES);
        }
        !waits
    });
    match stepped? {
        StepResult::Done => Ok(false),
        StepResult::More => Ok(true),
        _ if task.control.is_cancelled() => Ok(true),
        _ => Err(Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
            None,
        )),
    }
}

/// How many rows each table has, in one snapshot.
pub(crate) fn row_counts(path: &Path) -> Result<BTreeMap<String, u64>, LoadError> {
    const TABLES: &str = "SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let connection = &open_read_only(path)?;
    count_rows(&mut SqliteClient { connection, path }, "BEGIN", TABLES, '"')
}
