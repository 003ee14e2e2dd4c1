//! diskspd's XML (`-Rxml`).
//!
//! Counts are those of each thread and target, seconds those of `-D`, percentiles those that diskspd takes from the
//! merged histograms of its threads; the histograms themselves are not in the output.

use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT};
use std::collections::BTreeMap;

use super::fault::{Fault, Read, number};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::xml::{Element, documents};
use super::{Tool, when};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::{BlockPoint, BlockStreamInfo, PointId};

const LONGEST_S: f64 = 1e8;

/// One load for each time span of each run: a file may hold the results of several.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut spans: Vec<Span> = Vec::new();
    for (run, root) in documents(text)?.iter().enumerate() {
        for mut span in of_run(root)? {
            span.place(run + 1, &spans);
            spans.push(span);
        }
    }
    Ok(spans.into_iter().map(|span| span.load).collect())
}

/// A load, and what it read and wrote.
struct Span {
    load: ImportedLoad,
    paths: Vec<String>,
}

fn of_run(root: &Element) -> Read<Vec<Span>> {
    if root.name != "Results" {
        return Err(Fault::at(
            root.line,
            &root.name,
            "<Results>, as diskspd -Rxml writes it",
        ));
    }
    let system = root.child("System");
    let version = system
        .and_then(|system| system.child("Tool")?.value("Version"))
        .unwrap_or_default();
    let mut next = system
        .and_then(|system| system.value("RunTime"))
        .and_then(when::instant);
    let profile = root
        .child("Profile")
        .and_then(|profile| profile.child("TimeSpans"));
    let asked: Vec<&Element> = profile
        .map(|spans| spans.all("TimeSpan").collect())
        .unwrap_or_default();
    let mut loads = Vec::new();
    for (i, span) in root.all("TimeSpan").enumerate() {
        let mut load = of_span(i, span, asked.get(i).copied(), version)?;
        let seconds = |name: &str| {
            let value = asked
                .get(i)
                .and_then(|asked| number(asked.value(name)?))
                .unwrap_or_default();
            Nanos::from_secs_f64(value.min(LONGEST_S))
        };
        load.started = next.map(|start| start + seconds("Warmup"));
        next = load
            .started
            .map(|start| start + seconds("Duration") + seconds("Cooldown"));
        let targets = asked
            .get(i)
            .map(|asked| Asked::of(asked).targets)
            .unwrap_or_default();
        let paths = targets
            .iter()
            .filter_map(|target| Some(target.value("Path")?.to_owned()))
            .collect();
        loads.push(Span { load, paths });
    }
    if loads.is_empty() {
        Err(Fault::at(root.line, "<Results>", "<TimeSpan> in it"))
    } else {
        Ok(loads)
    }
}

impl Span {
    /// A run with the same parameters and targets as one before repeats it; another is a job of its own.
    fn place(&mut self, run: usize, before: &[Self]) {
        let Some(job) = self.load.block.as_ref().map(|block| block.job.clone()) else {
            return;
        };
        let further = format!("{job} of run ");
        let is_own = |name: &str| name == job || name.starts_with(&further);
        let jobs = || {
            before
                .iter()
                .filter_map(|span| Some((span, span.load.block.as_ref()?)))
        };
        let repeats =
            |span: &Self| span.load.parameters == self.load.parameters && span.paths == self.paths;
        let same = jobs().find(|(span, block)| repeats(span) && is_own(&block.job));
        let is_taken = jobs().any(|(_, block)| block.job == job);
        let name = same
            .map(|(_, block)| block.job.clone())
            .or_else(|| is_taken.then(|| format!("{job} of run {run}")));
        if let (Some(name), Some(block)) = (name, &mut self.load.block) {
            block.job = name;
        }
    }
}

fn value(element: &Element, name: &str) -> Read<f64> {
    let child = element
        .child(name)
        .ok_or_else(|| Fault::at(element.line, &element.name, format!("<{name}> in it")))?;
    number(&child.text)
        .ok_or_else(|| Fault::at(child.line, &child.text, format!("a number in <{name}>")))
}

