//! A run of vdbench as a load.

use jiff::civil::Time;

use super::super::block::{ImportedJob, stream};
use super::super::fault::Read;
use super::super::lines::NumberedLine;
use super::super::load::{ImportedLoad, LoadTick, PrintedFigures, Span, completed, sum_of};
use super::super::tool::Tool;
use super::super::when;
use super::run::{VdbenchInterval, VdbenchRow, VdbenchRun};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CheckDetail, CountsSource, ImportNote};
use plimsoll_record::{BlockPoint, BlockStreamInfo};

pub(super) const TOOL: Tool = Tool::new("vdbench", "vdbench output");

const DAY: Nanos = Nanos::from_secs(86_400);
const MIB: f64 = 1_048_576.0;
/// vdbench 5.04.05 averages over intervals that its own row name excludes.
const AVERAGE_DIFFERS: f64 = 0.01;

pub(super) fn of_run(index: usize, run: &VdbenchRun) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(TOOL);
    load.version = run.version.trim_start_matches("vdbench").to_owned();
    load.version.retain(|c| c.is_ascii_digit() || c == '.');
    load.workload = run.name.clone();
    load.txns = ["read", "write", "other"].map(str::to_owned).to_vec();
    load.offered_per_second = run.offered_per_second;
    for (key, value) in &run.parameters {
        load.parameters.insert(key.clone(), plain(value));
    }
    if let Some(average) = &run.average {
        add_figures(&mut load.figures, average);
    }
    ticks(&mut load, run)?;
    let is_of_files = run.first("read_rate").is_some();
    if !is_of_files || load.ticks.iter().all(|tick| tick.counts[2].committed == 0) {
        load.txns.truncate(2);
        for tick in &mut load.ticks {
            tick.counts.truncate(2);
        }
    }
    load.windows = vec![None; load.txns.len()];
    if !["", "UTC", "GMT"].contains(&run.zone.as_str()) && load.started.is_some() {
        let zone = run.zone.clone();
        load.note(ImportNote::ZoneIgnored { zone });
    }
    check(&mut load, run);
    load.users = threads(&load).unwrap_or_default();
    load.block = Some(block(&load, index, run));
    load.latencies("start", "none");
    load.note(ImportNote::PageCacheUnknown);
    Ok(load)
}

/// `4096.0000` and `4k` are `4096`, so that both files of a run have the same.
fn plain(value: &str) -> String {
    let digits = value.trim_end_matches(['k', 'K', 'm', 'M']);
    let factor = match value[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1024.0,
        "m" => MIB,
        _ => return value.to_owned(),
    };
    let number = digits.parse::<f64>().ok().filter(|n| n.is_finite());
    number.map_or_else(|| value.to_owned(), |n| (n * factor).to_string())
}

/// Columns of the average, but for what was asked for and operations that did not happen.
fn add_figures(figures: &mut PrintedFigures, average: &VdbenchRow) {
    for cell in &average.columns {
        let is_main = matches!(cell.name.as_str(), "rate" | "resp" | "mb/sec" | "read%");
        let is_zero = cell.value.parse() == Ok(0.0);
        if let Some(unit) = unit(&cell.name).filter(|_| is_main || !is_zero) {
            figures.add(&cell.name, &cell.value, unit);
        }
    }
}

fn unit(name: &str) -> Option<&'static str> {
    Some(match name {
        "reqrate" | "interval" | "threads" => return None,
        "mb/sec" | "mb_read" | "mb_write" => "MiB/s",
        "decimal_mb/sec" => "MB/s",
        "bytes/io" => "bytes",
        "read%" | "cpu_used" | "cpu_kernel" => "%",
        "queue_depth" => "requests",
        _ if name.contains("rate") => "1/s",
        _ if name.contains("resp") => "ms",
        "read_max" | "write_max" | "read_std" | "write_std" => "ms",
        _ => return None,
    })
}

/// Time from one time of day to a later one.
fn apart(earlier: Nanos, later: Nanos) -> Nanos {
    if later >= earlier {
        later - earlier
    } else {
        later + DAY - earlier
    }
}

