//! fio's JSON and JSON+.
//!
//! JSON+ has the buckets of completion latencies, from which histograms are made; JSON has mean, maximum and percentiles,
//! which are kept as reported. A file may hold several reports of one run, and several runs. Jobs of one name are workers of
//! one load, in their order.

mod counts;
mod group;
mod job;
mod options;
mod reports;
mod starts;

pub(super) use reports::is_for_people;

use super::block;
use super::fault::Read;
use super::format::{OutputFormat, OutputReader};
use super::load::{ImportedLoad, JobLogs};
use super::tool::Tool;
use counts::FioOp;
use group::FioJobGroup;
use job::{FioJobEntry, Report, Run};
use options::{FioOptions, JobRate};
use plimsoll_record::BlockStreamInfo;
use plimsoll_record::import_facts::{DEVICE_NAME_FACT, DEVICE_READS_FACT, RESPONSE_FACT};
use plimsoll_record::message::{CheckDetail, ImportNote};

pub(super) const TOOL: Tool = Tool::new("fio", "fio JSON");

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| start.has("\"fio version\"") || is_for_people(start.text),
    reader: OutputReader::Loads(read),
};

/// Options that are facts about the system.
const SETTINGS: [&str; 8] = [
    "ioengine",
    "rate_process",
    "sync",
    "fsync",
    "fdatasync",
    "end_fsync",
    "norandommap",
    "time_based",
];

/// One load for each name of a job in each run.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let runs = reports::runs(text)?;
    Ok(runs.iter().flat_map(of_run).collect())
}

fn of_run(run: &Run) -> Vec<ImportedLoad> {
    let starts = starts::of(run.whole());
    let groups = group::groups(&run.whole().jobs);
    let mut loads = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let mut load = of_group(run, group, index as u32);
        let own = group.places.iter().map(|place| starts.of[*place]);
        load.started = own.min().flatten();
        if groups.len() > 1 {
            load.notes.extend(starts.note.clone());
        }
        loads.push(load);
    }
    loads
}

fn of_group(run: &Run, group: &FioJobGroup, index: u32) -> ImportedLoad {
    let places = group.places.iter();
    let jobs: Vec<&FioJobEntry> = places.map(|place| &run.whole().jobs[*place]).collect();
    let first = jobs[0];
    // Of a mixture only what all jobs have in common is known.
    let asked = match group.is_mixture {
        true => &first.global,
        false => &first.options,
    };
    let mut load = ImportedLoad::new(TOOL);
    load.version = run.whole().version.trim_start_matches("fio-").to_owned();
    load.workload = match group.is_mixture {
        true => format!("{} and others", first.fio.name),
        false => first.fio.name.clone(),
    };
    counts::fill(&mut load, run, &group.places);
    let every_ms = options::number(asked, "log_avg_msec").filter(|ms| *ms > 0);
    load.logs = JobLogs {
        numbers: group.numbers.clone(),
        every_ms: every_ms.map(u64::from),
        has_ramp: run.has_ramp(),
    };
    let depth = depth(asked, first);
    let offered = offered(&jobs, group.is_mixture);
    let per_second = offered.per_second();
    let mut stream = options::stream(asked, depth, per_second);
    load.users = depth.saturating_mul(group.workers.unwrap_or_default());
    let workers = per_second.zip(group.workers);
    load.offered_per_second = workers.map(|(rate, workers)| rate * f64::from(workers));
    if group.is_mixture {
        mixture(&mut load, &mut stream, &jobs);
    } else {
        load.parameters = options::parameters(asked);
    }
    let size = asked
        .get("size")
        .and_then(|size| options::bytes(asked, size));
    let job = block::ImportedJob {
        name: load.workload.clone(),
        index,
        workers: group.workers.unwrap_or_default(),
        worker_bytes: size.unwrap_or_default(),
        stream,
    };
    load.block = Some(job.point());
    facts(&mut load, asked, offered);
    device_facts(&mut load, run.whole());
    if first.fio.unified {
        load.note(ImportNote::DirectionsMerged);
    }
    load.failure = failure(&jobs);
    load.ended_early = run.is_interrupted || jobs.iter().any(|job| job.ends_early());
    load
}

/// Synchronous engines, and think time, keep fewer requests in flight than `iodepth`: fio reports how many there were.
fn depth(asked: &FioOptions, job: &FioJobEntry) -> u32 {
    let asked = options::number(asked, "iodepth").unwrap_or(1);
    let deepest = job.deepest.unwrap_or(u32::MAX).max(1);
    asked.clamp(1, 1_000_000).min(deepest)
}

