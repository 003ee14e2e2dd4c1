//! What logs hold, over time: counts by tick, distributions and means.

use std::collections::BTreeMap;

use super::fit;
use super::{DIRECTIONS, FioLog, Kind, ONE_TICK_MS, Row};
use crate::load::{Figure, ImportedLoad, LoadTick, LoadWindow};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::import_facts::{PERCENTILES_FACT, SECONDS_FACT};
use plimsoll_record::lane::Counts;

/// Puts the logs of one job into its load.
pub(crate) fn attach(load: &mut ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    fit::check(load, logs)?;
    if let Some(began) = logs.iter().filter_map(|log| log.began_ms).min() {
        load.started = Some(Nanos::from_millis(began));
        load.unknown
            .retain(|(what, _)| !["start", "concurrency"].contains(what));
    }
    if load.txns.is_empty() {
        load.txns = DIRECTIONS.map(str::to_owned).to_vec();
        load.windows = vec![None; DIRECTIONS.len()];
    }
    let of = |kind| {
        logs.iter()
            .copied()
            .filter(move |log: &&FioLog| log.kind == kind)
    };
    for (kind, name) in [
        (Kind::Lat, "lat"),
        (Kind::Clat, "clat"),
        (Kind::Slat, "slat"),
    ] {
        of(kind).for_each(|log| means(load, log, name));
    }
    let hists: Vec<&FioLog> = of(Kind::Hist).collect();
    let rates: Vec<&FioLog> = of(Kind::Iops).collect();
    let bandwidth: Vec<&FioLog> = of(Kind::Bandwidth).collect();
    if !hists.is_empty() {
        distributions(load, &hists)
    } else if rates
        .iter()
        .flat_map(|log| &log.rows)
        .any(|row| row.bytes > 0)
    {
        singles(load, &rates)
    } else if !rates.is_empty() {
        counts(load, &rates, &bandwidth)
    } else {
        Ok(())
    }
}

/// What fio averages over `log_avg_msec`, or logs of single requests: the first are figures, the second too many.
fn means(load: &mut ImportedLoad, log: &FioLog, name: &str) {
    const MOST_FIGURES: usize = 10_000;
    let mut ends: BTreeMap<usize, u64> = BTreeMap::new();
    let averaged = log
        .rows
        .windows(2)
        .all(|rows| rows[0].direction != rows[1].direction || rows[0].at_ms < rows[1].at_ms);
    if !averaged || log.rows.len() > MOST_FIGURES {
        let text = "A log of single latencies (no log_avg_msec) does not show which of them belong to one moment; use \
                    write_hist_log or json+.";
        load.unknown.push(("latency_log", text.to_owned()));
        return;
    }
    for row in &log.rows {
        let start = ends
            .insert(row.direction, row.at_ms)
            .unwrap_or_default()
            .min(row.at_ms);
        let printed = row.value.to_string();
        let figure = Figure::new(
            &format!("{name} mean over the log's interval"),
            &printed,
            "ns",
        );
        let figure = figure.map(|figure| figure.of_txn(DIRECTIONS[row.direction]));
        load.figures.extend(
            figure.map(|f| f.over(Nanos::from_millis(start), Nanos::from_millis(row.at_ms))),
        );
    }
}

/// The place of a direction among the load's types; fio may report all together (`unified_rw_reporting`).
fn place(load: &ImportedLoad, direction: usize) -> Option<usize> {
    load.txns
        .iter()
        .position(|name| name == DIRECTIONS[direction] || name == "mixed")
}

/// The times at which lines end; times of one tick count once.
fn ends(logs: &[&FioLog]) -> Vec<u64> {
    let mut ends: Vec<u64> = logs
        .iter()
        .flat_map(|log| log.rows.iter().map(|row| row.at_ms))
        .collect();
    ends.sort_unstable();
    ends.dedup_by(|later, earlier| *later - *earlier <= ONE_TICK_MS);
    ends.retain(|end| *end > 0);
    ends
}

