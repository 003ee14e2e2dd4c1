//! A run of vdbench as a load.

use jiff::civil::Time;
use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT};

use super::super::fault::{Read, number_at};
use super::super::load::{Figure, ImportedLoad, LoadTick};
use super::super::{Tool, when};
use super::{Columns, Interval, Row, Run};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::{BlockPoint, BlockStreamInfo, PointId};

const DAY: Nanos = Nanos::from_secs(86_400);
const MIB: f64 = 1_048_576.0;
/// vdbench 5.04.05 averages over intervals that its own row name excludes.
const AVERAGE_DIFFERS: f64 = 0.01;

pub(super) fn of_run(index: usize, run: &Run) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(Tool::Vdbench);
    load.version = run.version.trim_start_matches("vdbench").to_owned();
    load.version.retain(|c| c.is_ascii_digit() || c == '.');
    load.workload = run.name.clone();
    load.txns = vec!["read".to_owned(), "write".to_owned()];
    let file_system = run.first("read_rate").is_some();
    if file_system {
        load.txns.push("other".to_owned());
    }
    load.windows = vec![None; load.txns.len()];
    load.offered_per_second = run.offered_per_second;
    load.parameters = run
        .parameters
        .iter()
        .map(|(key, value)| (key.clone(), plain(value)))
        .collect();
    if let Some(average) = &run.average {
        load.figures = figures(&average.columns);
    }
    ticks(&mut load, run)?;
    if load.txns.len() > 2 && load.ticks.iter().all(|tick| tick.counts[2].committed == 0) {
        load.txns.truncate(2);
        load.windows.truncate(2);
        load.ticks
            .iter_mut()
            .for_each(|tick| tick.counts.truncate(2));
    }
    if !["", "UTC", "GMT"].contains(&run.zone.as_str()) && load.started.is_some() {
        load.unknown.push((
            "zone",
            format!("Times are in the zone {}, and are taken as UTC.", run.zone),
        ));
    }
    check(&mut load, run);
    block(&mut load, index, run);
    load.fact(RESPONSE_FACT, "start");
    load.fact(PERCENTILES_FACT, "none");
    let text = "The output does not show whether the page cache was bypassed (openflags) or data is compressible: CACHED and \
                ENTROPY are not evaluated.";
    load.unknown.push(("cache", text.to_owned()));
    Ok(load)
}

/// `4096.0000` and `4k` are `4096`, so that both files of a run have the same.
fn plain(value: &str) -> String {
    let (digits, factor) = match value.to_ascii_lowercase().pop() {
        Some('k') => (&value[..value.len() - 1], 1024.0),
        Some('m') => (&value[..value.len() - 1], MIB),
        _ => (value, 1.0),
    };
    digits
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite())
        .map_or_else(|| value.to_owned(), |n| (n * factor).to_string())
}

/// Columns of the average, but for what was asked for and operations that did not happen.
fn figures(columns: &Columns) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, value) in &columns.0 {
        let Some(unit) = unit(name) else { continue };
        let figure = Figure::new(name, value, unit);
        let main = matches!(name.as_str(), "rate" | "resp" | "mb/sec" | "read%");
        figures.extend(figure.filter(|figure| main || figure.value != 0.0));
    }
    figures
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

