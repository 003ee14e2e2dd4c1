//! What a run file is about, without what it measured: a folder of them is a catalogue.

use std::path::{Path, PathBuf};

use crate::{RunInfo, SubjectKind};
use serde::Serialize;

use super::reader::{Broken, open_run_file, rows};
use super::{RunFileError, reader};

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
    let head = || -> Result<Head, Broken> {
        let subjects = |kind: SubjectKind| {
            let sql = format!(
                "SELECT name FROM subject WHERE kind = '{}' ORDER BY id",
                kind.name()
            );
            rows(&db, &sql, |row| row.get::<_, String>(0))
        };
        let mut systems: Vec<String> = subjects(SubjectKind::System)?
            .into_iter()
            .map(|name| {
                name.split_once('@')
                    .map_or(name.as_str(), |(name, _)| name)
                    .to_owned()
            })
            .collect();
        systems.dedup();
        let label = rows(&db, "SELECT value FROM fact WHERE key = 'label'", |row| {
            row.get(0)
        })?;
        Ok(Head {
            path: path.into(),
            run: reader::info(&db)?,
            label: label.into_iter().next().unwrap_or_default(),
            systems,
            media: subjects(SubjectKind::Medium)?,
            steps: rows(
                &db,
                "SELECT DISTINCT step FROM point ORDER BY step_index",
                |row| row.get(0),
            )?,
            points: rows(&db, "SELECT count(*) FROM point", |row| row.get(0))?
                .into_iter()
                .next()
                .unwrap_or_default(),
        })
    };
    head().map_err(|what| RunFileError::Damaged {
        path: path.into(),
        what,
    })
}
