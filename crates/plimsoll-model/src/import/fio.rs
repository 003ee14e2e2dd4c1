//! fio's JSON and JSON+.
//!
//! JSON+ has the buckets of completion latencies, from which histograms are made; JSON has mean, maximum and percentiles,
//! which stand as reported. Jobs of one name are workers of one load, in their order.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fault::{Fault, MOST, Read};
use super::load::{Figure, ImportedLoad, LoadShare, LoadTick, LoadWindow};
use super::{PERCENTILES_FACT, RESPONSE_FACT, Tool};
use crate::fio::{FioError, FioJob, FioOutput, Latencies, Side, parse_with_document};
use crate::hist::Hist;
use crate::lane::Counts;
use crate::record::{BlockPoint, BlockStreamInfo, PointId};
use crate::units::Nanos;

const SYNC: &str = "sync";

/// One load for each name of a job.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let (output, document) = parse_with_document(text).map_err(|error| fault(text, &error))?;
    if output.jobs.is_empty() {
        return Err(Fault::end(text, "at least one job in `jobs`"));
    }
    let global = options(document.get("global options"));
    let jobs = document.get("jobs").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for job in &output.jobs {
        if !names.contains(&job.name.as_str()) {
            names.push(&job.name);
        }
    }
    let load = |(index, name): (usize, &&str)| {
        let own: Vec<(&FioJob, &Value)> = output.jobs.iter().zip(&jobs).filter(|(job, _)| job.name == **name).collect();
        of_job(text, &output, index, &own, &global)
    };
    let mut loads = names.iter().enumerate().map(load).collect::<Read<Vec<ImportedLoad>>>()?;
    if loads.len() > 1 {
        let what = "fio's output does not tell whether its jobs ran one after the other or at the same time: each stands \
                    for itself.";
        loads.iter_mut().for_each(|load| load.unknown.push(("concurrency", what.to_owned())));
    }
    Ok(loads)
}

/// The line of the field, as far as its last name is found in the text.
fn fault(text: &str, error: &FioError) -> Fault {
    let lines = text.lines().count().max(1);
    match error {
        FioError::Field { field, why } => {
            let last = field.rsplit('.').next().unwrap_or(field).trim_end_matches(|c: char| "[]0123456789".contains(c));
            let line = text.lines().position(|line| line.contains(&format!("\"{last}\""))).map_or(lines, |at| at + 1);
            Fault::at(line, &format!("{field} {why}"), "the fields of fio 3's JSON")
        }
        FioError::Syntax(why) => {
            // serde_json counts from the document's first line.
            let begin = text.lines().position(|line| line.starts_with('{')).unwrap_or_default();
            let of_document = why.split(" line ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
            let line = begin + of_document.unwrap_or(1).max(1);
            Fault::at(line.min(lines), why, "one whole JSON document of fio")
        }
        other => Fault::at(1, &other.to_string(), "JSON, as fio prints it with --output-format=json or json+"),
    }
}

type Options = BTreeMap<String, String>;

fn options(value: Option<&Value>) -> Options {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    pairs.map(|(key, value)| (key.clone(), text(value))).collect()
}

fn of_job(
    text: &str,
    output: &FioOutput,
    index: usize,
    own: &[(&FioJob, &Value)],
    global: &Options,
) -> Read<ImportedLoad> {
    let mut asked = global.clone();
    asked.extend(options(own.first().and_then(|(_, value)| value.get("job options"))));
    let name = own.first().map(|(job, _)| job.name.clone()).unwrap_or_default();
    if let Some((job, _)) = own.iter().find(|(job, _)| !is_sane(job)) {
        let line = text.lines().position(|line| line.contains(&job.name)).unwrap_or_default() + 1;
        return Err(Fault::at(line, &job.name, "counts, times and latencies that can be of a run"));
    }
    let mut load = ImportedLoad::new(Tool::Fio);
    load.version = output.version.trim_start_matches("fio-").to_owned();
    load.workload = name.clone();
    let sides = sides(own);
    load.txns = sides.iter().map(|(name, _)| (*name).to_owned()).collect();
    let lasted_ms = own.iter().map(|(job, _)| longest(job)).max().unwrap_or_default();
    counts(&mut load, own, lasted_ms);
    let group = own.first().map_or(1, |(_, _)| own.len().max(1));
    let stream = stream(&asked);
    // With group_reporting one entry stands for all jobs.
    let jobs = asked.get("numjobs").and_then(|n| n.parse::<u32>().ok()).unwrap_or(1).clamp(1, 100_000);
    let workers = if group > 1 { group as u32 } else { jobs };
    load.users = stream.depth.saturating_mul(workers);
    load.offered_per_second = stream.per_second.map(|rate| rate * f64::from(workers));
    load.block = Some(BlockPoint {
        point: PointId(0),
        profile: String::new(),
        job: name,
        job_index: index as u32,
        workers,
        worker_bytes: asked.get("size").and_then(|size| bytes(size)).unwrap_or_default(),
        fill: 0.0,
        share_percent: None,
        streams: vec![stream],
    });
    facts(&mut load, &asked);
    figures(&mut load, own);
    if let Some((job, _)) = own.iter().find(|(job, _)| job.error != 0) {
        load.fact("import.error", format!("fio ended with error {} (errno) in job {}", job.error, job.name));
    }
    let ended = Nanos::from_millis(output.timestamp_ms.min(4_000_000_000_000));
    // What fio tells is when it counted; it began as long before as its job lasted.
    load.started = Some(ended.saturating_sub(Nanos::from_millis(lasted_ms))).filter(|start| start.0 > 0);
    Ok(load)
}

/// Whether sums of it cannot overflow.
fn is_sane(job: &FioJob) -> bool {
    let fine = |n: u64| n as f64 <= MOST;
    let latencies =
        |l: &Latencies| fine(l.n) && l.max.0 < 1 << 60 && l.mean_ns.abs() < 1e18 && l.bins.values().all(|n| fine(*n));
    let side = |s: &Side| {
        s.io_bytes < 1 << 60 && fine(s.total_ios) && s.runtime_ms < 100_000_000_000 && latencies(s.latencies())
    };
    let sync = job.sync.as_ref().is_none_or(|sync| fine(sync.total) && latencies(&sync.latency));
    side(&job.read) && side(&job.write) && side(&job.trim) && sync
}

fn longest(job: &FioJob) -> u64 {
    [&job.read, &job.write, &job.trim].map(|side| side.runtime_ms).into_iter().max().unwrap_or_default()
}

type OfJob = fn(&FioJob) -> Option<Part<'_>>;

/// One kind of request of one job.
struct Part<'a> {
    requests: u64,
    bytes: u64,
    latencies: &'a Latencies,
}

