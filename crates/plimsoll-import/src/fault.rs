//! Errors in a file: the line, what was found there, what was expected.

use thiserror::Error;

/// A file cannot be imported: what and where, why, what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    #[error("cannot import {file}, line {line}\nFound {found}; expected {expected}.\n{advice}.")]
    Line {
        file: String,
        line: usize,
        found: String,
        expected: String,
        advice: &'static str,
    },
    #[error("cannot import {file}: unknown format\nIt begins with {found}.\nGive {KNOWN}.")]
    Format { file: String, found: String },
    #[error(
        "cannot import {file}: unknown encoding\nIt {found}; expected UTF-8, or UTF-16 with a byte order mark.\n\
         Convert it, for example: iconv -f UTF-16LE -t UTF-8 {file}"
    )]
    Encoding { file: String, found: &'static str },
    /// Files do not fit together.
    #[error("cannot import {files}\n{why}.\n{advice}.")]
    Files {
        files: String,
        why: String,
        advice: &'static str,
    },
}

const KNOWN: &str = "fio JSON or logs, sysbench 1.0 or 1.1, pgbench or its -l logs, HammerDB, go-tpc, vdbench flatfile.html \
                     or summary.html, diskspd XML, iostat, vmstat or mpstat; or name the tool with --tool";

impl ImportError {
    pub(super) fn files(
        files: impl Into<String>,
        why: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self::Files {
            files: files.into(),
            why: why.into(),
            advice,
        }
    }
}

/// An [`ImportError::Line`] without its file. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: usize,
    pub found: String,
    pub expected: String,
    pub advice: &'static str,
}

/// The tool itself failed.
pub(super) const RUN_AGAIN: &str = "The run failed: mend what it reports, and run the tool again";
pub(super) const COMPLETE: &str = "Give the complete output as the tool printed it";
const UNCHANGED: &str = "Give the output as the tool printed it; if it is, import does not know this version of the tool";

pub(super) type Read<T> = Result<T, Fault>;

impl Fault {
    pub fn at(line: usize, found: &str, expected: impl Into<String>) -> Self {
        Self {
            line,
            found: quoted(found),
            expected: expected.into(),
            advice: UNCHANGED,
        }
    }

    /// Something is missing from the whole text.
    pub fn end(text: &str, expected: impl Into<String>) -> Self {
        Self {
            line: text.lines().count().max(1),
            found: "the end of the file".into(),
            expected: expected.into(),
            advice: COMPLETE,
        }
    }

    /// With what to do instead.
    pub fn with_advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    pub fn of(self, file: &str) -> ImportError {
        ImportError::Line {
            file: file.to_owned(),
            line: self.line,
            found: self.found,
            expected: self.expected,
            advice: self.advice,
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
