//! What other tools printed of imported runs.

use crate::{PointId, Reported};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, params};

use super::file::{Result, RunFile};
use super::row::{BadRow, rows};

impl RunFile {
    pub fn reported(&self, reported: &Reported) -> Result<()> {
        let Reported {
            point,
            source,
            txn,
            name,
            value,
            printed,
            unit,
            over,
        } = reported;
        let (start, end) = over.map(|(start, end)| (start.0, end.0)).unzip();
        self.execute(
            "INSERT INTO reported VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![point.0, source, txn, name, value, printed, unit, start, end],
        )
    }
}

/// In the order in which they were written.
pub(super) fn reported(db: &Connection) -> std::result::Result<Vec<Reported>, BadRow> {
    rows(db, "SELECT * FROM reported ORDER BY rowid", |row| {
        let over: (Option<u64>, Option<u64>) = (row.get("start_ns")?, row.get("end_ns")?);
        Ok(Reported {
            point: PointId(row.get("point")?),
            source: row.get("source")?,
            txn: row.get("txn")?,
            name: row.get("name")?,
            value: row.get("value")?,
            printed: row.get("printed")?,
            unit: row.get("unit")?,
            over: over
                .0
                .zip(over.1)
                .map(|(start, end)| (Nanos(start), Nanos(end))),
        })
    })
}
