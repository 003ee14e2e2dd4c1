//! Time without a server.

use crate::lane::Absence;
use crate::{Outage, PhaseId};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, params};

use super::file::{Result, RunFile};
use super::row::{BadRow, rows, subject, time};

impl RunFile {
    pub fn outage(&self, outage: &Outage) -> Result<()> {
        let Outage {
            phase,
            subject,
            start,
            end,
            absence: Absence {
                server,
                connections,
            },
        } = outage;
        self.execute(
            "INSERT INTO outage VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![phase.0, subject.0, start.0, end.0, server.0, connections.0],
        )
    }
}

/// In the order of time.
pub(super) fn outages(db: &Connection) -> std::result::Result<Vec<Outage>, BadRow> {
    rows(db, "SELECT * FROM outage ORDER BY rowid", |row| {
        Ok(Outage {
            phase: PhaseId(row.get("phase")?),
            subject: subject(row)?,
            start: time(row, "start_ns")?,
            end: time(row, "end_ns")?,
            absence: Absence {
                server: Nanos(row.get("server_ns")?),
                connections: Nanos(row.get("connections_ns")?),
            },
        })
    })
}
