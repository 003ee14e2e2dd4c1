//! Logs of fio: `write_lat_log`, `write_bw_log`, `write_iops_log`, `write_hist_log` (HOWTO, "Log File Formats").
//!
//! A line is `ms, value, direction, block size, …`; of a histogram log `ms, direction, block size, bucket, bucket, …`
//! with what was counted since the line before. The kind of a log is in its name.

mod fit;
mod ticks;

use super::Tool;
use super::fault::{Fault, Read};
use super::load::ImportedLoad;
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::RESPONSE_FACT;
pub(super) use ticks::attach;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nanoseconds from submission to completion, from handing over, and to handing over.
    Lat,
    Clat,
    Slat,
    /// KiB/s.
    Bandwidth,
    Iops,
    Hist,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioLog {
    /// Of its file.
    pub name: String,
    pub kind: Kind,
    /// Number of the job in the run, from 1; `None`: of all jobs of the name (`per_job_logs=0`).
    pub job: Option<usize>,
    /// The part of the name before the kind.
    pub prefix: String,
    /// Start of the job since 1970, where lines have such times (`log_unix_epoch`, `log_alternate_epoch`).
    began_ms: Option<u64>,
    /// Times count from the job's start.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    at_ms: u64,
    direction: usize,
    /// 0 in a histogram log.
    value: u64,
    /// Of a histogram log, those that hold any: the value that stands for a bucket, and its count.
    buckets: Box<[(Nanos, u64)]>,
    /// Of a single request; 0 where a line is of several.
    bytes: u64,
}

/// A line for each direction at about the same time: times nearer than this are one tick.
const ONE_TICK_MS: u64 = 20;
/// In the order of fio's directions.
pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// `FIO_IO_U_PLAT_NR`: 29 groups of 64 buckets; a log with `log_hist_coarseness=c` has 2^c times fewer.
const BUCKETS: usize = 1856;
/// Three years, as everywhere here.
const LONGEST_MS: u64 = 100_000_000_000;
/// 2096.
const LATEST_MS: u64 = 4_000_000_000_000;
/// More rows have no place in memory beside each other as ticks.
const MOST_VALUE: u64 = 1_000_000_000_000_000;

/// Kind, number of the job and prefix in the name of a log: `NAME_clat_hist.1.log`.
pub(super) fn named(name: &str) -> Option<(Kind, Option<usize>, String)> {
    let stem = name.strip_suffix(".log")?;
    let (stem, job) = match stem.rsplit_once('.') {
        Some((stem, job)) => (stem, Some(job.parse().ok()?)),
        None => (stem, None),
    };
    let kinds = [
        ("clat_hist", Kind::Hist),
        ("hist", Kind::Hist),
        ("slat", Kind::Slat),
        ("clat", Kind::Clat),
        ("lat", Kind::Lat),
        ("bw", Kind::Bandwidth),
        ("iops", Kind::Iops),
    ];
    kinds.into_iter().find_map(|(ending, kind)| {
        let prefix = stem.strip_suffix(ending)?;
        let prefix = prefix
            .strip_suffix('_')
            .or(prefix.is_empty().then_some(""))?;
        Some((kind, job, prefix.to_owned()))
    })
}

pub(super) fn read(name: &str, text: &str) -> Read<FioLog> {
    let expected = "a name that ends in _lat, _clat, _slat, _bw, _iops or _clat_hist, a number and .log, as fio gives it: \
                    its content does not show what it logs";
    let (kind, job, prefix) = named(name).ok_or_else(|| Fault::at(1, name, expected))?;
    let mut rows = Vec::new();
    let lines = || {
        text.lines()
            .enumerate()
            .filter(|(_, content)| !content.trim().is_empty())
    };
    // `log_window_value=both`: the largest value is between the mean and the direction, of which there are three.
    let third = |content: &str| content.split(',').nth(2)?.trim().parse::<u64>().ok();
    let both = kind != Kind::Hist
        && lines().any(|(_, content)| third(content).is_some_and(|value| value > 2));
    for (line, content) in lines() {
        rows.push(row(kind, both, line + 1, content)?);
    }
    if rows.is_empty() {
        return Err(Fault::end(text, "lines of a log of fio"));
    }
    let began_ms = began(&rows);
    for row in &mut rows {
        row.at_ms = row.at_ms.saturating_sub(began_ms.unwrap_or_default());
    }
    match rows.iter().position(|row| row.at_ms > LONGEST_MS) {
        Some(row) => Err(Fault::at(
            row + 1,
            &rows[row].at_ms.to_string(),
            "milliseconds of one run",
        )),
        None => Ok(FioLog {
            name: name.to_owned(),
            kind,
            job,
            prefix,
            began_ms,
            rows,
        }),
    }
}

