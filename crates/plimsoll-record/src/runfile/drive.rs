//! Seconds of emulated drives, and losses of power cuts.

use crate::drive::{DriveOp, DriveTally};
use crate::{DriveRow, PointId, PowerCut, Receipt, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::Connection;

use super::columns::{Columns, NewRow, record, table};
use super::file::{Result, RunFile};
use super::row::{BadRow, meaningless, rows};

impl RunFile {
    /// One second of an emulated drive: a row for each kind of operation that was asked for. A second in which nothing
    /// was asked has one row of no reads, so that it is not taken for a missing one.
    pub fn drive_second(
        &self,
        subject: SubjectId,
        start: Nanos,
        end: Nanos,
        tallies: &[DriveTally; DriveOp::ALL.len()],
    ) -> Result<()> {
        let is_idle = !tallies.iter().any(DriveTally::was_asked);
        for (op, tally) in DriveOp::ALL.into_iter().zip(tallies) {
            if tally.was_asked() || (is_idle && op == DriveOp::Read) {
                self.drive_row(&tally.row(subject, start, end, op))?;
            }
        }
        Ok(())
    }

    pub(super) fn drive_row(&self, row: &DriveRow) -> Result<()> {
        self.insert("INSERT OR REPLACE INTO drive", row)
    }

    pub fn power_cut(&self, cut: &PowerCut) -> Result<()> {
        self.insert("INSERT OR REPLACE INTO power_cut", cut)?;
        for receipt in &cut.receipts {
            let mut row = NewRow::default();
            let written =
                (cut.point.write("point", &mut row)).and_then(|()| receipt.write("", &mut row));
            written.map_err(|error| self.error(error))?;
            self.insert_row("INSERT OR REPLACE INTO receipt", &row)?;
        }
        Ok(())
    }
}

/// Seconds of one drive that begin at this time or later.
pub(super) fn drive_rows_from(
    db: &Connection,
    medium: SubjectId,
    from: Nanos,
) -> std::result::Result<Vec<DriveRow>, BadRow> {
    let SubjectId(medium) = medium;
    let Nanos(from) = from;
    table(
        db,
        &format!("drive WHERE subject = {medium} AND start_ns >= {from} ORDER BY start_ns"),
    )
}

pub(super) fn drive_rows(db: &Connection) -> std::result::Result<Vec<DriveRow>, BadRow> {
    let mut found: Vec<DriveRow> = table(db, "drive ORDER BY subject, start_ns")?;
    found.sort_by_key(|row| (row.subject, row.start, row.op));
    Ok(found)
}

pub(super) fn power_cuts(db: &Connection) -> std::result::Result<Vec<PowerCut>, BadRow> {
    let mut cuts: Vec<PowerCut> = table(db, "power_cut ORDER BY point")?;
    rows(db, "SELECT * FROM receipt ORDER BY rowid", |row| {
        let point: PointId = row.get("point")?;
        let place = cuts
            .binary_search_by_key(&point, |cut| cut.point)
            .map_err(|_| meaningless("point", point.0))?;
        cuts[place].receipts.push(record::<Receipt>(row)?);
        Ok(())
    })?;
    cuts.sort_by_key(|cut| cut.at);
    Ok(cuts)
}
