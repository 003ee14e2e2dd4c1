//! Logs of fio: `write_lat_log`, `write_bw_log`, `write_iops_log`, `write_hist_log` (HOWTO, "Log File Formats").
//!
//! A line is `ms, value, direction, block size, …`; of a histogram log `ms, direction, block size, bucket, bucket, …`
//! with what was counted since the line before. Which kind a log is stands in its name.

use std::collections::BTreeMap;

use super::fault::{Fault, Read};
use super::load::{Figure, ImportedLoad, LoadTick, LoadWindow};
use super::{PERCENTILES_FACT, SECONDS_FACT, Tool};
use crate::hist::Hist;
use crate::lane::Counts;
use crate::units::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nanoseconds from submission to completion, from handing over, and to handing over.
    Lat,
    Clat,
    Slat,
    /// KiB/s.
    Bandwidth,
    Iops,
    Hist,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioLog {
    pub kind: Kind,
    /// Number of the job in the run, from 1; `None`: of all jobs of the name (`per_job_logs=0`).
    pub job: Option<usize>,
    /// What stands before the kind in the name.
    pub prefix: String,
    /// Start of the job since 1970, where lines have such times (`log_unix_epoch`, `log_alternate_epoch`).
    began_ms: Option<u64>,
    /// Times count from the job's start.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    at_ms: u64,
    direction: usize,
    /// One value, or buckets.
    values: Vec<u64>,
    /// Of a single request; 0 where a line is of several.
    bytes: u64,
}

/// In the order of fio's directions.
pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// `FIO_IO_U_PLAT_NR`: 29 groups of 64 buckets; a log with `log_hist_coarseness=c` has 2^c times fewer.
const BUCKETS: usize = 1856;
/// Three years, as everywhere here.
const LONGEST_MS: u64 = 100_000_000_000;
/// 2096.
const LATEST_MS: u64 = 4_000_000_000_000;
/// More rows have no place in memory beside each other as ticks.
const MOST_VALUE: u64 = 1_000_000_000_000_000;

/// Kind, number of the job and prefix in the name of a log: `NAME_clat_hist.1.log`.
pub(super) fn named(name: &str) -> Option<(Kind, Option<usize>, String)> {
    let stem = name.strip_suffix(".log")?;
    let (stem, job) = match stem.rsplit_once('.') {
        Some((stem, job)) => (stem, Some(job.parse().ok()?)),
        None => (stem, None),
    };
    let kinds = [
        ("clat_hist", Kind::Hist),
        ("hist", Kind::Hist),
        ("slat", Kind::Slat),
        ("clat", Kind::Clat),
        ("lat", Kind::Lat),
        ("bw", Kind::Bandwidth),
        ("iops", Kind::Iops),
    ];
    kinds.into_iter().find_map(|(ending, kind)| {
        let prefix = stem.strip_suffix(ending)?;
        let prefix = prefix.strip_suffix('_').or(prefix.is_empty().then_some(""))?;
        Some((kind, job, prefix.to_owned()))
    })
}

pub(super) fn read(name: &str, text: &str) -> Read<FioLog> {
    let expected = "a name that ends in _lat, _clat, _slat, _bw, _iops or _clat_hist, a number and .log, as fio gives it: \
                    nothing in the file says what it logs";
    let (kind, job, prefix) = named(name).ok_or_else(|| Fault::at(1, name, expected))?;
    let mut rows = Vec::new();
    let lines = || text.lines().enumerate().filter(|(_, content)| !content.trim().is_empty());
    // `log_window_value=both`: the largest value stands between the mean and the direction, of which there are three.
    let third = |content: &str| content.split(',').nth(2)?.trim().parse::<u64>().ok();
    let both = kind != Kind::Hist && lines().any(|(_, content)| third(content).is_some_and(|value| value > 2));
    for (line, content) in lines() {
        rows.push(row(kind, both, line + 1, content)?);
    }
    if rows.is_empty() {
        return Err(Fault::end(text, "lines of a log of fio"));
    }
    let began_ms = began(&rows);
    for row in &mut rows {
        row.at_ms = row.at_ms.saturating_sub(began_ms.unwrap_or_default());
    }
    match rows.iter().position(|row| row.at_ms > LONGEST_MS) {
        Some(row) => Err(Fault::at(row + 1, &rows[row].at_ms.to_string(), "milliseconds of one run")),
        None => Ok(FioLog { kind, job, prefix, began_ms, rows }),
    }
}

