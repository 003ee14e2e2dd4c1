//! Why a server or a program ended, from what it printed.

use crate::error::LoadError;

/// How much of a log `--verbose` prints.
pub(crate) const MOST_LINES: usize = 12;

/// The end of a server or a program, with the line of its messages that gives the reason.
pub(crate) fn died(what: &str, why: &str, messages: &str, text: &str, next: &str) -> LoadError {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let lines = &lines[lines.len().saturating_sub(MOST_LINES)..];
    LoadError::Died {
        what: what.into(),
        why: match reason(lines) {
            Some(line) => format!("{why}; {messages}: {line}"),
            None => why.into(),
        },
        next: next.into(),
        log: lines.join("\n"),
    }
}

/// With these a server or a program gives up; after an `ERROR:` of a statement PostgreSQL goes on.
const FATAL: [&str; 5] = ["PANIC:", "FATAL:", "FATAL ERROR:", "[ERROR]", "error:"];

/// The line that gives the reason, from its level on: the last fatal one, else the last one.
fn reason<'a>(lines: &[&'a str]) -> Option<&'a str> {
    // Backends of PostgreSQL notice that their server is gone.
    let is_consequence = |line: &&&str| line.contains("terminating connection due to");
    let lines: Vec<&str> = lines
        .iter()
        .filter(|line| !is_consequence(line))
        .copied()
        .collect();
    let is_fatal = |line: &&str| FATAL.iter().any(|level| line.contains(level));
    // MariaDB goes on to list what failed because of its first error.
    let first = lines.iter().position(|line| line.contains("[ERROR]"));
    let mut found = first.or_else(|| lines.iter().rposition(is_fatal));
    // PostgreSQL counts the faults of its settings only after it has named them.
    if let Some(i) = found.filter(|&i| lines[i].ends_with("contains errors")) {
        found = lines[..i]
            .iter()
            .rposition(|line| line.contains("LOG:"))
            .or(found);
    }
    let line = lines.get(found.unwrap_or(lines.len().wrapping_sub(1)))?;
    let start = FATAL
        .iter()
        .chain(&["LOG:"])
        .filter_map(|level| line.find(level))
        .min();
    let line = &line[start.unwrap_or_default()..];
    // The file with the settings is gone with the server's directory.
    let end = line.find(" in file \"").unwrap_or(line.len());
    Some(line[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_a_log_gives_the_reason() {
        let reason_of = |text: &str| match died("server", "it ended", "its log", text, "Do that.") {
            LoadError::Died { why, .. } => why,
            other => panic!("{other}"),
        };
        let settings = "2026-11-25 UTC [7] LOG:  unrecognized configuration parameter \"wal_lvl\" in file \"/d/p.conf\" line 8\n\
            2026-11-25 UTC [7] HINT:  Available values: minimal, replica, logical.\n\
            2026-11-25 UTC [7] FATAL:  configuration file \"/d/postgresql.conf\" contains errors\n";
        let memory = "2026-11-25 UTC [7] FATAL:  could not map shared memory\n\
            2026-11-25 UTC [7] LOG:  database system is shut down\n";
        let mariadb = "2026-11-25 0 [Note] Starting\n\
            2026-11-25 0 [ERROR] InnoDB: Cannot allocate memory for the buffer pool\n\
            2026-11-25 0 [ERROR] Unknown/unsupported storage engine: InnoDB\n\
            2026-11-25 0 [ERROR] Aborting\n";
        let killed = "2026-11-25 UTC [7] ERROR:  deadlock detected\n\
            2026-11-25 UTC [7] LOG:  checkpoint starting\n";
        for (text, line) in [
            (
                settings,
                "LOG:  unrecognized configuration parameter \"wal_lvl\"",
            ),
            (memory, "FATAL:  could not map shared memory"),
            (
                mariadb,
                "[ERROR] InnoDB: Cannot allocate memory for the buffer pool",
            ),
            (killed, "LOG:  checkpoint starting"),
            (
                "LOG:  ready\nFATAL:  terminating connection due to unexpected postmaster exit\n",
                "LOG:  ready",
            ),
            ("no\nlevels\n\n", "levels"),
        ] {
            assert_eq!(reason_of(text), format!("it ended; its log: {line}"));
        }
        assert_eq!(reason_of("\n"), "it ended");
    }

    #[test]
    fn an_error_quotes_one_line_and_keeps_the_end_of_the_log() {
        let text = (1..=40).map(|i| format!("LOG:  {i}\n")).collect::<String>();
        let error = died("The server", "it ended", "its log", &text, "Do that.");
        assert_eq!(
            error.to_string(),
            "The server ended by itself\nit ended; its log: LOG:  40\nDo that."
        );
        let log = error.log();
        assert_eq!(log.lines().count(), MOST_LINES);
        assert!(log.starts_with("LOG:  29\n"), "{log}");
    }
}