/// Index of the tick that a line belongs to.
fn tick_of(ends: &[u64], row: &Row) -> Option<usize> {
    let at_ms = row.at_ms;
    let after = ends.partition_point(|end| *end <= at_ms);
    match after.checked_sub(1) {
        Some(at) if at_ms - ends[at] <= ONE_TICK_MS => Some(at),
        _ => ends.get(after).map(|_| after),
    }
}

fn empty_ticks(ends: &[u64], types: usize) -> Vec<LoadTick> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let spans = starts.zip(ends);
    let tick = |(start, end): (u64, &u64)| {
        LoadTick::new(
            Nanos::from_millis(start),
            Nanos::from_millis(*end),
            vec![Counts::default(); types],
        )
    };
    spans.map(tick).collect()
}

/// A line of a histogram log with its place.
struct Placed<'a> {
    tick: usize,
    txn: usize,
    row: &'a Row,
}

/// Full histograms of the whole time and of one tick at a time: each takes 270 kB.
fn distributions(load: &mut ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    let ends = ends(logs);
    let types = load.txns.len();
    let mut ticks = empty_ticks(&ends, types);
    ticks
        .iter_mut()
        .for_each(|tick| tick.response = vec![CoarseHist::default(); types]);
    let placed = |row| {
        Some(Placed {
            tick: tick_of(&ends, row)?,
            txn: place(load, row.direction)?,
            row,
        })
    };
    let mut rows: Vec<Placed<'_>> = logs
        .iter()
        .flat_map(|log| &log.rows)
        .filter_map(placed)
        .collect();
    rows.sort_by_key(|placed| placed.tick);
    let mut whole = vec![Hist::new(); types];
    for same in rows.chunk_by(|a, b| a.tick == b.tick) {
        let mut own = vec![Hist::new(); types];
        let tick = &mut ticks[same[0].tick];
        for Placed { txn, row, .. } in same {
            let n = row
                .buckets
                .iter()
                .fold(0, |sum: u64, (_, n)| sum.saturating_add(*n));
            if n < 1 << 52 {
                own[*txn].merge(&histogram(row));
                tick.counts[*txn].add(&Counts {
                    offered: n,
                    committed: n,
                    ..Counts::default()
                });
            }
        }
        whole
            .iter_mut()
            .zip(&own)
            .for_each(|(sum, own)| sum.merge(own));
        tick.response = own.iter().map(Hist::coarse).collect();
    }
    bytes_of(load, &mut ticks);
    if !replace(
        load,
        logs,
        ticks,
        "from the histogram log; the last one has the time after its end",
    )? {
        return Ok(());
    }
    // Buckets of JSON+ are of the whole time, those of a log end with its last line.
    if load.windows.iter().all(Option::is_none) {
        let window = |response: Hist| {
            (!response.is_empty()).then_some(LoadWindow {
                response,
                service: None,
            })
        };
        load.windows = whole.into_iter().map(window).collect();
    }
    load.facts.retain(|(key, _)| key != PERCENTILES_FACT);
    load.fact(PERCENTILES_FACT, "merged");
    Ok(())
}

fn histogram(row: &Row) -> Hist {
    let sum = row
        .buckets
        .iter()
        .map(|(value, n)| u128::from(value.0) * u128::from(*n))
        .sum();
    let max = row.buckets.last().map_or(Nanos::ZERO, |(value, _)| *value);
    Hist::of_buckets(row.buckets.iter().copied(), sum, max)
}

/// Puts the ticks of logs in place of the load's; `false` where they have no time.
fn replace(
    load: &mut ImportedLoad,
    logs: &[&FioLog],
    ticks: Vec<LoadTick>,
    source: &str,
) -> Result<bool, String> {
    if ticks.is_empty() {
        let text = "The logs have no line after 0 ms: counts by second are unknown.";
        load.unknown.push(("logs", text.to_owned()));
        return Ok(false);
    }
    let note = fit::check_counts(load, logs, &ticks, every_ms(load, logs))?;
    load.unknown.extend(note.map(|text| ("logs", text)));
    load.ticks = settled(load, ticks);
    load.facts.retain(|(key, _)| key != SECONDS_FACT);
    load.fact(SECONDS_FACT, source);
    Ok(true)
}

