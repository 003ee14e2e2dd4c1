//! fio's JSON and JSON+.
//!
//! JSON+ has the buckets of completion latencies, from which histograms are made; JSON has mean, maximum and percentiles,
//! which are kept as reported. A file may hold several reports of one run, and several runs. Jobs of one name are workers of
//! one load, in their order.

mod counts;
mod options;
mod reports;
mod starts;

use plimsoll_record::import_facts::RESPONSE_FACT;
use std::ops::Range;

pub(super) use reports::is_for_people;

use super::Tool;
use super::fault::Read;
use super::load::{ImportedLoad, JobLogs};
use counts::Kind;
use options::{Offered, Options};
use plimsoll_record::lane::Counts;
use plimsoll_record::{BlockPoint, BlockStreamInfo, PointId};
use reports::{Job, Run};

/// One load for each name of a job in each run.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let runs = reports::runs(text)?;
    Ok(runs.iter().flat_map(of_run).collect())
}

fn of_run(run: &Run) -> Vec<ImportedLoad> {
    let starts = starts::of(run.whole());
    let groups = groups(&run.whole().jobs);
    let mut loads = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let mut load = of_group(run, group, index as u32);
        load.started = group
            .places
            .iter()
            .map(|place| starts.of[*place])
            .min()
            .flatten();
        if groups.len() > 1 {
            load.unknown.extend(starts.note.clone());
        }
        loads.push(load);
    }
    loads
}

/// Entries of a report that are one load.
struct Group {
    /// Their places in the report.
    places: Vec<usize>,
    /// Number of jobs that they report; `None`: unknown.
    workers: Option<u32>,
    /// One entry for jobs of several names, of which fio prints the first name and the last options.
    is_mixture: bool,
    /// Numbers of its jobs, from 1, by which logs are named; empty where they are unknown.
    numbers: Vec<Range<usize>>,
}

fn groups(jobs: &[Job]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        let is_same = |other: &Job| {
            other.fio.name == job.fio.name
                && other.group == job.group
                && other.options == job.options
        };
        match groups
            .iter_mut()
            .find(|group| is_same(&jobs[group.places[0]]))
        {
            Some(group) => group.places.push(place),
            None => groups.push(Group {
                places: vec![place],
                workers: None,
                is_mixture: false,
                numbers: Vec::new(),
            }),
        }
    }
    let mut members: Vec<Option<u32>> = vec![None; jobs.len()];
    for group in &mut groups {
        let own: Vec<&Job> = group.places.iter().map(|place| &jobs[*place]).collect();
        let is_grouped = |job: &Job| own.iter().filter(|other| other.host == job.host).count() == 1;
        group.is_mixture =
            own.iter().all(|job| is_grouped(job)) && own.iter().any(|job| is_mixture(job));
        for (place, job) in group.places.iter().zip(&own) {
            members[*place] = if is_grouped(job) {
                jobs_of_entry(job, group.is_mixture)
            } else {
                Some(1)
            };
        }
        let sum = |sum: u32, place: &usize| Some(sum.saturating_add(members[*place]?));
        group.workers = group.places.iter().try_fold(0, sum);
    }
    number(&mut groups, jobs, &members);
    groups
}

/// Number of jobs in an entry that is the only one of its name on its machine.
fn jobs_of_entry(job: &Job, is_mixture: bool) -> Option<u32> {
    match is_mixture {
        true => members(job),
        false => Some(
            options::number(&job.options, "numjobs")
                .unwrap_or(1)
                .clamp(1, 100_000),
        ),
    }
}

/// fio numbers jobs in the order of its job file, each server those of its own.
fn number(groups: &mut [Group], jobs: &[Job], members: &[Option<u32>]) {
    if jobs.iter().any(|job| job.host != jobs[0].host) {
        return;
    }
    let mut next = Some(1);
    let mut numbers: Vec<Option<Range<usize>>> = Vec::new();
    for own in members {
        let end = next.zip(*own).map(|(next, own)| next + own as usize);
        numbers.push(next.zip(end).map(|(from, to)| from..to));
        next = end;
    }
    for group in groups {
        let own: Option<Vec<_>> = group
            .places
            .iter()
            .map(|place| numbers[*place].clone())
            .collect();
        group.numbers = own.unwrap_or_default();
    }
}

