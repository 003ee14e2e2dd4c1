//! Block I/O, rounds and the doctor's findings.

use crate::message::{self, DoctorFinding};
use crate::{BlockPoint, BlockShare, Diagnosis, PointId, SteadyInfo, SubjectId};
use rusqlite::{Connection, Row, params};

use super::file::{Result, RunFile};
use super::row::{BadRow, ValueBudget, full_hist, json, parsed, rows};

impl RunFile {
    pub fn block_point(&self, block: &BlockPoint) -> Result<()> {
        let BlockPoint {
            point,
            profile,
            job,
            job_index,
            workers,
            worker_bytes,
            fill,
            share_percent,
            streams,
        } = block;
        let streams = serde_json::json!(streams).to_string();
        self.execute(
            "INSERT INTO block_point VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                point.0,
                profile,
                job,
                job_index,
                workers,
                worker_bytes,
                fill,
                share_percent,
                streams
            ],
        )
    }

    pub fn block_share(&self, share: &BlockShare) -> Result<()> {
        let BlockShare {
            point,
            worker,
            medium,
            txn,
            requests,
            bytes,
            response,
        } = share;
        self.execute(
            "INSERT OR REPLACE INTO block_share VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                point.0,
                worker,
                medium.0,
                txn,
                requests,
                bytes,
                response.encode()
            ],
        )
    }

    pub fn steady(&self, steady: &SteadyInfo) -> Result<()> {
        let SteadyInfo {
            step,
            step_index,
            medium,
            window,
            range,
            slope,
            most_rounds,
        } = steady;
        self.execute(
            "INSERT INTO steady VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                step,
                step_index,
                medium.map(|medium| medium.0),
                window,
                range,
                slope,
                most_rounds
            ],
        )
    }

    pub fn diagnosis(&self, diagnosis: &Diagnosis) -> Result<()> {
        let Diagnosis {
            subject,
            code,
            level,
            disk,
            finding,
        } = diagnosis;
        self.execute(
            "INSERT INTO diagnosis VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                subject.map(|subject| subject.0),
                code,
                level.name(),
                disk,
                message::to_column(finding)
            ],
        )
    }
}

pub(super) fn block_points(db: &Connection) -> std::result::Result<Vec<BlockPoint>, BadRow> {
    rows(db, "SELECT * FROM block_point ORDER BY point", |row| {
        Ok(BlockPoint {
            point: PointId(row.get("point")?),
            profile: row.get("profile")?,
            job: row.get("job")?,
            job_index: row.get("job_index")?,
            workers: row.get("workers")?,
            worker_bytes: row.get("worker_bytes")?,
            fill: row.get("fill")?,
            share_percent: row.get("share_percent")?,
            streams: json(row, "streams")?,
        })
    })
}

pub(super) fn block_shares(db: &Connection) -> std::result::Result<Vec<BlockShare>, BadRow> {
    let mut budget = ValueBudget::of_file(db)?;
    rows(
        db,
        "SELECT * FROM block_share ORDER BY point, worker, txn",
        |row| {
            Ok(BlockShare {
                point: PointId(row.get("point")?),
                worker: row.get("worker")?,
                medium: SubjectId(row.get("medium")?),
                txn: row.get("txn")?,
                requests: row.get("requests")?,
                bytes: row.get("bytes")?,
                response: full_hist("response", row.get_ref("response")?.as_blob()?, &mut budget)?,
            })
        },
    )
}

pub(super) fn steady(db: &Connection) -> std::result::Result<Vec<SteadyInfo>, BadRow> {
    rows(db, "SELECT * FROM steady ORDER BY rowid", |row| {
        Ok(SteadyInfo {
            step: row.get("step")?,
            step_index: row.get("step_index")?,
            medium: row.get::<_, Option<u32>>("medium")?.map(SubjectId),
            window: row.get("window")?,
            range: row.get("range")?,
            slope: row.get("slope")?,
            most_rounds: row.get("most_rounds")?,
        })
    })
}

pub(super) fn diagnoses(db: &Connection) -> std::result::Result<Vec<Diagnosis>, BadRow> {
    rows(db, "SELECT * FROM diagnosis ORDER BY rowid", |row| {
        Ok(Diagnosis {
            subject: row.get::<_, Option<u32>>("subject")?.map(SubjectId),
            code: row.get("code")?,
            level: parsed(row, "level")?,
            disk: row.get("disk")?,
            finding: finding(row)?,
        })
    })
}

/// One of a check that this version does not know is shown as it stands.
fn finding(row: &Row<'_>) -> rusqlite::Result<DoctorFinding> {
    let stored = |found| DoctorFinding::Stored { found, next: None };
    Ok(message::of_column(row.get("finding")?, stored))
}