/// How long the interval of a line is: as asked for, or the least that lines are apart.
fn every_ms(load: &ImportedLoad, logs: &[&FioLog]) -> u64 {
    let least = || {
        logs.iter()
            .flat_map(|log| (0..DIRECTIONS.len()).filter_map(|direction| least_ms(log, direction)))
            .min()
    };
    load.logs.every_ms.or_else(least).unwrap_or(u64::MAX)
}

/// Without the last line, which ends with the job.
fn least_ms(log: &FioLog, direction: usize) -> Option<u64> {
    let times: Vec<u64> = log
        .rows
        .iter()
        .filter(|row| row.direction == direction)
        .map(|row| row.at_ms)
        .collect();
    let inner = if times.len() > 2 {
        &times[..times.len() - 1]
    } else {
        &times
    };
    let apart = inner.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    inner
        .first()
        .copied()
        .into_iter()
        .chain(apart)
        .filter(|apart| *apart > ONE_TICK_MS)
        .min()
}

/// fio writes no line for an interval in which nothing completed: where ends are further apart, there is one more.
fn with_gaps(ends: &[u64], every_ms: u64) -> Vec<u64> {
    let mut all = Vec::with_capacity(ends.len());
    for end in ends {
        let before = all.last().copied().unwrap_or_default();
        if is_gap(end - before, every_ms) {
            all.push(end - every_ms);
        }
        all.push(*end);
    }
    all
}

/// Lines are late now and then.
fn is_gap(apart_ms: u64, every_ms: u64) -> bool {
    apart_ms > every_ms.saturating_add(every_ms / 2)
}

/// The time that a line is about, of each line of a log.
fn spans(log: &FioLog, every_ms: u64) -> impl Iterator<Item = (&Row, Nanos)> {
    let mut before = [0; DIRECTIONS.len()];
    log.rows.iter().map(move |row| {
        let apart = row
            .at_ms
            .saturating_sub(std::mem::replace(&mut before[row.direction], row.at_ms));
        let span = if is_gap(apart, every_ms) {
            every_ms
        } else {
            apart
        };
        (row, Nanos::from_millis(span))
    })
}

/// Reads one field of a tick's counts, and writes it.
type Get = fn(&Counts) -> u64;
type Put = fn(&mut Counts, u64);

/// The ticks with the rest of the totals of fio's own output, where there is one: in a last tick, or where too much was
/// counted by rounding, taken from the end.
fn settled(load: &ImportedLoad, mut ticks: Vec<LoadTick>) -> Vec<LoadTick> {
    /// A rest of less is the end of the last interval.
    const SHORTEST_REST: Nanos = Nanos::from_millis(100);
    if load.ticks.is_empty() {
        return ticks;
    }
    let types = load.txns.len();
    let lasted = load.lasted();
    let last = ticks.last().map_or(Nanos::ZERO, |tick| tick.end);
    if lasted > last + SHORTEST_REST {
        ticks.push(LoadTick::new(last, lasted, vec![Counts::default(); types]));
    }
    for txn in 0..types {
        let sum = |ticks: &[LoadTick], of: fn(&Counts) -> u64| {
            ticks
                .iter()
                .filter_map(|tick| tick.counts.get(txn))
                .map(of)
                .fold(0, u64::saturating_add)
        };
        let fields: [(Get, Put); 2] = [
            (
                |counts| counts.committed,
                |counts, n| (counts.committed, counts.offered) = (n, n),
            ),
            (|counts| counts.bytes, |counts, n| counts.bytes = n),
        ];
        for (of, put) in fields {
            let total = sum(&load.ticks, of);
            let mut over = sum(&ticks, of).saturating_sub(total);
            let mut left = total.saturating_sub(sum(&ticks, of));
            for tick in ticks.iter_mut().rev() {
                let Some(counts) = tick.counts.get_mut(txn) else {
                    continue;
                };
                let n = of(counts);
                let less = over.min(n);
                put(counts, (n - less).saturating_add(std::mem::take(&mut left)));
                over -= less;
            }
        }
    }
    ticks
}

