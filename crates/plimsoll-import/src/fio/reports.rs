//! The JSON documents of a file: reports of one run (`--status-interval`, cumulative), and runs after each other.

use serde_json::Value;

use super::job::{FioDisk, FioJobEntry, Report, Run};
use super::options::{FioOptions, options};
use crate::fault::{COMPLETE, Fault, Read};
use crate::fio_output::{CLIENT_JOBS, DirectionStats, FioError, FioJob, JOBS, Latencies, output};
use crate::lines::MOST;

/// Second field of a line of `--output-format=terse`.
const TERSE: &str = ";fio-";
const RUN_WITH_JSON: &str = "Run fio with --output-format=json+ --output=FILE";
/// Before the report of a run that a user stopped.
const SIGNAL: &str = "fio: terminating on signal";
const EXPECTED: &str = "JSON, as fio prints it with --output-format=json or json+";
/// 2096, in milliseconds since 1970.
const LATEST_MS: u64 = 4_000_000_000_000;

pub(super) fn runs(text: &str) -> Read<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for report in reports(text)? {
        match runs.last_mut() {
            Some(run) if is_continued(run.whole(), &report) => run.reports.push(report),
            _ => runs.push(Run {
                reports: vec![report],
                is_interrupted: false,
            }),
        }
    }
    // The message does not show of which of several runs it is.
    if let [run] = runs.as_mut_slice() {
        run.is_interrupted = text.lines().any(|line| line.starts_with(SIGNAL));
    }
    for run in &runs {
        verify_growth(run)?;
    }
    Ok(runs)
}

fn verify_growth(run: &Run) -> Read<()> {
    let mut pairs = run.reports.windows(2);
    match pairs.find(|pair| pair[1].falls_below(&pair[0])) {
        Some(pair) if !run.has_ramp() => Err(Fault::at(
            pair[1].line,
            "fewer requests than in the report before",
            "counts that grow from report to report of one run",
        )),
        _ => Ok(()),
    }
}

/// Whether `later` is of the same run: the same jobs, which had begun when this report was printed.
fn is_continued(report: &Report, later: &Report) -> bool {
    let mut jobs = report.jobs.iter().zip(&later.jobs);
    report.version == later.version
        && report.jobs.len() == later.jobs.len()
        && jobs.all(|(a, b)| a.is_same(b))
        && report.at_ms <= later.at_ms
        && is_during(report, later)
}

fn is_during(report: &Report, later: &Report) -> bool {
    let jobs = report.jobs.iter().zip(&later.jobs);
    let starts: Vec<(u64, u64)> = jobs
        .filter_map(|(a, b)| a.start_ms.zip(b.start_ms))
        .collect();
    if !starts.is_empty() {
        return starts.iter().all(|(a, b)| a == b);
    }
    // Not `job_runtime`, which is the sum over the jobs of a group.
    let is_running = later.longest_ms() > later.at_ms - report.at_ms;
    let Some(elapsed_ms) = later.elapsed_ms() else {
        return is_running;
    };
    // The whole second before the last one ended is when the later run had begun at the latest.
    let latest_ms = later.at_ms.saturating_sub(elapsed_ms.saturating_sub(1000));
    let earliest_ms = later.at_ms.saturating_sub(elapsed_ms);
    latest_ms <= report.at_ms || (earliest_ms <= report.at_ms && is_running)
}

fn reports(text: &str) -> Read<Vec<Report>> {
    // Older versions print `nan` where nothing was counted. Lines and places stay where they are.
    let valid = text
        .contains("nan")
        .then(|| text.replace(": -nan", ":    0").replace(": nan", ":   0"));
    let text = valid.as_deref().unwrap_or(text);
    let mut reports = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(content) = rest.split_inclusive('\n').next() {
        let mut read = content;
        if content.starts_with('{') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) => {
                    read = &rest[..values.byte_offset()];
                    reports.push(report(read, line, &value)?);
                }
                Some(Err(error)) => return Err(syntax(rest, line, &error)),
                None => {}
            }
            line += read.matches('\n').count();
        } else {
            if !reports.is_empty() && !is_message(content) {
                let expected = "a message of fio, or its next JSON document";
                return Err(Fault::at(line, content, expected));
            }
            line += 1;
        }
        rest = &rest[read.len()..];
    }
    if reports.is_empty() {
        return Err(no_json(text));
    }
    Ok(reports)
}

