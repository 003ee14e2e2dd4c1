//! Counts, distributions and reported figures of jobs.

use std::collections::BTreeMap;

use super::job::{FioJobEntry, Run};
use super::options;
use crate::fio_output::{DirectionStats, FioJob, Latencies};
use crate::load::{ImportedLoad, LoadShare, LoadTick, LoadWindow, PrintedFigures, Span, sum_of};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::import_facts::PERCENTILES_FACT;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CountsSource, ImportNote};

/// EILSEQ, which fio gives to blocks that do not hold what was written.
pub(super) const VERIFY_FAILED: i64 = 84;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum FioOp {
    Read,
    Write,
    Trim,
    Sync,
    /// All directions, where fio reports them together.
    Mixed,
}

impl FioOp {
    /// Of data, in the order of the load's types.
    pub const DIRECTIONS: [Self; 4] = [Self::Read, Self::Mixed, Self::Write, Self::Trim];

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn side(self, job: &FioJob) -> Option<&DirectionStats> {
        match self {
            Self::Read if !job.unified => Some(&job.read),
            Self::Mixed if job.unified => Some(&job.read),
            Self::Write => Some(&job.write),
            Self::Trim => Some(&job.trim),
            Self::Read | Self::Sync | Self::Mixed => None,
        }
    }
}

/// The jobs of a load, by their places in each report.
pub(super) fn fill(load: &mut ImportedLoad, run: &Run, places: &[usize]) {
    let whole = jobs_at(run.reports.len() - 1, run, places);
    let kinds = kinds(&whole);
    load.txns = kinds.iter().map(|kind| kind.name().to_owned()).collect();
    load.windows = kinds.iter().map(|kind| window(&whole, *kind)).collect();
    let is_merged = load.windows.iter().all(Option::is_some);
    load.fact(PERCENTILES_FACT, if is_merged { "merged" } else { "none" });
    shares(load, &whole, &kinds);
    load.ticks = ticks(run, places, &kinds);
    if load.ticks.len() > 1 {
        let source = CountsSource::FioReports;
        load.note(ImportNote::CountsFrom { source });
    }
    for (worker, job) in whole.iter().enumerate() {
        for kind in &kinds {
            let txn = match whole.len() {
                1 => kind.name().to_owned(),
                _ => format!("{}, job {}", kind.name(), worker + 1),
            };
            figures(&mut load.figures, job, *kind, &txn);
        }
    }
}

/// The kinds of requests that any of the jobs made.
fn kinds(jobs: &[&FioJobEntry]) -> Vec<FioOp> {
    let [read, mixed, write, trim] = FioOp::DIRECTIONS;
    let mut used = vec![read, mixed, write, trim, FioOp::Sync];
    used.retain(|kind| {
        let mut parts = jobs.iter().map(|job| part(job, *kind));
        parts.any(|part| part.counts != Counts::default())
    });
    if used.is_empty() {
        used.push(FioOp::Read);
    }
    used
}

/// One kind of request of one job.
#[derive(Default)]
struct OpCounts<'a> {
    counts: Counts,
    latencies: Option<&'a Latencies>,
}

fn part(job: &FioJobEntry, kind: FioOp) -> OpCounts<'_> {
    match (&job.fio.sync, kind.side(&job.fio)) {
        (Some(sync), _) if kind == FioOp::Sync => {
            let requests = match buckets(&sync.latency) {
                0 => sync.total.max(sync.latency.n),
                buckets => buckets,
            };
            OpCounts {
                counts: settled(requests, 0, 0),
                latencies: Some(&sync.latency),
            }
        }
        (_, Some(side)) => {
            let Failures { refused, wrong } = failures(job, kind);
            let uncounted = if has_count(side) { 0 } else { refused };
            let completed = completed(side)
                .min(side.total_ios)
                .saturating_sub(uncounted);
            let wrong = wrong.min(completed);
            OpCounts {
                counts: settled(completed - wrong, refused + wrong, side.io_bytes),
                latencies: Some(side.latencies()),
            }
        }
        _ => OpCounts::default(),
    }
}

fn settled(committed: u64, failed: u64, bytes: u64) -> Counts {
    Counts {
        offered: committed + failed,
        committed,
        failed,
        bytes,
        ..Counts::default()
    }
}

fn buckets(latencies: &Latencies) -> u64 {
    latencies
        .bins
        .values()
        .fold(0, |sum, n| sum.saturating_add(*n))
}