/// Rows are printed a few milliseconds late now and then, and intervals are whole seconds.
fn whole(length: Nanos) -> Nanos {
    Nanos::from_secs_f64(length.as_secs_f64().round().max(1.0))
}

/// Times since the row before, of the first since the start of the run, else as long as the second.
fn lengths(run: &VdbenchRun) -> Option<Vec<Nanos>> {
    let times: Option<Vec<Nanos>> = run.intervals.iter().map(|row| row.time).collect();
    let times = times?;
    let pairs = times.windows(2);
    let mut lengths: Vec<Nanos> = pairs.map(|pair| whole(apart(pair[0], pair[1]))).collect();
    let first = match lengths.first() {
        Some(second) => *second,
        None => whole(apart(run.start?, *times.first()?)),
    };
    lengths.insert(0, first);
    Some(lengths)
}

/// Whether the interval is measured: the average names those that are; without it all but the first, or all but the
/// warm-up.
fn is_measured(run: &VdbenchRun, length: Nanos, n: u64) -> bool {
    match run.average.as_ref().map(|average| average.interval) {
        Some(VdbenchInterval::Average { first, last }) if first <= last => {
            (first..=last).contains(&n)
        }
        // All were warm-up: vdbench averages over them, or over nothing.
        Some(_) => n >= 1,
        None => {
            let length_s = length.as_secs_f64().max(1.0);
            let warmup = run.warmup_s.map_or(1.0, |warmup_s| warmup_s / length_s);
            n > warmup.clamp(0.0, 1e6) as u64
        }
    }
}

fn ticks(load: &mut ImportedLoad, run: &VdbenchRun) -> Read<()> {
    if run.intervals.is_empty() {
        return only_average(load, run);
    }
    let Some(lengths) = lengths(run) else {
        load.note(ImportNote::IntervalUnknown);
        return Ok(());
    };
    load.started = started(run, &run.intervals[0], lengths[0]);
    let mut start = Nanos::ZERO;
    for (row, length) in run.intervals.iter().zip(&lengths) {
        let over = Span {
            start,
            end: start + *length,
        };
        let mut tick = LoadTick::new(over, counts(row, *length)?);
        tick.measured =
            matches!(row.interval, VdbenchInterval::Single(n) if is_measured(run, lengths[0], n));
        load.ticks.push(tick);
        for name in ["resp", "resp_std", "resp_max"] {
            let value = row.get(name).unwrap_or_default();
            load.figures.add_over(over, name, value, "ms");
        }
        start = over.end;
    }
    let source = CountsSource::VdbenchRows;
    load.note(ImportNote::CountsFrom { source });
    Ok(())
}

/// `totals.html` has no intervals: their length is that of the run divided by their number.
fn only_average(load: &mut ImportedLoad, run: &VdbenchRun) -> Read<()> {
    let Some(row) = &run.average else {
        return Ok(());
    };
    let VdbenchInterval::Average { first, last } = row.interval else {
        return Ok(());
    };
    let Some((start, end)) = run.start.zip(row.time) else {
        return Ok(());
    };
    if first == 0 || first > last || last > 1_000_000 {
        return Ok(());
    }
    let length = whole(Nanos(apart(start, end).0 / last));
    let measured = length * (last + 1 - first);
    let span = Span {
        start: Nanos::ZERO,
        end: measured,
    };
    load.started = started(run, row, length * last);
    load.ticks = vec![LoadTick::new(span, counts(row, measured)?)];
    let source = CountsSource::VdbenchAverage;
    load.note(ImportNote::CountsFrom { source });
    Ok(())
}

/// Since 1970, by the day that the output has and the row that ends `length` after the start.
fn started(run: &VdbenchRun, row: &VdbenchRow, length: Nanos) -> Option<Nanos> {
    let midnight = when::at(run.day?, Time::midnight())?;
    Some((midnight + row.time?).saturating_sub(length))
}

