//! diskspd's XML (`-Rxml`).
//!
//! Counts are those of each thread and target, seconds those of `-D`, percentiles those that diskspd takes from the
//! merged histograms of its threads; the histograms themselves are not in the output.

use std::collections::BTreeMap;

use super::block::{ImportedJob, stream};
use super::fault::{Fault, Read};
use super::format::{OutputFormat, OutputReader};
use super::lines::{LONGEST_S, number};
use super::load::{ImportedLoad, LoadTick, PrintedFigures, Span, completed};
use super::tool::Tool;
use super::when;
use super::xml::{Element, documents};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CountsSource, ImportNote};
use plimsoll_record::{BlockPoint, BlockStreamInfo};

pub(super) const TOOL: Tool = Tool::new("diskspd", "diskspd XML");

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| start.has_line("<Results>"),
    reader: OutputReader::Loads(read),
};

/// One load for each time span of each run: a file may hold the results of several.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut spans: Vec<TimeSpan> = Vec::new();
    for (run, root) in documents(text)?.iter().enumerate() {
        for mut span in of_run(root)? {
            span.name_job(run + 1, &spans);
            spans.push(span);
        }
    }
    Ok(spans.into_iter().map(|span| span.load).collect())
}

/// A load, and what it read and wrote.
struct TimeSpan {
    load: ImportedLoad,
    paths: Vec<String>,
}

fn of_run(root: &Element) -> Read<Vec<TimeSpan>> {
    if root.name != "Results" {
        let expected = "<Results>, as diskspd -Rxml writes it";
        return Err(Fault::at(root.line, &root.name, expected));
    }
    let system = root.child("System");
    let tool = system.and_then(|system| system.child("Tool"));
    let version = tool.and_then(|tool| tool.value("Version"));
    let began = system.and_then(|system| system.value("RunTime"));
    let mut next = began.and_then(when::instant);
    let asked = asked_spans(root);
    let mut spans = Vec::new();
    for (i, span) in root.all("TimeSpan").enumerate() {
        let asked = asked.get(i);
        let mut load = of_span(i, span, asked)?;
        load.version = version.unwrap_or_default().to_owned();
        load.started = next.map(|start| start + seconds(asked, "Warmup"));
        let ends = load.started.map(|start| start + seconds(asked, "Duration"));
        next = ends.map(|end| end + seconds(asked, "Cooldown"));
        spans.push(TimeSpan {
            load,
            paths: asked.map(Asked::paths).unwrap_or_default(),
        });
    }
    if spans.is_empty() {
        return Err(Fault::at(root.line, "<Results>", "<TimeSpan> in it"));
    }
    Ok(spans)
}

fn asked_spans(root: &Element) -> Vec<Asked<'_>> {
    let profile = root.child("Profile");
    let spans = profile.and_then(|profile| profile.child("TimeSpans"));
    let spans = spans.into_iter().flat_map(|spans| spans.all("TimeSpan"));
    spans.map(Asked::of).collect()
}

fn seconds(asked: Option<&Asked<'_>>, name: &str) -> Nanos {
    let value = asked.map_or(0.0, |asked| value_or_zero(asked.span, name));
    Nanos::from_secs_f64(value.min(LONGEST_S))
}

impl TimeSpan {
    /// A run with the same parameters and targets as one before repeats it; another is a job of its own.
    fn name_job(&mut self, run: usize, before: &[Self]) {
        let Some(job) = self.job().map(str::to_owned) else {
            return;
        };
        let of_run = format!("{job} of run ");
        let mut own = before.iter().filter(|span| {
            let name = span.job().unwrap_or_default();
            name == job || name.starts_with(&of_run)
        });
        let repeated = own
            .find(|span| span.load.parameters == self.load.parameters && span.paths == self.paths);
        let is_taken = before.iter().any(|span| span.job() == Some(&job));
        let name = match repeated.and_then(Self::job) {
            Some(name) => name.to_owned(),
            None if is_taken => format!("{of_run}{run}"),
            None => job,
        };
        if let Some(block) = &mut self.load.block {
            block.job = name;
        }
    }

    fn job(&self) -> Option<&str> {
        self.load.block.as_ref().map(|block| block.job.as_str())
    }
}

fn value(element: &Element, name: &str) -> Read<f64> {
    let Some(child) = element.child(name) else {
        let expected = format!("<{name}> in it");
        return Err(Fault::at(element.line, &element.name, expected));
    };
    number(&child.text)
        .ok_or_else(|| Fault::at(child.line, &child.text, format!("a number in <{name}>")))
}

fn value_or_zero(element: &Element, name: &str) -> f64 {
    element.value(name).and_then(number).unwrap_or_default()
}