/// Whether fio counted the requests that ended apart from those that were made.
fn has_count(side: &DirectionStats) -> bool {
    side.latencies().n > 0
}

/// Requests that ended. While fio is at work, and where the device refused some, these are fewer than were made.
fn completed(side: &DirectionStats) -> u64 {
    let latencies = side.latencies();
    match (buckets(latencies), latencies.n) {
        (0, 0) => side.total_ios,
        (0, n) => n,
        (buckets, _) => buckets,
    }
}

/// Requests of one direction.
struct Failures {
    /// By the device.
    refused: u64,
    /// Their data were not what was written.
    wrong: u64,
}

/// fio has one count of failures for each job: what was refused has no latency, the rest are blocks that were read and
/// verified.
fn failures(job: &FioJobEntry, kind: FioOp) -> Failures {
    let all_refused = FioOp::DIRECTIONS.into_iter().map(|kind| refused(job, kind));
    let all_refused = all_refused.fold(0, u64::saturating_add);
    let is_verified = job.fio.error == VERIFY_FAILED;
    let failed = job.errors.unwrap_or(u64::from(is_verified));
    let first = FioOp::DIRECTIONS
        .into_iter()
        .find(|kind| kind.side(&job.fio).is_some_and(|side| completed(side) > 0));
    Failures {
        refused: refused(job, kind),
        wrong: match first == Some(kind) {
            true => failed.saturating_sub(all_refused),
            false => 0,
        },
    }
}

fn refused(job: &FioJobEntry, kind: FioOp) -> u64 {
    let Some(side) = kind.side(&job.fio) else {
        return 0;
    };
    let has_failed = job.fio.error != 0 || job.errors.is_some_and(|n| n > 0);
    // Without latencies (`gtod_reduce`) nothing is counted apart.
    let is_unmeasured = ["gtod_reduce", "disable_clat"]
        .iter()
        .any(|key| options::is_on(&job.options, key));
    if !has_failed || (is_unmeasured && !has_count(side)) {
        return 0;
    }
    let missing = side.total_ios.saturating_sub(side.latencies().n);
    missing.min(job.errors.unwrap_or(u64::MAX))
}

/// Reads, writes and trims of all jobs.
pub(super) fn outcomes(jobs: &[&FioJobEntry]) -> Counts {
    let counts = FioOp::DIRECTIONS.map(|kind| sum(jobs, kind).counts);
    sum_of(&counts)
}

/// Everything that jobs had done when a report was printed.
#[derive(Default)]
struct CumulativeCounts {
    counts: Counts,
    bins: BTreeMap<u64, u64>,
    /// Of all latencies.
    total_ns: u128,
}

fn sum(jobs: &[&FioJobEntry], kind: FioOp) -> CumulativeCounts {
    let mut sum = CumulativeCounts::default();
    for part in jobs.iter().map(|job| part(job, kind)) {
        sum.counts.add(&part.counts);
        if let Some(latencies) = part.latencies {
            sum.total_ns += latencies.hist().sum();
            for (value, n) in &latencies.bins {
                *sum.bins.entry(*value).or_default() += n;
            }
        }
    }
    sum
}

fn jobs_at<'a>(report: usize, run: &'a Run, places: &[usize]) -> Vec<&'a FioJobEntry> {
    places
        .iter()
        .filter_map(|place| run.reports[report].jobs.get(*place))
        .collect()
}

/// A histogram where all jobs have buckets.
fn window(jobs: &[&FioJobEntry], kind: FioOp) -> Option<LoadWindow> {
    let mut response = Hist::new();
    for job in jobs {
        let part = part(job, kind);
        let Some(latencies) = part.latencies.filter(|_| part.counts.offered > 0) else {
            continue;
        };
        let own = latencies.hist();
        if own.is_empty() && part.counts.committed > 0 {
            return None;
        }
        response.merge(&own);
    }
    LoadWindow::of_response(response)
}

fn shares(load: &mut ImportedLoad, jobs: &[&FioJobEntry], kinds: &[FioOp]) {
    if jobs.len() < 2 {
        return;
    }
    for (txn, kind) in kinds.iter().enumerate() {
        for (worker, job) in jobs.iter().enumerate() {
            let part = part(job, *kind);
            if part.counts == Counts::default() {
                continue;
            }
            load.shares.push(LoadShare {
                worker: worker as u32,
                txn: txn as u32,
                requests: part.counts.committed,
                bytes: part.counts.bytes,
                response: part.latencies.map(Latencies::hist).unwrap_or_default(),
            });
        }
    }
}

