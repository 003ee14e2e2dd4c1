//! Opens a run file, and reads its first row.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{APPLICATION_ID, RunInfo, SCHEMA_VERSION};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, OpenFlags, Row};

use super::RunFileError;
use super::row::{BadRow, parsed, rows};

pub(super) fn damaged(path: &Path, what: BadRow) -> RunFileError {
    RunFileError::Damaged {
        path: path.into(),
        what,
    }
}

/// A run file and the version of its schema.
pub(super) fn open_run_file(path: &Path) -> Result<(Connection, i32), RunFileError> {
    let open = |why: String| RunFileError::Open {
        path: path.into(),
        why,
    };
    if !path.is_file() {
        return Err(open("there is no such file".into()));
    }
    // Each connection stays with the thread that opened it, so that nothing has to be locked for each column of a row.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| open(e.to_string()))?;
    let schema = expect_run_file(&db, path)?;
    // One transaction, so that of a run that goes on all tables are read as they were at one moment.
    db.execute_batch("BEGIN").map_err(|e| open(e.to_string()))?;
    Ok((db, schema))
}

/// What is known about the run itself.
pub(super) fn info(db: &Connection) -> Result<RunInfo, BadRow> {
    let ends = lasted(db)?;
    db.query_row("SELECT * FROM run", [], |row| run_info(row, ends))
        .map_err(|e| e.to_string())
}

/// The version of its schema.
fn expect_run_file(db: &Connection, path: &Path) -> Result<i32, RunFileError> {
    let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    // A file that is no database at all fails here, and so does what is left of one.
    match pragma("application_id") {
        Ok(APPLICATION_ID) => {}
        Err(error) if has_run_file_header(path) => {
            return Err(RunFileError::Damaged {
                path: path.into(),
                what: error.to_string(),
            });
        }
        Ok(_) | Err(_) => return Err(RunFileError::Foreign { path: path.into() }),
    }
    let schema = pragma("user_version").unwrap_or_default();
    if schema > SCHEMA_VERSION {
        let version = db.query_row("SELECT plimsoll_version FROM run", [], |row| row.get(0));
        let version = version.unwrap_or_else(|_| "of a later version".into());
        return Err(RunFileError::Newer {
            path: path.into(),
            version,
            schema,
            known: SCHEMA_VERSION,
        });
    }
    Ok(schema)
}

/// Whether the file begins as a run file does: SQLite's magic string, and the application's id at offset 68.
fn has_run_file_header(path: &Path) -> bool {
    let mut header = [0; 72];
    let is_read = File::open(path)
        .and_then(|mut file| file.read_exact(&mut header))
        .is_ok();
    is_read
        && header.starts_with(b"SQLite format 3\0")
        && header[68..] == APPLICATION_ID.to_be_bytes()
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
        title: row.get("title")?,
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