/// Whether one entry is of jobs of several names (`group_reporting`): the name that its options have is another one, it
/// made requests that they do not ask for, or more jobs than they ask for add up to its time.
fn is_mixture(job: &Job) -> bool {
    let own = |key: &str| {
        job.options
            .get(key)
            .filter(|_| job.global.get(key) != job.options.get(key))
    };
    if own("name").is_some_and(|name| *name != job.fio.name) {
        return true;
    }
    let jobs = options::number(&job.options, "numjobs").unwrap_or(1);
    let more = members(job).is_some_and(|members| members > jobs)
        && !job.options.contains_key("ramp_time");
    let asked = options::directions(&job.options);
    let made = [Kind::Read, Kind::Write, Kind::Trim]
        .map(|kind| kind.side(&job.fio).is_some_and(|side| side.total_ios > 0));
    let unasked = made.iter().zip(asked).any(|(made, asked)| *made && !asked);
    // Requests of a log, and those that verify, are of any direction.
    let follows = options::is_on(&job.options, "verify")
        || job.options.contains_key("read_iolog")
        || job.fio.unified;
    more || (unasked && !follows)
}

/// How many jobs add up to the time of an entry, where they ran equally long.
fn members(job: &Job) -> Option<u32> {
    let longest_ms = counts::lasted_ms(job);
    let jobs = job.runtime_ms as f64 / longest_ms as f64;
    let is_whole = longest_ms >= 100 && jobs >= 1.0 && (jobs - jobs.round()).abs() <= 0.02;
    (is_whole && jobs < 100_000.0).then(|| jobs.round() as u32)
}

fn of_group(run: &Run, group: &Group, index: u32) -> ImportedLoad {
    let jobs: Vec<&Job> = group
        .places
        .iter()
        .map(|place| &run.whole().jobs[*place])
        .collect();
    let first = jobs[0];
    let mut load = ImportedLoad::new(Tool::Fio);
    load.version = run.whole().version.trim_start_matches("fio-").to_owned();
    load.workload = match group.is_mixture {
        true => format!("{} and others", first.fio.name),
        false => first.fio.name.clone(),
    };
    // Of a mixture only what all jobs have in common is known.
    let asked = if group.is_mixture {
        &first.global
    } else {
        &first.options
    };
    counts::fill(&mut load, run, &group.places);
    load.logs = JobLogs {
        numbers: group.numbers.clone(),
        every_ms: options::number(asked, "log_avg_msec")
            .filter(|ms| *ms > 0)
            .map(u64::from),
        has_ramp: run.has_ramp(),
    };
    let depth = depth(asked, first);
    let offered = offered(&jobs, group.is_mixture);
    let mut stream = options::stream(asked, depth, offered.per_second());
    load.users = depth.saturating_mul(group.workers.unwrap_or_default());
    load.offered_per_second = offered
        .per_second()
        .zip(group.workers)
        .map(|(rate, workers)| rate * f64::from(workers));
    if group.is_mixture {
        mixture(&mut load, &mut stream, &jobs);
    } else {
        load.parameters = options::parameters(asked);
    }
    load.block = Some(BlockPoint {
        point: PointId(0),
        profile: String::new(),
        job: load.workload.clone(),
        job_index: index,
        workers: group.workers.unwrap_or_default(),
        worker_bytes: asked
            .get("size")
            .and_then(|size| options::bytes(asked, size))
            .unwrap_or_default(),
        fill: 0.0,
        share_percent: None,
        streams: vec![stream],
    });
    facts(&mut load, asked, offered);
    if first.fio.unified {
        let text = "fio reports all directions together (unified_rw_reporting): reads and writes cannot be distinguished.";
        load.unknown.push(("directions", text.to_owned()));
    }
    load.failure = failure(&jobs);
    load
}

/// Synchronous engines, and think time, keep fewer requests in flight than `iodepth`: fio reports how many there were.
fn depth(asked: &Options, job: &Job) -> u32 {
    let asked = options::number(asked, "iodepth")
        .unwrap_or(1)
        .clamp(1, 1_000_000);
    asked.min(job.deepest.unwrap_or(u32::MAX).max(1))
}

