//! Seconds under load out of a run file's ticks: what takes longest to read.

mod empty;
mod older;

use crate::Second;
use crate::lane::Counts;
use rusqlite::{Connection, Row};

pub(super) use empty::types;
use empty::{Types, add_empty};

use super::outcomes::{decode_counts, take_times};
use super::row::{BadRow, ValueBudget, meaningless, rows};

/// The schema in which a tick has its outcomes with it.
const SINCE: i32 = 6;

/// A row for every tick and type: a type without outcomes has zeros, not a gap.
pub(super) fn seconds(db: &Connection, types: &Types, schema: i32) -> Result<Vec<Second>, BadRow> {
    if schema < SINCE {
        return older::seconds(db, types, schema);
    }
    let mut seconds: Vec<Second> = Vec::new();
    let mut outcomes = Vec::new();
    let sql =
        "SELECT phase, subject, start_ns, end_ns, in_flight, counts, times FROM tick ORDER BY id";
    let mut budget = ValueBudget::of_file(db)?;
    rows(db, sql, |row| {
        let first = seconds.len();
        add_empty(row, types, &mut seconds, &mut budget)?;
        put_outcomes(row, &mut outcomes, &mut seconds[first..])
    })
    .map(|_: Vec<()>| seconds)
}

/// The outcomes of a tick, into its rows.
fn put_outcomes(
    row: &Row<'_>,
    outcomes: &mut Vec<(usize, Counts)>,
    own: &mut [Second],
) -> rusqlite::Result<()> {
    let text = row.get_ref(5)?.as_str()?;
    decode_counts(text, outcomes).ok_or_else(|| meaningless("counts", text))?;
    let mut times = row.get_ref(6)?.as_blob_or_null()?.unwrap_or_default();
    for (txn, counts) in outcomes.drain(..) {
        let second = own.get_mut(txn).ok_or_else(|| meaningless("txn", txn))?;
        second.counts = counts;
        (second.response, second.service) =
            take_times(&mut times).map_err(|what| meaningless("times", what))?;
    }
    if times.is_empty() {
        Ok(())
    } else {
        Err(meaningless("times", "more than the types of its counts"))
    }
}
