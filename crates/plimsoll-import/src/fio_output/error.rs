//! Errors in fio's output.

use thiserror::Error;

/// fio's output cannot be used. The caller knows which file or run it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FioError {
    #[error("no JSON in fio's output{}", first_line(.0))]
    NoJson(String),
    #[error("fio's JSON cannot be read: {0}")]
    Syntax(String),
    #[error("fio's JSON: {field} {why}")]
    Field { field: String, why: String },
    #[error("fio's log, line {line}: {text:?} is not `ms, value, direction, block size…`")]
    Log { line: usize, text: String },
}

/// The first line that is not empty, after a colon.
pub(super) fn first_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.map_or(String::new(), |line| {
        format!(": {}", line.chars().take(200).collect::<String>())
    })
}
