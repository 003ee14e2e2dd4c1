//! A run of fio as its reports show it.

use super::options::{self, FioOptions};
use crate::fio_output::FioJob;
use crate::load::ends_early;

/// One document.
#[derive(Debug)]
pub(super) struct Report {
    /// Its first line.
    pub line: usize,
    pub version: String,
    /// When it was printed, since 1970.
    pub at_ms: u64,
    pub jobs: Vec<FioJobEntry>,
    pub disks: Vec<FioDisk>,
}

/// What the kernel counted of a block device while fio ran.
#[derive(Debug)]
pub(super) struct FioDisk {
    pub name: String,
    /// Requests that were joined are counted as they were made.
    pub reads: u64,
    /// From fio 3.37 on.
    pub read_bytes: Option<u64>,
}

/// One entry of a report: a job, or all jobs of a group (`group_reporting`).
#[derive(Debug)]
pub(super) struct FioJobEntry {
    pub fio: FioJob,
    /// The server that it ran on, of a client's output.
    pub host: Option<String>,
    /// Of the file's global section and its own.
    pub options: FioOptions,
    /// Those of the global section alone.
    pub global: FioOptions,
    /// Jobs of another group may have begun at another time.
    pub group: i64,
    /// Since 1970, from fio 3.42 on; of several jobs the first one's.
    pub start_ms: Option<u64>,
    /// Since fio itself began, in whole seconds, rounded up.
    pub elapsed_s: Option<u64>,
    /// The sum over all jobs of the entry.
    pub runtime_ms: u64,
    /// Requests that failed, where fio went on after them (`continue_on_error`).
    pub errors: Option<u64>,
    /// Most requests that a job had in flight: the upper end of the highest level that occurred.
    pub deepest: Option<u32>,
}

/// One run of fio: its reports in their order. There is at least one.
#[derive(Debug)]
pub(super) struct Run {
    pub reports: Vec<Report>,
    /// A signal ended it.
    pub is_interrupted: bool,
}

impl Run {
    /// The last report, which holds everything.
    pub fn whole(&self) -> &Report {
        &self.reports[self.reports.len() - 1]
    }

    /// Counts start anew where `ramp_time` ends.
    pub fn has_ramp(&self) -> bool {
        self.whole()
            .jobs
            .iter()
            .any(|job| job.options.contains_key("ramp_time"))
    }
}

impl FioJobEntry {
    /// How long it was at work: reads that verify what was written come after it.
    pub fn lasted_ms(&self) -> u64 {
        let sides = [&self.fio.read, &self.fio.write, &self.fio.trim].map(|side| side.runtime_ms);
        if options::reads_back(&self.options) {
            sides.iter().sum()
        } else {
            sides.into_iter().max().unwrap_or_default()
        }
    }

    /// Whether it was to run for a time, whatever it moves, and ran for less.
    pub fn ends_early(&self) -> bool {
        let asked_s = self
            .options
            .get("runtime")
            .and_then(|own| options::seconds(own));
        let is_timed = options::is_on(&self.options, "time_based")
            || self.options.get("time_based").is_some_and(String::is_empty);
        let lasted_s = self.lasted_ms() as f64 / 1e3;
        is_timed
            && self.fio.error == 0
            && asked_s.is_some_and(|asked_s| ends_early(lasted_s, asked_s))
    }

    /// Requests that were made in each direction.
    fn made(&self) -> [u64; 3] {
        [&self.fio.read, &self.fio.write, &self.fio.trim].map(|side| side.total_ios)
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.fio.name == other.fio.name
            && self.group == other.group
            && self.options == other.options
    }
}

impl Report {
    /// Of the same run, fewer requests than in the report before.
    pub fn falls_below(&self, before: &Self) -> bool {
        let made = self.jobs.iter().flat_map(FioJobEntry::made);
        let before = before.jobs.iter().flat_map(FioJobEntry::made);
        made.zip(before).any(|(now, before)| now < before)
    }

    /// Reads of all devices for each read of fio; `None` where the two do not compare: the kernel splits and joins
    /// requests that follow each other, and reads ahead.
    pub fn device_reads(&self) -> Option<f64> {
        if self.disks.is_empty() {
            return None;
        }
        let sum =
            |of: fn(&FioJobEntry) -> u64| self.jobs.iter().map(of).fold(0, u64::saturating_add);
        let bytes: Option<u64> = self.disks.iter().map(|disk| disk.read_bytes).sum();
        if let Some(bytes) = bytes {
            let asked = sum(|job| job.fio.read.io_bytes);
            return (asked > 0).then(|| bytes as f64 / asked as f64);
        }
        let is_random = self.jobs.iter().all(|job| options::is_random(&job.options));
        let asked = sum(|job| job.fio.read.total_ios);
        let reads = self
            .disks
            .iter()
            .map(|disk| disk.reads)
            .fold(0, u64::saturating_add);
        (is_random && asked > 0).then(|| reads as f64 / asked as f64)
    }

    /// Since fio began, where jobs report it.
    pub fn elapsed_ms(&self) -> Option<u64> {
        let seconds = self.jobs.iter().filter_map(|job| job.elapsed_s).max()?;
        Some(seconds.saturating_mul(1000))
    }

    pub fn longest_ms(&self) -> u64 {
        let lengths = self.jobs.iter().map(FioJobEntry::lasted_ms);
        lengths.max().unwrap_or_default()
    }
}