fn of_span(index: usize, span: &Element, asked: Option<&Asked<'_>>) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(TOOL);
    load.workload = "diskspd".into();
    load.txns = vec!["read".to_owned(), "write".to_owned()];
    load.windows = vec![None, None];
    if let Some(error) = span.child("Error") {
        let expected = "the results of a time span";
        return Err(Fault::at(error.line, &error.text, expected));
    }
    let seconds = value(span, "TestTimeSeconds")?.min(LONGEST_S);
    let mut total = vec![Counts::default(); 2];
    for target in span.all("Thread").flat_map(|thread| thread.all("Target")) {
        total[0].add(&completed(
            value(target, "ReadCount")? as u64,
            value(target, "ReadBytes")? as u64,
        ));
        total[1].add(&completed(
            value(target, "WriteCount")? as u64,
            value(target, "WriteBytes")? as u64,
        ));
    }
    ticks(&mut load, span, &total, seconds)?;
    figures(&mut load.figures, span);
    match asked.filter(|asked| !asked.targets.is_empty()) {
        Some(asked) => {
            load.users = asked.in_flight();
            load.offered_per_second = asked.offered_per_second();
            load.parameters = parameters(asked);
            if asked.targets.len() > 1 {
                let targets = asked.targets.len();
                load.note(ImportNote::TargetsDiffer { targets });
            }
        }
        None => load.note(ImportNote::ProfileMissing),
    }
    let threads = span.value("ThreadCount").and_then(number);
    let threads = threads.unwrap_or(1.0).clamp(1.0, 1e6) as u32;
    let rate = load.offered_per_second;
    load.block = Some(block(index, asked, threads, rate));
    load.note(ImportNote::CompressibilityUnknown);
    load.latencies("start", "merged");
    Ok(load)
}

/// The buckets of `-D`; the last one also has the rest of the totals.
fn ticks(load: &mut ImportedLoad, span: &Element, total: &[Counts], seconds: f64) -> Read<()> {
    if seconds <= 0.0 {
        return Ok(());
    }
    let end = Nanos::from_secs_f64(seconds);
    let mut left = total.to_vec();
    let mut start = Nanos::ZERO;
    let buckets = span.child("Iops").into_iter();
    for bucket in buckets.flat_map(|iops| iops.all("Bucket")) {
        let millis = attribute(bucket, "SampleMillisecond")?;
        let ends = Nanos::from_secs_f64((millis / 1e3).min(seconds));
        if ends <= start {
            continue;
        }
        let length_s = (ends - start).as_secs_f64();
        let rates = [attribute(bucket, "Read")?, attribute(bucket, "Write")?];
        let counts = (0..2)
            .map(|side| take(&mut left[side], &total[side], rates[side] * length_s))
            .collect();
        load.ticks
            .push(LoadTick::new(Span { start, end: ends }, counts));
        start = ends;
    }
    if !load.ticks.is_empty() {
        let source = CountsSource::DiskspdBuckets;
        load.note(ImportNote::CountsFrom { source });
    }
    match load.ticks.last_mut() {
        Some(last) if end.saturating_sub(start) < Nanos::from_millis(1) => {
            for (counts, left) in last.counts.iter_mut().zip(&left) {
                counts.add(left);
            }
        }
        _ => load.ticks.push(LoadTick::new(Span { start, end }, left)),
    }
    Ok(())
}

fn attribute(bucket: &Element, name: &str) -> Read<f64> {
    let text = bucket.attribute(name).unwrap_or_default();
    number(text).ok_or_else(|| Fault::at(bucket.line, text, format!("a number in {name}=\"…\"")))
}

/// Requests of a bucket, no more than are left, with the bytes of the mean request.
fn take(left: &mut Counts, whole: &Counts, requests: f64) -> Counts {
    let n = (requests.round() as u64).min(left.committed);
    let each = match whole.committed {
        0 => 0.0,
        all => whole.bytes as f64 / all as f64,
    };
    let bytes = ((n as f64 * each).round() as u64).min(left.bytes);
    *left = completed(left.committed - n, left.bytes - bytes);
    completed(n, bytes)
}

/// The percentiles that are kept, out of more than a hundred.
const KEPT: [&str; 8] = ["0", "50", "90", "95", "99", "99.9", "99.99", "99.999"];

fn figures(figures: &mut PrintedFigures, span: &Element) {
    let cpu = span.child("CpuUtilization");
    if let Some(average) = cpu.and_then(|cpu| cpu.child("Average")) {
        for name in ["UsagePercent", "UserPercent", "KernelPercent"] {
            figures.add(name, average.value(name).unwrap_or_default(), "%");
        }
    }
    let Some(latency) = span.child("Latency") else {
        return;
    };
    for (side, txn) in [("Read", "read"), ("Write", "write"), ("Total", "")] {
        let average = latency.value(&format!("Average{side}Milliseconds"));
        figures.add_of(txn, "Average", average.unwrap_or_default(), "ms");
        for bucket in latency.all("Bucket") {
            let name = match bucket.value("Percentile").unwrap_or_default() {
                "100" => "Max".to_owned(),
                "0" => "Min".to_owned(),
                percentile if KEPT.contains(&percentile) => format!("Percentile {percentile}"),
                _ => continue,
            };
            let value = bucket.value(&format!("{side}Milliseconds"));
            figures.add_of(txn, &name, value.unwrap_or_default(), "ms");
        }
    }
}

/// The load that a time span asks for.
struct Asked<'a> {
    span: &'a Element,
    targets: Vec<&'a Element>,
}

