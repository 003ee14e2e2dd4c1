//! diskspd's XML (`-Rxml`).
//!
//! Counts are those of each thread and target, seconds those of `-D`, percentiles those that diskspd takes from the
//! merged histograms of its threads; the histograms themselves are not in the output.

use super::fault::{Fault, Read, number};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::xml::{Element, parse};
use super::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT, Tool};
use crate::lane::Counts;
use crate::record::{BlockPoint, BlockStreamInfo, PointId};
use crate::units::Nanos;

const LONGEST_S: f64 = 1e8;

/// One load for each time span.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let root = parse(text)?;
    if root.name != "Results" {
        return Err(Fault::at(root.line, &root.name, "<Results>, as diskspd -Rxml writes it"));
    }
    let version = root.child("System").and_then(|system| system.child("Tool")?.value("Version")).unwrap_or_default();
    let asked: Vec<&Element> = root
        .child("Profile")
        .and_then(|profile| profile.child("TimeSpans"))
        .map(|spans| spans.all("TimeSpan").collect())
        .unwrap_or_default();
    let spans = root.all("TimeSpan").enumerate();
    let loads = spans.map(|(i, span)| of_span(i, span, asked.get(i).copied(), version)).collect::<Read<Vec<_>>>()?;
    if loads.is_empty() { Err(Fault::at(root.line, "<Results>", "<TimeSpan> in it")) } else { Ok(loads) }
}

fn value(element: &Element, name: &str) -> Read<f64> {
    let child = element.child(name).ok_or_else(|| Fault::at(element.line, &element.name, format!("<{name}> in it")))?;
    number(&child.text).ok_or_else(|| Fault::at(child.line, &child.text, format!("a number in <{name}>")))
}

fn of_span(index: usize, span: &Element, asked: Option<&Element>, version: &str) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(Tool::Diskspd);
    load.version = version.to_owned();
    load.txns = vec!["read".to_owned(), "write".to_owned()];
    load.windows = vec![None, None];
    let seconds = value(span, "TestTimeSeconds")?.min(LONGEST_S);
    let mut total = vec![Counts::default(); 2];
    for target in span.all("Thread").flat_map(|thread| thread.all("Target")) {
        for (counts, side) in total.iter_mut().zip(["Read", "Write"]) {
            let n = value(target, &format!("{side}Count"))? as u64;
            let bytes = value(target, &format!("{side}Bytes"))? as u64;
            counts.add(&Counts { offered: n, committed: n, bytes, ..Counts::default() });
        }
    }
    ticks(&mut load, span, &total, seconds)?;
    figures(&mut load, span);
    let threads = span.value("ThreadCount").and_then(number).unwrap_or(1.0).clamp(1.0, 1e6) as u32;
    block(&mut load, index, asked, threads);
    load.fact(RESPONSE_FACT, "start");
    load.fact(PERCENTILES_FACT, "merged");
    Ok(load)
}

/// The buckets of `-D`, and in the last one what is left to the totals.
fn ticks(load: &mut ImportedLoad, span: &Element, total: &[Counts], seconds: f64) -> Read<()> {
    if seconds <= 0.0 {
        return Ok(());
    }
    let end = Nanos::from_secs_f64(seconds);
    let mut left = total.to_vec();
    let mut start = Nanos::ZERO;
    for bucket in span.child("Iops").into_iter().flat_map(|iops| iops.all("Bucket")) {
        let get = |name: &str| {
            let text = bucket.attribute(name).unwrap_or_default();
            number(text).ok_or_else(|| Fault::at(bucket.line, text, format!("a number in {name}=\"…\"")))
        };
        let ends = Nanos::from_secs_f64((get("SampleMillisecond")? / 1e3).min(seconds));
        if ends <= start {
            continue;
        }
        let own = [get("Read")?, get("Write")?];
        let mut counts = Vec::new();
        for ((left, whole), rate) in left.iter_mut().zip(total).zip(own) {
            let n = ((rate * (ends - start).as_secs_f64()).round() as u64).min(left.committed);
            let each = if whole.committed > 0 { whole.bytes as f64 / whole.committed as f64 } else { 0.0 };
            let bytes = ((n as f64 * each).round() as u64).min(left.bytes);
            *left = less(left, n, bytes);
            counts.push(Counts { offered: n, committed: n, bytes, ..Counts::default() });
        }
        load.ticks.push(LoadTick::new(start, ends, counts));
        start = ends;
    }
    if !load.ticks.is_empty() {
        load.fact(SECONDS_FACT, "from the buckets of -D; what is left to the total is in the last one");
    }
    match load.ticks.last_mut() {
        Some(last) if end.saturating_sub(start) < Nanos::from_millis(1) => {
            last.counts.iter_mut().zip(&left).for_each(|(counts, left)| counts.add(left));
        }
        _ => load.ticks.push(LoadTick::new(start, end, left)),
    }
    Ok(())
}

