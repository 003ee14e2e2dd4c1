//! What a server's log tells of its end.

use std::fs;
use std::path::Path;

use crate::error::LoadError;

/// What the log says, as an error with the next step; `next` unless the log names a better one.
pub(crate) fn failed(what: &str, why: &str, log: &Path, next: &str) -> LoadError {
    if let Some(line) = lack_of_space(log) {
        return LoadError::DiskFull {
            place: log.parent().unwrap_or(log).display().to_string(),
            why: format!("{what}: {line}"),
            next: "Free space there, choose another medium, or shrink the data with --data-scale.".into(),
        };
    }
    LoadError::Died {
        what: what.into(),
        why: format!("{why}; its log ends with:\n{}", last_lines(log, 12)),
        next: next.into(),
    }
}

/// Whether a message of a server, or of a program that makes its data directory, is about a full disk (ENOSPC, EDQUOT in
/// the C locale).
pub(crate) fn is_disk_full(message: &str) -> bool {
    message.contains("No space left on device") || message.contains("Disk quota exceeded")
}

/// The last line of the log that is about a full disk. A server that lost a backend to it tells some twenty lines more:
/// of the end of its connections, and of recovering.
pub(super) fn lack_of_space(log: &Path) -> Option<String> {
    last_lines(log, 60).lines().rfind(|line| is_disk_full(line)).map(str::to_owned)
}

/// What mariadb-install-db says after an error, at length, and after a success.
const INSTALL_FAILED: &str = "Installation of system tables failed!";
const INSTALL_DONE: &str = "https://mariadb.org/get-involved/";

/// The last lines of a log, without what initdb and mariadb-install-db say to a person.
fn last_lines(log: &Path, most: usize) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.split(INSTALL_FAILED).next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let success = |line: &&str| line.starts_with("Success.") || line.contains(INSTALL_DONE);
    let start = lines.iter().rposition(success).map_or(0, |i| (i + 2).min(lines.len()));
    lines[start.max(lines.len().saturating_sub(most))..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_recognised_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("postgres.log");
        fs::write(&log, "PANIC:  could not write to file \"pg_wal/xlogtemp.7\": No space left on device\nLOG:  x\n")
            .unwrap();
        assert!(matches!(failed("server", "it ended", &log, "next"), LoadError::DiskFull { .. }));
        fs::write(&log, format!("No space left on device\n{}PANIC:  other\n", "LOG:  x\n".repeat(80))).unwrap();
        assert!(matches!(failed("server", "it ended", &log, "next"), LoadError::Died { .. }), "long ago");
    }
}