/// The bytes of a request are those of the whole output's mean.
fn bytes_of(load: &ImportedLoad, ticks: &mut [LoadTick]) {
    let whole = |txn: usize| {
        load.ticks.iter().fold((0u64, 0u64), |(n, bytes), tick| {
            let counts = tick.counts.get(txn).copied().unwrap_or_default();
            (
                n.saturating_add(counts.committed),
                bytes.saturating_add(counts.bytes),
            )
        })
    };
    let each: Vec<f64> = (0..load.txns.len())
        .map(|txn| match whole(txn) {
            (0, _) => 0.0,
            (n, bytes) => bytes as f64 / n as f64,
        })
        .collect();
    for tick in ticks {
        for (counts, each) in tick.counts.iter_mut().zip(&each) {
            counts.bytes = (counts.committed as f64 * each).round().clamp(0.0, 1e18) as u64;
        }
    }
}

/// Lines of single requests (no `log_avg_msec`), counted by second.
fn singles(load: &mut ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    let rows = || logs.iter().flat_map(|log| &log.rows);
    // Where lines are far apart, there is a tick from one to the next.
    let mut ends: Vec<u64> = rows().map(|row| (row.at_ms / 1000 + 1) * 1000).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut ticks = empty_ticks(&ends, load.txns.len());
    for row in rows() {
        let at = ends.partition_point(|end| *end <= row.at_ms);
        let (Some(txn), Some(tick)) = (place(load, row.direction), ticks.get_mut(at)) else {
            continue;
        };
        tick.counts[txn].add(&Counts {
            offered: 1,
            committed: 1,
            bytes: row.bytes,
            ..Counts::default()
        });
    }
    let lasted = load.lasted();
    if let Some(last) = ticks.last_mut().filter(|last| lasted > last.start) {
        last.end = last.end.min(lasted);
    }
    let source = "from the log of single requests, counted by second; the last one has the rest of the total";
    replace(load, logs, ticks, source).map(|_| ())
}

/// IOPS × interval, with the bytes of the bandwidth log where there is one.
fn counts(load: &mut ImportedLoad, rates: &[&FioLog], bandwidth: &[&FioLog]) -> Result<(), String> {
    let every_ms = every_ms(load, rates);
    let ends = with_gaps(&ends(rates), every_ms);
    let mut ticks = empty_ticks(&ends, load.txns.len());
    let mut put = |logs: &[&FioLog], of: fn(&mut Counts, u64), per: f64| {
        for (row, span) in logs.iter().flat_map(|log| spans(log, every_ms)) {
            let (Some(txn), Some(at)) = (place(load, row.direction), tick_of(&ends, row)) else {
                continue;
            };
            let n = row.value as f64 * per * span.as_secs_f64();
            of(
                &mut ticks[at].counts[txn],
                n.round().clamp(0.0, 1e15) as u64,
            );
        }
    };
    let requests = |counts: &mut Counts, n| {
        counts.add(&Counts {
            offered: n,
            committed: n,
            ..Counts::default()
        });
    };
    put(rates, requests, 1.0);
    put(
        bandwidth,
        |counts, n| counts.bytes = counts.bytes.saturating_add(n),
        1024.0,
    );
    if bandwidth.is_empty() {
        bytes_of(load, &mut ticks);
    }
    let source =
        "from the log of IOPS: value x interval, rounded; the last one has the rest of the total";
    replace(load, rates, ticks, source).map(|_| ())
}