/// Before the first line ends by as much as lines are apart at least: of averages each ends an interval.
fn began(rows: &[Row]) -> Option<u64> {
    /// 2001.
    const LEAST_EPOCH_MS: u64 = 1_000_000_000_000;
    let first = rows.first().map(|row| row.at_ms).filter(|at| *at >= LEAST_EPOCH_MS)?;
    let apart = rows.windows(2).map(|pair| pair[1].at_ms.saturating_sub(pair[0].at_ms));
    Some(first - apart.filter(|apart| *apart > ONE_TICK_MS).min().unwrap_or_default().min(first))
}

fn row(kind: Kind, both: bool, line: usize, content: &str) -> Read<Row> {
    let expected = if kind == Kind::Hist {
        "`ms, direction, block size, bucket, …` with 1856 buckets, or 2^n times fewer"
    } else {
        "`ms, value, direction, block size`"
    };
    let wrong = || Fault::at(line, content, expected);
    // What options add stands behind (`log_offset`, `log_prio`, `log_issue_time`).
    let read = if kind == Kind::Hist { usize::MAX } else { 4 + usize::from(both) };
    let fields = content.split(',').take(read).map(|field| field.trim().parse::<u64>());
    let fields = fields.collect::<Result<Vec<u64>, _>>().map_err(|_| wrong())?;
    let (at_ms, direction, values, bytes) = match (kind, fields.as_slice()) {
        (Kind::Hist, [at, direction, _, buckets @ ..]) if coarseness(buckets.len()).is_some() => {
            (*at, *direction, buckets.to_vec(), 0)
        }
        (Kind::Hist, _) => return Err(wrong()),
        (_, [at, value, largest, direction, bytes]) if largest >= value => (*at, *direction, vec![*value], *bytes),
        (_, [at, value, direction, bytes]) => (*at, *direction, vec![*value], *bytes),
        _ => return Err(wrong()),
    };
    let fits = at_ms <= LATEST_MS && direction < 3 && bytes <= MOST_VALUE && values.iter().all(|n| *n <= MOST_VALUE);
    if fits { Ok(Row { at_ms, direction: direction as usize, values, bytes }) } else { Err(wrong()) }
}

fn coarseness(buckets: usize) -> Option<u32> {
    (0..=6).find(|c| BUCKETS >> c == buckets)
}

/// The value that stands for a bucket: the middle of its range (`plat_idx_to_val` in stat.c, 64 buckets to a group).
fn middle(bucket: usize, coarseness: u32) -> Nanos {
    let edge = |index: u64| match index {
        index if index < 128 => index,
        index => {
            let group = index / 64 - 1;
            (64 + index % 64) << group
        }
    };
    let (low, high) = ((bucket as u64) << coarseness, (bucket as u64 + 1) << coarseness);
    Nanos((edge(low) + edge(high)) / 2)
}

/// A load of logs alone.
pub(super) fn alone(prefix: &str) -> ImportedLoad {
    let mut load = ImportedLoad::new(Tool::FioLog);
    load.workload = if prefix.is_empty() { "log".into() } else { prefix.to_owned() };
    load.fact(super::RESPONSE_FACT, "unknown");
    let text = "Logs alone do not tell what the job asked for: depth, rate and cache. OMISSION and LITTLE cannot be judged \
                without fio's JSON.";
    load.unknown.push(("job", text.to_owned()));
    load
}

/// Puts the logs of one job into its load.
pub(super) fn attach(load: &mut ImportedLoad, logs: &[&FioLog]) {
    if let Some(began) = logs.iter().filter_map(|log| log.began_ms).min() {
        load.started = Some(Nanos::from_millis(began));
        load.unknown.retain(|(what, _)| !["start", "concurrency"].contains(what));
    }
    if load.txns.is_empty() {
        load.txns = DIRECTIONS.map(str::to_owned).to_vec();
        load.windows = vec![None; DIRECTIONS.len()];
    }
    let of = |kind| logs.iter().copied().filter(move |log: &&FioLog| log.kind == kind);
    for (kind, name) in [(Kind::Lat, "lat"), (Kind::Clat, "clat"), (Kind::Slat, "slat")] {
        of(kind).for_each(|log| means(load, log, name));
    }
    let hists: Vec<&FioLog> = of(Kind::Hist).collect();
    let rates: Vec<&FioLog> = of(Kind::Iops).collect();
    let bandwidth: Vec<&FioLog> = of(Kind::Bandwidth).collect();
    if !hists.is_empty() {
        distributions(load, &hists);
    } else if rates.iter().flat_map(|log| &log.rows).any(|row| row.bytes > 0) {
        singles(load, &rates);
    } else if !rates.is_empty() {
        counts(load, &rates, &bandwidth);
    }
}