fn of_span(
    index: usize,
    span: &Element,
    asked: Option<&Element>,
    version: &str,
) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(Tool::Diskspd);
    load.version = version.to_owned();
    load.txns = vec!["read".to_owned(), "write".to_owned()];
    load.windows = vec![None, None];
    if let Some(error) = span.child("Error") {
        return Err(Fault::at(
            error.line,
            &error.text,
            "the results of a time span",
        ));
    }
    let seconds = value(span, "TestTimeSeconds")?.min(LONGEST_S);
    let mut total = vec![Counts::default(); 2];
    for target in span.all("Thread").flat_map(|thread| thread.all("Target")) {
        for (counts, side) in total.iter_mut().zip(["Read", "Write"]) {
            let n = value(target, &format!("{side}Count"))? as u64;
            let bytes = value(target, &format!("{side}Bytes"))? as u64;
            counts.add(&Counts {
                offered: n,
                committed: n,
                bytes,
                ..Counts::default()
            });
        }
    }
    ticks(&mut load, span, &total, seconds)?;
    figures(&mut load, span);
    let threads = span
        .value("ThreadCount")
        .and_then(number)
        .unwrap_or(1.0)
        .clamp(1.0, 1e6) as u32;
    block(&mut load, index, asked, threads);
    load.fact(RESPONSE_FACT, "start");
    load.fact(PERCENTILES_FACT, "merged");
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
    for bucket in span
        .child("Iops")
        .into_iter()
        .flat_map(|iops| iops.all("Bucket"))
    {
        let get = |name: &str| {
            let text = bucket.attribute(name).unwrap_or_default();
            number(text)
                .ok_or_else(|| Fault::at(bucket.line, text, format!("a number in {name}=\"…\"")))
        };
        let ends = Nanos::from_secs_f64((get("SampleMillisecond")? / 1e3).min(seconds));
        if ends <= start {
            continue;
        }
        let own = [get("Read")?, get("Write")?];
        let mut counts = Vec::new();
        for ((left, whole), rate) in left.iter_mut().zip(total).zip(own) {
            let n = ((rate * (ends - start).as_secs_f64()).round() as u64).min(left.committed);
            let each = if whole.committed > 0 {
                whole.bytes as f64 / whole.committed as f64
            } else {
                0.0
            };
            let bytes = ((n as f64 * each).round() as u64).min(left.bytes);
            *left = less(left, n, bytes);
            counts.push(Counts {
                offered: n,
                committed: n,
                bytes,
                ..Counts::default()
            });
        }
        load.ticks.push(LoadTick::new(start, ends, counts));
        start = ends;
    }
    if !load.ticks.is_empty() {
        load.fact(
            SECONDS_FACT,
            "from the buckets of -D; the last one has the rest of the total",
        );
    }
    match load.ticks.last_mut() {
        Some(last) if end.saturating_sub(start) < Nanos::from_millis(1) => {
            last.counts
                .iter_mut()
                .zip(&left)
                .for_each(|(counts, left)| counts.add(left));
        }
        _ => load.ticks.push(LoadTick::new(start, end, left)),
    }
    Ok(())
}

fn less(counts: &Counts, n: u64, bytes: u64) -> Counts {
    let committed = counts.committed.saturating_sub(n);
    Counts {
        offered: committed,
        committed,
        bytes: counts.bytes.saturating_sub(bytes),
        ..*counts
    }
}

/// The percentiles that are kept, out of more than a hundred.
const KEPT: [&str; 8] = ["0", "50", "90", "95", "99", "99.9", "99.99", "99.999"];