fn syntax(document: &str, line: usize, error: &serde_json::Error) -> Fault {
    let lines = document.lines().count().max(1);
    let line = line + error.line().clamp(1, lines) - 1;
    let expected = "one whole JSON document of fio";
    Fault::at(line, &error.to_string(), expected).with_advice(COMPLETE)
}

/// What fio prints between documents: messages (`fio: …`, `job: …`) and its report for people.
fn is_message(line: &str) -> bool {
    let trimmed = line.trim();
    let is_json = trimmed.starts_with(['{', '}', '[', ']', '"']);
    let first = trimmed.split_whitespace().next().unwrap_or_default();
    let begins = [
        "fio-",
        "Starting ",
        "Jobs: ",
        "Run status ",
        "Disk stats ",
        "...",
        "<",
        "hostname=",
    ];
    let is_text = line.starts_with([' ', '\t'])
        || first.ends_with(':')
        || first.contains(TERSE)
        || trimmed.contains(": (g")
        || begins.iter().any(|mark| trimmed.starts_with(mark));
    trimmed.is_empty() || (is_text && !is_json)
}

fn no_json(text: &str) -> Fault {
    let found = if text.lines().take(400).any(|line| line.contains(TERSE)) {
        "fio's terse output, which has no distribution"
    } else if is_for_people(text) {
        "fio's output for people, which has rounded figures"
    } else {
        let first = text.lines().find(|line| !line.trim().is_empty());
        return Fault::at(1, first.unwrap_or_default(), EXPECTED).with_advice(RUN_WITH_JSON);
    };
    Fault {
        line: 1,
        found: found.into(),
        expected: "JSON".into(),
        advice: RUN_WITH_JSON,
    }
}

/// Whether a text is of fio, and no JSON.
pub(crate) fn is_for_people(text: &str) -> bool {
    let mut lines = text.lines().take(400);
    lines.any(|line| line.contains(": (groupid=") || line.contains(TERSE))
}

fn report(document: &str, line: usize, value: &Value) -> Read<Report> {
    let whole = output(value).map_err(|error| wrong_field(document, line, &error))?;
    let global = options(value.get("global options"));
    let entries = [CLIENT_JOBS, JOBS]
        .into_iter()
        .find_map(|key| value.get(key)?.as_array());
    let mut jobs = Vec::new();
    for (fio, entry) in whole.jobs.into_iter().zip(entries.into_iter().flatten()) {
        if !is_sum(&fio, entry) {
            jobs.push(job(fio, entry, &global));
        }
    }
    if jobs.is_empty() {
        let expected = "at least one job in `jobs`";
        return Err(Fault::at(line, "a document without jobs", expected));
    }
    if let Some(job) = jobs.iter().find(|job| !is_sane(&job.fio)) {
        let mut lines = document.lines();
        let within = lines.position(|line| line.contains(&job.fio.name));
        let line = line + within.unwrap_or_default();
        let expected = "counts, times and latencies that a run can have";
        return Err(Fault::at(line, &job.fio.name, expected));
    }
    Ok(Report {
        line,
        version: whole.version,
        at_ms: whole.timestamp_ms.min(LATEST_MS),
        jobs,
        disks: disks(value),
    })
}

/// Whether sums of it cannot overflow.
fn is_sane(job: &FioJob) -> bool {
    let sides = [&job.read, &job.write, &job.trim];
    let sync = job.sync.as_ref();
    sides.iter().all(|side| is_sane_side(side))
        && sync.is_none_or(|sync| is_sane_count(sync.total) && are_sane(&sync.latency))
}

fn is_sane_count(n: u64) -> bool {
    n as f64 <= MOST
}

