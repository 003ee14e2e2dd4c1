//! What a run file is about, without what it measured: a folder of them is a catalog.

use std::path::{Path, PathBuf};

use crate::{RunInfo, SubjectKind};
use plimsoll_plan::PlacedName;
use rusqlite::Connection;
use serde::Serialize;

use super::RunFileError;
use super::open::{damaged, info, open_run_file};
use super::row::{BadRow, rows};

/// A fact of the generator: what the user calls the run.
pub const LABEL: &str = "label";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Head {
    pub path: PathBuf,
    pub run: RunInfo,
    /// Empty where the run has none.
    pub label: String,
    /// Names without their media.
    pub systems: Vec<String>,
    pub media: Vec<String>,
    pub steps: Vec<String>,
    pub points: usize,
}

/// Reads a few small tables.
pub fn read_head(path: &Path) -> Result<Head, RunFileError> {
    let (db, _) = open_run_file(path)?;
    head(path, &db).map_err(|what| damaged(path, what))
}

fn head(path: &Path, db: &Connection) -> Result<Head, BadRow> {
    let mut systems: Vec<String> = subjects(db, SubjectKind::System)?
        .iter()
        .map(|name| PlacedName::parse(name).name.to_owned())
        .collect();
    systems.dedup();
    Ok(Head {
        path: path.into(),
        run: info(db)?,
        label: rows(db, "SELECT value FROM fact WHERE key = 'label'", |row| {
            row.get(0)
        })?
        .into_iter()
        .next()
        .unwrap_or_default(),
        systems,
        media: subjects(db, SubjectKind::Medium)?,
        steps: rows(
            db,
            "SELECT DISTINCT step FROM point ORDER BY step_index",
            |row| row.get(0),
        )?,
        points: db
            .query_row("SELECT count(*) FROM point", [], |row| row.get(0))
            .map_err(|error| error.to_string())?,
    })
}

fn subjects(db: &Connection, kind: SubjectKind) -> Result<Vec<String>, BadRow> {
    let sql = format!(
        "SELECT name FROM subject WHERE kind = '{}' ORDER BY id",
        kind.name()
    );
    rows(db, &sql, |row| row.get(0))
}
