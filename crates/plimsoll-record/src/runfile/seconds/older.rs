//! Up to schema 5 each type of a tick had a row of its own.

use std::collections::HashMap;
use std::ops::Range;

use crate::Second;
use crate::hist::CoarseHist;
use crate::lane::Counts;
use rusqlite::{Connection, Row};

use super::super::block;
use super::super::row::{BadRow, ValueBudget, hist, meaningless, rows};
use super::empty::{LoadPhases, add_empty};

pub(super) fn seconds(
    db: &Connection,
    phases: &LoadPhases,
    schema: i32,
) -> Result<Vec<Second>, BadRow> {
    let mut seconds: Vec<Second> = Vec::new();
    let mut places: HashMap<i64, Range<usize>> = HashMap::new();
    let mut budget = ValueBudget::of_file(db)?;
    rows(
        db,
        "SELECT phase, subject, start_ns, end_ns, in_flight, id FROM tick ORDER BY id",
        |row| {
            let first = seconds.len();
            add_empty(row, phases, &mut seconds, &mut budget)?;
            places.insert(row.get(5)?, first..seconds.len());
            Ok(())
        },
    )?;
    let bytes = if schema < block::SINCE { "0" } else { "bytes" };
    let sql = format!(
        "SELECT tick, txn, offered, committed, rolled_back, failed, dropped, retries, round_trips, {bytes}, response, service
         FROM outcome"
    );
    rows(db, &sql, |row| {
        let tick: i64 = row.get(0)?;
        let txn: usize = row.get(1)?;
        let own = places
            .get(&tick)
            .cloned()
            .ok_or_else(|| meaningless("tick", tick))?;
        let second = seconds[own]
            .get_mut(txn)
            .ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts(row)?;
        second.response = hist("response", row.get_ref(10)?.as_blob()?, CoarseHist::decode)?;
        second.service = row
            .get_ref(11)?
            .as_blob_or_null()?
            .map(|bytes| hist("service", bytes, CoarseHist::decode))
            .transpose()?;
        Ok(())
    })
    .map(|_: Vec<()>| seconds)
}

fn counts(row: &Row<'_>) -> rusqlite::Result<Counts> {
    Ok(Counts {
        offered: row.get(2)?,
        committed: row.get(3)?,
        rolled_back: row.get(4)?,
        failed: row.get(5)?,
        dropped: row.get(6)?,
        retries: row.get(7)?,
        round_trips: row.get(8)?,
        bytes: row.get(9)?,
    })
}