/// One tick from report to report. Where a ramp starts counts anew, only the last report is of the measured time.
fn ticks(run: &Run, places: &[usize], kinds: &[FioOp]) -> Vec<LoadTick> {
    let last = run.reports.len() - 1;
    let first = if run.has_ramp() { last } else { 0 };
    let mut before: Vec<CumulativeCounts> =
        kinds.iter().map(|_| CumulativeCounts::default()).collect();
    let mut ticks: Vec<LoadTick> = Vec::new();
    let mut start_ms = 0;
    for report in first..=last {
        let jobs = jobs_at(report, run, places);
        let end_ms = jobs.iter().map(|job| job.lasted_ms()).max();
        let end_ms = end_ms.unwrap_or_default();
        if end_ms <= start_ms && !(report == last && start_ms > 0) {
            continue;
        }
        let now: Vec<CumulativeCounts> = kinds.iter().map(|kind| sum(&jobs, *kind)).collect();
        let pairs = now.iter().zip(&before);
        let counts: Vec<Counts> = pairs
            .clone()
            .map(|(now, before)| less(&now.counts, &before.counts))
            .collect();
        if end_ms <= start_ms {
            // The jobs had ended before; what was counted since is of the last tick.
            if let Some(last) = ticks.last_mut() {
                for (sum, more) in last.counts.iter_mut().zip(&counts) {
                    sum.add(more);
                }
            }
            continue;
        }
        let mut tick = LoadTick::new(Span::of_millis(start_ms, end_ms), counts);
        if run.reports.len() > 1 && now.iter().any(|sum| !sum.bins.is_empty()) {
            let own = pairs.map(|(now, before)| between(before, now).coarse());
            tick.response = own.collect();
        }
        ticks.push(tick);
        before = now;
        start_ms = end_ms;
    }
    ticks
}

fn less(now: &Counts, before: &Counts) -> Counts {
    settled(
        now.committed.saturating_sub(before.committed),
        now.failed.saturating_sub(before.failed),
        now.bytes.saturating_sub(before.bytes),
    )
}

/// What ended between two reports.
fn between(before: &CumulativeCounts, now: &CumulativeCounts) -> Hist {
    let mut bins: Vec<(Nanos, u64)> = Vec::new();
    for (value, n) in &now.bins {
        let n = n.saturating_sub(before.bins.get(value).copied().unwrap_or_default());
        if n > 0 {
            bins.push((Nanos(*value), n));
        }
    }
    let max = bins.last().map_or(Nanos::ZERO, |(value, _)| *value);
    Hist::of_buckets(bins, now.total_ns.saturating_sub(before.total_ns), max)
}

/// What fio prints of latencies for which there is no histogram, and its rates.
fn figures(figures: &mut PrintedFigures, job: &FioJobEntry, kind: FioOp, txn: &str) {
    match (kind.side(&job.fio), &job.fio.sync) {
        (Some(side), _) if side.total_ios > 0 => {
            let bandwidth = side.bytes_per_second.to_string();
            figures.add_of(txn, "iops", &side.iops.to_string(), "1/s");
            figures.add_of(txn, "bw_bytes", &bandwidth, "bytes/s");
            add_latencies(figures, txn, "slat_ns", &side.submission);
            add_latencies(figures, txn, "clat_ns", &side.completion);
            add_latencies(figures, txn, "lat_ns", &side.total);
        }
        (None, Some(sync)) if kind == FioOp::Sync => {
            add_latencies(figures, txn, "lat_ns", &sync.latency);
        }
        _ => {}
    }
}

fn add_latencies(figures: &mut PrintedFigures, txn: &str, key: &str, latencies: &Latencies) {
    let is_measured = latencies.n > 0 || latencies.max > Nanos::ZERO;
    if !is_measured || !latencies.bins.is_empty() {
        return;
    }
    for (name, value) in [
        ("mean", latencies.mean_ns.to_string()),
        ("stddev", latencies.stddev_ns.to_string()),
        ("max", latencies.max.0.to_string()),
    ] {
        figures.add_of(txn, &format!("{key} {name}"), &value, "ns");
    }
    for (percentile, ns) in &latencies.percentiles {
        let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
        let name = format!("{key} {percentile} %");
        figures.add_of(txn, &name, &ns.to_string(), "ns");
    }
}
