//! Opens databases, and describes SQLite's errors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use plimsoll_block::host::mount::free_bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::schema::APPLICATION_ID;
use crate::error::LoadError;
use crate::session::SessionError;

/// How long a statement waits for another process's lock before it is "busy".
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens a database that plimsoll loaded, as every session does: WAL and synchronous=FULL unless the plan's settings state
/// otherwise, and those.
pub fn open(path: &Path, pragmas: &BTreeMap<String, String>) -> Result<Connection, LoadError> {
    open_timed(path, pragmas, None)
}

/// As [`open`], through a VFS of virtual time.
pub fn open_timed(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
    vfs: Option<&str>,
) -> Result<Connection, LoadError> {
    let connection = open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE, vfs)?;
    let mut settings: BTreeMap<_, _> = [("journal_mode", "WAL"), ("synchronous", "FULL")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
    let lower = pragmas
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    settings.extend(lower);
    apply(&connection, path, &settings)?;
    Ok(connection)
}

/// Opens a database that plimsoll loaded, to read it as it is.
///
/// Where no log is beside it no process is at work, and it is opened as immutable: SQLite would otherwise make a log and leave
/// it there, and could not open the database at all where it may not write (wal.html, "Read-Only Databases").
pub fn open_read_only(path: &Path) -> Result<Connection, LoadError> {
    if has_log(path) {
        return open_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY, None);
    }
    verify_own(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(immutable(path), flags)
        .map_err(|error| explain(path, "opening", &error))
}

/// As [`open_read_only`], through a VFS of virtual time, where nobody else is.
pub fn open_read_only_timed(path: &Path, vfs: &str) -> Result<Connection, LoadError> {
    open_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY, Some(vfs))
}

/// Whether a log or rollback journal is beside the database.
pub fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"]
        .iter()
        .any(|suffix| beside(path, suffix).exists())
}

/// The path with something appended to its name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A URI (uri.html): everything but letters, digits and `/` is escaped.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'/' {
            uri.push(byte.into());
        } else {
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri + "?immutable=1"
}

/// Opens a new database, or one of plimsoll's again, and no link.
pub fn create(path: &Path) -> rusqlite::Result<Connection> {
    create_timed(path, None)
}

/// As [`create`], through a VFS of virtual time.
pub fn create_timed(path: &Path, vfs: Option<&str>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    connect(path, flags, vfs)
}

fn connect(path: &Path, flags: OpenFlags, vfs: Option<&str>) -> rusqlite::Result<Connection> {
    match vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs),
        None => Connection::open_with_flags(path, flags),
    }
}

fn open_with(path: &Path, access: OpenFlags, vfs: Option<&str>) -> Result<Connection, LoadError> {
    verify_own(path)?;
    // Nor does SQLite follow what somebody has made a link of meanwhile.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = connect(path, flags, vfs).map_err(|error| explain(path, "opening", &error))?;
    connection
        .busy_timeout(BUSY_TIMEOUT)
        .map_err(|error| explain(path, "opening", &error))?;
    Ok(connection)
}

/// Refuses a file that plimsoll did not make. Reads the file's header (fileformat2.html, §1.3) and leaves SQLite out of it:
/// merely opening the user's database could replay its log.
///
/// Once for each file: closing it releases the locks that SQLite holds on it for this process (howtocorrupt.html, §2.2), and
/// another process that opens the database then may remove the log of its sessions.
pub fn verify_own(path: &Path) -> Result<(), LoadError> {
    static VERIFIED: Mutex<BTreeSet<FileIdentity>> = Mutex::new(BTreeSet::new());
    let identity = FileIdentity::of(path).map_err(|error| io_error(path, "opening", &error))?;
    let mut verified = VERIFIED.lock().unwrap_or_else(PoisonError::into_inner);
    if !verified.contains(&identity) {
        verify_header(path)?;
        verified.insert(identity);
    }
    Ok(())
}

/// Of a file, whatever it is called, and however often its number was used before.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileIdentity {
    device: u64,
    inode: u64,
    /// `None` where the filesystem does not keep it.
    created: Option<SystemTime>,
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        Ok(Self {
            device: file.dev(),
            inode: file.ino(),
            created: file.created().ok(),
        })
    }
}

fn verify_header(path: &Path) -> Result<(), LoadError> {
    const ID_AT: usize = 68;
    let mut header = Vec::with_capacity(ID_AT + 4);
    File::open(path)
        .and_then(|file| file.take(ID_AT as u64 + 4).read_to_end(&mut header))
        .map_err(|error| io_error(path, "opening", &error))?;
    if header.starts_with(b"SQLite format 3\0")
        && header.get(ID_AT..) == Some(&APPLICATION_ID.to_be_bytes())
    {
        return Ok(());
    }
    Err(LoadError::Foreign {
        what: path.display().to_string(),
        why: "it was not made by plimsoll: its header has another application ID".to_owned(),
        next: "Choose another directory for the medium, or move the file away.".to_owned(),
    })
}

/// PRAGMAs that take words; where SQLite shows a number, it is the word's place.
const WORDS: [(&str, &[&str]); 6] = [
    ("auto_vacuum", &["NONE", "FULL", "INCREMENTAL"]),
    (
        "journal_mode",
        &["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"],
    ),
    ("locking_mode", &["NORMAL", "EXCLUSIVE"]),
    ("secure_delete", &["OFF", "ON", "FAST"]),
    ("synchronous", &["OFF", "NORMAL", "FULL", "EXTRA"]),
    ("temp_store", &["DEFAULT", "FILE", "MEMORY"]),
];

/// The PRAGMA that SQLite raises by itself to the size that the database has.
const RAISED: &str = "max_page_count";

