//! What an error means.

use tiberius::error::Error;

use crate::engine::sql::error::{ErrorKind, ServerError};
use crate::error::{LoadError, is_disk_full};

// Numbers of errors (sys.messages; the manual's "Database Engine events and errors").
pub(super) const LOGIN_FAILED: u32 = 18_456;
pub(super) const CANNOT_OPEN_DATABASE: u32 = 4_060;
pub(super) const TOO_MANY_CONNECTIONS: u32 = 17_809;
/// A key and a unique index.
pub(super) const DUPLICATES: [u32; 2] = [2_627, 2_601];
/// Deadlock, a long wait for a lock, and under snapshot isolation a row that another session has changed since the
/// snapshot (3960), or a table (3961).
const CONFLICTS: [u32; 4] = [1_205, 1_222, 3_960, 3_961];
/// Object, procedure, column, database.
const MISSING: [u32; 4] = [208, 2_812, 207, 911];
/// What Babelfish has no number of SQL Server's for, with PostgreSQL's words.
const UNMAPPED: u32 = 33_557_097;
/// No more space in a file group (1101, 1105), the log is full (9002), no room for a database that is restored (3257).
const DISK_FULL: [u32; 4] = [1_101, 1_105, 3_257, 9_002];
/// A restore by whom does not own the database is 3110.
const DENIED: [u32; 7] = [229, 230, 262, 297, 300, 916, 3_110];
/// The operating system refused a file: of a backup (3201 to 3203), of a database that is restored (3634, 5123, 5133).
const FILE_ERRORS: [u32; 6] = [3_201, 3_202, 3_203, 3_634, 5_123, 5_133];
/// What the server quotes of Windows, also on Linux.
const NO_SPACE: &str = "There is not enough space on the disk";
/// From this class on the server ends the session.
const FATAL_CLASS: u8 = 20;
/// The session was killed; the server shuts down.
const ENDED: [u32; 2] = [596, 6_005];

const NEXT_WHEN_DENIED: &str = "Let this login have the database (its owner, or a member of db_owner; CREATE ANY DATABASE where it is \
     to be made), or connect as another one.";

/// An error that the server reported, or one of the client's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SqlserverFailure {
    /// The server's number of the error.
    pub code: Option<u32>,
    pub text: String,
    /// The connection is gone, or will be.
    ends_session: bool,
}

impl SqlserverFailure {
    /// An error of the server's, with its number and class.
    pub fn reported(code: u32, message: &str, class: u8) -> Self {
        Self {
            code: Some(code),
            text: numbered(message.trim_end(), code),
            ends_session: class >= FATAL_CLASS || ENDED.contains(&code),
        }
    }

    /// A value that is not as the workload's are; the connection goes on.
    pub fn unreadable(what: &str) -> Self {
        Self {
            code: None,
            text: format!("a value in the server's answer cannot be read: {what}"),
            ends_session: false,
        }
    }

    pub fn classify(self) -> ServerError {
        let is_one_of = |codes: &[u32]| self.code.is_some_and(|code| codes.contains(&code));
        let is_full = is_disk_full(&self.text) || self.text.contains(NO_SPACE);
        let kind = if is_one_of(&DISK_FULL) || self.code.is_some() && is_full {
            ErrorKind::DiskFull
        } else if self.ends_session {
            ErrorKind::Lost
        } else if is_one_of(&CONFLICTS) {
            ErrorKind::Conflict
        } else if is_one_of(&MISSING)
            || is_one_of(&[UNMAPPED]) && self.text.contains("does not exist")
        {
            ErrorKind::Missing
        } else if is_one_of(&DENIED) {
            ErrorKind::Denied(NEXT_WHEN_DENIED)
        } else {
            ErrorKind::Other
        };
        ServerError {
            kind,
            message: self.text,
        }
    }
}

impl From<&Error> for SqlserverFailure {
    fn from(error: &Error) -> Self {
        match error {
            Error::Server(token) => Self::reported(token.code(), token.message(), token.class()),
            Error::Conversion(what) | Error::BulkInput(what) => Self::unreadable(what),
            other => Self {
                code: None,
                text: other.to_string(),
                ends_session: true,
            },
        }
    }
}

fn numbered(message: &str, code: u32) -> String {
    format!("{message} (error {code})")
}

/// Whether the operating system refused the server a file.
pub(super) fn is_file_error(message: &str) -> bool {
    FILE_ERRORS
        .iter()
        .any(|code| message.ends_with(&numbered("", *code)))
}

/// An error of a statement, with the next step where there is one.
pub(super) fn server_error(what: &str, error: &Error) -> LoadError {
    SqlserverFailure::from(error).classify().at(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: Option<u32>, ends_session: bool) -> ErrorKind {
        let text = "words".to_owned();
        let failure = SqlserverFailure {
            code,
            text,
            ends_session,
        };
        failure.classify().kind
    }

    #[test]
    fn errors_are_known_by_their_numbers() {
        for (code, expected) in [
            (1_205, ErrorKind::Conflict),
            (3_960, ErrorKind::Conflict),
            (208, ErrorKind::Missing),
            (9_002, ErrorKind::DiskFull),
            (3_257, ErrorKind::DiskFull),
            (3_110, ErrorKind::Denied(NEXT_WHEN_DENIED)),
            (229, ErrorKind::Denied(NEXT_WHEN_DENIED)),
            (8_134, ErrorKind::Other),
        ] {
            assert_eq!(kind(Some(code), false), expected, "{code}");
        }
        assert_eq!(kind(Some(1_205), true), ErrorKind::Lost);
        assert_eq!(kind(None, true), ErrorKind::Lost);
        let text = "Write on \"/b/1.bak\" failed: 112(There is not enough space on the disk.) (error 3202)";
        let full = SqlserverFailure {
            code: Some(3_202),
            text: text.to_owned(),
            ends_session: false,
        };
        assert_eq!(full.classify().kind, ErrorKind::DiskFull);
        let lost = Error::Protocol("a short packet".into());
        assert!(SqlserverFailure::from(&lost).ends_session);
    }
}
