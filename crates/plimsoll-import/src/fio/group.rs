//! Which entries of a report are one load, and how many jobs they are.

use std::ops::Range;

use super::counts::FioOp;
use super::job::FioJobEntry;
use super::options;

/// Entries of a report that are one load.
pub(super) struct FioJobGroup {
    /// Their places in the report.
    pub places: Vec<usize>,
    /// Number of jobs that they report; `None`: unknown.
    pub workers: Option<u32>,
    /// One entry for jobs of several names, of which fio prints the first name and the last options.
    pub is_mixture: bool,
    /// Numbers of its jobs, from 1, by which logs are named; empty where they are unknown.
    pub numbers: Vec<Range<usize>>,
}

pub(super) fn groups(jobs: &[FioJobEntry]) -> Vec<FioJobGroup> {
    let mut groups: Vec<FioJobGroup> = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        let mut known = groups.iter_mut();
        match known.find(|group| jobs[group.places[0]].is_same(job)) {
            Some(group) => group.places.push(place),
            None => groups.push(FioJobGroup {
                places: vec![place],
                workers: None,
                is_mixture: false,
                numbers: Vec::new(),
            }),
        }
    }
    let mut members: Vec<Option<u32>> = vec![None; jobs.len()];
    for group in &mut groups {
        let own: Vec<&FioJobEntry> = group.places.iter().map(|place| &jobs[*place]).collect();
        group.is_mixture = own.iter().all(|job| is_only_of_host(job, &own))
            && own.iter().any(|job| is_mixture(job));
        group.workers = Some(0);
        for (place, job) in group.places.iter().zip(&own) {
            members[*place] = match is_only_of_host(job, &own) {
                true => jobs_of_entry(job, group.is_mixture),
                false => Some(1),
            };
            let sum = group.workers.zip(members[*place]);
            group.workers = sum.map(|(sum, more)| sum.saturating_add(more));
        }
    }
    number(&mut groups, jobs, &members);
    groups
}

/// Whether an entry is the only one of its group on its machine.
fn is_only_of_host(job: &FioJobEntry, group: &[&FioJobEntry]) -> bool {
    group.iter().filter(|other| other.host == job.host).count() == 1
}

/// Number of jobs in an entry that is the only one of its name on its machine.
fn jobs_of_entry(job: &FioJobEntry, is_mixture: bool) -> Option<u32> {
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
fn number(groups: &mut [FioJobGroup], jobs: &[FioJobEntry], members: &[Option<u32>]) {
    if jobs.iter().any(|job| job.host != jobs[0].host) {
        return;
    }
    let mut next = Some(1);
    let mut numbers: Vec<Option<Range<usize>>> = Vec::new();
    for own in members {
        let range = next.zip(*own).map(|(next, own)| next..next + own as usize);
        next = range.as_ref().map(|range| range.end);
        numbers.push(range);
    }
    for group in groups {
        let own = group.places.iter().map(|place| numbers[*place].clone());
        group.numbers = own.collect::<Option<Vec<_>>>().unwrap_or_default();
    }
}

/// Whether one entry is of jobs of several names (`group_reporting`): the name that its options have is another one, it
/// made requests that they do not ask for, or more jobs than they ask for add up to its time.
fn is_mixture(job: &FioJobEntry) -> bool {
    let name = job.options.get("name");
    let own_name = name.filter(|_| job.global.get("name") != name);
    if own_name.is_some_and(|name| !is_name(&job.fio.name, name)) {
        return true;
    }
    let jobs = options::number(&job.options, "numjobs").unwrap_or(1);
    let has_more = members(job).is_some_and(|members| members > jobs)
        && !job.options.contains_key("ramp_time");
    // Requests of a log, and those that verify, are of any direction.
    let is_free = options::is_on(&job.options, "verify")
        || job.options.contains_key("read_iolog")
        || job.fio.unified;
    has_more || (made_unasked(job) && !is_free)
}

/// Whether a printed name is that of the options: fio prints the first 127 bytes.
fn is_name(printed: &str, asked: &str) -> bool {
    const PRINTED_BYTES: usize = 127;
    let is_cut = asked.len() > PRINTED_BYTES && printed.len() <= PRINTED_BYTES;
    printed == asked || (is_cut && printed.len() + 4 > PRINTED_BYTES && asked.starts_with(printed))
}

fn made_unasked(job: &FioJobEntry) -> bool {
    let directions = [FioOp::Read, FioOp::Write, FioOp::Trim];
    let asked = options::directions(&job.options);
    directions.iter().zip(asked).any(|(kind, is_asked)| {
        let side = kind.side(&job.fio);
        !is_asked && side.is_some_and(|side| side.total_ios > 0)
    })
}

/// How many jobs add up to the time of an entry, where they ran equally long.
fn members(job: &FioJobEntry) -> Option<u32> {
    let longest_ms = job.lasted_ms();
    let jobs = job.runtime_ms as f64 / longest_ms as f64;
    let is_whole = longest_ms >= 100 && jobs >= 1.0 && (jobs - jobs.round()).abs() <= 0.02;
    (is_whole && jobs < 100_000.0).then(|| jobs.round() as u32)
}
