//! Loading: into a file beside the final one, without journal, which gets its name when it is complete and on the disk.
//!
//! A load that was interrupted at any point has therefore left nothing at the database's path, and what it did leave has
//! a name of its own, which the next load removes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_plan::resolved::Tpcc;
use rusqlite::types::Null;
use rusqlite::{Connection, Statement, ToSql};

use super::connection::{apply, beside, create, directory, explain, io_error, open, verify_own};
use super::schema::{APPLICATION_ID, INDEXES, MARKER, TABLES};
use crate::clock::unix_micros;
use crate::engine::LoadControl;
use crate::engine::sql::part::{PartSink, TablePart};
use crate::error::LoadError;
use crate::workload::tpcc::population::{TpccPopulation, VERSION};
use crate::workload::tpcc::rows::RowSink;

/// Rows between two checks for a stop.
const BATCH: u64 = 1_000;

/// Pages' memory while loading, in KiB (negative is SQLite's sign for that unit); sorting for the indexes uses as much.
const LOAD_CACHE: &str = "-16384";

/// Where a load in progress writes.
pub fn loading_path(path: &Path) -> PathBuf {
    beside(path, ".plimsoll-loading")
}

/// What a database is loaded with. It holds one data set, which a table of its own describes.
pub(super) trait SqliteDataSet {
    fn rows(&self) -> u64;
    fn create_tables(&self) -> String;
    fn parts(&self) -> Vec<TablePart>;
    /// Executed one by one after the data.
    fn indexes(&self) -> Vec<String>;
    fn mark(&self, connection: &Connection) -> rusqlite::Result<()>;
}

/// Loads the initial population into a new database at `path`. A database that plimsoll loaded there before is replaced,
/// any other file is refused. After an error or a cancellation nothing is left.
pub fn load(
    path: &Path,
    tpcc: &Tpcc,
    seed: u64,
    pragmas: &BTreeMap<String, String>,
    control: &LoadControl,
) -> Result<(), LoadError> {
    load_data(
        path,
        &TpccPopulation {
            warehouses: tpcc.warehouses,
            seed,
        },
        pragmas,
        control,
    )
}

pub(super) fn load_data(
    path: &Path,
    data: &impl SqliteDataSet,
    pragmas: &BTreeMap<String, String>,
    control: &LoadControl,
) -> Result<(), LoadError> {
    if path.exists() {
        verify_own(path)?;
        remove(path)?;
    }
    let loading = loading_path(path);
    remove(&loading)?;
    control.start(data.rows());
    let result = build(&loading, data, pragmas, control).and_then(|()| publish(&loading, path));
    if result.is_err() {
        // The reason of the failure matters more than what is left of it; the next load removes that.
        let _ = remove(&loading);
    }
    result
}

/// Removes a database that plimsoll loaded, so that the next load begins anew.
pub fn forget(path: &Path) -> Result<(), LoadError> {
    if path.exists() {
        verify_own(path)?;
    }
    remove(path)
}

/// Whether a complete database with this population is there. A file that is not plimsoll's is an error.
pub fn is_loaded(path: &Path, tpcc: &Tpcc, seed: u64) -> Result<bool, LoadError> {
    let wanted = (
        i64::from(VERSION),
        i64::from(tpcc.warehouses),
        seed.cast_signed(),
    );
    holds(path, "plimsoll_load", |connection| {
        let found = connection.query_row(
            "SELECT format, warehouses, seed FROM plimsoll_load",
            [],
            |row| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, i64>(1)?,
                    row.get::<_, i64>(2)?,
                ))
            },
        )?;
        Ok(found == wanted)
    })
}

/// Whether the database has this marker and `check` holds for it.
pub(super) fn holds(
    path: &Path,
    marker: &str,
    check: impl FnOnce(&Connection) -> rusqlite::Result<bool>,
) -> Result<bool, LoadError> {
    if !path.exists() {
        return Ok(false);
    }
    let connection = open(path, &BTreeMap::new())?;
    let there = connection.table_exists(None, marker);
    let checked = there.and_then(|there| if there { check(&connection) } else { Ok(false) });
    checked.map_err(|error| explain(path, "reading what was loaded into", &error))
}

