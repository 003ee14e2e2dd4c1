//! Seconds under load out of a run file's ticks and outcomes: what takes longest to read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use plimsoll_model::hist::CoarseHist;
use plimsoll_model::lane::Counts;
use plimsoll_model::plan::resolved::TPCC_TXNS;
use plimsoll_model::record::{Phase, PhaseId, Point, Second, SubjectId};
use plimsoll_model::schedule::PhaseKind;
use plimsoll_model::units::Nanos;
use rusqlite::{Connection, Row};

use super::block;
use super::reader::{Broken, Parts, hist, meaningless, open_run_file, rows};

/// Of each phase under load, the types whose seconds' histograms are read; as many as its point has.
pub(super) type Wanted = HashMap<PhaseId, Vec<bool>>;

/// Without its own windows a phase's percentiles come from its seconds.
pub(super) fn wanted(db: &Connection, phases: &[Phase], points: &[Point], parts: Parts) -> Result<Wanted, Broken> {
    let closed = rows(db, "SELECT DISTINCT phase FROM window", |row| row.get(0).map(PhaseId))?;
    let closed: HashSet<PhaseId> = closed.into_iter().collect();
    let of = |phase: &Phase| {
        let point = points.iter().find(|point| Some(point.id) == phase.point)?;
        let tpcc = point.txns == TPCC_TXNS;
        let counts = |txn: usize| if tpcc { txn == 0 } else { point.is_counted(txn) };
        let is_wanted = |txn: usize| match parts {
            Parts::All => true,
            _ if !closed.contains(&phase.id) => true,
            Parts::Audit => false,
            Parts::Comparison => phase.kind == PhaseKind::Measure && counts(txn),
        };
        Some((phase.id, (0..point.txns.len()).map(is_wanted).collect()))
    };
    Ok(phases.iter().filter_map(of).collect())
}

/// A tick's rows among all seconds, and of which types histograms are read.
struct Tick<'w> {
    id: i64,
    rows: Range<usize>,
    wanted: &'w [bool],
}

/// A row for every tick and type: a type without outcomes has zeros, not a gap. Half of the outcomes are read from `beside`
/// at the same time, if nobody writes that file any more.
pub(super) fn seconds(
    db: &Connection,
    wanted: &Wanted,
    schema: i32,
    beside: Option<&Path>,
) -> Result<Vec<Second>, Broken> {
    let mut seconds: Vec<Second> = Vec::new();
    let mut ticks: Vec<Tick<'_>> = Vec::new();
    rows(db, "SELECT id, phase, subject, start_ns, end_ns, in_flight FROM tick ORDER BY id", |row| {
        let empty = empty_second(row)?;
        let wanted = wanted.get(&empty.phase).map_or(&[][..], Vec::as_slice);
        ticks.push(Tick { id: row.get(0)?, rows: seconds.len()..seconds.len() + wanted.len(), wanted });
        seconds.extend((0..wanted.len()).map(|txn| Second { txn: txn as u32, ..empty.clone() }));
        Ok(())
    })?;
    // Up to schema 1 outcomes had no numbers of their own.
    let last = db.query_row("SELECT max(rowid) FROM outcome", [], |row| row.get::<_, Option<i64>>(0)).ok().flatten();
    let halves = beside.zip(last).map(|(path, last)| (path, last / 2, last));
    let later = std::thread::scope(|scope| {
        let ticks = &ticks;
        let reader = halves.map(|(path, half, last)| scope.spawn(move || later_outcomes(path, half, last, ticks)));
        let first = halves.map_or_else(String::new, |(_, half, _)| format!("WHERE rowid <= {half}"));
        outcomes(db, schema, &first, ticks, |outcome| outcome.put(&mut seconds))?;
        match reader.map(|reader| reader.join()) {
            None => Ok(Vec::new()),
            Some(Ok(read)) => read,
            Some(Err(_)) => Err("a part of it cannot be read".to_owned()),
        }
    })?;
    later.into_iter().for_each(|outcome| outcome.put(&mut seconds));
    Ok(seconds)
}

/// Up to the last one that is known here, whatever may have come since.
fn later_outcomes(path: &Path, half: i64, last: i64, ticks: &[Tick<'_>]) -> Result<Vec<Outcome>, Broken> {
    let (db, schema) = open_run_file(path).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    let which = format!("WHERE rowid > {half} AND rowid <= {last}");
    outcomes(&db, schema, &which, ticks, |outcome| all.push(outcome))?;
    Ok(all)
}

/// What became of one type in one tick.
struct Outcome {
    /// Among all seconds.
    place: usize,
    counts: Counts,
    response: CoarseHist,
    service: Option<CoarseHist>,
}

impl Outcome {
    fn put(self, seconds: &mut [Second]) {
        let Self { place, counts, response, service } = self;
        let second = &mut seconds[place];
        (second.counts, second.response, second.service) = (counts, response, service);
    }
}

/// Columns go by number: a run of hours has a million rows.
fn outcomes(
    db: &Connection,
    schema: i32,
    which: &str,
    ticks: &[Tick<'_>],
    mut take: impl FnMut(Outcome),
) -> Result<(), Broken> {
    let bytes = if schema < block::SINCE { "0" } else { "bytes" };
    let sql = format!(
        "SELECT tick, txn, offered, committed, rolled_back, failed, dropped, retries, round_trips, {bytes}, response, service
         FROM outcome {which}"
    );
    let read = rows(db, &sql, |row| {
        let (id, txn): (i64, usize) = (row.get(0)?, row.get(1)?);
        let tick = tick_of(ticks, id).ok_or_else(|| meaningless("tick", id))?;
        let wanted = *tick.wanted.get(txn).ok_or_else(|| meaningless("txn", txn))?;
        let mut outcome = Outcome {
            place: tick.rows.start + txn,
            counts: counts(row)?,
            response: CoarseHist::default(),
            service: None,
        };
        if wanted {
            outcome.response = hist("response", row.get_ref(10)?.as_blob()?, CoarseHist::decode)?;
            let service = row.get_ref(11)?.as_blob_or_null()?;
            outcome.service = service.map(|bytes| hist("service", bytes, CoarseHist::decode)).transpose()?;
        }
        take(outcome);
        Ok(())
    });
    read.map(|_: Vec<()>| ())
}

/// Ticks are in the order of their numbers, which follow one another in every file that plimsoll wrote.
fn tick_of<'t, 'w>(ticks: &'t [Tick<'w>], id: i64) -> Option<&'t Tick<'w>> {
    let guess = id.checked_sub(ticks.first()?.id).and_then(|place| usize::try_from(place).ok());
    let guessed = guess.and_then(|place| ticks.get(place)).filter(|tick| tick.id == id);
    guessed.or_else(|| ticks.binary_search_by_key(&id, |tick| tick.id).ok().and_then(|place| ticks.get(place)))
}

/// Columns as [`seconds`] selects them.
fn empty_second(row: &Row<'_>) -> rusqlite::Result<Second> {
    Ok(Second {
        phase: PhaseId(row.get(1)?),
        subject: SubjectId(row.get(2)?),
        txn: 0,
        start: Nanos(row.get(3)?),
        end: Nanos(row.get(4)?),
        counts: Counts::default(),
        in_flight: row.get(5)?,
        response: CoarseHist::default(),
        service: None,
    })
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
