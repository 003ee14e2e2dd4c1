//! vdbench's `flatfile.html` and `summary.html`.
//!
//! Both tell of each interval a rate, a mean response time and its standard deviation, and no distribution. The row
//! `avg_2-5` is over intervals 2 to 5: those before it are warm-up. How long an interval is, is told by the time of day of
//! its row.

use std::collections::BTreeMap;

use super::fault::{Fault, Read, number_at};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT, Tool, when};
use crate::lane::Counts;
use crate::record::{BlockPoint, BlockStreamInfo, PointId};
use crate::units::Nanos;

/// The figures of a row, by column of the flatfile.
type Columns = BTreeMap<String, String>;

#[derive(Debug, Clone)]
struct Row {
    line: usize,
    run: String,
    interval: String,
    /// Since midnight.
    time: Option<Nanos>,
    columns: Columns,
}

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let rows = match header(text) {
        Some((line, names)) => flatfile(text, line, &names)?,
        None => summary(text)?,
    };
    let mut runs: Vec<(String, Vec<Row>)> = Vec::new();
    for row in rows {
        match runs.last_mut().filter(|(run, _)| *run == row.run) {
            Some((_, rows)) => rows.push(row),
            None => runs.push((row.run.clone(), vec![row])),
        }
    }
    let loads = runs.iter().enumerate().map(|(i, (run, rows))| of_run(i, run, rows)).collect::<Read<Vec<_>>>()?;
    if loads.is_empty() { Err(Fault::end(text, "a row of figures for at least one interval")) } else { Ok(loads) }
}

/// The line of column names of a flatfile.
pub(super) fn header(text: &str) -> Option<(usize, Vec<&str>)> {
    let is_header =
        |words: &[&str]| ["interval", "rate", "resp"].iter().all(|name| has(words, name)) && has(words, "run");
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('*'));
    lines.map(|(at, line)| (at, line.split_whitespace().collect::<Vec<_>>())).find(|(_, words)| is_header(words))
}

fn has(words: &[&str], name: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn flatfile(text: &str, header: usize, names: &[&str]) -> Read<Vec<Row>> {
    let mut rows = Vec::new();
    for (at, content) in text.lines().enumerate().skip(header + 1) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('*') || content.starts_with('<') {
            continue;
        }
        let words: Vec<&str> = content.split_whitespace().collect();
        if words.len() != names.len() {
            return Err(Fault::at(at + 1, content, format!("{} columns, as the line of names has", names.len())));
        }
        let columns: Columns =
            names.iter().zip(&words).map(|(name, word)| (name.to_lowercase(), (*word).to_owned())).collect();
        let get = |name: &str| columns.get(name).cloned().unwrap_or_default();
        let time = when::clock(&get("tod")).map(when::of_day);
        rows.push(Row { line: at + 1, run: get("run"), interval: get("interval"), time, columns });
    }
    Ok(rows)
}

/// What stands in the columns of `summary.html`, in its order, in the flatfile's names.
const SUMMARY: [&str; 11] = [
    "rate",
    "mb/sec",
    "bytes/io",
    "read%",
    "resp",
    "read_resp",
    "write_resp",
    "read_max",
    "write_max",
    "resp_std",
    "queue_depth",
];

fn summary(text: &str) -> Read<Vec<Row>> {
    let mut rows = Vec::new();
    let (mut run, mut threads) = ("run".to_owned(), None);
    for (at, content) in text.lines().enumerate() {
        if let Some((_, rest)) = content.split_once("Starting RD=") {
            run = rest.split([';', ' ']).next().unwrap_or("run").to_owned();
            threads =
                rest.split_once("threads=").map(|(_, n)| n.split([' ', ';', ',']).next().unwrap_or("").to_owned());
            continue;
        }
        let words: Vec<&str> = content.split_whitespace().collect();
        let [time, interval, figures @ ..] = words.as_slice() else { continue };
        let is_interval = interval.starts_with("avg_") || interval.parse::<u32>().is_ok();
        let Some(time) = when::clock(time).filter(|_| is_interval) else { continue };
        if figures.len() < SUMMARY.len() {
            let expected = format!("{} figures after the interval: {}", SUMMARY.len(), SUMMARY.join(", "));
            return Err(Fault::at(at + 1, content, expected));
        }
        let mut columns: Columns =
            SUMMARY.iter().zip(figures).map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect();
        columns.extend(threads.clone().map(|threads| ("threads".to_owned(), threads)));
        let (run, interval) = (run.clone(), (*interval).to_owned());
        rows.push(Row { line: at + 1, run, interval, time: Some(when::of_day(time)), columns });
    }
    Ok(rows)
}

/// Figures of the row over the whole run, with their units.
const TOLD: [(&str, &str); 13] = [
    ("rate", "1/s"),
    ("mb/sec", "MiB/s"),
    ("bytes/io", "bytes"),
    ("read%", "%"),
    ("resp", "ms"),
    ("read_resp", "ms"),
    ("write_resp", "ms"),
    ("resp_max", "ms"),
    ("read_max", "ms"),
    ("write_max", "ms"),
    ("resp_std", "ms"),
    ("queue_depth", "requests"),
    ("cpu_used", "%"),
];

