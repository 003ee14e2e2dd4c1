//! The digest of a run file's content: stored when the run is closed, compared whenever the file is opened.
//!
//! SHA-256 over the pages of the database in order, free pages included. Left out is what SQLite changes without a
//! change of content: in its header the journal mode, the change counter and the version numbers of the library that
//! wrote last, and the page of the table `digest`. Pages rather than rows: a flipped bit in a key or an index
//! also changes what is read.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use crate::{Integrity, RunStatus};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::RunFileError;
use super::open::{RunFileSource, damaged, info};
use super::recovery::{WAL, beside, has_bytes};
use super::row::{BadRow, rows};

/// Bytes of SQLite's header that are left out. <https://www.sqlite.org/fileformat.html>, 1.3.
const HEADER: [Range<u64>; 3] = [18..20, 24..28, 92..100];
const CHUNK: usize = 1 << 20;

/// Whether the file is as it was when the run was closed.
pub(super) fn integrity(
    db: &Connection,
    source: &RunFileSource,
) -> Result<Integrity, RunFileError> {
    let broken = |what: BadRow| damaged(source.path(), what);
    let Some(digest) = stored(db).map_err(broken)? else {
        return Ok(match info(db).map_err(broken)?.status {
            RunStatus::Unfinished => Integrity::Open,
            // Killed between its last commit and its digest: storing that is what ends the WAL mode.
            _ if is_in_wal_mode(source.file()).map_err(|error| broken(error.to_string()))? => {
                Integrity::Open
            }
            _ => Integrity::NoDigest,
        });
    };
    let found = of_content(source)?;
    Ok(if found == digest {
        Integrity::Intact { digest }
    } else {
        Integrity::Changed { digest, found }
    })
}

fn stored(db: &Connection) -> Result<Option<String>, BadRow> {
    Ok(rows(db, "SELECT sha256 FROM digest", |row| row.get(0))?
        .into_iter()
        .next())
}

/// SHA-256 of what is committed, in hexadecimal. With a connection of its own: pages in the cache of one that writes may
/// differ from the file where that changes nothing.
pub(super) fn of_content(source: &RunFileSource) -> Result<String, RunFileError> {
    let broken = |error: &dyn std::fmt::Display| damaged(source.path(), error.to_string());
    let mut db = source.connect()?;
    if has_bytes(&beside(source.file(), WAL)) {
        // The newest pages are not in the file itself.
        return of_database(&mut db).map_err(|error| broken(&error));
    }
    let left_out = left_out(&db).map_err(|error| broken(&error))?;
    let mut hash = Sha256::new();
    hash_file(&mut hash, source.file(), &left_out).map_err(|error| broken(&error))?;
    Ok(hexadecimal(hash))
}

/// SHA-256 of all pages as they are for this connection.
pub(super) fn of_database(db: &mut Connection) -> rusqlite::Result<String> {
    let left_out = left_out(db)?;
    let mut hash = Sha256::new();
    update(&mut hash, 0, &db.serialize("main")?, &left_out);
    Ok(hexadecimal(hash))
}

fn hexadecimal(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// From the file's header: a log beside it may be gone, or may be a reader's. <https://www.sqlite.org/fileformat.html>, 1.3.3.
fn is_in_wal_mode(path: &Path) -> io::Result<bool> {
    let mut header = [0; 20];
    File::open(path)?.read_exact(&mut header)?;
    Ok(header[19] == 2)
}

/// In order.
fn left_out(db: &Connection) -> rusqlite::Result<Vec<Range<u64>>> {
    let size: u64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let page: u64 = db.query_row(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'digest'",
        [],
        |row| row.get(0),
    )?;
    let start = page.saturating_sub(1).saturating_mul(size);
    let mut ranges = HEADER.to_vec();
    ranges.push(start..start.saturating_add(size));
    Ok(ranges)
}

fn hash_file(hash: &mut Sha256, path: &Path, left_out: &[Range<u64>]) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut chunk = vec![0; CHUNK];
    let mut offset = 0;
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        update(hash, offset, &chunk[..read], left_out);
        offset += read as u64;
    }
}

/// Adds bytes that begin at `offset`.
fn update(hash: &mut Sha256, offset: u64, bytes: &[u8], left_out: &[Range<u64>]) {
    let end = offset + bytes.len() as u64;
    let mut from = offset;
    for range in left_out
        .iter()
        .filter(|range| range.start < end && range.end > offset)
    {
        hash.update(&bytes[(from - offset) as usize..(range.start.max(from) - offset) as usize]);
        from = range.end.clamp(from, end);
    }
    hash.update(&bytes[(from - offset) as usize..]);
}
