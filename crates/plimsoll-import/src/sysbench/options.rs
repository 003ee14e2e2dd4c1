//! What sysbench prints of a test before its threads start, and what follows for its lines by interval.

use std::collections::BTreeMap;

use crate::lines::number;
use crate::load::{PrintedFigures, Span};

const MIB: f64 = 1024.0 * 1024.0;

/// Which test runs, and what it was asked for.
#[derive(Debug, Default)]
pub(super) struct SysbenchOptions {
    /// Empty for SQL, threads and mutexes, whose output does not name them.
    pub test: &'static str,
    parameters: BTreeMap<String, String>,
}

/// Lines of `fileio`: what they begin with, what they end with, and the parameter between.
const FILES: [(&str, &str, &str); 9] = [
    ("Extra file open flags: ", "", "open_flags"),
    ("", " total file size", "size"),
    ("", " each", "files"),
    ("Block size ", "", "bs"),
    ("Merging requests up to ", " for sequential IO.", "merge"),
    (
        "Read/Write ratio for combined random IO test: ",
        "",
        "read_write_ratio",
    ),
    (
        "Periodic FSYNC enabled, calling fsync() each ",
        " requests.",
        "fsync_every",
    ),
    ("Using ", " I/O mode", "ioengine"),
    ("Doing ", " test", "rw"),
];

impl SysbenchOptions {
    pub fn line(&mut self, text: &str) {
        if let Some(limit) = text.strip_prefix("Prime numbers limit: ") {
            self.test = "cpu";
            self.put("prime numbers limit", limit);
        } else if text.starts_with("Running memory speed test") {
            self.test = "memory";
        } else if text.starts_with("Extra file open flags: ") {
            self.test = "fileio";
        }
        match self.test {
            "fileio" => self.file_option(text),
            // A total is where the test ends, and no part of what it does.
            "memory" if !text.starts_with("total size") => {
                if let Some((key, value)) = text.split_once(": ") {
                    self.put(key, value);
                }
            }
            _ => {}
        }
    }

    fn file_option(&mut self, text: &str) {
        if text.starts_with("Calling fsync() after each write") {
            self.put("fsync_every", "write");
        } else if text.starts_with("Calling fsync() at the end") {
            self.put("fsync_at_end", "yes");
        }
        let found = FILES.iter().find_map(|(before, after, name)| {
            let value = text.strip_prefix(before)?.strip_suffix(after)?;
            Some((*name, value))
        });
        if let Some((name, value)) = found {
            self.put(name, value);
        }
    }

    fn put(&mut self, key: &str, value: &str) {
        self.parameters
            .insert(key.to_owned(), value.trim().to_owned());
    }

    pub fn parameters(&self) -> BTreeMap<String, String> {
        let test = (!self.test.is_empty()).then(|| ("test".to_owned(), self.test.to_owned()));
        self.parameters.clone().into_iter().chain(test).collect()
    }

    /// Of a line that prints bytes: `1723.08 MiB/sec`, `reads: 124.32 MiB/s writes: 82.88 MiB/s fsyncs: 263.22/s …`.
    pub fn events_per_second(&self, words: &[&str]) -> Option<f64> {
        match words {
            [rate, "MiB/sec"] => Some(number(rate)? * MIB / self.bytes_of("block size")?),
            _ => {
                let rates = FileRates::of(words)?;
                let mib = number(rates.reads)? + number(rates.writes)?;
                let fsyncs = match self.parameters.get("fsync_every") {
                    Some(every) if every == "write" => 0.0,
                    _ => number(rates.fsyncs)?,
                };
                Some(mib * MIB / self.bytes_of("bs")? + fsyncs)
            }
        }
    }

    fn bytes_of(&self, parameter: &str) -> Option<f64> {
        let size = bytes(self.parameters.get(parameter)?)?;
        Some(size).filter(|bytes| *bytes > 0.0)
    }
}

/// A line by interval of the test of files.
struct FileRates<'a> {
    reads: &'a str,
    writes: &'a str,
    fsyncs: &'a str,
}

impl<'a> FileRates<'a> {
    fn of(words: &[&'a str]) -> Option<Self> {
        let [
            "reads:",
            reads,
            "MiB/s",
            "writes:",
            writes,
            "MiB/s",
            "fsyncs:",
            fsyncs,
            ..,
        ] = words
        else {
            return None;
        };
        Some(Self {
            reads,
            writes,
            fsyncs: fsyncs.trim_end_matches("/s"),
        })
    }
}

/// Whether a line by interval is of bytes.
pub(super) fn prints_bytes(words: &[&str]) -> bool {
    matches!(words, [rate, "MiB/sec"] if number(rate).is_some())
        || FileRates::of(words).is_some_and(|rates| number(rates.reads).is_some())
}

/// What a line by interval prints of bytes, as figures.
pub(super) fn add_bytes(figures: &mut PrintedFigures, over: Span, words: &[&str]) {
    if let [rate, "MiB/sec"] = words {
        figures.add_over(over, "transferred", rate, "MiB/sec");
    }
    if let Some(rates) = FileRates::of(words) {
        figures.add_over(over, "reads", rates.reads, "MiB/s");
        figures.add_over(over, "writes", rates.writes, "MiB/s");
        figures.add_over(over, "fsyncs", rates.fsyncs, "per sec.");
    }
}

/// `16KiB`, `4MiB`, `512B`.
fn bytes(size: &str) -> Option<f64> {
    let size = size.strip_suffix('B')?;
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &size[digits.len()..] {
        "" => 1.0,
        "Ki" => 1024.0,
        "Mi" => MIB,
        "Gi" => MIB * 1024.0,
        _ => return None,
    };
    Some(number(digits)? * factor)
}
