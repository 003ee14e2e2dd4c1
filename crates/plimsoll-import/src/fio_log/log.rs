//! Lines of a log of fio.

use super::super::fault::{Fault, Read};
use super::super::lines::{NumberedLine, lines};
use plimsoll_plan::units::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FioLogKind {
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
pub(crate) struct FioLog {
    /// Of its file.
    pub name: String,
    pub kind: FioLogKind,
    /// Number of the job in the run, from 1; `None`: of all jobs of the name (`per_job_logs=0`).
    pub job: Option<usize>,
    /// The part of the name before the kind.
    pub prefix: String,
    /// Start of the job since 1970, where lines have such times (`log_unix_epoch`, `log_alternate_epoch`).
    pub began_ms: Option<u64>,
    /// Times count from the job's start.
    pub rows: Vec<FioLogRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FioLogRow {
    pub at_ms: u64,
    pub direction: usize,
    /// 0 in a histogram log.
    pub value: u64,
    /// Of a histogram log, those that hold any: the value that stands for a bucket, and its count.
    pub buckets: Box<[(Nanos, u64)]>,
    /// Of a single request; 0 where a line is of several.
    pub bytes: u64,
}

/// A line for each direction at about the same time: times nearer than this are one tick.
pub(super) const ONE_TICK_MS: u64 = 20;
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

/// What the name of a log shows: `NAME_clat_hist.1.log`.
#[derive(Debug, PartialEq)]
pub(crate) struct LogName<'a> {
    kind: FioLogKind,
    job: Option<usize>,
    prefix: &'a str,
}

const ENDINGS: [(&str, FioLogKind); 7] = [
    ("clat_hist", FioLogKind::Hist),
    ("hist", FioLogKind::Hist),
    ("slat", FioLogKind::Slat),
    ("clat", FioLogKind::Clat),
    ("lat", FioLogKind::Lat),
    ("bw", FioLogKind::Bandwidth),
    ("iops", FioLogKind::Iops),
];

pub(crate) fn named(name: &str) -> Option<LogName<'_>> {
    let stem = name.strip_suffix(".log")?;
    let number = stem.rsplit_once('.').map(|(_, number)| number);
    let job = number.map(str::parse).transpose().ok()?;
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    ENDINGS.into_iter().find_map(|(ending, kind)| {
        let prefix = stem.strip_suffix(ending)?;
        let prefix = match prefix {
            "" => "",
            _ => prefix.strip_suffix('_')?,
        };
        Some(LogName { kind, job, prefix })
    })
}

pub(crate) fn read(name: &str, text: &str) -> Read<FioLog> {
    let Some(LogName { kind, job, prefix }) = named(name) else {
        let expected = "a name that ends in _lat, _clat, _slat, _bw, _iops or _clat_hist, a number and .log, as fio \
                        gives it: its content does not show what it logs";
        return Err(Fault::at(1, name, expected));
    };
    let mut rows = rows(kind, text)?;
    let began_ms = began(&rows);
    for row in &mut rows {
        row.at_ms = row.at_ms.saturating_sub(began_ms.unwrap_or_default());
    }
    if let Some(row) = rows.iter().position(|row| row.at_ms > LONGEST_MS) {
        let at_ms = rows[row].at_ms.to_string();
        return Err(Fault::at(row + 1, &at_ms, "milliseconds of one run"));
    }
    Ok(FioLog {
        name: name.to_owned(),
        kind,
        job,
        prefix: prefix.to_owned(),
        began_ms,
        rows,
    })
}

fn rows(kind: FioLogKind, text: &str) -> Read<Vec<FioLogRow>> {
    let lines: Vec<NumberedLine<'_>> = lines(text)
        .filter(|line| !line.text.trim().is_empty())
        .collect();
    // `log_window_value=both`: the largest value is between the mean and the direction, of which there are three.
    let has_both = lines.iter().any(|line| third(line.text) > Some(2));
    let mut rows = Vec::with_capacity(lines.len());
    for line in lines {
        rows.push(match kind {
            FioLogKind::Hist => histogram_row(line)?,
            _ => value_row(line, has_both)?,
        });
    }
    if rows.is_empty() {
        return Err(Fault::end(text, "lines of a log of fio"));
    }
    Ok(rows)
}

fn third(line: &str) -> Option<u64> {
    line.split(',').nth(2)?.trim().parse().ok()
}