/// What fio averages over `log_avg_msec`, or logs of single requests: the first are figures, the second too many.
fn means(load: &mut ImportedLoad, log: &FioLog, name: &str) {
    const MOST_FIGURES: usize = 10_000;
    let mut ends: BTreeMap<usize, u64> = BTreeMap::new();
    let averaged =
        log.rows.windows(2).all(|rows| rows[0].direction != rows[1].direction || rows[0].at_ms < rows[1].at_ms);
    if !averaged || log.rows.len() > MOST_FIGURES {
        let text = "A log of single latencies (no log_avg_msec) does not tell which of them belong to one moment; use \
                    write_hist_log or json+.";
        load.unknown.push(("latency_log", text.to_owned()));
        return;
    }
    for row in &log.rows {
        let start = ends.insert(row.direction, row.at_ms).unwrap_or_default().min(row.at_ms);
        let printed = row.values[0].to_string();
        let figure = Figure::new(&format!("{name} mean over the log's interval"), &printed, "ns");
        let figure = figure.map(|figure| figure.of_txn(DIRECTIONS[row.direction]));
        load.figures.extend(figure.map(|f| f.over(Nanos::from_millis(start), Nanos::from_millis(row.at_ms))));
    }
}

/// The place of a direction among the load's types.
fn place(load: &ImportedLoad, direction: usize) -> Option<usize> {
    load.txns.iter().position(|name| name == DIRECTIONS[direction])
}

/// A line for each direction at about the same time: times nearer than this are one tick.
const ONE_TICK_MS: u64 = 20;

/// The times at which lines end, without those that follow each other at once.
fn ends(logs: &[&FioLog]) -> Vec<u64> {
    let mut ends: Vec<u64> = logs.iter().flat_map(|log| log.rows.iter().map(|row| row.at_ms)).collect();
    ends.sort_unstable();
    ends.dedup_by(|later, earlier| *later - *earlier <= ONE_TICK_MS);
    ends.retain(|end| *end > 0);
    ends
}

/// Index of the tick that a line belongs to.
fn tick_of(ends: &[u64], at_ms: u64) -> Option<usize> {
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
        LoadTick::new(Nanos::from_millis(start), Nanos::from_millis(*end), vec![Counts::default(); types])
    };
    spans.map(tick).collect()
}

fn distributions(load: &mut ImportedLoad, logs: &[&FioLog]) {
    let ends = ends(logs);
    let mut ticks = empty_ticks(&ends, load.txns.len());
    let mut hists = vec![vec![Hist::new(); load.txns.len()]; ends.len()];
    for row in logs.iter().flat_map(|log| &log.rows) {
        let (Some(txn), Some(at)) = (place(load, row.direction), tick_of(&ends, row.at_ms)) else { continue };
        let coarse = coarseness(row.values.len()).unwrap_or_default();
        let counts = || row.values.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, n)| (middle(i, coarse), *n));
        let sum = counts().map(|(value, n)| u128::from(value.0) * u128::from(n)).sum();
        let max = counts().map(|(value, _)| value).max().unwrap_or_default();
        let n: u64 = counts().map(|(_, n)| n).fold(0, u64::saturating_add);
        if n >= 1 << 52 {
            continue;
        }
        hists[at][txn].merge(&Hist::of_buckets(counts(), sum, max));
        ticks[at].counts[txn].add(&Counts { offered: n, committed: n, ..Counts::default() });
    }
    let mut whole = vec![Hist::new(); load.txns.len()];
    for (tick, own) in ticks.iter_mut().zip(&hists) {
        whole.iter_mut().zip(own).for_each(|(sum, own)| sum.merge(own));
        tick.response = own.iter().map(Hist::coarse).collect();
    }
    bytes_of(load, &mut ticks);
    load.ticks = settled(load, ticks);
    // Buckets of JSON+ are of the whole time, those of a log end with its last line.
    if load.windows.iter().all(Option::is_none) {
        let window = |response: Hist| (!response.is_empty()).then_some(LoadWindow { response, service: None });
        load.windows = whole.into_iter().map(window).collect();
    }
    load.facts.retain(|(key, _)| key != SECONDS_FACT && key != PERCENTILES_FACT);
    load.fact(SECONDS_FACT, "from the histogram log; what it does not reach to is in the last one");
    load.fact(PERCENTILES_FACT, "merged");
}

/// Reads one field of a tick's counts, and writes it.
type Get = fn(&Counts) -> u64;
type Put = fn(&mut Counts, u64);

