//! States of sessions as the server lists them.
//!
//! Source: MariaDB Knowledge Base, "Thread Command Values" and "General Thread States", and the stages in sql/mysqld.cc
//! (10.11). A stage names what a statement does, not what it waits for: a page that is read, a page that is written to
//! make room and a latch of InnoDB's count as work.

use plimsoll_record::WaitState;
use plimsoll_record::WaitState::{Client, Cpu, DataWrite, Idle, Latch, Lock, Log, Other};

use crate::engine::sql::TextRow;

/// A row of `SHOW PROCESSLIST`.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcesslistRow {
    pub id: u64,
    pub user: String,
    pub schema: Option<String>,
    pub command: String,
    pub state: String,
}

impl ProcesslistRow {
    /// Id, User, Host, db, Command, Time, State; others follow. Columns that a row lacks are empty.
    pub fn new(row: &TextRow) -> Self {
        Self {
            id: row.get(0).unwrap_or_default(),
            user: text(row, 1),
            schema: row.text(3).map(str::to_owned),
            command: text(row, 4),
            state: text(row, 6),
        }
    }
}

fn text(row: &TextRow, column: usize) -> String {
    row.text(column).unwrap_or_default().to_owned()
}

/// Beginning of the state's name, state. The first line that fits holds, whatever the case; what fits none is work.
const STATES: [(&str, WaitState); 24] = [
    // COMMIT writes the log and waits until it is durable.
    ("commit", Log),
    ("waiting for prior transaction to", Log),
    ("writing to binlog", Log),
    ("waiting for gtid to be written to binary log", Log),
    ("waiting for semi-sync ack", Log),
    ("waiting for query cache lock", Latch),
    ("waiting for query cache mutex", Latch),
    ("waiting for table", Lock),
    ("waiting for stored", Lock),
    ("waiting for schema metadata lock", Lock),
    ("waiting for trigger metadata lock", Lock),
    ("waiting for event metadata lock", Lock),
    ("waiting for backup lock", Lock),
    ("waiting for commit lock", Lock),
    ("waiting for global read lock", Lock),
    ("waiting due to global read lock", Lock),
    ("user lock", Lock),
    ("waiting", Other),
    ("user sleep", Other),
    ("killed", Other),
    ("converting heap to", DataWrite),
    ("copying to tmp table on disk", DataWrite),
    ("writing to net", Client),
    ("reading from net", Client),
];

/// InnoDB's name for a transaction that waits for a lock.
const LOCK_WAIT: &str = "LOCK WAIT";

/// State and event of a session, and the state of its transaction, if it has one.
pub(super) fn classify<'a>(
    session: &'a ProcesslistRow,
    transaction: Option<&str>,
) -> (WaitState, &'a str) {
    match (session.command.as_str(), transaction) {
        // Between two statements.
        ("Sleep", Some(_)) => (Client, &session.command),
        ("Sleep", None) => (Idle, &session.command),
        (
            "Query" | "Execute" | "Prepare" | "Fetch" | "Close stmt" | "Reset stmt" | "Init DB"
            | "Long Data",
            _,
        ) => {
            let waits = transaction == Some(LOCK_WAIT);
            if waits {
                (Lock, LOCK_WAIT)
            } else {
                (of_state(&session.state), &session.state)
            }
        }
        _ => (Other, &session.command),
    }
}

fn of_state(state: &str) -> WaitState {
    let plain = state.to_ascii_lowercase();
    STATES
        .iter()
        .find(|(begins, _)| plain.starts_with(begins))
        .map_or(Cpu, |(_, state)| *state)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn session(command: &str, state: &str) -> ProcesslistRow {
        ProcesslistRow {
            command: command.into(),
            state: state.into(),
            ..ProcesslistRow::default()
        }
    }

    /// As a server of version 10.11 names them under load.
    #[test]
    fn states_are_put_into_theirs() {
        for (expected, states) in [
            (
                Cpu,
                &[
                    "",
                    "Updating",
                    "Updating status",
                    "Update",
                    "Statistics",
                    "Sending data",
                    "Creating sort index",
                    "Starting cleanup",
                    "init for update",
                    "Opening tables",
                    "closing tables",
                    "Query end",
                    "starting",
                    "System lock",
                    "Rollback",
                ][..],
            ),
            (
                Log,
                &[
                    "Commit",
                    "Commit implicit",
                    "Waiting for prior transaction to commit",
                    "Writing to binlog",
                ],
            ),
            (
                Lock,
                &[
                    "Waiting for table metadata lock",
                    "Waiting for table level lock",
                    "User lock",
                ],
            ),
            (
                Lock,
                &[
                    "Waiting for stored procedure metadata lock",
                    "Waiting for backup lock",
                    "Waiting for table flush",
                ],
            ),
            (Latch, &["Waiting for query cache lock"]),
            (Client, &["Writing to net", "Reading from net"]),
            (
                DataWrite,
                &["Copying to tmp table on disk", "Converting HEAP to Aria"],
            ),
            (
                Other,
                &["User sleep", "Killed", "Waiting for someone to free space"],
            ),
        ] {
            for state in states {
                for command in ["Query", "Execute"] {
                    let sampled = session(command, state);
                    assert_eq!(classify(&sampled, Some("RUNNING")), (expected, *state));
                    assert_eq!(classify(&sampled, None), (expected, *state));
                }
            }
        }
    }

    #[test]
    fn a_transaction_shows_what_its_session_waits_for() {
        assert_eq!(
            classify(&session("Execute", "Updating"), Some("LOCK WAIT")),
            (Lock, "LOCK WAIT")
        );
        assert_eq!(
            classify(&session("Sleep", ""), Some("RUNNING")),
            (Client, "Sleep")
        );
        assert_eq!(classify(&session("Sleep", ""), None), (Idle, "Sleep"));
        assert_eq!(
            classify(&session("Binlog Dump", "Master has sent all binlog"), None),
            (Other, "Binlog Dump")
        );
        assert_eq!(
            classify(&session("Killed", "Updating"), Some("ROLLING BACK")),
            (Other, "Killed")
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(command in ".*", state in ".*", transaction in proptest::option::of(".*")) {
            let _ = classify(&session(&command, &state), transaction.as_deref());
        }
    }
}
