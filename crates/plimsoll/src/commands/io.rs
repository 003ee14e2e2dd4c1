//! What commands read and print.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use plimsoll_plan::resolved::redact_word;
use plimsoll_record::runfile;
use plimsoll_record::{Integrity, Record};

use crate::execute::has_journals;
use crate::failure::Failure;
use crate::shell::quoted;
use crate::terminal::{note, write_stdout};

/// All of a run file, with a warning where it changed after its run.
pub fn read_run(path: &Path) -> Result<Record, Failure> {
    let record = runfile::read(path)?;
    let file = path.display();
    match record.integrity {
        Integrity::Changed { .. } => {
            note!("warning: {file} does not match its digest: changed or damaged after its run");
        }
        Integrity::NoDigest => {
            note!("warning: {file} has no digest: it was removed after the run");
        }
        Integrity::Intact { .. } | Integrity::Open => {}
    }
    if has_journals(record.run.status, &record.plan) {
        note!("{}", join_hint(path));
    }
    Ok(record)
}

/// What to do about the file of a run on hosts that was not closed.
pub fn join_hint(path: &Path) -> String {
    let file = quoted(path);
    format!(
        "note: the run of {file} was not closed. If its plimsoll was killed, plimsoll join {file} reads what its hosts \
         measured meanwhile."
    )
}

/// Data goes to stdout. A reader that closes the pipe early (`| head`) is no error.
pub fn print(text: &str) -> Result<ExitCode, Failure> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write_stdout(&format!("{text}{end}")) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::run(format!(
            "stdout cannot be written to: {error}"
        ))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Columns of the terminal that stdout is, from 60 to 100; 80 where it is none.
pub fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .map_or(80, |size| usize::from(size.ws_col).clamp(60, 100))
}

/// As it could be typed again, but without passwords.
pub fn command_line() -> String {
    let shown = |word: OsString| match word.into_string() {
        Ok(text) => quoted(redact_word(&text)),
        Err(bytes) => quoted(bytes),
    };
    std::iter::once("plimsoll".to_owned())
        .chain(std::env::args_os().skip(1).map(shown))
        .collect::<Vec<_>>()
        .join(" ")
}

pub fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Failure::run(format!("no JSON can be made: {error}")))
}
