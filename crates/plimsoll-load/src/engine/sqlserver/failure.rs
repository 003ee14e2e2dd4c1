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
/// No more space in a file group (1101, 1105), the log is full (9002).
const DISK_FULL: [u32; 3] = [1_101, 1_105, 9_002];
const DENIED: [u32; 6] = [229, 230, 262, 297, 300, 916];
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
        let kind = if is_one_of(&DISK_FULL) || self.code.is_some() && is_disk_full(&self.text) {
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
            Error::Server(token) => Self {
                code: Some(token.code()),
                text: format!("{} (error {})", token.message().trim_end(), token.code()),
                ends_session: token.class() >= FATAL_CLASS || ENDED.contains(&token.code()),
            },
            Error::Conversion(what) | Error::BulkInput(what) => Self::unreadable(what),
            other => Self {
                code: None,
                text: other.to_string(),
                ends_session: true,
            },
        }
    }
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
            (229, ErrorKind::Denied(NEXT_WHEN_DENIED)),
            (8_134, ErrorKind::Other),
        ] {
            assert_eq!(kind(Some(code), false), expected, "{code}");
        }
        assert_eq!(kind(Some(1_205), true), ErrorKind::Lost);
        assert_eq!(kind(None, true), ErrorKind::Lost);
        let lost = Error::Protocol("a short packet".into());
        assert!(SqlserverFailure::from(&lost).ends_session);
    }
}
