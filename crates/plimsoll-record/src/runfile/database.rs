//! Searches and resets.

use crate::message::{self, ResetCheck};
use crate::{PhaseId, Reset, SearchInfo, SubjectId};
use plimsoll_plan::objective::{Objective, Quantile};
use rusqlite::{Connection, params};

use super::file::{Result, RunFile};
use super::row::{BadRow, named, rows, subject, time};

impl RunFile {
    pub fn search(&self, search: &SearchInfo) -> Result<()> {
        let SearchInfo {
            step,
            step_index,
            system,
            medium,
            objective,
            most,
            precision,
        } = search;
        let Objective {
            quantile,
            limit,
            of,
        } = objective;
        let medium = medium.map(|medium| medium.0);
        self.execute(
            "INSERT INTO search VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                step,
                step_index,
                system.0,
                medium,
                quantile.name(),
                limit.0,
                of,
                most,
                precision
            ],
        )
    }

    pub fn reset(&self, reset: &Reset) -> Result<()> {
        let Reset {
            phase,
            subject,
            method,
            from_bytes,
            to_bytes,
            verified,
        } = reset;
        self.execute(
            "INSERT INTO reset VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                phase.0,
                subject.0,
                method,
                from_bytes,
                to_bytes,
                message::to_column(verified)
            ],
        )
    }
}

pub(super) fn searches(db: &Connection) -> std::result::Result<Vec<SearchInfo>, BadRow> {
    rows(db, "SELECT * FROM search ORDER BY rowid", |row| {
        let quantile = named(row, "quantile", Quantile::parse)?;
        Ok(SearchInfo {
            step: row.get("step")?,
            step_index: row.get("step_index")?,
            system: SubjectId(row.get("system")?),
            medium: row.get::<_, Option<u32>>("medium")?.map(SubjectId),
            objective: Objective {
                quantile,
                limit: time(row, "limit_ns")?,
                of: row.get("txn")?,
            },
            most: row.get("most")?,
            precision: row.get("precision")?,
        })
    })
}

pub(super) fn resets(db: &Connection) -> std::result::Result<Vec<Reset>, BadRow> {
    rows(db, "SELECT * FROM reset ORDER BY phase", |row| {
        Ok(Reset {
            phase: PhaseId(row.get("phase")?),
            subject: subject(row)?,
            method: row.get("method")?,
            from_bytes: row.get("from_bytes")?,
            to_bytes: row.get("to_bytes")?,
            verified: message::of_column(row.get("verified")?, ResetCheck::stored),
        })
    })
}
