//! Opens a run file, whoever made it and whatever ended its writer, and reads its first row.

use std::cmp::Ordering;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::{APPLICATION_ID, RunInfo, SCHEMA_VERSION};
use plimsoll_plan::shortened;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use super::RunFileError;
use super::known_schema::unknown_entry;
use super::recovery::{self, JOURNAL, PrivateCopy, WAL, beside, has_bytes};
use super::restrict::restrict;
use super::row::{BadRow, parsed, rows};

/// A run of hours has a hundredth of it. Files without data behind their length are hashed as well.
const LARGEST: u64 = 16 << 30;
/// Offset of SQLite's `user_version` in a file.
const USER_VERSION_AT: u64 = 60;

pub(super) fn damaged(path: &Path, what: BadRow) -> RunFileError {
    RunFileError::Damaged {
        path: path.into(),
        what: match what.as_str() {
            "interrupted" => "it takes longer to read than any file of its size".into(),
            _ => what,
        },
    }
}

/// A run file with the newest schema.
pub(super) struct OpenedRun {
    pub db: Connection,
    pub source: RunFileSource,
}

/// Where a run file is read.
pub(super) struct RunFileSource {
    /// As it was given.
    path: PathBuf,
    /// The file itself, without links, or a copy.
    file: PathBuf,
    /// Size of the file and its log.
    bytes: u64,
    /// Removed with this.
    copy: Option<PrivateCopy>,
}

pub(super) fn open_run_file(path: &Path) -> Result<OpenedRun, RunFileError> {
    let mut source = RunFileSource::find(path)?;
    let db = match source.connection() {
        Err(error) if needs_recovery(&error) => {
            source.recover().map_err(|error| open_error(path, &error))?;
            source.connection()
        }
        opened => opened,
    };
    let db = db.map_err(|error| source.error(&error))?;
    expect_schema(&db, path)?;
    Ok(OpenedRun { db, source })
}

impl RunFileSource {
    pub fn find(path: &Path) -> Result<Self, RunFileError> {
        let open = |error: &io::Error| match error.kind() {
            io::ErrorKind::NotFound => open_error(path, &"there is no such file"),
            _ => open_error(path, error),
        };
        let file = recovery::open_file(path, true).map_err(|error| open(&error))?;
        if !is_run_file(&file) {
            return Err(RunFileError::Foreign { path: path.into() });
        }
        let size = file.metadata().map_err(|error| open(&error))?.len();
        // SQLite's log lies beside the file itself.
        let file = path.canonicalize().map_err(|error| open(&error))?;
        recovery::expect_harmless_beside(&file).map_err(|error| open(&error))?;
        let wal = std::fs::symlink_metadata(beside(&file, WAL)).map_or(0, |wal| wal.len());
        let bytes = size.saturating_add(wal);
        if bytes > LARGEST {
            return Err(open(&io::Error::other(
                "it has more than 16 GiB, as no run file has",
            )));
        }
        Ok(Self {
            path: path.into(),
            file,
            bytes,
            copy: None,
        })
    }

    /// As it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the content is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// One more connection: each stays with the thread that opened it, so that nothing has to be locked for each column of
    /// a row.
    pub fn connect(&self) -> Result<Connection, RunFileError> {
        self.connection().map_err(|error| self.error(&error))
    }

    fn connection(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut db = Connection::open_with_flags(&self.file, flags)?;
        restrict(&mut db, self.bytes)?;
        // One transaction, so that of a run that goes on all tables are read as they were at one moment.
        db.execute_batch("BEGIN")?;
        recovery::read_first_page(&db)?;
        Ok(db)
    }

    /// After the death of its writer, undoes what was half written: in the file where that can be written, else in a copy.
    /// A file of another schema is refused, and left to the plimsoll that reads it.
    fn recover(&mut self) -> io::Result<()> {
        let is_undone = self.has_journal()
            && self.has_newest_schema()?
            && recovery::roll_back(&self.file, self.bytes).is_ok();
        if is_undone { Ok(()) } else { self.use_copy() }
    }