/// Mix and sizes as measured, where the options of the jobs are unknown.
fn mixture(load: &mut ImportedLoad, stream: &mut BlockStreamInfo, jobs: &[&Job]) {
    let sum = |kind: Kind| {
        let sides = jobs.iter().filter_map(|job| kind.side(&job.fio));
        sides.fold(Counts::default(), |mut sum, side| {
            sum.add(&Counts {
                committed: side.total_ios,
                bytes: side.io_bytes,
                ..Counts::default()
            });
            sum
        })
    };
    let (reads, writes) = (sum(Kind::Read), sum(Kind::Write));
    let all = reads.committed.saturating_add(writes.committed);
    let size = |side: &Counts| match side.committed {
        0 => Vec::new(),
        n if side.bytes.is_multiple_of(n) => vec![(side.bytes / n, 100)],
        _ => vec![(0, 100)],
    };
    if all > 0 {
        stream.read_percent = (reads.committed as f64 * 100.0 / all as f64).round() as u32;
    }
    (stream.read_sizes, stream.write_sizes) = (size(&reads), size(&writes));
    // Where no job ever had more than one request in flight, each had one.
    if jobs.iter().any(|job| job.deepest != Some(1)) {
        load.users = 0;
    }
    let text = "fio reports jobs of several names as one (group_reporting), with the first name and the options of the last: \
                the options of each job are unknown. Mix and sizes are as measured.";
    load.unknown.push(("group", text.to_owned()));
}

impl Offered {
    fn per_second(self) -> Option<f64> {
        match self {
            Self::PerSecond(rate) => Some(rate),
            Self::Unlimited | Self::Unknown(_) => None,
        }
    }
}

fn offered(jobs: &[&Job], is_mixture: bool) -> Offered {
    let size = |kind: Kind| {
        let sides = || jobs.iter().filter_map(|job| kind.side(&job.fio));
        let requests: f64 = sides().map(|side| side.total_ios as f64).sum();
        (requests > 0.0).then(|| sides().map(|side| side.io_bytes as f64).sum::<f64>() / requests)
    };
    let sizes = [Kind::Read, Kind::Write, Kind::Trim].map(size);
    let first = jobs[0];
    if is_mixture {
        return options::offered_together(&first.global, &first.options, sizes);
    }
    options::offered(&first.options, sizes)
}

fn facts(load: &mut ImportedLoad, asked: &Options, offered: Offered) {
    // Whatever process makes requests due (`rate_process`), fio takes the time when it makes one, and makes none while all
    // of its requests are in flight (io_u.c, `get_io_u`). Threads of their own (`io_submit_mode=offload`) are late as well
    // once all are in flight, which the output does not report.
    let offloaded = asked
        .get("io_submit_mode")
        .is_some_and(|mode| mode == "offload");
    let limited = offered != Offered::Unlimited;
    let unknown = matches!(offered, Offered::Unknown(_));
    let from = if unknown || (limited && offloaded) {
        "unknown"
    } else {
        "start"
    };
    load.fact(RESPONSE_FACT, from);
    if let Offered::Unknown(text) = offered {
        load.unknown.push(("offered", text.to_owned()));
    }
    for key in [
        "ioengine",
        "rate_process",
        "sync",
        "fsync",
        "fdatasync",
        "end_fsync",
        "norandommap",
        "time_based",
    ] {
        if let Some(value) = asked.get(key) {
            load.fact(&format!("setting.{key}"), value.clone());
        }
    }
    let text = "Whether the test space was written before is unknown: THIN cannot be evaluated.";
    load.unknown.push(("fill", text.to_owned()));
}

/// What went wrong, in one line.
fn failure(jobs: &[&Job]) -> Option<String> {
    let error = jobs
        .iter()
        .map(|job| job.fio.error)
        .find(|error| *error != 0);
    let outcomes = counts::outcomes(jobs);
    if error.is_none() && outcomes.failed == 0 {
        return None;
    }
    let ended = match error {
        Some(counts::VERIFY_FAILED) => {
            "; blocks did not hold what was written (error 84)".to_owned()
        }
        Some(error) => format!("; fio ended with error {error} (errno)"),
        None => String::new(),
    };
    Some(format!(
        "{} of {} requests failed{ended}",
        outcomes.failed, outcomes.offered
    ))
}