/// What jobs did in one direction, as fio counts it.
#[derive(Clone, Copy)]
struct Moved {
    requests: u64,
    bytes: u64,
}

fn moved(jobs: &[&FioJobEntry], kind: FioOp) -> Moved {
    let mut moved = Moved {
        requests: 0,
        bytes: 0,
    };
    for side in jobs.iter().filter_map(|job| kind.side(&job.fio)) {
        moved.requests = moved.requests.saturating_add(side.total_ios);
        moved.bytes = moved.bytes.saturating_add(side.io_bytes);
    }
    moved
}

impl Moved {
    /// With their share in percent; 0 where requests are of several sizes.
    fn sizes(self) -> Vec<(u64, u32)> {
        match self.requests {
            0 => Vec::new(),
            n if self.bytes.is_multiple_of(n) => vec![(self.bytes / n, 100)],
            _ => vec![(0, 100)],
        }
    }

    fn mean_size(self) -> Option<f64> {
        (self.requests > 0).then(|| self.bytes as f64 / self.requests as f64)
    }
}

/// Mix and sizes as measured, where the options of the jobs are unknown.
fn mixture(load: &mut ImportedLoad, stream: &mut BlockStreamInfo, jobs: &[&FioJobEntry]) {
    let reads = moved(jobs, FioOp::Read);
    let writes = moved(jobs, FioOp::Write);
    let all = reads.requests.saturating_add(writes.requests);
    if all > 0 {
        stream.read_percent = (reads.requests as f64 * 100.0 / all as f64).round() as u32;
    }
    stream.read_sizes = reads.sizes();
    stream.write_sizes = writes.sizes();
    // Where no job ever had more than one request in flight, each had one.
    if jobs.iter().any(|job| job.deepest != Some(1)) {
        load.users = 0;
    }
    load.note(ImportNote::JobsMerged);
}

fn offered(jobs: &[&FioJobEntry], is_mixture: bool) -> JobRate {
    let directions = [FioOp::Read, FioOp::Write, FioOp::Trim];
    let sizes = directions.map(|kind| moved(jobs, kind).mean_size());
    let first = jobs[0];
    if is_mixture {
        return options::offered_together(&first.global, &first.options, sizes);
    }
    options::offered(&first.options, sizes)
}

fn facts(load: &mut ImportedLoad, asked: &FioOptions, offered: JobRate) {
    // Whatever process makes requests due (`rate_process`), fio takes the time when it makes one, and makes none while all
    // of its requests are in flight (io_u.c, `get_io_u`). Threads of their own (`io_submit_mode=offload`) are late as well
    // once all are in flight, which the output does not report.
    let mode = asked.get("io_submit_mode");
    let is_offloaded = mode.is_some_and(|mode| mode == "offload");
    let from = match offered {
        JobRate::Unknown(_) => "unknown",
        JobRate::PerSecond(_) if is_offloaded => "unknown",
        JobRate::PerSecond(_) | JobRate::Unlimited => "start",
    };
    load.fact(RESPONSE_FACT, from);
    if let JobRate::Unknown(reason) = offered {
        load.note(ImportNote::OfferedUnknown { reason });
    }
    for key in SETTINGS {
        if let Some(value) = asked.get(key) {
            load.fact(&format!("setting.{key}"), value.clone());
        }
    }
    load.note(ImportNote::FillUnknown);
}

/// What the kernel counted below all jobs of the run, of those that read.
fn device_facts(load: &mut ImportedLoad, report: &Report) {
    if !load.txns.iter().any(|txn| txn == FioOp::Read.name()) {
        return;
    }
    if let Some(ratio) = report.device_reads() {
        load.fact(DEVICE_READS_FACT, format!("{ratio:.6}"));
    }
    if let [disk] = report.disks.as_slice() {
        load.fact(DEVICE_NAME_FACT, disk.name.clone());
    }
}

/// What went wrong.
fn failure(jobs: &[&FioJobEntry]) -> Option<CheckDetail> {
    let mut errors = jobs.iter().map(|job| job.fio.error);
    let error = errors.find(|error| *error != 0);
    let outcomes = counts::outcomes(jobs);
    (error.is_some() || outcomes.failed > 0).then_some(CheckDetail::RequestsFailed {
        failed: outcomes.failed,
        offered: outcomes.offered,
        errno: error,
        is_verify: error == Some(counts::VERIFY_FAILED),
    })
}