fn less(counts: &Counts, n: u64, bytes: u64) -> Counts {
    let committed = counts.committed.saturating_sub(n);
    Counts { offered: committed, committed, bytes: counts.bytes.saturating_sub(bytes), ..*counts }
}

/// Percentiles that are kept of the more than a hundred.
const KEPT: [&str; 8] = ["0", "50", "90", "95", "99", "99.9", "99.99", "99.999"];

fn figures(load: &mut ImportedLoad, span: &Element) {
    let mut put = |name: &str, txn: &str, text: Option<&str>, unit: &str| {
        let figure = text.and_then(|text| Figure::new(name, text, unit));
        load.figures.extend(figure.map(|figure| figure.of_txn(txn)));
    };
    if let Some(average) = span.child("CpuUtilization").and_then(|cpu| cpu.child("Average")) {
        for name in ["UsagePercent", "UserPercent", "KernelPercent"] {
            put(name, "", average.value(name), "%");
        }
    }
    let Some(latency) = span.child("Latency") else { return };
    for (side, txn) in [("Read", "read"), ("Write", "write"), ("Total", "")] {
        put("Average", txn, latency.value(&format!("Average{side}Milliseconds")), "ms");
        for bucket in latency.all("Bucket") {
            let percentile = bucket.value("Percentile").unwrap_or_default();
            let name = match percentile {
                "100" => "Max".to_owned(),
                "0" => "Min".to_owned(),
                _ => format!("Percentile {percentile}"),
            };
            if KEPT.contains(&percentile) || percentile == "100" {
                put(&name, txn, bucket.value(&format!("{side}Milliseconds")), "ms");
            }
        }
    }
}

fn block(load: &mut ImportedLoad, index: usize, asked: Option<&Element>, threads: u32) {
    let target = asked.and_then(|span| span.child("Targets")?.child("Target"));
    let get = |name: &str| target.and_then(|target| number(target.value(name)?)).unwrap_or_default();
    let whether = |name: &str| target.is_some_and(|target| target.value(name) == Some("true"));
    if target.is_none() {
        load.unknown.push(("job", "The output has no <Profile>: what was asked for is not told.".to_owned()));
    }
    let depth = get("RequestCount").clamp(1.0, 1e6) as u32;
    load.users = if target.is_some() { depth.saturating_mul(threads) } else { 0 };
    let size = get("BlockSize").min(1e12) as u64;
    let reads = 100 - get("WriteRatio").clamp(0.0, 100.0) as u32;
    let sizes = |used: bool| if used { vec![(size, 100)] } else { Vec::new() };
    let targets = asked.and_then(|span| span.child("Targets")).map_or(0, |targets| targets.children.len());
    if targets > 1 {
        load.unknown
            .push(("targets", format!("{targets} targets were asked for; what was asked is that of the first.")));
    }
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
            random_percent: if get("Random") > 0.0 || whether("Random") { 100 } else { 0 },
            read_sizes: sizes(reads > 0),
            write_sizes: sizes(reads < 100),
            depth,
            threads: 1,
            per_second: None,
            access: "uniform".into(),
            compressible_percent: 0,
            direct: whether("DisableOSCache") || whether("DisableAllCache"),
            sync: if whether("WriteThrough") || whether("DisableAllCache") { "each_write" } else { "none" }.into(),
        }],
    });
    let text = "What the data that diskspd writes is compressed to is not told: ENTROPY cannot be judged.";
    load.unknown.push(("entropy", text.to_owned()));
}