/// Sets PRAGMAs and reads each back. SQLite ignores a name that it does not know, takes a word that it does not know for
/// another one, and keeps its value where it cannot change it; here all of that is an error.
pub fn apply(
    connection: &Connection,
    path: &Path,
    pragmas: &BTreeMap<String, String>,
) -> Result<(), LoadError> {
    for (name, value) in pragmas {
        let known = connection
            .prepare_cached("SELECT count(*) FROM pragma_pragma_list WHERE name = ?1")
            .and_then(|mut statement| statement.query_row([name], |row| row.get::<_, i64>(0)))
            .map_err(|error| explain(path, "listing settings", &error))?;
        if known == 0 {
            return Err(LoadError::other(
                format!("setting {name} = {value}"),
                format!(
                    "SQLite {} has no such PRAGMA. `PRAGMA pragma_list` shows all.",
                    rusqlite::version()
                ),
            ));
        }
        let wanted = wanted(name, value)?;
        let failed =
            |error: rusqlite::Error| explain(path, &format!("setting {name} = {value}"), &error);
        connection
            .pragma_update(None, name, value)
            .map_err(failed)?;
        let is = read(connection, name).map_err(failed)?;
        let Some(is) = is else { continue };
        let why = match wanted {
            Some(shown) if name == RAISED || shown.contains(&is.to_ascii_lowercase()) => continue,
            Some(_) => format!("SQLite keeps {name} = {is} for {}", path.display()),
            None if is.parse::<i64>().is_ok() => "is no number".into(),
            None => continue,
        };
        return Err(LoadError::other(format!("setting {name} = {value}"), why));
    }
    Ok(())
}

/// What SQLite may show once the value is in effect, in small letters; `None` for a setting that is any text.
fn wanted(name: &str, value: &str) -> Result<Option<Vec<String>>, LoadError> {
    let Some((_, words)) = WORDS.iter().find(|(known, _)| *known == name) else {
        return Ok(match value.to_ascii_lowercase().as_str() {
            "on" | "yes" | "true" => Some(vec!["1".into()]),
            "off" | "no" | "false" => Some(vec!["0".into()]),
            number if number.parse::<i64>().is_ok() => Some(vec![number.into()]),
            _ => None,
        });
    };
    let shown_as_number = !matches!(name, "journal_mode" | "locking_mode");
    let place = words.iter().enumerate().position(|(i, word)| {
        word.eq_ignore_ascii_case(value)
            || (shown_as_number && value.parse().is_ok_and(|n: usize| n == i))
    });
    let Some(place) = place else {
        return Err(LoadError::other(
            format!("setting {name} = {value}"),
            format!("is no value of {name}. Choose one of {}.", words.join(", ")),
        ));
    };
    Ok(Some(vec![
        place.to_string(),
        words[place].to_ascii_lowercase(),
    ]))
}

/// A setting as SQLite shows it; `None` for one that shows nothing.
pub fn read(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    connection
        .pragma_query_value(None, name, |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Integer(n) => n.to_string(),
                other => other.as_str()?.to_owned(),
            })
        })
        .optional()
}

fn missing(path: &Path, error: impl ToString) -> LoadError {
    LoadError::Missing {
        what: path.display().to_string(),
        searched: error.to_string(),
        next: "Check that its directory exists, and load the database if that has not been done."
            .to_owned(),
    }
}

/// The directory that the file is in.
pub fn directory(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Reading, writing or removing a file failed.
pub fn io_error(path: &Path, doing: &str, error: &io::Error) -> LoadError {
    match error.kind() {
        io::ErrorKind::NotFound => missing(path, error),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            LoadError::disk_full(path.display().to_string(), error)
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            LoadError::ReadOnly {
                path: path.to_owned(),
                why: error.to_string(),
            }
        }
        _ => LoadError::other(format!("{doing} {}", path.display()), error),
    }
}

/// A load or check failed at `doing`.
pub fn explain(path: &Path, doing: &str, error: &rusqlite::Error) -> LoadError {
    let place = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LoadError::disk_full(place, error),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => LoadError::ReadOnly {
            path: path.to_owned(),
            why: error.to_string(),
        },
        Some(ErrorCode::CannotOpen) if !directory(path).exists() => missing(path, error),
        Some(ErrorCode::CannotOpen) => LoadError::ReadOnly {
            path: path.to_owned(),
            why: error.to_string(),
        },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => LoadError::other(
            format!("{doing} {place}"),
            format!(
                "{error}. The file is damaged: check the storage, then remove it to have it loaded anew."
            ),
        ),
        _ => LoadError::other(format!("{doing} {place}"), error),
    }
}

/// Whether nothing more can be written where the file is.
fn has_no_space(path: &Path) -> bool {
    /// What SQLite adds to the index at once.
    const PIECE: u64 = 32 << 10;
    free_bytes(directory(path)).is_ok_and(|free| free.0 < PIECE)
}

/// A statement of a session failed.
pub fn session_error(path: &Path, doing: &str, error: &rusqlite::Error) -> SessionError {
    let place = path.display();
    let full = || SessionError::DiskFull {
        place: place.to_string(),
        why: format!("{error} ({doing})"),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            SessionError::Retry(format!("{doing}: {error}"))
        }
        Some(ErrorCode::DiskFull) => full(),
        // SQLite's error when the index of its log (-shm) cannot grow.
        Some(ErrorCode::SystemIoFailure) if has_no_space(path) => full(),
        Some(ErrorCode::ReadOnly) => {
            SessionError::Failed(format!("{place} cannot be written: {error}"))
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => SessionError::Lost(format!(
            "{place} is damaged ({doing}: {error}). Load it anew."
        )),
        _ => SessionError::Failed(format!("{doing} in {place}: {error}")),
    }
}
