//! Why a server ended, from its log.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::died::{MOST_LINES, died};
use crate::error::{LoadError, is_disk_full};

/// The log's reason, as an error with the next step; `next` unless the log names a better one.
pub(crate) fn failed(what: &str, why: &str, log: &Path, next: &str) -> LoadError {
    if let Some(line) = lack_of_space(log) {
        let place = log.parent().unwrap_or(log).display().to_string();
        return LoadError::disk_full(place, format!("{what}: {line}"));
    }
    died(what, why, "its log", &last_lines(log, MOST_LINES), next)
}

/// The last line of the log that is about a full disk. A server that lost a backend to it writes some twenty lines more:
/// of the end of its connections, and of recovering.
pub(super) fn lack_of_space(log: &Path) -> Option<String> {
    last_lines(log, 60)
        .lines()
        .rfind(|line| is_disk_full(line))
        .map(str::to_owned)
}

/// What a server writes into its log from now on.
#[derive(Debug)]
pub struct LogTail {
    log: PathBuf,
    read: u64,
}

impl LogTail {
    pub fn new(log: &Path) -> Self {
        Self {
            log: log.into(),
            read: fs::metadata(log).map_or(0, |about| about.len()),
        }
    }

    /// The first line about a full disk that was written since the last call.
    pub fn lack_of_space(&mut self) -> Option<String> {
        let length = fs::metadata(&self.log).ok()?.len();
        let mut bytes =
            vec![0; usize::try_from(length.checked_sub(self.read).filter(|new| *new > 0)?).ok()?];
        File::open(&self.log)
            .ok()?
            .read_exact_at(&mut bytes, self.read)
            .ok()?;
        // A line that goes on is read again as a whole.
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        self.read += whole as u64;
        let text = String::from_utf8_lossy(&bytes[..whole]);
        text.lines()
            .find(|line| is_disk_full(line))
            .map(str::to_owned)
    }
}

/// The advice of mariadb-install-db after an error, at length, and after a success.
const INSTALL_FAILED: &str = "Installation of system tables failed!";
const INSTALL_DONE: &str = "https://mariadb.org/get-involved/";

/// The last lines of a log, without the advice of initdb and mariadb-install-db.
fn last_lines(log: &Path, most: usize) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.split(INSTALL_FAILED).next().unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let start = lines
        .iter()
        .rposition(|line| line.starts_with("Success.") || line.contains(INSTALL_DONE))
        .map_or(0, |i| (i + 2).min(lines.len()));
    lines[start.max(lines.len().saturating_sub(most))..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_recognized_from_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("mariadb.log");
        fs::write(&log, "long ago: No space left on device\n").unwrap();
        let mut tail = LogTail::new(&log);
        assert_eq!(tail.lack_of_space(), None);
        let mut text = fs::read_to_string(&log).unwrap()
            + "ready\n[ERROR] Disk is full writing './binlog.000001'";
        fs::write(&log, &text).unwrap();
        assert_eq!(tail.lack_of_space(), None, "the line goes on");
        text += " (Errcode: 28 \"No space left on device\")\n";
        fs::write(&log, &text).unwrap();
        assert!(
            tail.lack_of_space()
                .unwrap()
                .starts_with("[ERROR] Disk is full")
        );
        assert_eq!(tail.lack_of_space(), None);
    }

    #[test]
    fn a_full_disk_is_recognised_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("postgres.log");
        fs::write(&log, "PANIC:  could not write to file \"pg_wal/xlogtemp.7\": No space left on device\nLOG:  x\n")
            .unwrap();
        assert!(matches!(
            failed("server", "it ended", &log, "next"),
            LoadError::DiskFull { .. }
        ));
        fs::write(
            &log,
            format!(
                "No space left on device\n{}PANIC:  other\n",
                "LOG:  x\n".repeat(80)
            ),
        )
        .unwrap();
        assert!(
            matches!(
                failed("server", "it ended", &log, "next"),
                LoadError::Died { .. }
            ),
            "long ago"
        );
    }
}