/// Which intervals are measured: those that the average names; without it all but the first, or all but the warm-up.
fn measured(run: &Run, length: Nanos) -> (u64, u64) {
    match run.average.as_ref().map(|average| average.interval) {
        Some(Interval::Average { first, last }) if first <= last => (first, last),
        // All were warm-up: vdbench averages over them, or over nothing.
        Some(_) => (1, u64::MAX),
        None => {
            let warmup = run
                .warmup_s
                .map_or(1.0, |warmup| warmup / length.as_secs_f64().max(1.0));
            (1 + warmup.clamp(0.0, 1e6) as u64, u64::MAX)
        }
    }
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
fn lengths(run: &Run) -> Option<Vec<Nanos>> {
    let times: Vec<Nanos> = run
        .intervals
        .iter()
        .map(|row| row.time)
        .collect::<Option<_>>()?;
    let mut lengths: Vec<Nanos> = times
        .windows(2)
        .map(|pair| whole(apart(pair[0], pair[1])))
        .collect();
    let since_start = || Some(whole(apart(run.start?, *times.first()?)));
    lengths.insert(0, lengths.first().copied().or_else(since_start)?);
    Some(lengths)
}

fn ticks(load: &mut ImportedLoad, run: &Run) -> Read<()> {
    if run.intervals.is_empty() {
        return only_average(load, run);
    }
    let Some(lengths) = lengths(run) else {
        let text =
            "Rows have no time of day, or there is only one: the length of an interval is unknown.";
        load.unknown.push(("interval", text.to_owned()));
        return Ok(());
    };
    load.started = started(run, &run.intervals[0], lengths[0]);
    let (first, last) = measured(run, lengths[0]);
    let mut start = Nanos::ZERO;
    for (row, length) in run.intervals.iter().zip(lengths) {
        let end = start + length;
        let mut tick = LoadTick::new(start, end, counts(row, length)?);
        tick.measured = matches!(row.interval, Interval::Single(n) if (first..=last).contains(&n));
        load.ticks.push(tick);
        for name in ["resp", "resp_std", "resp_max"] {
            let figure = row
                .columns
                .get(name)
                .and_then(|value| Figure::new(name, value, "ms"));
            load.figures
                .extend(figure.map(|figure| figure.over(start, end)));
        }
        start = end;
    }
    load.fact(
        SECONDS_FACT,
        "from the rows of intervals: rate x interval, rounded",
    );
    Ok(())
}

/// `totals.html` has no intervals: their length is that of the run divided by their number.
fn only_average(load: &mut ImportedLoad, run: &Run) -> Read<()> {
    let Some(row) = &run.average else {
        return Ok(());
    };
    let (Interval::Average { first, last }, Some((start, end))) =
        (row.interval, run.start.zip(row.time))
    else {
        return Ok(());
    };
    if first == 0 || first > last || last > 1_000_000 {
        return Ok(());
    }
    let length = whole(Nanos(apart(start, end).0 / last));
    let over = Nanos(length.0 * (last + 1 - first));
    load.started = started(run, row, Nanos(length.0 * last));
    load.ticks = vec![LoadTick::new(Nanos::ZERO, over, counts(row, over)?)];
    load.fact(SECONDS_FACT, "none: the average over the run x its length");
    Ok(())
}

/// Since 1970, by the day that the output has and the row that ends `length` after the start.
fn started(run: &Run, row: &Row, length: Nanos) -> Option<Nanos> {
    Some((when::at(run.day?, Time::midnight())? + row.time?).saturating_sub(length))
}

fn counts(row: &Row, length: Nanos) -> Read<Vec<Counts>> {
    let get = |name: &str| {
        number_at(
            row.line,
            row.columns.get(name).unwrap_or_default(),
            &format!("`{name}` of a row"),
        )
    };
    let of = |rate: f64, bytes: f64| {
        let requests = (rate * length.as_secs_f64()).round().min(1e12) as u64;
        Counts {
            offered: requests,
            committed: requests,
            bytes: bytes.min(1e17) as u64,
            ..Counts::default()
        }
    };
    let rate = get("rate")?;
    if row.columns.get("read_rate").is_some() {
        let (read, write) = (get("read_rate")?, get("write_rate")?);
        let moved = |mib_per_second: f64| mib_per_second * MIB * length.as_secs_f64();
        // Rates are printed with as few as four digits.
        let other = Some(rate - read - write)
            .filter(|other| *other > rate * 0.005)
            .unwrap_or_default();
        return Ok(vec![
            of(read, moved(get("mb_read")?)),
            of(write, moved(get("mb_write")?)),
            of(other, 0.0),
        ]);
    }
    let (reads, bytes) = (get("read%")?.min(100.0), get("bytes/io")?);
    let side = |percent: f64| {
        let counts = of(rate * percent / 100.0, 0.0);
        Counts {
            bytes: (counts.committed as f64 * bytes).min(1e17) as u64,
            ..counts
        }
    };
    Ok(vec![side(reads), side(100.0 - reads)])
}

/// What the output shows to be incomplete or not to fit together.
fn check(load: &mut ImportedLoad, run: &Run) {
    let measured: Vec<&LoadTick> = load.ticks.iter().filter(|tick| tick.measured).collect();
    let Some(average) = &run.average else {
        let text = format!(
            "{} ended early: it has no row avg_FIRST-LAST; figures are those of the {} intervals that are there",
            run.name,
            measured.len()
        );
        load.failure = Some(text);
        return;
    };
    let committed: u64 = measured
        .iter()
        .flat_map(|tick| &tick.counts)
        .map(|counts| counts.committed)
        .sum();
    let seconds: f64 = measured
        .iter()
        .map(|tick| (tick.end - tick.start).as_secs_f64())
        .sum();
    let Some(rate) = average.columns.number("rate").filter(|_| seconds > 0.0) else {
        return;
    };
    let own = committed as f64 / seconds;
    if (own - rate).abs() > (rate * AVERAGE_DIFFERS).max(1.0) {
        let text = format!(
            "vdbench's average rate is {rate}, and that of the intervals which it names is {own:.1}: its average is over \
             others (5.04.05 counts the first ones)."
        );
        load.unknown.push(("average", text));
    }
}

fn block(load: &mut ImportedLoad, index: usize, run: &Run) {
    let number = |name: &str| {
        let asked = load
            .parameters
            .get(name)
            .and_then(|value| value.parse::<f64>().ok());
        asked.filter(|value| value.is_finite() && *value >= 0.0)
    };
    let threads = number("threads")
        .filter(|n| (1.0..=1e6).contains(n))
        .map_or(0, |n| n as u32);
    let observed = |name: &str| {
        run.rows()
            .find_map(|row| row.columns.number(name).filter(|value| *value > 0.0))
    };
    let size = number("xfersize")
        .or(observed("bytes/io"))
        .or(observed("xfersize"))
        .unwrap_or_default()
        .min(1e12) as u64;
    let share = || {
        observed("read_rate")
            .map(|reads| 100.0 * reads / observed("rate").unwrap_or(reads).max(reads))
    };
    let reads = number("rdpct")
        .or(observed("read%"))
        .or_else(share)
        .unwrap_or_default()
        .clamp(0.0, 100.0)
        .round() as u32;
    let random = number("seekpct").unwrap_or_default().min(100.0) as u32;
    let sizes = |used: bool| {
        if used && size > 0 {
            vec![(size, 100)]
        } else {
            Vec::new()
        }
    };
    load.users = threads;
    load.block = Some(BlockPoint {
        point: PointId(0),
        profile: String::new(),
        job: run.name.clone(),
        job_index: index as u32,
        workers: 1,
        worker_bytes: 0,
        fill: 0.0,
        share_percent: None,
        streams: vec![BlockStreamInfo {
            name: String::new(),
            read_percent: reads,
            random_percent: random,
            read_sizes: sizes(reads > 0),
            write_sizes: sizes(reads < 100),
            depth: threads.max(1),
            threads: 1,
            per_second: load.offered_per_second,
            access: "unknown".into(),
            compressible_percent: 0,
            direct: false,
            sync: "none".into(),
        }],
    });
}
