//! What fio prints with `--output-format=json+`, and its bandwidth logs, as types.
//!
//! Fields that plimsoll does not use are passed over, so that a newer fio is read as well; a field that it uses and that
//! is missing or of another kind is an error that names it. fio may print warnings before the JSON: they are kept.
//! The form is described in fio's HOWTO, "JSON+ output"; `clat_ns.bins` holds the number of operations by the latency,
//! in nanoseconds, that stands for the bucket (`stat.c`, `plat_idx_to_val`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::lines::lines;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;

mod documents;
mod error;
mod value;

pub use documents::{Documents, Piece};
pub use error::FioError;
use error::first_line;
use value::JsonNode;

/// One run of fio.
#[derive(Debug, Clone, PartialEq)]
pub struct FioOutput {
    /// `fio-3.33`.
    pub version: String,
    /// When fio counted, in milliseconds since 1970-01-01 UTC.
    pub timestamp_ms: u64,
    pub jobs: Vec<FioJob>,
    /// Lines that came before the JSON.
    pub warnings: Vec<String>,
}

/// One job, or one group of jobs (`group_reporting`).
#[derive(Debug, Clone, PartialEq)]
pub struct FioJob {
    pub name: String,
    /// An errno, 0 when all went well.
    pub error: i64,
    /// `unified_rw_reporting=mixed`: requests of all directions are in `read`.
    pub unified: bool,
    pub read: DirectionStats,
    pub write: DirectionStats,
    pub trim: DirectionStats,
    /// `fsync` and so on; `None` where this fio does not report them.
    pub sync: Option<Syncs>,
    /// Percent of one CPU.
    pub user_cpu: f64,
    pub system_cpu: f64,
}

/// All operations in one direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DirectionStats {
    pub io_bytes: u64,
    pub bytes_per_second: f64,
    pub iops: f64,
    /// Since the first request in this direction; 0 where there was none.
    pub runtime_ms: u64,
    /// Requests that were made; those that ended are in the buckets. The two differ while fio is at work.
    pub total_ios: u64,
    /// Those that moved less than asked for.
    pub short_ios: u64,
    /// From making the request to handing it to the kernel.
    pub submission: Latencies,
    /// From handing it over to its completion. With buckets.
    pub completion: Latencies,
    /// Both together.
    pub total: Latencies,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Syncs {
    /// 0 with engines that flush asynchronously: the buckets count.
    pub total: u64,
    pub latency: Latencies,
}

/// In nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latencies {
    pub n: u64,
    pub min: Nanos,
    pub max: Nanos,
    pub mean_ns: f64,
    pub stddev_ns: f64,
    /// Operations by the latency that stands for their bucket; empty where fio keeps no buckets.
    pub bins: BTreeMap<u64, u64>,
    /// Nanoseconds by percentile, as fio prints it (`99.000000`).
    pub percentiles: Vec<(String, u64)>,
}

impl Latencies {
    /// The buckets with their exact mean and maximum. fio's buckets are at most 1/64 wide.
    pub fn hist(&self) -> Hist {
        let sum = (self.mean_ns.max(0.0) * self.n as f64).round() as u128;
        Hist::of_buckets(
            self.bins.iter().map(|(value, n)| (Nanos(*value), *n)),
            sum,
            self.max,
        )
    }
}

impl DirectionStats {
    /// From submission to completion where fio was asked for these buckets (`lat_percentiles`) or has no others
    /// (`disable_clat`), else from handing over.
    pub fn latencies(&self) -> &Latencies {
        let only_total = self.completion.n == 0 && self.total.n > 0;
        if self.total.bins.is_empty() && !only_total {
            &self.completion
        } else {
            &self.total
        }
    }
}

/// Reads fio's standard output.
pub fn parse(text: &str) -> Result<FioOutput, FioError> {
    let mut at = 0;
    let mut why = None;
    for line in text.split_inclusive('\n') {
        if line.starts_with('{') {
            match first_value(&text[at..]) {
                Ok(value) => {
                    let before = text[..at].lines().filter(|line| !line.trim().is_empty());
                    return Ok(FioOutput {
                        warnings: before.map(str::to_owned).collect(),
                        ..output(&value)?
                    });
                }
                Err(error) => why = why.or(Some(error)),
            }
        }
        at += line.len();
    }
    Err(why.map_or_else(
        || FioError::NoJson(first_line(text).trim_start_matches(": ").into()),
        FioError::Syntax,
    ))
}

