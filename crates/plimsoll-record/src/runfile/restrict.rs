//! Limits for files that others may have made: neither time nor memory grows faster than their size.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Row};

/// Steps of SQLite's virtual machine between two looks at how many there were.
const STEPS: u32 = 10_000;
/// So many every file may take, and so many for each of its bytes; a row takes about ten and has more bytes than that.
const FREE_STEPS: u64 = 10_000_000;
const STEPS_PER_BYTE: u64 = 8;
/// The longest statement of the schema and of this module has less.
const LONGEST_SQL: i32 = 10_000;
/// Even the smallest file may hold a text of this size.
pub(super) const SMALLEST_LIMIT: u64 = 1_000_000;
/// SQLite's own.
const LARGEST_LIMIT: u64 = 1_000_000_000;
const LEAST_BYTES_OF_ROW: u64 = 6;

/// Lets a connection read only data, as much as a file of so many bytes can have.
pub(super) fn restrict(db: &mut Connection, bytes: u64) -> rusqlite::Result<()> {
    for (config, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        db.set_db_config(config, is_on)?;
    }
    let length = bytes.clamp(SMALLEST_LIMIT, LARGEST_LIMIT) as i32;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, length),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 50),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
    ] {
        db.set_limit(limit, most)?;
    }
    let mut left = FREE_STEPS.saturating_add(bytes.saturating_mul(STEPS_PER_BYTE));
    let count = move || {
        left = left.saturating_sub(u64::from(STEPS));
        left == 0
    };
    db.progress_handler(STEPS as i32, Some(count))?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
}

/// How many more rows and bytes of text and blobs a table can have. Pages that are used more than once make a small file
/// hold a large table.
pub(super) struct RowBudget {
    rows: u64,
    bytes: u64,
}

impl RowBudget {
    /// The budget of a file that is restricted.
    pub fn of_file(db: &Connection) -> rusqlite::Result<Self> {
        let size = file_size(db)?;
        Ok(Self {
            rows: size / LEAST_BYTES_OF_ROW,
            // What is joined to rows repeats.
            bytes: size.saturating_mul(4),
        })
    }

    /// Whether there is enough for this row.
    pub fn take(&mut self, row: &Row<'_>, columns: usize) -> rusqlite::Result<bool> {
        let mut bytes = 0;
        for column in 0..columns {
            let value = row.get_ref(column)?;
            bytes += value.as_bytes().map_or(0, <[u8]>::len) as u64;
        }
        let left = self.rows.checked_sub(1).zip(self.bytes.checked_sub(bytes));
        (self.rows, self.bytes) = left.unwrap_or_default();
        Ok(left.is_some())
    }
}

/// Bytes of a restricted file; of a small one more.
pub(super) fn file_size(db: &Connection) -> rusqlite::Result<u64> {
    let limit = db.limit(Limit::SQLITE_LIMIT_LENGTH)?;
    Ok(u64::try_from(limit).unwrap_or_default())
}