/// The ticks with what is left to the totals of fio's own output, where there is one: in a last tick, or where too much was
/// counted by rounding, taken from the end.
fn settled(load: &ImportedLoad, mut ticks: Vec<LoadTick>) -> Vec<LoadTick> {
    /// A rest of less is the end of the last interval.
    const SHORTEST_REST: Nanos = Nanos::from_millis(100);
    if load.ticks.is_empty() || ticks.is_empty() {
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
            ticks.iter().filter_map(|tick| tick.counts.get(txn)).map(of).fold(0, u64::saturating_add)
        };
        let fields: [(Get, Put); 2] = [
            (|counts| counts.committed, |counts, n| (counts.committed, counts.offered) = (n, n)),
            (|counts| counts.bytes, |counts, n| counts.bytes = n),
        ];
        for (of, put) in fields {
            let total = sum(&load.ticks, of);
            let mut over = sum(&ticks, of).saturating_sub(total);
            let mut left = total.saturating_sub(sum(&ticks, of));
            for tick in ticks.iter_mut().rev() {
                let Some(counts) = tick.counts.get_mut(txn) else { continue };
                let n = of(counts);
                let less = over.min(n);
                put(counts, n - less + std::mem::take(&mut left));
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
            (n.saturating_add(counts.committed), bytes.saturating_add(counts.bytes))
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
fn singles(load: &mut ImportedLoad, logs: &[&FioLog]) {
    let rows = || logs.iter().flat_map(|log| &log.rows);
    // Where lines are far apart, there is a tick from one to the next.
    let mut ends: Vec<u64> = rows().map(|row| (row.at_ms / 1000 + 1) * 1000).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut ticks = empty_ticks(&ends, load.txns.len());
    for row in rows() {
        let at = ends.partition_point(|end| *end <= row.at_ms);
        let (Some(txn), Some(tick)) = (place(load, row.direction), ticks.get_mut(at)) else { continue };
        tick.counts[txn].add(&Counts { offered: 1, committed: 1, bytes: row.bytes, ..Counts::default() });
    }
    let lasted = load.lasted();
    if let Some(last) = ticks.last_mut().filter(|last| lasted > last.start) {
        last.end = last.end.min(lasted);
    }
    load.ticks = settled(load, ticks);
    load.facts.retain(|(key, _)| key != SECONDS_FACT);
    load.fact(
        SECONDS_FACT,
        "from the log of single requests, counted by second; what is left to the total is in the last one",
    );
}

/// IOPS × interval, with the bytes of the bandwidth log where there is one.
fn counts(load: &mut ImportedLoad, rates: &[&FioLog], bandwidth: &[&FioLog]) {
    let ends = ends(rates);
    let mut ticks = empty_ticks(&ends, load.txns.len());
    let mut put = |logs: &[&FioLog], of: fn(&mut Counts, u64), per: f64| {
        for row in logs.iter().flat_map(|log| &log.rows) {
            let (Some(txn), Some(at)) = (place(load, row.direction), tick_of(&ends, row.at_ms)) else { continue };
            let tick = &mut ticks[at];
            let n = row.values[0] as f64 * per * (tick.end - tick.start).as_secs_f64();
            of(&mut tick.counts[txn], n.round().clamp(0.0, 1e15) as u64);
        }
    };
    let requests = |counts: &mut Counts, n| {
        counts.add(&Counts { offered: n, committed: n, ..Counts::default() });
    };
    put(rates, requests, 1.0);
    put(bandwidth, |counts, n| counts.bytes = counts.bytes.saturating_add(n), 1024.0);
    if bandwidth.is_empty() {
        bytes_of(load, &mut ticks);
    }
    load.ticks = settled(load, ticks);
    load.facts.retain(|(key, _)| key != SECONDS_FACT);
    load.fact(
        SECONDS_FACT,
        "from the log of IOPS: value x interval, rounded; what is left to the total is in the last one",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_log_holds() {
        assert_eq!(named("a_b_clat_hist.2.log"), Some((Kind::Hist, Some(2), "a_b".into())));
        assert_eq!(named("l_clat.1.log"), Some((Kind::Clat, Some(1), "l".into())));
        assert_eq!(named("l_lat.log"), Some((Kind::Lat, None, "l".into())));
        assert_eq!(named("bw.1.log"), Some((Kind::Bandwidth, Some(1), String::new())));
        assert_eq!(named("flat.1.log"), None);
        assert_eq!(named("x.txt"), None);
    }

    #[test]
    fn buckets_stand_for_their_middle() {
        // Groups: 0..63 and 64..127 of 1 ns each, 128..255 of 2 ns, 256..511 of 4 ns.
        assert_eq!([0, 63, 127].map(|b| middle(b, 0)), [0, 63, 127].map(Nanos));
        assert_eq!([128, 191, 192].map(|b| middle(b, 0)), [129, 255, 258].map(Nanos));
        // Two buckets in one: 128 and 129 are 128..131.
        assert_eq!(middle(64, 1), Nanos(130));
    }
}