/// Before the first line ends by as much as lines are apart at least: of averages each ends an interval.
fn began(rows: &[Row]) -> Option<u64> {
    /// 2001.
    const LEAST_EPOCH_MS: u64 = 1_000_000_000_000;
    let first = rows
        .first()
        .map(|row| row.at_ms)
        .filter(|at| *at >= LEAST_EPOCH_MS)?;
    let apart = rows
        .windows(2)
        .map(|pair| pair[1].at_ms.saturating_sub(pair[0].at_ms));
    Some(
        first
            - apart
                .filter(|apart| *apart > ONE_TICK_MS)
                .min()
                .unwrap_or_default()
                .min(first),
    )
}

fn row(kind: Kind, both: bool, line: usize, content: &str) -> Read<Row> {
    let expected = if kind == Kind::Hist {
        "`ms, direction, block size, bucket, …` with 1856 buckets, or 2^n times fewer"
    } else {
        "`ms, value, direction, block size`"
    };
    let wrong = || Fault::at(line, content, expected);
    // Options add further columns at the end (`log_offset`, `log_prio`, `log_issue_time`).
    let read = if kind == Kind::Hist {
        usize::MAX
    } else {
        4 + usize::from(both)
    };
    let fields = content
        .split(',')
        .take(read)
        .map(|field| field.trim().parse::<u64>());
    let fields = fields
        .collect::<Result<Vec<u64>, _>>()
        .map_err(|_| wrong())?;
    let row = |at_ms: u64, direction: u64, value: u64, bytes: u64| {
        let fits =
            at_ms <= LATEST_MS && direction < 3 && bytes <= MOST_VALUE && value <= MOST_VALUE;
        let row = Row {
            at_ms,
            direction: direction as usize,
            value,
            bytes,
            buckets: Box::default(),
        };
        fits.then_some(row).ok_or_else(wrong)
    };
    match (kind, fields.as_slice()) {
        (Kind::Hist, [at, direction, _, counts @ ..]) => {
            let buckets = buckets(counts).ok_or_else(wrong)?;
            Ok(Row {
                buckets,
                ..row(*at, *direction, 0, 0)?
            })
        }
        (_, [at, value, largest, direction, bytes]) if largest >= value => {
            row(*at, *direction, *value, *bytes)
        }
        (_, [at, value, direction, bytes]) if kind != Kind::Hist => {
            row(*at, *direction, *value, *bytes)
        }
        _ => Err(wrong()),
    }
}

/// Those that hold any: most of the 1856 are empty.
fn buckets(counts: &[u64]) -> Option<Box<[(Nanos, u64)]>> {
    let coarse = coarseness(counts.len())?;
    let held = counts.iter().enumerate().filter(|(_, n)| **n > 0);
    counts
        .iter()
        .all(|n| *n <= MOST_VALUE)
        .then(|| held.map(|(i, n)| (middle(i, coarse), *n)).collect())
}

fn coarseness(buckets: usize) -> Option<u32> {
    (0..=6).find(|c| BUCKETS >> c == buckets)
}

/// The value that stands for a bucket: the middle of its range (`plat_idx_to_val` in stat.c, 64 buckets to a group).
fn middle(bucket: usize, coarseness: u32) -> Nanos {
    let edge = |index: u64| match index {
        index if index < 128 => index,
        index => {
            let group = index / 64 - 1;
            (64 + index % 64) << group
        }
    };
    let (low, high) = (
        (bucket as u64) << coarseness,
        (bucket as u64 + 1) << coarseness,
    );
    Nanos((edge(low) + edge(high)) / 2)
}

/// A load of logs alone.
pub(super) fn alone(prefix: &str) -> ImportedLoad {
    let mut load = ImportedLoad::new(Tool::FioLog);
    load.workload = if prefix.is_empty() {
        "log".into()
    } else {
        prefix.to_owned()
    };
    load.fact(RESPONSE_FACT, "unknown");
    let text = "Logs do not contain the options of the job: depth, rate and cache. OMISSION and LITTLE cannot be evaluated \
                without fio's JSON.";
    load.unknown.push(("job", text.to_owned()));
    load
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_log_is_in_its_name() {
        assert_eq!(
            named("a_b_clat_hist.2.log"),
            Some((Kind::Hist, Some(2), "a_b".into()))
        );
        assert_eq!(
            named("l_clat.1.log"),
            Some((Kind::Clat, Some(1), "l".into()))
        );
        assert_eq!(named("l_lat.log"), Some((Kind::Lat, None, "l".into())));
        assert_eq!(
            named("bw.1.log"),
            Some((Kind::Bandwidth, Some(1), String::new()))
        );
        assert_eq!(named("flat.1.log"), None);
        assert_eq!(named("x.txt"), None);
    }

    #[test]
    fn buckets_stand_for_their_middle() {
        // Groups: 0..63 and 64..127 of 1 ns each, 128..255 of 2 ns, 256..511 of 4 ns.
        assert_eq!([0, 63, 127].map(|b| middle(b, 0)), [0, 63, 127].map(Nanos));
        assert_eq!(
            [128, 191, 192].map(|b| middle(b, 0)),
            [129, 255, 258].map(Nanos)
        );
        // Two buckets in one: 128 and 129 are 128..131.
        assert_eq!(middle(64, 1), Nanos(130));
    }
}