    pub fn use_copy(&mut self) -> io::Result<()> {
        let copy = PrivateCopy::create(&self.file)?;
        self.file = copy.file.clone();
        self.copy = Some(copy);
        if self.has_journal() {
            recovery::roll_back(&self.file, self.bytes).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// By the file's header, which no transaction but the first one changes.
    fn has_newest_schema(&self) -> io::Result<bool> {
        let mut schema = [0; 4];
        let file = recovery::open_file(&self.file, false)?;
        file.read_exact_at(&mut schema, USER_VERSION_AT)?;
        Ok(schema == SCHEMA_VERSION.to_be_bytes())
    }

    fn has_journal(&self) -> bool {
        has_bytes(&beside(&self.file, JOURNAL))
    }

    fn error(&self, error: &rusqlite::Error) -> RunFileError {
        match error.sqlite_error_code() {
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::DatabaseBusy) => {
                open_error(&self.path, error)
            }
            _ => damaged(&self.path, error.to_string()),
        }
    }
}

/// Whether the file begins as a run file does: SQLite's magic string, and the application's id at offset 68.
pub(super) fn is_run_file(file: &File) -> bool {
    let mut header = [0; 72];
    file.read_exact_at(&mut header, 0).is_ok()
        && header.starts_with(b"SQLite format 3\0")
        && header[68..] == APPLICATION_ID.to_be_bytes()
}

/// Whether SQLite would have to write to read it.
fn needs_recovery(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

fn open_error(path: &Path, error: &dyn std::fmt::Display) -> RunFileError {
    RunFileError::Open {
        path: path.into(),
        why: error.to_string(),
    }
}

/// The row of the run itself.
pub(super) fn info(db: &Connection) -> Result<RunInfo, BadRow> {
    let ends = lasted(db)?;
    db.query_row("SELECT * FROM run", [], |row| run_info(row, ends))
        .map_err(|e| e.to_string())
}

/// Refuses another schema than the newest, and a part that does not belong to it.
fn expect_schema(db: &Connection, path: &Path) -> Result<(), RunFileError> {
    let schema = db.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0));
    let schema = schema.map_err(|error| damaged(path, error.to_string()))?;
    let path = path.to_path_buf();
    match schema.cmp(&SCHEMA_VERSION) {
        Ordering::Less if schema < 1 => Err(damaged(&path, format!("it has schema {schema}"))),
        Ordering::Less => Err(RunFileError::Older { path, schema }),
        Ordering::Greater => {
            let version = db.query_row("SELECT plimsoll_version FROM run", [], |row| row.get(0));
            Err(RunFileError::Newer {
                path,
                version: version.unwrap_or_else(|_| "a later version".into()),
                schema,
            })
        }
        Ordering::Equal => match unknown_entry(db) {
            Ok(None) => Ok(()),
            Ok(Some(what)) => Err(RunFileError::Schema { path, what }),
            Err(what) => Err(damaged(&path, what)),
        },
    }
}

/// The latest time in the file.
pub(super) fn lasted(db: &Connection) -> Result<Nanos, BadRow> {
    // A closed run has its length; only of a run that was not closed all rows are read.
    let recorded =
        "SELECT lasted_ns FROM run WHERE NOT EXISTS (SELECT 1 FROM phase WHERE end_ns IS NULL)";
    if let Some(Some(lasted)) = rows(db, recorded, |row| row.get::<_, Option<u64>>(0))?.first() {
        return Ok(Nanos(*lasted));
    }
    let sql = "SELECT max(coalesce((SELECT max(end_ns) FROM tick), 0), coalesce((SELECT max(at_ns) FROM sample), 0),
                          coalesce((SELECT max(end_ns) FROM phase), 0), coalesce((SELECT max(start_ns) FROM phase), 0))";
    db.query_row(sql, [], |row| row.get(0))
        .map(Nanos)
        .map_err(|e| e.to_string())
}

fn run_info(row: &Row<'_>, ends: Nanos) -> rusqlite::Result<RunInfo> {
    Ok(RunInfo {
        id: row.get("id")?,
        title: shortened(&row.get::<_, String>("title")?),
        plimsoll_version: row.get("plimsoll_version")?,
        plimsoll_commit: row.get("plimsoll_commit")?,
        command: row.get("command")?,
        seed: parsed(row, "seed")?,
        started_at: row.get("started_at")?,
        lasted: row.get::<_, Option<u64>>("lasted_ns")?.map_or(ends, Nanos),
        status: parsed(row, "status")?,
        failure: row.get("failure")?,
    })
}
