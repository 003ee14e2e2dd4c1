//! Up to schema 5 each type of a tick had a row of its own.

use std::collections::HashMap;
use std::ops::Range;

use crate::Second;
use crate::hist::CoarseHist;
use crate::lane::Counts;
use rusqlite::{Connection, Row};

use super::super::block;
use super::super::reader::{Broken, hist, meaningless, rows};
use super::{Times, Wanted, empty_second};

pub(super) fn seconds(
    db: &Connection,
    wanted: &Wanted,
    schema: i32,
) -> Result<Vec<Second>, Broken> {
    let mut seconds: Vec<Second> = Vec::new();
    let mut places: HashMap<i64, Range<usize>> = HashMap::new();
    rows(
        db,
        "SELECT phase, subject, start_ns, end_ns, in_flight, id FROM tick ORDER BY id",
        |row| {
            let empty = empty_second(row)?;
            let types = wanted.get(&empty.phase).map_or(0, Vec::len);
            places.insert(row.get(5)?, seconds.len()..seconds.len() + types);
            seconds.extend((0..types).map(|txn| Second {
                txn: txn as u32,
                ..empty.clone()
            }));
            Ok(())
        },
    )?;
    let bytes = if schema < block::SINCE { "0" } else { "bytes" };
    let sql = format!(
        "SELECT tick, txn, offered, committed, rolled_back, failed, dropped, retries, round_trips, {bytes}, response, service
         FROM outcome"
    );
    rows(db, &sql, |row| {
        let (tick, txn): (i64, usize) = (row.get(0)?, row.get(1)?);
        let own = places
            .get(&tick)
            .cloned()
            .ok_or_else(|| meaningless("tick", tick))?;
        let second = seconds[own]
            .get_mut(txn)
            .ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts(row)?;
        let wanted = wanted
            .get(&second.phase)
            .map_or(Times::Nothing, |wanted| wanted[txn]);
        if wanted != Times::Nothing {
            second.response = hist("response", row.get_ref(10)?.as_blob()?, CoarseHist::decode)?;
        }
        if wanted == Times::Both {
            let service = row.get_ref(11)?.as_blob_or_null()?;
            second.service = service
                .map(|bytes| hist("service", bytes, CoarseHist::decode))
                .transpose()?;
        }
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