fn is_sane_side(side: &DirectionStats) -> bool {
    side.io_bytes < 1 << 60
        && is_sane_count(side.total_ios)
        && side.runtime_ms < 100_000_000_000
        && are_sane(side.latencies())
}

fn are_sane(latencies: &Latencies) -> bool {
    is_sane_count(latencies.n)
        && latencies.max.0 < 1 << 60
        && latencies.mean_ns.abs() < 1e18
        && latencies.bins.values().all(|n| is_sane_count(*n))
}

/// A client adds the jobs of its servers up in a last entry.
fn is_sum(fio: &FioJob, entry: &Value) -> bool {
    fio.name == "All clients"
        && entry.get("hostname").is_some()
        && entry.get("job options").is_none()
}

fn job(fio: FioJob, entry: &Value, global: &FioOptions) -> FioJobEntry {
    let mut all = global.clone();
    all.extend(options(entry.get("job options")));
    // Of another clock than that of the day it is no time since 1970.
    let clock = all.get("job_start_clock_id");
    let is_day = clock.is_none_or(|clock| clock == "0");
    let start_ms = count(entry, "job_start").filter(|_| is_day);
    let runtime_ms = count(entry, "job_runtime").unwrap_or_default();
    FioJobEntry {
        fio,
        host: host(entry),
        options: all,
        global: global.clone(),
        group: entry
            .get("groupid")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        start_ms: start_ms.filter(|ms| (1..LATEST_MS).contains(ms)),
        elapsed_s: count(entry, "elapsed"),
        runtime_ms: runtime_ms.min(100_000_000_000),
        errors: count(entry, "total_err"),
        deepest: deepest(entry),
    }
}

fn disks(document: &Value) -> Vec<FioDisk> {
    const SECTOR_BYTES: u64 = 512;
    let disks = document.get("disk_util").and_then(Value::as_array);
    let disks = disks.into_iter().flatten().filter_map(|disk| {
        let reads = count(disk, "read_ios")?;
        let joined = count(disk, "read_merges").unwrap_or_default();
        let sectors = count(disk, "read_sectors");
        Some(FioDisk {
            name: disk.get("name")?.as_str()?.to_owned(),
            reads: reads.saturating_add(joined),
            read_bytes: sectors.map(|sectors| sectors.saturating_mul(SECTOR_BYTES)),
        })
    });
    disks.collect()
}

fn count(entry: &Value, key: &str) -> Option<u64> {
    entry.get(key)?.as_u64()
}

fn host(entry: &Value) -> Option<String> {
    let name = entry.get("hostname")?.as_str()?;
    let port = count(entry, "port").unwrap_or_default();
    Some(format!("{name}:{port}"))
}

/// Levels are `1`, `2` (to 3), `4` (to 7), …; the highest has no end.
fn deepest(entry: &Value) -> Option<u32> {
    let mut deepest = None;
    for (level, percent) in entry.get("iodepth_level")?.as_object()? {
        if percent.as_f64().is_some_and(|percent| percent > 0.0) {
            let end = match level.parse::<u32>() {
                Ok(low) => low.saturating_mul(2).saturating_sub(1),
                Err(_) => u32::MAX,
            };
            deepest = deepest.max(Some(end));
        }
    }
    deepest
}

/// The line of the field, as far as its last name is found in the document.
fn wrong_field(document: &str, line: usize, error: &FioError) -> Fault {
    let FioError::Field { field, why } = error else {
        return Fault::at(line, &error.to_string(), EXPECTED);
    };
    let last = field.rsplit('.').next().unwrap_or(field);
    let last = last.trim_end_matches(|c: char| "[]0123456789".contains(c));
    let name = format!("\"{last}\"");
    let mut lines = document.lines();
    let within = lines.position(|line| line.contains(&name));
    let within = within.unwrap_or(document.lines().count().saturating_sub(1));
    let found = format!("{field} {why}");
    Fault::at(line + within, &found, "the fields of fio 3's JSON")
}