fn of_side(side: &Side) -> Option<Part<'_>> {
    let latencies = side.latencies();
    // Those that ended are in the buckets; while fio is cut off, some are under way.
    let requests = if latencies.bins.is_empty() { side.total_ios } else { ended(latencies) };
    (side.total_ios > 0).then_some(Part { requests, bytes: side.io_bytes, latencies })
}

fn ended(latencies: &Latencies) -> u64 {
    latencies.bins.values().fold(0, |sum, n| sum.saturating_add(*n))
}

/// The kinds of requests that any of the jobs made.
fn sides(own: &[(&FioJob, &Value)]) -> Vec<(&'static str, OfJob)> {
    let all: [(&'static str, OfJob); 4] = [
        ("read", |job| of_side(&job.read)),
        ("write", |job| of_side(&job.write)),
        ("trim", |job| of_side(&job.trim)),
        (SYNC, |job| {
            let sync = job.sync.as_ref()?;
            let requests =
                if sync.latency.bins.is_empty() { sync.total.max(sync.latency.n) } else { ended(&sync.latency) };
            (requests > 0).then_some(Part { requests, bytes: 0, latencies: &sync.latency })
        }),
    ];
    let used: Vec<(&'static str, OfJob)> =
        all.iter().filter(|(_, of)| own.iter().any(|(job, _)| of(job).is_some())).copied().collect();
    if used.is_empty() { all[..1].to_vec() } else { used }
}

/// One tick of the whole, windows where there are buckets, and each worker's share.
fn counts(load: &mut ImportedLoad, own: &[(&FioJob, &Value)], lasted_ms: u64) {
    let (mut all, mut windows) = (Vec::new(), Vec::new());
    for (txn, (_, of)) in sides(own).iter().enumerate() {
        let (mut counts, mut response, mut complete) = (Counts::default(), Hist::new(), true);
        for (worker, (job, _)) in own.iter().enumerate() {
            let Some(part) = of(job) else { continue };
            let hist = part.latencies.hist();
            counts.add(&Counts {
                offered: part.requests,
                committed: part.requests,
                bytes: part.bytes,
                ..Counts::default()
            });
            complete &= !hist.is_empty();
            response.merge(&hist);
            if own.len() > 1 {
                let (worker, txn) = (worker as u32, txn as u32);
                load.shares.push(LoadShare { worker, txn, requests: part.requests, bytes: part.bytes, response: hist });
            }
        }
        all.push(counts);
        windows.push((complete && !response.is_empty()).then_some(LoadWindow { response, service: None }));
    }
    load.windows = windows;
    if lasted_ms > 0 {
        load.ticks = vec![LoadTick::new(Nanos::ZERO, Nanos::from_millis(lasted_ms), all)];
    }
    let merged = load.windows.iter().all(Option::is_some);
    load.fact(PERCENTILES_FACT, if merged { "merged" } else { "none" });
}

fn facts(load: &mut ImportedLoad, asked: &Options) {
    // A rate that is kept up whatever the medium does is an open loop, and fio counts from when it handed over.
    load.fact(RESPONSE_FACT, "start");
    for key in ["ioengine", "rate_process", "sync", "fsync", "fdatasync", "end_fsync", "norandommap", "time_based"] {
        if let Some(value) = asked.get(key) {
            load.fact(&format!("setting.{key}"), value.clone());
        }
    }
    let text = "Whether the test space was written before is not told: THIN cannot be judged.";
    load.unknown.push(("fill", text.to_owned()));
}

/// What JSON tells of latencies where it has no buckets, per job.
fn figures(load: &mut ImportedLoad, own: &[(&FioJob, &Value)]) {
    for (worker, (job, value)) in own.iter().enumerate() {
        let whose = |side: &str| if own.len() > 1 { format!("{side}, job {}", worker + 1) } else { side.to_owned() };
        for (side, told) in [("read", &job.read), ("write", &job.write), ("trim", &job.trim)] {
            if told.total_ios == 0 {
                continue;
            }
            let name = whose(side);
            let put = |load: &mut ImportedLoad, what: &str, value: String, unit: &str| {
                load.figures.extend(Figure::new(what, &value, unit).map(|figure| figure.of_txn(&name)));
            };
            put(load, "iops", told.iops.to_string(), "1/s");
            put(load, "bw_bytes", told.bytes_per_second.to_string(), "bytes/s");
            let latencies = told.latencies();
            let key = if told.total.bins.is_empty() { "clat_ns" } else { "lat_ns" };
            if !latencies.bins.is_empty() {
                continue;
            }
            put(load, &format!("{key} mean"), latencies.mean_ns.to_string(), "ns");
            put(load, &format!("{key} stddev"), latencies.stddev_ns.to_string(), "ns");
            put(load, &format!("{key} max"), latencies.max.0.to_string(), "ns");
            let percentiles = value.get(side).and_then(|side| side.get(key)?.get("percentile")?.as_object());
            for (percentile, ns) in percentiles.into_iter().flatten() {
                let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
                put(load, &format!("{key} {percentile} %"), ns.to_string(), "ns");
            }
        }
    }
}

/// What each job asks for; fio's defaults (HOWTO) where it says nothing.
fn stream(asked: &Options) -> BlockStreamInfo {
    let number = |key: &str| asked.get(key).and_then(|value| value.trim().parse::<u32>().ok());
    let is_on = |key: &str| asked.get(key).is_some_and(|value| value.trim() != "0");
    let kind = asked.get("rw").or(asked.get("readwrite")).map_or("read", String::as_str);
    let mixed = kind.contains("rw") || kind.contains("readwrite");
    let reads = match kind {
        _ if mixed => number("rwmixread").or(number("rwmixwrite").map(|w| 100 - w.min(100))).unwrap_or(50).min(100),
        _ if kind.contains("read") => 100,
        _ => 0,
    };
    let (read, write) = block_sizes(asked);
    let flush = |key: &str| number(key).filter(|n| *n > 0);
    let per_second = asked.get("rate_iops").map(|rates| {
        let of = |rate: &str| rate.trim().parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= MOST);
        rates.split(',').filter_map(of).sum::<f64>()
    });
    BlockStreamInfo {
        name: String::new(),
        read_percent: reads,
        random_percent: if kind.starts_with("rand") { 100 } else { 0 },
        read_sizes: if reads > 0 { vec![(read, 100)] } else { Vec::new() },
        write_sizes: if reads < 100 { vec![(write, 100)] } else { Vec::new() },
        depth: number("iodepth").unwrap_or(1).clamp(1, 1_000_000),
        threads: 1,
        per_second: per_second.filter(|rate| *rate > 0.0),
        access: asked.get("random_distribution").map_or("uniform", String::as_str).replace("random", "uniform"),
        compressible_percent: number("buffer_compress_percentage").unwrap_or_default().min(100),
        direct: is_on("direct") || asked.get("buffered").is_some_and(|value| value == "0"),
        sync: match flush("fsync").or(flush("fdatasync")) {
            Some(n) => format!("flush:{n}"),
            None if is_on("sync") => "each_write".into(),
            None => "none".into(),
        },
    }
}

/// `4k`, `4k,8k`; bsrange and bssplit are not one size, so that 0 stands for them.
fn block_sizes(asked: &Options) -> (u64, u64) {
    if asked.contains_key("bsrange") || asked.contains_key("bssplit") {
        return (0, 0);
    }
    let written = asked.get("bs").or(asked.get("blocksize")).map_or("4k", String::as_str);
    let mut sizes = written.split(',').map(|size| bytes(size).unwrap_or_default());
    let read = sizes.next().unwrap_or_default();
    (read, sizes.next().unwrap_or(read))
}

/// fio's sizes: `k` is 1024 unless `kb_base` says otherwise.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let power = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024u64.pow(power)).filter(|bytes| *bytes < 1 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_fio_writes_them() {
        assert_eq!(["4k", "8M", "1GiB", "512", "2kb"].map(bytes), [4096, 8 << 20, 1 << 30, 512, 2048].map(Some));
        assert_eq!(["x", "4%", "99999999999999g"].map(bytes), [None, None, None]);
    }
}
