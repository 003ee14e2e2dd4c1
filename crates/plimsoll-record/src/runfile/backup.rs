//! Backups and restores: a table of the run file.

use crate::message::{self, BackupDetail};
use crate::{BackupRow, PointId, SubjectId};
use rusqlite::{Connection, params};

use super::RunFile;
use super::file::Result;
use super::row::{BadRow, parsed, rows, time};

impl RunFile {
    pub fn backup(&self, row: &BackupRow) -> Result<()> {
        let BackupRow {
            step,
            step_index,
            point,
            system,
            medium,
            target,
            cycle,
            kind,
            method,
            ..
        } = row;
        let BackupRow {
            program,
            start,
            end,
            bytes,
            outcome,
            detail,
            ..
        } = row;
        self.execute(
            "INSERT INTO backup VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            params![
                step,
                step_index,
                point.map(|point| point.0),
                system.0,
                medium.map(|medium| medium.0),
                target.0,
                cycle,
                kind.name(),
                method,
                program,
                start.0,
                end.0,
                bytes,
                outcome.name(),
                message::to_optional_column(detail.as_ref())
            ],
        )
    }
}

pub(super) fn backups(db: &Connection) -> std::result::Result<Vec<BackupRow>, BadRow> {
    rows(db, "SELECT * FROM backup ORDER BY start_ns, rowid", |row| {
        Ok(BackupRow {
            step: row.get("step")?,
            step_index: row.get("step_index")?,
            point: row.get::<_, Option<u32>>("point")?.map(PointId),
            system: SubjectId(row.get("system")?),
            medium: row.get::<_, Option<u32>>("medium")?.map(SubjectId),
            target: SubjectId(row.get("target")?),
            cycle: row.get("cycle")?,
            kind: parsed(row, "kind")?,
            method: row.get("method")?,
            program: row.get("program")?,
            start: time(row, "start_ns")?,
            end: time(row, "end_ns")?,
            bytes: row.get("bytes")?,
            outcome: parsed(row, "outcome")?,
            detail: message::of_optional_column(row.get("detail")?, BackupDetail::stored),
        })
    })
}
