//! What sysbench prints of a test before its threads start, and what follows for its lines by interval.

use std::collections::BTreeMap;

use crate::fault::number;
use crate::load::Figure;

const MIB: f64 = 1024.0 * 1024.0;

/// Which test runs, and what it was asked for.
#[derive(Debug, Default)]
pub(super) struct Options {
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

impl Options {
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
        let block = |name: &str| {
            self.parameters
                .get(name)
                .and_then(|size| bytes(size))
                .filter(|bytes| *bytes > 0.0)
        };
        match words {
            [rate, "MiB/sec"] => Some(number(rate)? * MIB / block("block size")?),
            [
                "reads:",
                reads,
                "MiB/s",
                "writes:",
                writes,
                "MiB/s",
                "fsyncs:",
                fsyncs,
                ..,
            ] => {
                let each_write = self
                    .parameters
                    .get("fsync_every")
                    .is_some_and(|every| every == "write");
                let fsyncs = if each_write {
                    0.0
                } else {
                    number(fsyncs.trim_end_matches("/s"))?
                };
                Some((number(reads)? + number(writes)?) * MIB / block("bs")? + fsyncs)
            }
            _ => None,
        }
    }
}

/// What a line by interval prints of bytes, as figures.
pub(super) fn printed_bytes(words: &[&str]) -> Vec<Figure> {
    let figures = match words {
        [rate, "MiB/sec"] => vec![Figure::new("transferred", rate, "MiB/sec")],
        [
            "reads:",
            reads,
            "MiB/s",
            "writes:",
            writes,
            "MiB/s",
            "fsyncs:",
            fsyncs,
            ..,
        ] => vec![
            Figure::new("reads", reads, "MiB/s"),
            Figure::new("writes", writes, "MiB/s"),
            Figure::new("fsyncs", fsyncs.trim_end_matches("/s"), "per sec."),
        ],
        _ => Vec::new(),
    };
    figures.into_iter().flatten().collect()
}

/// `16KiB`, `4MiB`, `512B`.
fn bytes(size: &str) -> Option<f64> {
    let (digits, factor) = match size.strip_suffix('B')? {
        digits if digits.ends_with("Ki") => (digits.trim_end_matches("Ki"), 1024.0),
        digits if digits.ends_with("Mi") => (digits.trim_end_matches("Mi"), MIB),
        digits if digits.ends_with("Gi") => (digits.trim_end_matches("Gi"), MIB * 1024.0),
        digits => (digits, 1.0),
    };
    Some(number(digits)? * factor)
}