/// One of fio's documents.
pub(crate) fn output(value: &Value) -> Result<FioOutput, FioError> {
    let root = JsonNode::root(value);
    // A client prints the jobs of its servers, and times in seconds.
    let items = root
        .find(CLIENT_JOBS)
        .map_or_else(|| root.get(JOBS), Ok)?
        .items()?;
    let jobs = items.iter().map(job).collect::<Result<Vec<_>, _>>()?;
    let timestamp_ms = match root.find("timestamp_ms") {
        Some(at) => at.count()?,
        None => root.get("timestamp")?.count()?.saturating_mul(1000),
    };
    Ok(FioOutput {
        version: root.get("fio version")?.text()?,
        timestamp_ms,
        jobs,
        warnings: Vec::new(),
    })
}

pub(crate) const JOBS: &str = "jobs";
pub(crate) const CLIENT_JOBS: &str = "client_stats";

/// What follows the object is no part of it. Older versions print `nan` where nothing was counted.
fn first_value(text: &str) -> Result<Value, String> {
    let value = match read_value(text) {
        Some(Err(_)) if text.contains("nan") => {
            read_value(&text.replace(": -nan", ": 0").replace(": nan", ": 0"))
        }
        first => first,
    };
    value
        .ok_or_else(|| "it is empty".to_owned())?
        .map_err(|error| error.to_string())
}

fn read_value(text: &str) -> Option<serde_json::Result<Value>> {
    serde_json::Deserializer::from_str(text).into_iter().next()
}

fn job(at: &JsonNode) -> Result<FioJob, FioError> {
    let unified = at.find("read").is_none() && at.find("mixed").is_some();
    let read = if unified { "mixed" } else { "read" };
    let mut write = DirectionStats::default();
    let mut trim = DirectionStats::default();
    if !unified {
        write = side(&at.get("write")?)?;
        trim = side(&at.get("trim")?)?;
    }
    Ok(FioJob {
        name: at.get("jobname")?.text()?,
        error: at.find("error").map_or(Ok(0), |error| error.signed())?,
        unified,
        read: side(&at.get(read)?)?,
        write,
        trim,
        sync: at.find("sync").map(|sync| syncs(&sync)).transpose()?,
        user_cpu: at.get("usr_cpu")?.number()?,
        system_cpu: at.get("sys_cpu")?.number()?,
    })
}

fn side(at: &JsonNode) -> Result<DirectionStats, FioError> {
    Ok(DirectionStats {
        io_bytes: at.get("io_bytes")?.count()?,
        bytes_per_second: at.get("bw_bytes")?.number()?,
        iops: at.get("iops")?.number()?,
        runtime_ms: at.get("runtime")?.count()?,
        total_ios: at.get("total_ios")?.count()?,
        short_ios: at.find("short_ios").map_or(Ok(0), |short| short.count())?,
        submission: latencies(&at.get("slat_ns")?)?,
        completion: latencies(&at.get("clat_ns")?)?,
        total: latencies(&at.get("lat_ns")?)?,
    })
}

fn syncs(at: &JsonNode) -> Result<Syncs, FioError> {
    Ok(Syncs {
        total: at.get("total_ios")?.count()?,
        latency: latencies(&at.get("lat_ns")?)?,
    })
}

fn latencies(at: &JsonNode) -> Result<Latencies, FioError> {
    let bins = at
        .find("bins")
        .map_or(Ok(BTreeMap::new()), |bins| bins.counts_by_number())?;
    let all = bins.values().try_fold(0u64, |sum, n| sum.checked_add(*n));
    if all.is_none_or(|all| all >= 1 << 62) {
        return Err(FioError::Field {
            field: at.name("bins"),
            why: "counts more operations than there can be".into(),
        });
    }
    Ok(Latencies {
        n: at.find("N").map_or(Ok(0), |n| n.count())?,
        min: Nanos(at.get("min")?.count()?),
        max: Nanos(at.get("max")?.count()?),
        mean_ns: at.get("mean")?.number()?,
        stddev_ns: at.get("stddev")?.number()?,
        bins,
        percentiles: at
            .find("percentile")
            .map_or(Ok(Vec::new()), |all| all.counts_in_order())?,
    })
}

/// One line of a log that `write_bw_log` made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLine {
    /// Since the job began; the end of the interval with `log_avg_msec`.
    pub at_ms: u64,
    /// KiB/s in a bandwidth log.
    pub value: u64,
}

/// Reads a log of `write_bw_log` (HOWTO, "Log File Formats"): `ms, value, direction, block size, …`.
pub fn parse_log(text: &str) -> Result<Vec<LogLine>, FioError> {
    let mut read = Vec::new();
    for line in lines(text).filter(|line| !line.text.trim().is_empty()) {
        let mut fields = line.text.split(',').map(|field| field.trim().parse().ok());
        let at_ms = fields.next().flatten();
        let value = fields.next().flatten();
        let Some((at_ms, value)) = at_ms.zip(value) else {
            return Err(FioError::Log {
                line: line.number,
                text: line.text.chars().take(80).collect(),
            });
        };
        read.push(LogLine { at_ms, value });
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