fn of_run(index: usize, run: &str, rows: &[Row]) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(Tool::Vdbench);
    let (averages, intervals): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.interval.starts_with("avg"));
    load.txns = vec!["read".to_owned(), "write".to_owned()];
    load.windows = vec![None, None];
    load.workload = run.to_owned();
    for (name, unit) in TOLD {
        let told = averages.last().and_then(|row| row.columns.get(name));
        load.figures.extend(told.and_then(|value| Figure::new(name, value, unit)));
    }
    ticks(&mut load, &intervals, averages.last().copied())?;
    let of = |name: &str| rows.iter().find_map(|row| row.columns.get(name)).map(String::as_str);
    let number = |name: &str| of(name).and_then(|value| value.parse::<f64>().ok()).filter(|value| value.is_finite());
    load.version = of("version").unwrap_or_default().trim_start_matches("vdbench").to_owned();
    let depth = number("threads").filter(|n| (1.0..=1e6).contains(n)).map_or(0, |n| n as u32);
    load.users = depth;
    load.offered_per_second = number("reqrate").filter(|rate| *rate > 0.0 && *rate < 999_980.0);
    let size =
        number("xfersize").or(number("bytes/io")).filter(|bytes| (1.0..1e12).contains(bytes)).unwrap_or_default();
    let reads = number("rdpct").or(number("read%")).unwrap_or_default().clamp(0.0, 100.0) as u32;
    let sizes = |used: bool| if used { vec![(size as u64, 100)] } else { Vec::new() };
    load.block = Some(BlockPoint {
        point: PointId(0),
        profile: String::new(),
        job: run.to_owned(),
        job_index: index as u32,
        workers: 1,
        worker_bytes: 0,
        fill: 0.0,
        share_percent: None,
        streams: vec![BlockStreamInfo {
            name: String::new(),
            read_percent: reads,
            random_percent: number("seekpct").unwrap_or_default().clamp(0.0, 100.0) as u32,
            read_sizes: sizes(reads > 0),
            write_sizes: sizes(reads < 100),
            depth: depth.max(1),
            threads: 1,
            per_second: load.offered_per_second,
            access: "unknown".into(),
            compressible_percent: 0,
            direct: false,
            sync: "none".into(),
        }],
    });
    load.fact(RESPONSE_FACT, "start");
    load.fact(PERCENTILES_FACT, "none");
    let text = "Whether the page cache was bypassed (openflags) and data is compressible is not told: CACHED and ENTROPY \
                cannot be judged.";
    load.unknown.push(("cache", text.to_owned()));
    Ok(load)
}

const DAY: Nanos = Nanos::from_secs(86_400);

/// Times since the row before; the first interval is as long as the second.
fn lengths(intervals: &[&Row]) -> Option<Vec<Nanos>> {
    let times: Vec<Nanos> = intervals.iter().map(|row| row.time).collect::<Option<_>>()?;
    // Past midnight the time of day begins anew.
    let apart = |pair: &[Nanos]| if pair[1] >= pair[0] { pair[1] - pair[0] } else { pair[1] + DAY - pair[0] };
    let mut lengths: Vec<Nanos> = times.windows(2).map(apart).collect();
    let first = lengths.first().copied().filter(|first| *first > Nanos::ZERO)?;
    lengths.insert(0, first);
    // Rows are printed a few milliseconds late now and then, and intervals are whole seconds.
    let whole = |length: Nanos| Nanos::from_secs_f64(length.as_secs_f64().round().max(1.0));
    Some(lengths.into_iter().map(whole).collect())
}

fn ticks(load: &mut ImportedLoad, intervals: &[&Row], average: Option<&Row>) -> Read<()> {
    let Some(lengths) = lengths(intervals) else {
        let text = "Rows have no time of day, or there is only one: how long an interval is, is not told.";
        load.unknown.push(("interval", text.to_owned()));
        return Ok(());
    };
    let first: u64 =
        average.and_then(|row| row.interval.strip_prefix("avg_")?.split('-').next()?.parse().ok()).unwrap_or_default();
    let mut start = Nanos::ZERO;
    for (row, length) in intervals.iter().zip(lengths) {
        let get = |name: &str, what: &str| {
            let text = row.columns.get(name).map_or("", String::as_str);
            number_at(row.line, text, what)
        };
        let (rate, reads) =
            (get("rate", "the rate of an interval")?, get("read%", "the percentage of reads")?.min(100.0));
        let bytes = get("bytes/io", "the bytes of a request")?;
        let n = (rate * length.as_secs_f64()).min(1e12);
        let of = |share: f64| {
            let requests = (n * share / 100.0).round() as u64;
            let bytes = (requests as f64 * bytes).min(1e17) as u64;
            Counts { offered: requests, committed: requests, bytes, ..Counts::default() }
        };
        let mut tick = LoadTick::new(start, start + length, vec![of(reads), of(100.0 - reads)]);
        tick.measured = row.interval.parse::<u64>().is_ok_and(|interval| interval >= first);
        load.ticks.push(tick);
        for (name, unit) in [("resp", "ms"), ("resp_std", "ms"), ("resp_max", "ms")] {
            let figure = row.columns.get(name).and_then(|value| Figure::new(name, value, unit));
            load.figures.extend(figure.map(|figure| figure.over(start, start + length)));
        }
        start += length;
    }
    load.fact(SECONDS_FACT, "from the rows of intervals: rate x interval, rounded");
    Ok(())
}
