//! Transactions of every second, as charts show them.

use std::collections::BTreeSet;

use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{PhaseId, PointId, Record, Second};
use serde::Serialize;

use super::bounded::DrawnBuckets;
use super::rounding::{seconds, short};

/// Everything per second; a value stands at the end of its second.
#[derive(Default, Serialize)]
pub(super) struct Seconds {
    t: Vec<f64>,
    /// Completed per second, by type.
    rates: Vec<(String, Vec<Option<f64>>)>,
    /// Of all types together, where their extremes are no sum of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<Vec<Option<f64>>>,
    p50: Vec<Option<f64>>,
    p95: Vec<Option<f64>>,
    p99: Vec<Option<f64>>,
    in_flight: Vec<Option<u64>>,
    #[serde(skip)]
    reduced_to: Option<f64>,
}

/// A rate over less than a fifth of a second is no rate: the last tick of a point that drains in milliseconds would be a
/// spike or a hole. The tables have it.
const SHORTEST: Nanos = Nanos::from_millis(200);

pub(super) fn per_second(record: &Record) -> Seconds {
    let block = block_phases(record);
    let mut rows: Vec<&Second> = record
        .seconds
        .iter()
        .filter(|row| !block.contains(&row.phase))
        .collect();
    rows.sort_by_key(|row| (row.start, row.phase, row.txn));
    let names = txn_names(record);
    let mut out = Seconds {
        rates: names
            .iter()
            .map(|name| (name.clone(), Vec::new()))
            .collect(),
        ..Seconds::default()
    };
    let mut last_end = None;
    for tick in rows.chunk_by(|a, b| (a.start, a.phase) == (b.start, b.phase)) {
        let start = tick[0].start;
        let end = tick[0].end;
        // A millisecond of slack for clocks; a missing tick is a second.
        if last_end.is_some_and(|last| start.saturating_sub(last) > Nanos::from_millis(1)) {
            out.gap(start);
        }
        if end.saturating_sub(start) >= SHORTEST {
            out.push(record, tick, &names);
        }
        last_end = Some(end);
    }
    out.bounded()
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

impl Seconds {
    /// How many seconds a drawn point stands for, where not all are drawn.
    pub fn reduced_to(&self) -> Option<f64> {
        self.reduced_to
    }

    fn bounded(self) -> Self {
        let sums = (0..self.t.len()).map(|place| {
            let own = self.rates.iter().filter_map(|(_, column)| column[place]);
            own.reduce(|a, b| a + b)
        });
        let sums: Vec<Option<f64>> = sums.collect();
        let buckets = DrawnBuckets::of(&sums);
        if !buckets.is_reduced() {
            return self;
        }
        let all = Some(buckets.values(sums));
        let in_flight = self.in_flight.into_iter();
        let in_flight = in_flight.map(|own| own.map(|n| n as f64)).collect();
        let in_flight = buckets.values(in_flight).into_iter();
        let rates = self.rates.into_iter();
        Self {
            reduced_to: buckets.span(&self.t),
            t: buckets.times(self.t),
            rates: rates
                .map(|(name, column)| (name, buckets.values(column)))
                .collect(),
            all,
            p50: buckets.values(self.p50),
            p95: buckets.values(self.p95),
            p99: buckets.values(self.p99),
            in_flight: in_flight.map(|own| own.map(|n| n.round() as u64)).collect(),
        }
    }

    fn gap(&mut self, at: Nanos) {
        let Self {
            t,
            rates,
            p50,
            p95,
            p99,
            in_flight,
            all: _,
            reduced_to: _,
        } = self;
        t.push(seconds(at));
        rates.iter_mut().for_each(|(_, column)| column.push(None));
        [p50, p95, p99]
            .into_iter()
            .for_each(|column| column.push(None));
        in_flight.push(None);
    }

    fn push(&mut self, record: &Record, tick: &[&Second], names: &[String]) {
        let length = tick[0].end.saturating_sub(tick[0].start).as_secs_f64();
        let mut response = CoarseHist::default();
        let phase = record.phases.iter().find(|phase| phase.id == tick[0].phase);
        let point = phase.and_then(|phase| {
            record
                .points
                .iter()
                .find(|point| Some(point.id) == phase.point)
        });
        let mut completed: Vec<Option<u64>> = vec![None; names.len()];
        for row in tick {
            response.merge(&row.response);
            let name = point.and_then(|point| point.txns.get(row.txn as usize));
            if let Some(place) = names.iter().position(|own| Some(own) == name) {
                *completed[place].get_or_insert_default() += row.counts.completed();
            }
        }
        self.t.push(seconds(tick[0].end));
        for ((_, column), n) in self.rates.iter_mut().zip(completed) {
            column.push(n.filter(|_| length > 0.0).map(|n| short(n as f64 / length)));
        }
        self.p50.push(quantile_ms(&response, 0.5));
        self.p95.push(quantile_ms(&response, 0.95));
        self.p99.push(quantile_ms(&response, 0.99));
        self.in_flight.push(Some(tick[0].in_flight));
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
        record.seconds.retain(|s| s.start != starts[20]);
        let before = per_second(&fixture::single_point());
        let after = per_second(&record);
        // One tick went, one break came in its place.
        assert_eq!(after.t.len(), before.t.len());
        assert_eq!(after.p50.iter().filter(|v| v.is_none()).count(), 1);
        assert_eq!(before.p50.iter().filter(|v| v.is_none()).count(), 0);
    }

    #[test]
    fn a_tick_of_milliseconds_is_not_drawn() {
        let mut record = fixture::single_point();
        let last = record.seconds.iter().map(|s| s.start).max().unwrap();
        let before = per_second(&record);
        record
            .seconds
            .iter_mut()
            .filter(|s| s.start == last)
            .for_each(|s| s.end = last + Nanos::from_millis(199));
        let after = per_second(&record);
        assert_eq!(after.t, before.t[..before.t.len() - 1]);
        assert_eq!(after.rates[0].1.len(), after.t.len());
        // One that is long enough counts by its own length.
        record
            .seconds
            .iter_mut()
            .filter(|s| s.start == last)
            .for_each(|s| {
                (s.end, s.counts.committed, s.counts.rolled_back) =
                    (last + Nanos::from_millis(250), 10, 0);
            });
        assert_eq!(per_second(&record).rates[0].1.last(), Some(&Some(40.0)));
    }
}