impl<'a> Asked<'a> {
    fn of(span: &'a Element) -> Self {
        let targets = span.child("Targets").into_iter();
        Self {
            span,
            targets: targets.flat_map(|targets| targets.all("Target")).collect(),
        }
    }

    fn paths(&self) -> Vec<String> {
        let paths = self
            .targets
            .iter()
            .filter_map(|target| target.value("Path"));
        paths.map(str::to_owned).collect()
    }

    /// Threads that work on a target: its own, or those that all targets share (`-F`).
    fn threads(&self, target: &Element) -> f64 {
        let shared = value_or_zero(self.span, "ThreadCount");
        if shared > 0.0 {
            shared
        } else {
            value_or_zero(target, "ThreadsPerFile").max(1.0)
        }
    }

    /// Requests in flight over all threads and targets.
    fn in_flight(&self) -> u32 {
        let threads = value_or_zero(self.span, "ThreadCount");
        let shared = threads * value_or_zero(self.span, "RequestCount");
        let targets = self.targets.iter();
        let own = targets.map(|target| self.requests_of(target) * self.threads(target));
        let all = if shared > 0.0 { shared } else { own.sum() };
        all.clamp(0.0, 1e7) as u32
    }

    fn requests_of(&self, target: &Element) -> f64 {
        value_or_zero(target, "RequestCount").max(1.0)
    }

    /// `-g`, where every target has a limit.
    fn offered_per_second(&self) -> Option<f64> {
        let targets = self.targets.iter();
        let limits: Option<Vec<f64>> = targets.map(|target| self.limit_of(target)).collect();
        Some(limits?.iter().sum()).filter(|rate: &f64| *rate > 0.0)
    }

    /// Bytes per millisecond or IOPS, of each thread on each target.
    fn limit_of(&self, target: &Element) -> Option<f64> {
        let limit = target.child("Throughput")?;
        let value = number(&limit.text).filter(|value| *value > 0.0)?;
        let each = match limit.attribute("unit") {
            Some("IOPS") => value,
            _ => value * 1000.0 / value_or_zero(target, "BlockSize").max(1.0),
        };
        Some(each * self.threads(target))
    }
}

/// As in a profile, where they are set.
const PARAMETERS: [&str; 16] = [
    "BlockSize",
    "WriteRatio",
    "Random",
    "RandomRatio",
    "StrideSize",
    "InterlockedSequential",
    "DisableOSCache",
    "DisableAllCache",
    "DisableLocalCache",
    "WriteThrough",
    "MemoryMappedIo",
    "RequestCount",
    "ThreadsPerFile",
    "Throughput",
    "BurstSize",
    "ThinkTime",
];

fn parameters(asked: &Asked<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in ["ThreadCount", "RequestCount"] {
        if let Some(value) = asked.span.value(name).filter(|value| *value != "0") {
            found.insert(format!("TimeSpan{name}"), value.to_owned());
        }
    }
    for name in PARAMETERS {
        let targets = asked.targets.iter();
        let mut values: Vec<&str> = targets.filter_map(|target| target.value(name)).collect();
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            values.truncate(1);
        }
        let is_always = name == "WriteRatio" && !values.is_empty();
        let value = values.join(", ");
        if is_always || !matches!(value.as_str(), "" | "false" | "0") {
            found.insert(name.to_owned(), value);
        }
    }
    if asked.targets.len() > 1 {
        found.insert("Targets".into(), asked.targets.len().to_string());
    }
    found
}

fn block(
    index: usize,
    asked: Option<&Asked<'_>>,
    threads: u32,
    offered_per_second: Option<f64>,
) -> BlockPoint {
    let empty = Element::default();
    let target = asked.and_then(|asked| asked.targets.first().copied());
    let target = target.unwrap_or(&empty);
    let reads = 100 - value_or_zero(target, "WriteRatio").clamp(0.0, 100.0) as u32;
    let size = value_or_zero(target, "BlockSize").min(1e12) as u64;
    let is_uncached = is_set(target, "DisableAllCache");
    let is_written_through = is_uncached || is_set(target, "WriteThrough");
    let stream = BlockStreamInfo {
        random_percent: random_percent(target),
        depth: value_or_zero(target, "RequestCount").clamp(1.0, 1e6) as u32,
        per_second: offered_per_second.map(|rate| rate / f64::from(threads)),
        direct: is_uncached || is_set(target, "DisableOSCache"),
        sync: if is_written_through {
            "each_write"
        } else {
            "none"
        }
        .into(),
        ..stream(reads, &[(size, 100)])
    };
    let job = ImportedJob {
        name: format!("time span {}", index + 1),
        index: index as u32,
        workers: threads,
        worker_bytes: 0,
        stream,
    };
    job.point()
}

fn is_set(target: &Element, name: &str) -> bool {
    target.value(name) == Some("true")
}

fn random_percent(target: &Element) -> u32 {
    let is_random = value_or_zero(target, "Random") > 0.0 || is_set(target, "Random");
    let ratio = target.value("RandomRatio").and_then(number);
    let percent = ratio.unwrap_or(if is_random { 100.0 } else { 0.0 });
    percent.clamp(0.0, 100.0) as u32
}
