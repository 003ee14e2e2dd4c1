//! Files beside a run file whose writer was killed: SQLite's journal undoes what was half written, its log (WAL) holds
//! what was committed last.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use rustix::fs::OFlags;
use tempfile::TempDir;

use super::restrict::restrict;

pub(super) const JOURNAL: &str = "-journal";
pub(super) const WAL: &str = "-wal";
pub(super) const BESIDE: [&str; 3] = [JOURNAL, WAL, "-shm"];

/// A journal ends with this where it names a file that SQLite would delete with it.
const END_WITH_NAME: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Larger files are not copied.
const LARGEST_COPY: u64 = 4 << 30;

/// The name of what SQLite keeps beside a file.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Removes what SQLite keeps beside a file.
pub(super) fn remove_beside(path: &Path) {
    for suffix in BESIDE {
        // Mostly there is none.
        let _ = fs::remove_file(beside(path, suffix));
    }
}

/// Opens a file for reading that is one: no device, no pipe, whose opening may not end.
pub(super) fn open_file(path: &Path, follow: bool) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = if follow {
        flags
    } else {
        flags | OFlags::NOFOLLOW
    };
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no file"))
    }
}

/// Refuses what SQLite would follow, wait for or delete.
pub(super) fn expect_harmless_beside(path: &Path) -> io::Result<()> {
    for suffix in BESIDE {
        let name = beside(path, suffix);
        match fs::symlink_metadata(&name) {
            Ok(found) if !found.is_file() => {
                return Err(io::Error::other(format!("{} is no file", name.display())));
            }
            Ok(_) | Err(_) => {}
        }
    }
    let journal = beside(path, JOURNAL);
    if has_bytes(&journal) && names_another_file(&open_file(&journal, false)?)? {
        let why = format!(
            "{} names another file, which plimsoll never writes",
            journal.display()
        );
        return Err(io::Error::other(why));
    }
    Ok(())
}

fn names_another_file(mut journal: &File) -> io::Result<bool> {
    let mut end = [0; END_WITH_NAME.len()];
    if journal.metadata()?.len() < end.len() as u64 {
        return Ok(false);
    }
    journal.seek(SeekFrom::End(-(end.len() as i64)))?;
    journal.read_exact(&mut end)?;
    Ok(end == END_WITH_NAME)
}

pub(super) fn has_bytes(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.len() > 0)
}

/// Undoes what was half written. SQLite does not while the writer is at work.
pub(super) fn roll_back(path: &Path, bytes: u64) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(path, flags)?;
    restrict(&mut db, bytes)?;
    read_first_page(&db)
}

/// Makes SQLite look at what lies beside the file.
pub(super) fn read_first_page(db: &Connection) -> rusqlite::Result<()> {
    let mut statement = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1")?;
    statement.exists([]).map(drop)
}

/// A copy of a run file with what lies beside it, in a directory that nobody else can read; removed when this is dropped.
pub(super) struct PrivateCopy {
    _directory: TempDir,
    pub file: PathBuf,
}

impl PrivateCopy {
    /// A copy of a file in a directory that cannot be written to, where SQLite can neither undo nor read a log.
    pub fn create(path: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("plimsoll-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let file = directory.path().join("copy");
        let before = states(path);
        for suffix in ["", JOURNAL, WAL] {
            if suffix.is_empty() || has_bytes(&beside(path, suffix)) {
                copy(&beside(path, suffix), &beside(&file, suffix))?;
            }
        }
        if states(path) != before {
            return Err(io::Error::other("it changes while it is copied"));
        }
        Ok(Self {
            _directory: directory,
            file,
        })
    }
}

fn states(path: &Path) -> Vec<Option<(u64, u64, i64, i64)>> {
    let state = |found: Metadata| (found.ino(), found.len(), found.mtime(), found.mtime_nsec());
    ["", JOURNAL, WAL]
        .iter()
        .map(|suffix| fs::symlink_metadata(beside(path, suffix)).ok().map(state))
        .collect()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let from = open_file(from, false)?;
    if from.metadata()?.len() > LARGEST_COPY {
        return Err(io::Error::other(
            "it has more than 4 GiB, which are not copied",
        ));
    }
    let mut to = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    io::copy(&mut from.take(LARGEST_COPY), &mut to).map(drop)
}
