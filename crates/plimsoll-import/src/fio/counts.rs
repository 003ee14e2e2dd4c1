//! Counts, distributions and reported figures of jobs.

use std::collections::BTreeMap;

use super::reports::{Job, Run};
use crate::fault::MOST;
use crate::fio_output::{FioJob, Latencies, Side};
use crate::load::{Figure, ImportedLoad, LoadShare, LoadTick, LoadWindow};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::import_facts::PERCENTILES_FACT;
use plimsoll_record::import_facts::SECONDS_FACT;
use plimsoll_record::lane::Counts;

/// EILSEQ, which fio gives to blocks that do not hold what was written.
pub(super) const VERIFY_FAILED: i64 = 84;

/// Whether sums of it cannot overflow.
pub(super) fn is_sane(job: &FioJob) -> bool {
    let fine = |n: u64| n as f64 <= MOST;
    let latencies = |l: &Latencies| {
        fine(l.n)
            && l.max.0 < 1 << 60
            && l.mean_ns.abs() < 1e18
            && l.bins.values().all(|n| fine(*n))
    };
    let side = |s: &Side| {
        s.io_bytes < 1 << 60
            && fine(s.total_ios)
            && s.runtime_ms < 100_000_000_000
            && latencies(s.latencies())
    };
    let sync = job
        .sync
        .as_ref()
        .is_none_or(|sync| fine(sync.total) && latencies(&sync.latency));
    side(&job.read) && side(&job.write) && side(&job.trim) && sync
}

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Trim,
    Sync,
    /// All directions, where fio reports them together.
    Mixed,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "sync",
            Self::Mixed => "mixed",
        }
    }

    pub fn side(self, job: &FioJob) -> Option<&Side> {
        match self {
            Self::Read if !job.unified => Some(&job.read),
            Self::Mixed if job.unified => Some(&job.read),
            Self::Write => Some(&job.write),
            Self::Trim => Some(&job.trim),
            Self::Read | Self::Sync | Self::Mixed => None,
        }
    }
}

/// The kinds of requests that any of the jobs made.
pub(super) fn kinds(jobs: &[&Job]) -> Vec<Kind> {
    let all = [Kind::Read, Kind::Mixed, Kind::Write, Kind::Trim, Kind::Sync];
    let made = |kind: &Kind| {
        jobs.iter()
            .any(|job| part(job, *kind).counts != Counts::default())
    };
    let used: Vec<Kind> = all.into_iter().filter(made).collect();
    if used.is_empty() {
        vec![Kind::Read]
    } else {
        used
    }
}

/// One kind of request of one job.
#[derive(Default)]
struct Part<'a> {
    counts: Counts,
    latencies: Option<&'a Latencies>,
}