/// Reads, writes and other operations.
fn counts(row: &VdbenchRow, length: Nanos) -> Read<Vec<Counts>> {
    let seconds = length.as_secs_f64();
    let rate = column(row, "rate")?;
    if row.get("read_rate").is_some() {
        let read = column(row, "read_rate")?;
        let write = column(row, "write_rate")?;
        // Rates are printed with as few as four digits.
        let rest = rate - read - write;
        let other = if rest > rate * 0.005 { rest } else { 0.0 };
        return Ok(vec![
            moved(read * seconds, column(row, "mb_read")? * MIB * seconds),
            moved(write * seconds, column(row, "mb_write")? * MIB * seconds),
            moved(other * seconds, 0.0),
        ]);
    }
    let reads = column(row, "read%")?.min(100.0);
    let bytes = column(row, "bytes/io")?;
    let mut counts = vec![Counts::default(); 3];
    for (counts, percent) in counts.iter_mut().zip([reads, 100.0 - reads]) {
        *counts = moved(rate * percent / 100.0 * seconds, 0.0);
        counts.bytes = (counts.committed as f64 * bytes).min(1e17) as u64;
    }
    Ok(counts)
}

fn column(row: &VdbenchRow, name: &str) -> Read<f64> {
    let text = row.get(name).unwrap_or_default();
    let line = NumberedLine {
        number: row.line,
        text,
    };
    line.number(text, &format!("`{name}` of a row"))
}

fn moved(requests: f64, bytes: f64) -> Counts {
    completed(requests.round().min(1e12) as u64, bytes.min(1e17) as u64)
}

/// What the output shows to be incomplete or not to fit together.
fn check(load: &mut ImportedLoad, run: &VdbenchRun) {
    let measured = load.ticks.iter().filter(|tick| tick.measured);
    let measured: Vec<&LoadTick> = measured.collect();
    let Some(average) = &run.average else {
        load.failure = Some(CheckDetail::AverageMissing {
            name: run.name.clone(),
            intervals: measured.len() as u64,
        });
        return;
    };
    let committed = sum_of(measured.iter().flat_map(|tick| &tick.counts)).committed;
    let lengths = measured.iter().map(|tick| tick.end - tick.start);
    let seconds: f64 = lengths.map(Nanos::as_secs_f64).sum();
    let Some(printed_per_second) = average.number("rate").filter(|_| seconds > 0.0) else {
        return;
    };
    let counted_per_second = committed as f64 / seconds;
    let apart = (counted_per_second - printed_per_second).abs();
    if apart > (printed_per_second * AVERAGE_DIFFERS).max(1.0) {
        load.note(ImportNote::AverageDiffers {
            printed_per_second,
            counted_per_second,
        });
    }
}

fn parameter(load: &ImportedLoad, name: &str) -> Option<f64> {
    let number: f64 = load.parameters.get(name)?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

fn threads(load: &ImportedLoad) -> Option<u32> {
    let threads = parameter(load, "threads").filter(|n| (1.0..=1e6).contains(n));
    threads.map(|n| n as u32)
}

fn observed(run: &VdbenchRun, name: &str) -> Option<f64> {
    let mut values = run.rows().filter_map(|row| row.number(name));
    values.find(|value| *value > 0.0)
}

fn block(load: &ImportedLoad, index: usize, run: &VdbenchRun) -> BlockPoint {
    let size = parameter(load, "xfersize")
        .or(observed(run, "bytes/io"))
        .or(observed(run, "xfersize"))
        .unwrap_or_default()
        .min(1e12) as u64;
    let sizes = [(size, 100)];
    let random = parameter(load, "seekpct").unwrap_or_default().min(100.0);
    let stream = BlockStreamInfo {
        random_percent: random as u32,
        depth: threads(load).unwrap_or(1),
        per_second: load.offered_per_second,
        access: "unknown".into(),
        ..stream(read_percent(load, run), if size > 0 { &sizes } else { &[] })
    };
    let job = ImportedJob {
        name: run.name.clone(),
        index: index as u32,
        workers: 1,
        worker_bytes: 0,
        stream,
    };
    job.point()
}

fn read_percent(load: &ImportedLoad, run: &VdbenchRun) -> u32 {
    let asked = parameter(load, "rdpct").or(observed(run, "read%"));
    let percent = asked.or_else(|| {
        let reads = observed(run, "read_rate")?;
        let all = observed(run, "rate").unwrap_or(reads).max(reads);
        Some(100.0 * reads / all)
    });
    percent.unwrap_or_default().clamp(0.0, 100.0).round() as u32
}