fn build(
    loading: &Path,
    data: &impl SqliteDataSet,
    pragmas: &BTreeMap<String, String>,
    control: &LoadControl,
) -> Result<(), LoadError> {
    let failed = |error: rusqlite::Error| explain(loading, "loading", &error);
    let connection = create(loading).map_err(failed)?;
    // In WAL mode the page size would be fixed already.
    let (last, first): (BTreeMap<_, _>, BTreeMap<_, _>) = pragmas
        .clone()
        .into_iter()
        .partition(|(name, _)| name.eq_ignore_ascii_case("journal_mode"));
    apply(&connection, loading, &first)?;
    apply(&connection, loading, &last)?;
    let unsafe_but_fast = [
        ("journal_mode", "OFF"),
        ("synchronous", "OFF"),
        ("cache_size", LOAD_CACHE),
    ];
    apply(
        &connection,
        loading,
        &unsafe_but_fast
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into(),
    )?;
    connection
        .execute_batch(&data.create_tables())
        .map_err(failed)?;
    connection.execute_batch("BEGIN").map_err(failed)?;
    for part in data.parts() {
        insert_rows(&connection, &part, control, loading)?;
    }
    connection.execute_batch("COMMIT").map_err(failed)?;
    for index in data.indexes() {
        control.check()?;
        connection.execute_batch(&index).map_err(failed)?;
    }
    control.check()?;
    connection.execute_batch("ANALYZE").map_err(failed)?;
    data.mark(&connection).map_err(failed)?;
    connection
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(failed)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))
}

impl SqliteDataSet for TpccPopulation {
    fn rows(&self) -> u64 {
        Self::rows(self)
    }

    fn create_tables(&self) -> String {
        TABLES.into()
    }

    fn parts(&self) -> Vec<TablePart> {
        TablePart::of_tpcc(*self, unix_micros())
    }

    fn indexes(&self) -> Vec<String> {
        INDEXES.map(str::to_owned).into()
    }

    fn mark(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute_batch(MARKER)?;
        let loaded = (
            i64::from(VERSION),
            i64::from(self.warehouses),
            self.seed.cast_signed(),
        );
        connection
            .execute("INSERT INTO plimsoll_load VALUES (?1, ?2, ?3)", loaded)
            .map(drop)
    }
}

fn insert_rows(
    connection: &Connection,
    part: &TablePart,
    control: &LoadControl,
    loading: &Path,
) -> Result<(), LoadError> {
    let failed = |error: rusqlite::Error| explain(loading, "loading", &error);
    let insert = insert(&part.table(), part.columns());
    let mut sink = Insert {
        statement: connection.prepare(&insert).map_err(failed)?,
        column: 0,
        rows: 0,
        error: None,
        stopped: false,
        control,
    };
    part.fill(&mut sink);
    control.add(sink.rows % BATCH);
    match sink.error {
        Some(error) => Err(failed(error)),
        None => control.check(),
    }
}

fn insert(table: &str, columns: &[&str]) -> String {
    let marks = vec!["?"; columns.len()].join(", ");
    format!(
        "INSERT INTO {table} ({}) VALUES ({marks})",
        columns.join(", ")
    )
}

/// Binds a row's columns, inserts it. After an error or a cancellation the rest of the chunk goes nowhere.
struct Insert<'a> {
    statement: Statement<'a>,
    column: usize,
    rows: u64,
    error: Option<rusqlite::Error>,
    stopped: bool,
    control: &'a LoadControl,
}

impl Insert<'_> {
    fn bind(&mut self, value: &dyn ToSql) {
        if self.stopped {
            return;
        }
        self.column += 1;
        if let Err(error) = self.statement.raw_bind_parameter(self.column, value) {
            self.stop(error);
        }
    }

    fn stop(&mut self, error: rusqlite::Error) {
        self.error = Some(error);
        self.stopped = true;
    }
}

impl PartSink for Insert<'_> {
    fn is_closed(&self) -> bool {
        self.stopped
    }
}

impl RowSink for Insert<'_> {
    fn int(&mut self, value: i32) {
        self.bind(&value);
    }

    fn cents(&mut self, value: i64) {
        self.bind(&value);
    }

    fn rate(&mut self, ten_thousandths: i32) {
        self.bind(&ten_thousandths);
    }

    fn text(&mut self, value: &str) {
        self.bind(&value);
    }

    fn timestamp(&mut self, micros: i64) {
        self.bind(&micros);
    }

    fn null(&mut self) {
        self.bind(&Null);
    }

    fn end_row(&mut self) {
        if self.stopped {
            return;
        }
        self.column = 0;
        if let Err(error) = self.statement.raw_execute() {
            return self.stop(error);
        }
        self.rows += 1;
        if self.rows.is_multiple_of(BATCH) {
            self.control.add(BATCH);
            self.stopped = self.control.is_cancelled();
        }
    }
}

/// Makes the complete file durable and gives it its name.
fn publish(loading: &Path, path: &Path) -> Result<(), LoadError> {
    let synced = File::open(loading).and_then(|file| file.sync_all());
    let renamed = synced.and_then(|()| fs::rename(loading, path));
    renamed
        .and_then(|()| File::open(directory(path)))
        .and_then(|directory| directory.sync_all())
        .map_err(|error| io_error(path, "writing", &error))
}

/// Removes a database of plimsoll's, with what SQLite keeps beside it.
fn remove(path: &Path) -> Result<(), LoadError> {
    for file in ["", "-wal", "-shm", "-journal"].map(|suffix| beside(path, suffix)) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error(&file, "removing", &error));
            }
            _ => {}
        }
    }
    Ok(())
}