fn figures(load: &mut ImportedLoad, span: &Element) {
    let mut put = |name: &str, txn: &str, text: Option<&str>, unit: &str| {
        let figure = text.and_then(|text| Figure::new(name, text, unit));
        load.figures.extend(figure.map(|figure| figure.of_txn(txn)));
    };
    if let Some(average) = span
        .child("CpuUtilization")
        .and_then(|cpu| cpu.child("Average"))
    {
        for name in ["UsagePercent", "UserPercent", "KernelPercent"] {
            put(name, "", average.value(name), "%");
        }
    }
    let Some(latency) = span.child("Latency") else {
        return;
    };
    for (side, txn) in [("Read", "read"), ("Write", "write"), ("Total", "")] {
        put(
            "Average",
            txn,
            latency.value(&format!("Average{side}Milliseconds")),
            "ms",
        );
        for bucket in latency.all("Bucket") {
            let percentile = bucket.value("Percentile").unwrap_or_default();
            let name = match percentile {
                "100" => "Max".to_owned(),
                "0" => "Min".to_owned(),
                _ => format!("Percentile {percentile}"),
            };
            if KEPT.contains(&percentile) || percentile == "100" {
                put(
                    &name,
                    txn,
                    bucket.value(&format!("{side}Milliseconds")),
                    "ms",
                );
            }
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
        let targets = span
            .child("Targets")
            .map(|targets| targets.all("Target").collect())
            .unwrap_or_default();
        Self { span, targets }
    }

    fn number(element: &Element, name: &str) -> f64 {
        element.value(name).and_then(number).unwrap_or_default()
    }

    /// Threads that work on a target: its own, or those that all targets share (`-F`).
    fn threads(&self, target: &Element) -> f64 {
        let shared = Self::number(self.span, "ThreadCount");
        if shared > 0.0 {
            shared
        } else {
            Self::number(target, "ThreadsPerFile").max(1.0)
        }
    }

    /// Requests in flight over all threads and targets.
    fn in_flight(&self) -> u32 {
        let (threads, each) = (
            Self::number(self.span, "ThreadCount"),
            Self::number(self.span, "RequestCount"),
        );
        let of = |target: &&Element| {
            Self::number(target, "RequestCount").max(1.0) * self.threads(target)
        };
        let all = if threads > 0.0 && each > 0.0 {
            threads * each
        } else {
            self.targets.iter().map(of).sum()
        };
        all.clamp(0.0, 1e7) as u32
    }

    /// `-g`: bytes per millisecond or IOPS, of each thread on each target.
    fn offered_per_second(&self) -> Option<f64> {
        let of = |target: &&Element| {
            let limit = target.child("Throughput")?;
            let value = number(&limit.text).filter(|value| *value > 0.0)?;
            let size = Self::number(target, "BlockSize").max(1.0);
            let each = if limit.attribute("unit") == Some("IOPS") {
                value
            } else {
                value * 1000.0 / size
            };
            Some(each * self.threads(target))
        };
        let limits: Option<Vec<f64>> = self.targets.iter().map(of).collect();
        limits
            .map(|limits| limits.iter().sum())
            .filter(|rate: &f64| *rate > 0.0)
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
        let values: Vec<&str> = asked
            .targets
            .iter()
            .filter_map(|target| target.value(name))
            .collect();
        let same = values.windows(2).all(|pair| pair[0] == pair[1]);
        let value = if same {
            values.first().copied().unwrap_or_default().to_owned()
        } else {
            values.join(", ")
        };
        if !matches!(value.as_str(), "" | "false" | "0")
            || (name == "WriteRatio" && !values.is_empty())
        {
            found.insert(name.to_owned(), value);
        }
    }
    if asked.targets.len() > 1 {
        found.insert("Targets".into(), asked.targets.len().to_string());
    }
    found
}

fn block(load: &mut ImportedLoad, index: usize, asked: Option<&Element>, threads: u32) {
    let asked = asked.map(Asked::of);
    let target = asked
        .as_ref()
        .and_then(|asked| asked.targets.first().copied());
    let get = |name: &str| target.map_or(0.0, |target| Asked::number(target, name));
    let whether = |name: &str| target.is_some_and(|target| target.value(name) == Some("true"));
    match &asked {
        Some(asked) if target.is_some() => {
            load.users = asked.in_flight();
            load.offered_per_second = asked.offered_per_second();
            load.parameters = parameters(asked);
        }
        _ => load.unknown.push((
            "job",
            "The output has no <Profile>: the requested load is unknown.".to_owned(),
        )),
    }
    let size = get("BlockSize").min(1e12) as u64;
    let reads = 100 - get("WriteRatio").clamp(0.0, 100.0) as u32;
    let sizes = |used: bool| if used { vec![(size, 100)] } else { Vec::new() };
    let targets = asked.as_ref().map_or(0, |asked| asked.targets.len());
    if targets > 1 {
        let text =
            format!("{targets} targets were given; sizes and the mix are those of the first.");
        load.unknown.push(("targets", text));
    }
    let random = if get("Random") > 0.0 || whether("Random") {
        100.0
    } else {
        0.0
    };
    let ratio = target.and_then(|target| number(target.value("RandomRatio")?));
    load.workload = "diskspd".into();
    load.block = Some(BlockPoint {
        point: PointId(0),
        profile: String::new(),
        job: format!("time span {}", index + 1),
        job_index: index as u32,
        workers: threads,
        worker_bytes: 0,
        fill: 0.0,
        share_percent: None,
        streams: vec![BlockStreamInfo {
            name: String::new(),
            read_percent: reads,
            random_percent: ratio.unwrap_or(random).clamp(0.0, 100.0) as u32,
            read_sizes: sizes(reads > 0),
            write_sizes: sizes(reads < 100),
            depth: get("RequestCount").clamp(1.0, 1e6) as u32,
            threads: 1,
            per_second: load
                .offered_per_second
                .map(|rate| rate / f64::from(threads)),
            access: "uniform".into(),
            compressible_percent: 0,
            direct: whether("DisableOSCache") || whether("DisableAllCache"),
            sync: if whether("WriteThrough") || whether("DisableAllCache") {
                "each_write"
            } else {
                "none"
            }
            .into(),
        }],
    });
    let text = "The output does not contain the compressibility of the written data: ENTROPY is not evaluated.";
    load.unknown.push(("entropy", text.to_owned()));
}