fn part(job: &Job, kind: Kind) -> Part<'_> {
    if kind == Kind::Sync {
        let Some(sync) = &job.fio.sync else {
            return Part::default();
        };
        let buckets = buckets(&sync.latency);
        let requests = if buckets == 0 {
            sync.total.max(sync.latency.n)
        } else {
            buckets
        };
        return Part {
            counts: settled(requests, 0, 0),
            latencies: Some(&sync.latency),
        };
    }
    let Some(side) = kind.side(&job.fio) else {
        return Part::default();
    };
    let (refused, wrong) = failures(job, kind);
    let completed = completed(side)
        .min(side.total_ios)
        .saturating_sub(if has_count(side) { 0 } else { refused });
    Part {
        counts: settled(
            completed - wrong.min(completed),
            refused + wrong.min(completed),
            side.io_bytes,
        ),
        latencies: Some(side.latencies()),
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
fn has_count(side: &Side) -> bool {
    side.latencies().n > 0
}

/// Requests that ended. While fio is at work, and where the device refused some, these are fewer than were made.
fn completed(side: &Side) -> u64 {
    let latencies = side.latencies();
    match (buckets(latencies), latencies.n) {
        (0, 0) => side.total_ios,
        (0, n) => n,
        (buckets, _) => buckets,
    }
}

/// Requests of one direction that the device refused, and those whose data were not what was written. fio has one count
/// of failures for each job: what was refused has no latency, the rest are blocks that were read and verified.
fn failures(job: &Job, kind: Kind) -> (u64, u64) {
    let kinds = [Kind::Read, Kind::Mixed, Kind::Write, Kind::Trim];
    let refused = |kind: Kind| match kind.side(&job.fio) {
        Some(side) if job.fio.error != 0 || job.errors.is_some_and(|n| n > 0) => refused(job, side),
        _ => 0,
    };
    let all_refused = kinds.into_iter().map(refused).fold(0, u64::saturating_add);
    let failed = job
        .errors
        .unwrap_or(u64::from(job.fio.error == VERIFY_FAILED));
    let first = kinds
        .into_iter()
        .find(|kind| kind.side(&job.fio).is_some_and(|side| completed(side) > 0));
    let wrong = if first == Some(kind) {
        failed.saturating_sub(all_refused)
    } else {
        0
    };
    (refused(kind), wrong)
}

fn refused(job: &Job, side: &Side) -> u64 {
    // Without latencies (`gtod_reduce`) nothing is counted apart.
    let unmeasured = ["gtod_reduce", "disable_clat"]
        .iter()
        .any(|key| super::options::is_on(&job.options, key));
    let missing = if unmeasured && !has_count(side) {
        0
    } else {
        side.total_ios.saturating_sub(side.latencies().n)
    };
    missing.min(job.errors.unwrap_or(u64::MAX))
}

/// Reads, writes and trims of all jobs.
pub(super) fn outcomes(jobs: &[&Job]) -> Counts {
    let kinds = [Kind::Read, Kind::Mixed, Kind::Write, Kind::Trim];
    kinds.into_iter().fold(Counts::default(), |mut all, kind| {
        all.add(&sum(jobs, kind).counts);
        all
    })
}

/// How long a job was at work: reads that verify what was written come after it.
pub(super) fn lasted_ms(job: &Job) -> u64 {
    let sides = [&job.fio.read, &job.fio.write, &job.fio.trim].map(|side| side.runtime_ms);
    if super::options::reads_back(&job.options) {
        sides.iter().sum()
    } else {
        sides.into_iter().max().unwrap_or_default()
    }
}

/// Everything that jobs had done when a report was printed.
#[derive(Default)]
struct Sum {
    counts: Counts,
    bins: BTreeMap<u64, u64>,
    /// Of all latencies.
    total_ns: u128,
}

fn sum(jobs: &[&Job], kind: Kind) -> Sum {
    jobs.iter().fold(Sum::default(), |mut sum, job| {
        let part = part(job, kind);
        sum.counts.add(&part.counts);
        if let Some(latencies) = part.latencies {
            sum.total_ns += latencies.hist().sum();
            latencies
                .bins
                .iter()
                .for_each(|(value, n)| *sum.bins.entry(*value).or_default() += n);
        }
        sum
    })
}

/// The jobs of a load, by their places in each report.
pub(super) fn fill(load: &mut ImportedLoad, run: &Run, places: &[usize]) {
    let whole = jobs_at(run.reports.len() - 1, run, places);
    let kinds = kinds(&whole);
    load.txns = kinds.iter().map(|kind| kind.name().to_owned()).collect();
    load.windows = kinds.iter().map(|kind| window(&whole, *kind)).collect();
    let merged = load.windows.iter().all(Option::is_some);
    load.fact(PERCENTILES_FACT, if merged { "merged" } else { "none" });
    shares(load, &whole, &kinds);
    load.ticks = ticks(run, places, &kinds);
    if load.ticks.len() > 1 {
        load.fact(
            SECONDS_FACT,
            "differences between fio's reports (--status-interval)",
        );
    }
    whole.iter().enumerate().for_each(|(worker, job)| {
        let suffix = if whole.len() > 1 {
            format!(", job {}", worker + 1)
        } else {
            String::new()
        };
        kinds
            .iter()
            .for_each(|kind| figures(load, job, *kind, &suffix));
    });
}

fn jobs_at<'a>(report: usize, run: &'a Run, places: &[usize]) -> Vec<&'a Job> {
    places
        .iter()
        .filter_map(|place| run.reports[report].jobs.get(*place))
        .collect()
}

/// A histogram where all jobs have buckets.
fn window(jobs: &[&Job], kind: Kind) -> Option<LoadWindow> {
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
    (!response.is_empty()).then_some(LoadWindow {
        response,
        service: None,
    })
}

fn shares(load: &mut ImportedLoad, jobs: &[&Job], kinds: &[Kind]) {
    if jobs.len() < 2 {
        return;
    }
    for (txn, kind) in kinds.iter().enumerate() {
        for (worker, job) in jobs.iter().enumerate() {
            let part = part(job, *kind);
            if part.counts == Counts::default() {
                continue;
            }
            let response = part.latencies.map(Latencies::hist).unwrap_or_default();
            let (worker, txn) = (worker as u32, txn as u32);
            let Counts {
                committed: requests,
                bytes,
                ..
            } = part.counts;
            load.shares.push(LoadShare {
                worker,
                txn,
                requests,
                bytes,
                response,
            });
        }
    }
}

