//! Transactions of every second, as charts show them.

use std::collections::BTreeSet;

use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{PackedTick, PhaseId, PointId, Record};

use crate::chart::LineTimes;
use crate::chart::rounding::{seconds, short};

/// Everything per second; a value stands at the end of its second.
pub(super) struct DrawnSeconds {
    pub times: LineTimes,
    /// Completed per second, of all types together.
    pub all: Vec<Option<f64>>,
    pub rates: Vec<(String, Vec<Option<f64>>)>,
    pub p50: Vec<Option<f64>>,
    pub p95: Vec<Option<f64>>,
    pub p99: Vec<Option<f64>>,
    pub in_flight: Vec<Option<f64>>,
}

/// A rate over less than a fifth of a second is no rate: the last tick of a point that drains in milliseconds would be a
/// spike or a hole. The tables have it.
const SHORTEST: Nanos = Nanos::from_millis(200);

pub(super) fn per_second(record: &Record) -> DrawnSeconds {
    let ticks = ticks(record);
    let column = |of: fn(&DrawnTick) -> Option<f64>| ticks.iter().map(of).collect();
    let names = txn_names(record).into_iter().enumerate();
    let rates = names.map(|(place, name)| {
        let rates = ticks.iter().map(|tick| *tick.rates.get(place)?);
        (name, rates.collect())
    });
    let all: Vec<Option<f64>> = column(|tick| {
        let rates = tick.rates.iter().flatten().copied();
        rates.reduce(|a, b| a + b)
    });
    DrawnSeconds {
        times: LineTimes::of(ticks.iter().map(|tick| tick.at).collect(), &all),
        all,
        rates: rates.collect(),
        p50: column(|tick| tick.p50),
        p95: column(|tick| tick.p95),
        p99: column(|tick| tick.p99),
        in_flight: column(|tick| Some(tick.in_flight? as f64)),
    }
}

/// A second of a phase; or a gap, which has nothing but its time.
#[derive(Default)]
struct DrawnTick {
    at: f64,
    /// By type.
    rates: Vec<Option<f64>>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    in_flight: Option<u64>,
}

fn ticks(record: &Record) -> Vec<DrawnTick> {
    let block = block_phases(record);
    let mut pieces: Vec<&PackedTick> = record
        .seconds
        .ticks()
        .iter()
        .filter(|piece| !block.contains(&piece.phase))
        .collect();
    let lowest_type = |piece: &PackedTick| record.seconds.rows_of(piece).map(|row| row.txn).min();
    pieces.sort_by_cached_key(|piece| (piece.start, piece.phase, lowest_type(piece)));
    let names = txn_names(record);
    let mut ticks = Vec::new();
    let mut last_end = None;
    for tick in pieces.chunk_by(|a, b| (a.start, a.phase) == (b.start, b.phase)) {
        let start = tick[0].start;
        let end = tick[0].end;
        // A millisecond of slack for clocks; a missing tick is a second.
        if last_end.is_some_and(|last| start.saturating_sub(last) > Nanos::from_millis(1)) {
            ticks.push(DrawnTick {
                at: seconds(start),
                ..DrawnTick::default()
            });
        }
        if end.saturating_sub(start) >= SHORTEST {
            ticks.push(DrawnTick::of(record, tick, &names));
        }
        last_end = Some(end);
    }
    ticks
}

/// The phases of block I/O, whose charts are its own: its requests are no transactions.
pub(crate) fn block_phases(record: &Record) -> BTreeSet<PhaseId> {
    let own = record
        .phases
        .iter()
        .filter(|phase| phase.point.is_some_and(|point| is_block(record, point)));
    own.map(|phase| phase.id).collect()
}

fn is_block(record: &Record, point: PointId) -> bool {
    record.blocks.iter().any(|block| block.point == point)
}

fn txn_names(record: &Record) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let points = record
        .points
        .iter()
        .filter(|point| !is_block(record, point.id));
    for name in points.flat_map(|point| &point.txns) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

impl DrawnTick {
    fn of(record: &Record, pieces: &[&PackedTick], names: &[String]) -> Self {
        let first = pieces[0];
        let length = first.end.saturating_sub(first.start).as_secs_f64();
        let mut response = CoarseHist::default();
        let phase = record.phases.iter().find(|phase| phase.id == first.phase);
        let point = phase.and_then(|phase| {
            record
                .points
                .iter()
                .find(|point| Some(point.id) == phase.point)
        });
        let mut completed: Vec<Option<u64>> = vec![None; names.len()];
        for row in pieces
            .iter()
            .flat_map(|piece| record.seconds.rows_of(piece))
        {
            response.merge(&row.response());
            let name = point.and_then(|point| point.txns.get(row.txn as usize));
            if let Some(place) = names.iter().position(|own| Some(own) == name) {
                *completed[place].get_or_insert_default() += row.counts.completed();
            }
        }
        let rates = completed.into_iter();
        Self {
            at: seconds(first.end),
            rates: rates
                .map(|n| n.filter(|_| length > 0.0).map(|n| short(n as f64 / length)))
                .collect(),
            p50: quantile_ms(&response, 0.5),
            p95: quantile_ms(&response, 0.95),
            p99: quantile_ms(&response, 0.99),
            in_flight: Some(first.in_flight),
        }
    }
}

fn quantile_ms(hist: &CoarseHist, q: f64) -> Option<f64> {
    hist.quantile(q).map(|time| short(time.as_millis_f64()))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn lines_break_where_seconds_are_missing() {
        let mut record = fixture::single_point();
        let starts: Vec<Nanos> = record.seconds.iter().map(|s| s.start).collect();
        record.seconds.retain_ticks(|tick| tick.start != starts[20]);
        let before = ticks(&fixture::single_point());
        let after = ticks(&record);
        // One tick went, one break came in its place.
        assert_eq!(after.len(), before.len());
        let gaps = |ticks: &[DrawnTick]| ticks.iter().filter(|tick| tick.rates.is_empty()).count();
        assert_eq!((gaps(&after), gaps(&before)), (1, 0));
    }

    #[test]
    fn a_tick_of_milliseconds_is_not_drawn() {
        let mut record = fixture::single_point();
        let last = record.seconds.iter().map(|s| s.start).max().unwrap();
        let before = ticks(&record).len();
        record.seconds.edit(|seconds| {
            let own = seconds.iter_mut().filter(|s| s.start == last);
            own.for_each(|s| s.end = last + Nanos::from_millis(199));
        });
        assert_eq!(ticks(&record).len(), before - 1);
        // One that is long enough counts by its own length.
        record.seconds.edit(|seconds| {
            for second in seconds.iter_mut().filter(|s| s.start == last) {
                second.end = last + Nanos::from_millis(250);
                (second.counts.committed, second.counts.rolled_back) = (10, 0);
            }
        });
        let ticks = ticks(&record);
        assert_eq!(ticks.last().unwrap().rates[0], Some(40.0));
    }
}