/// Before the first line ends by as much as lines are apart at least: of averages each ends an interval.
fn began(rows: &[FioLogRow]) -> Option<u64> {
    /// 2001.
    const LEAST_EPOCH_MS: u64 = 1_000_000_000_000;
    let first = rows.first()?.at_ms;
    if first < LEAST_EPOCH_MS {
        return None;
    }
    let pairs = rows.windows(2);
    let least = pairs
        .map(|pair| pair[1].at_ms.saturating_sub(pair[0].at_ms))
        .filter(|apart| *apart > ONE_TICK_MS)
        .min();
    Some(first - least.unwrap_or_default().min(first))
}

/// The first numbers of a line: options add further columns at the end (`log_offset`, `log_prio`, `log_issue_time`).
fn numbers(line: NumberedLine<'_>, most: usize) -> Option<Vec<u64>> {
    let fields = line.text.split(',').take(most);
    fields.map(|field| field.trim().parse().ok()).collect()
}

fn value_row(line: NumberedLine<'_>, has_both: bool) -> Read<FioLogRow> {
    let numbers = numbers(line, 4 + usize::from(has_both)).unwrap_or_default();
    let row = match numbers.as_slice() {
        [at, value, largest, direction, bytes] if largest >= value => {
            row(*at, *direction, *value, *bytes)
        }
        [at, value, direction, bytes] => row(*at, *direction, *value, *bytes),
        _ => None,
    };
    row.ok_or_else(|| line.unexpected("`ms, value, direction, block size`"))
}

fn histogram_row(line: NumberedLine<'_>) -> Read<FioLogRow> {
    const EXPECTED: &str =
        "`ms, direction, block size, bucket, …` with 1856 buckets, or 2^n times fewer";
    let numbers = numbers(line, usize::MAX).unwrap_or_default();
    let [at, direction, _, counts @ ..] = numbers.as_slice() else {
        return Err(line.unexpected(EXPECTED));
    };
    let row = row(*at, *direction, 0, 0).zip(buckets(counts));
    let row = row.map(|(row, buckets)| FioLogRow { buckets, ..row });
    row.ok_or_else(|| line.unexpected(EXPECTED))
}

fn row(at_ms: u64, direction: u64, value: u64, bytes: u64) -> Option<FioLogRow> {
    let fits = at_ms <= LATEST_MS && direction < 3 && bytes <= MOST_VALUE && value <= MOST_VALUE;
    fits.then(|| FioLogRow {
        at_ms,
        direction: direction as usize,
        value,
        bytes,
        buckets: Box::default(),
    })
}

/// Those that hold any: most of the 1856 are empty.
fn buckets(counts: &[u64]) -> Option<Box<[(Nanos, u64)]>> {
    let coarse = coarseness(counts.len())?;
    if counts.iter().any(|n| *n > MOST_VALUE) {
        return None;
    }
    let held = counts.iter().enumerate().filter(|(_, n)| **n > 0);
    Some(held.map(|(i, n)| (middle(i, coarse), *n)).collect())
}

fn coarseness(buckets: usize) -> Option<u32> {
    (0..=6).find(|c| BUCKETS >> c == buckets)
}

/// The value that stands for a bucket: the middle of its range (`plat_idx_to_val` in stat.c, 64 buckets to a group).
fn middle(bucket: usize, coarseness: u32) -> Nanos {
    let bucket = bucket as u64;
    let low = edge(bucket << coarseness);
    let high = edge((bucket + 1) << coarseness);
    Nanos((low + high) / 2)
}

fn edge(index: u64) -> u64 {
    match index {
        0..128 => index,
        _ => (64 + index % 64) << (index / 64 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(kind: FioLogKind, job: Option<usize>, prefix: &str) -> LogName<'_> {
        LogName { kind, job, prefix }
    }

    #[test]
    fn the_kind_of_a_log_is_in_its_name() {
        assert_eq!(
            named("a_b_clat_hist.2.log"),
            Some(name(FioLogKind::Hist, Some(2), "a_b"))
        );
        assert_eq!(
            named("l_clat.1.log"),
            Some(name(FioLogKind::Clat, Some(1), "l"))
        );
        assert_eq!(named("l_lat.log"), Some(name(FioLogKind::Lat, None, "l")));
        assert_eq!(
            named("bw.1.log"),
            Some(name(FioLogKind::Bandwidth, Some(1), ""))
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