/// One tick from report to report. Where a ramp starts counts anew, only the last report is of the measured time.
fn ticks(run: &Run, places: &[usize], kinds: &[Kind]) -> Vec<LoadTick> {
    let first = if run.has_ramp() {
        run.reports.len() - 1
    } else {
        0
    };
    let mut before: Vec<Sum> = kinds.iter().map(|_| Sum::default()).collect();
    let (mut ticks, mut start_ms): (Vec<LoadTick>, u64) = (Vec::new(), 0);
    for report in first..run.reports.len() {
        let jobs = jobs_at(report, run, places);
        let end_ms = jobs
            .iter()
            .map(|job| lasted_ms(job))
            .max()
            .unwrap_or_default();
        let is_last = report + 1 == run.reports.len();
        if end_ms <= start_ms && !(is_last && start_ms > 0) {
            continue;
        }
        let now: Vec<Sum> = kinds.iter().map(|kind| sum(&jobs, *kind)).collect();
        let counts = now
            .iter()
            .zip(&before)
            .map(|(now, before)| less(&now.counts, &before.counts))
            .collect();
        if end_ms <= start_ms {
            // The jobs had ended before; what was counted since is of the last tick.
            let last: Option<&mut LoadTick> = ticks.last_mut();
            last.into_iter()
                .for_each(|last| add(&mut last.counts, &counts));
            continue;
        }
        let mut tick = LoadTick::new(
            Nanos::from_millis(start_ms),
            Nanos::from_millis(end_ms),
            counts,
        );
        if run.reports.len() > 1 && now.iter().any(|sum| !sum.bins.is_empty()) {
            tick.response = now
                .iter()
                .zip(&before)
                .map(|(now, before)| between(before, now).coarse())
                .collect();
        }
        ticks.push(tick);
        (before, start_ms) = (now, end_ms);
    }
    ticks
}

fn add(counts: &mut [Counts], more: &Vec<Counts>) {
    counts
        .iter_mut()
        .zip(more)
        .for_each(|(sum, more)| sum.add(more));
}

fn less(now: &Counts, before: &Counts) -> Counts {
    settled(
        now.committed.saturating_sub(before.committed),
        now.failed.saturating_sub(before.failed),
        now.bytes.saturating_sub(before.bytes),
    )
}

/// What ended between two reports.
fn between(before: &Sum, now: &Sum) -> Hist {
    let more = |(value, n): (&u64, &u64)| {
        (
            Nanos(*value),
            n.saturating_sub(before.bins.get(value).copied().unwrap_or_default()),
        )
    };
    let bins: Vec<(Nanos, u64)> = now.bins.iter().map(more).filter(|(_, n)| *n > 0).collect();
    let max = bins.last().map_or(Nanos::ZERO, |(value, _)| *value);
    Hist::of_buckets(bins, now.total_ns.saturating_sub(before.total_ns), max)
}

/// What fio prints of latencies for which there is no histogram, and its rates.
fn figures(load: &mut ImportedLoad, job: &Job, kind: Kind, suffix: &str) {
    let name = format!("{}{suffix}", kind.name());
    let mut put = |what: &str, value: String, unit: &str| {
        load.figures
            .extend(Figure::new(what, &value, unit).map(|figure| figure.of_txn(&name)));
    };
    let latencies: Vec<(&str, &Latencies)> = match (kind.side(&job.fio), &job.fio.sync) {
        (Some(side), _) => {
            if side.total_ios == 0 {
                return;
            }
            put("iops", side.iops.to_string(), "1/s");
            put("bw_bytes", side.bytes_per_second.to_string(), "bytes/s");
            vec![
                ("slat_ns", &side.submission),
                ("clat_ns", &side.completion),
                ("lat_ns", &side.total),
            ]
        }
        (None, Some(sync)) if kind == Kind::Sync => vec![("lat_ns", &sync.latency)],
        _ => return,
    };
    for (key, latencies) in latencies {
        let measured = latencies.n > 0 || latencies.max > Nanos::ZERO;
        if !measured || !latencies.bins.is_empty() {
            continue;
        }
        put(&format!("{key} mean"), latencies.mean_ns.to_string(), "ns");
        put(
            &format!("{key} stddev"),
            latencies.stddev_ns.to_string(),
            "ns",
        );
        put(&format!("{key} max"), latencies.max.0.to_string(), "ns");
        for (percentile, ns) in &latencies.percentiles {
            let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
            put(&format!("{key} {percentile} %"), ns.to_string(), "ns");
        }
    }
}
