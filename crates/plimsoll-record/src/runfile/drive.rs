//! Seconds of emulated drives, and losses of power cuts.

use crate::drive::{DriveOp, DriveTally};
use crate::hist::CoarseHist;
use crate::message::{self, FirstLost};
use crate::{DriveRow, PointId, PowerCut, Receipt, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row, params};

use super::file::{Result, RunFile};
use super::row::{BadRow, hist, meaningless, parsed, rows, subject, time};

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
        let asked = |tally: &DriveTally| tally.ops > 0 || tally.errors > 0;
        let idle = !tallies.iter().any(asked);
        for (op, tally) in DriveOp::ALL.into_iter().zip(tallies) {
            if asked(tally) || (idle && op == DriveOp::Read) {
                self.drive_row(subject, start, end, op, tally)?;
            }
        }
        Ok(())
    }

    fn drive_row(
        &self,
        subject: SubjectId,
        start: Nanos,
        end: Nanos,
        op: DriveOp,
        tally: &DriveTally,
    ) -> Result<()> {
        let DriveTally {
            ops,
            bytes,
            errors,
            modelled,
            real,
            late,
            beyond,
        } = tally;
        let [modelled, real, late] = [modelled, real, late].map(|hist| hist.coarse().encode());
        self.execute(
            "INSERT OR REPLACE INTO drive VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                subject.0,
                start.0,
                end.0,
                op.name(),
                ops,
                bytes,
                errors,
                modelled,
                real,
                late,
                beyond
            ],
        )
    }

    pub fn power_cut(&self, cut: &PowerCut) -> Result<()> {
        let PowerCut {
            point,
            at,
            recovery,
            lost_writes,
            lost_bytes,
            lost_flushed_writes,
            receipts,
        } = cut;
        self.execute(
            "INSERT OR REPLACE INTO power_cut VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                point.0,
                at.0,
                recovery.map(|time| time.0),
                lost_writes,
                lost_bytes,
                lost_flushed_writes
            ],
        )?;
        receipts.iter().try_for_each(|receipt| {
            let Receipt {
                txn,
                acknowledged,
                lost,
                in_doubt,
                first_lost,
            } = receipt;
            self.execute(
                "INSERT OR REPLACE INTO receipt VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    point.0,
                    txn,
                    acknowledged,
                    lost,
                    in_doubt,
                    message::to_optional_column(first_lost.as_ref())
                ],
            )
        })
    }
}

fn coarse(row: &Row<'_>, column: &str) -> rusqlite::Result<CoarseHist> {
    hist(column, row.get_ref(column)?.as_blob()?, CoarseHist::decode)
}

fn drive_row(row: &Row<'_>) -> rusqlite::Result<DriveRow> {
    Ok(DriveRow {
        subject: subject(row)?,
        start: time(row, "start_ns")?,
        end: time(row, "end_ns")?,
        op: parsed(row, "op")?,
        ops: row.get("ops")?,
        bytes: row.get("bytes")?,
        errors: row.get("errors")?,
        modelled: coarse(row, "modelled")?,
        real: coarse(row, "real")?,
        late: coarse(row, "late")?,
        beyond: row.get("beyond")?,
    })
}

/// Seconds of one drive that begin at this time or later.
pub(super) fn drive_rows_from(
    db: &Connection,
    medium: SubjectId,
    from: Nanos,
) -> std::result::Result<Vec<DriveRow>, BadRow> {
    let sql = format!(
        "SELECT * FROM drive WHERE subject = {} AND start_ns >= {} ORDER BY start_ns",
        medium.0, from.0
    );
    rows(db, &sql, drive_row)
}

pub(super) fn drive_rows(db: &Connection) -> std::result::Result<Vec<DriveRow>, BadRow> {
    let mut found = rows(
        db,
        "SELECT * FROM drive ORDER BY subject, start_ns",
        drive_row,
    )?;
    found.sort_by_key(|row| (row.subject, row.start, row.op));
    Ok(found)
}

pub(super) fn power_cuts(db: &Connection) -> std::result::Result<Vec<PowerCut>, BadRow> {
    let mut cuts = rows(db, "SELECT * FROM power_cut ORDER BY point", |row| {
        Ok(PowerCut {
            point: PointId(row.get("point")?),
            at: time(row, "at_ns")?,
            recovery: row.get::<_, Option<u64>>("recovery_ns")?.map(Nanos),
            lost_writes: row.get("lost_writes")?,
            lost_bytes: row.get("lost_bytes")?,
            lost_flushed_writes: row.get("lost_flushed_writes")?,
            receipts: Vec::new(),
        })
    })?;
    rows(db, "SELECT * FROM receipt ORDER BY rowid", |row| {
        let point = PointId(row.get("point")?);
        let place = cuts
            .binary_search_by_key(&point, |cut| cut.point)
            .map_err(|_| meaningless("point", point.0))?;
        cuts[place].receipts.push(Receipt {
            txn: row.get("txn")?,
            acknowledged: row.get("acknowledged")?,
            lost: row.get("lost")?,
            in_doubt: row.get("in_doubt")?,
            first_lost: message::of_optional_column(row.get("first_lost")?, FirstLost::stored),
        });
        Ok(())
    })?;
    cuts.sort_by_key(|cut| cut.at);
    Ok(cuts)
}
