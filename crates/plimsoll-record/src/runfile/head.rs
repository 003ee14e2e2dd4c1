//! The head of a run file, without measurements: a folder of them is a catalog.

use std::path::{Path, PathBuf};

use crate::{RunInfo, SubjectKind};
use plimsoll_plan::{PlacedName, shortened};
use rusqlite::{Connection, Row};
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
    let run = open_run_file(path)?;
    head(path, &run.db).map_err(|what| damaged(path, what))
}

// Texts are sorted here and not by SQLite, which would write what a hostile file repeats to temporary files.
fn head(path: &Path, db: &Connection) -> Result<Head, BadRow> {
    let subjects = rows(db, "SELECT kind, name FROM subject ORDER BY id", named_kind)?;
    let names = |kind: SubjectKind| {
        let of_kind = subjects
            .iter()
            .filter(move |(found, _)| found == kind.name());
        of_kind.map(|(_, name)| name.as_str())
    };
    let mut systems: Vec<String> = names(SubjectKind::System)
        .map(|name| PlacedName::parse(name).name.to_owned())
        .collect();
    systems.dedup();
    let mut steps: Vec<(i64, String)> = rows(db, "SELECT step_index, step FROM point", |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    let points = steps.len();
    steps.sort();
    steps.dedup_by(|a, b| a.1 == b.1);
    Ok(Head {
        path: path.into(),
        run: info(db)?,
        label: rows(db, "SELECT value FROM fact WHERE key = 'label'", |row| {
            row.get::<_, String>(0)
        })?
        .first()
        .map(|label| shortened(label))
        .unwrap_or_default(),
        systems,
        media: names(SubjectKind::Medium).map(str::to_owned).collect(),
        steps: steps.into_iter().map(|(_, step)| step).collect(),
        points,
    })
}

fn named_kind(row: &Row<'_>) -> rusqlite::Result<(String, String)> {
    Ok((row.get(0)?, row.get(1)?))
}
