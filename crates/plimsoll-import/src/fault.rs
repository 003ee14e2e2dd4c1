//! Errors in a file: the line, what was found there, what was expected.

use thiserror::Error;

/// Larger numbers are not measurements; sums of smaller ones do not overflow.
pub(super) const MOST: f64 = 1e15;
/// No run lasts longer, in seconds (three years).
const LONGEST_S: f64 = 1e8;

/// A file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    #[error("{file}, line {line}: found {found}\nExpected: {expected}.")]
    At {
        file: String,
        line: usize,
        found: String,
        expected: String,
    },
    #[error(
        "{file} is not an output that plimsoll reads: it begins with {found}\nExpected: {}.",
        known()
    )]
    Unknown { file: String, found: String },
    #[error(
        "{file} is not in an encoding that plimsoll reads: {found}\nExpected: UTF-8, or UTF-16 with a byte order mark.\n\
         Convert it, for example: iconv -f UTF-16LE -t UTF-8 {file}"
    )]
    Encoding { file: String, found: String },
    #[error("{0}")]
    Together(String),
}

fn known() -> &'static str {
    "fio JSON or logs, sysbench 1.0 or 1.1, pgbench or its -l logs, HammerDB, go-tpc, vdbench flatfile.html or summary.html, \
     diskspd XML, iostat, vmstat or mpstat; or give the tool with --tool"
}

/// An [`ImportError::At`] without its file. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: usize,
    pub found: String,
    pub expected: String,
}

pub(super) type Read<T> = Result<T, Fault>;

impl Fault {
    pub fn at(line: usize, found: &str, expected: impl Into<String>) -> Self {
        Self {
            line,
            found: quoted(found),
            expected: expected.into(),
        }
    }

    /// Something is missing from the whole text.
    pub fn end(text: &str, expected: impl Into<String>) -> Self {
        Self {
            line: text.lines().count().max(1),
            found: "the end of the file".into(),
            expected: expected.into(),
        }
    }

    pub fn of(self, file: &str) -> ImportError {
        let Self {
            line,
            found,
            expected,
        } = self;
        ImportError::At {
            file: file.to_owned(),
            line,
            found,
            expected,
        }
    }
}

/// The beginning of the text, in quotes.
pub(super) fn quoted(found: &str) -> String {
    let found = found.trim();
    if found.is_empty() {
        return "an empty line".into();
    }
    let start: String = found.chars().take(80).collect();
    let more = if start.len() < found.len() { "…" } else { "" };
    format!("\"{start}{more}\"")
}

/// A finite number that is not negative and that a tool may have counted or measured.
pub(super) fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().parse().ok()?;
    (0.0..=MOST).contains(&value).then_some(value)
}

/// As [`number`], with what was expected there.
pub(super) fn number_at(line: usize, text: &str, what: &str) -> Read<f64> {
    number(text).ok_or_else(|| Fault::at(line, text, format!("{what}, a number from 0 to 10^15")))
}

pub(super) fn seconds_at(line: usize, text: &str, what: &str) -> Read<f64> {
    let value = number(text).filter(|s| *s <= LONGEST_S);
    value.ok_or_else(|| Fault::at(line, text, format!("{what}, seconds from 0 to 10^8")))
}

pub(super) fn count_at(line: usize, text: &str, what: &str) -> Read<u64> {
    let value = text
        .trim()
        .parse::<u64>()
        .ok()
        .filter(|n| *n as f64 <= MOST);
    value.ok_or_else(|| {
        Fault::at(
            line,
            text,
            format!("{what}, a whole number from 0 to 10^15"),
        )
    })
}

/// Connections, threads and the like.
pub(super) fn users_at(line: usize, text: &str, what: &str) -> Read<u32> {
    let value = text.trim().parse::<u32>().ok().filter(|n| *n <= 10_000_000);
    value.ok_or_else(|| {
        Fault::at(
            line,
            text,
            format!("{what}, a whole number from 0 to 10,000,000"),
        )
    })
}
