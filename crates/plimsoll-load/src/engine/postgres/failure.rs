//! What went wrong at a server or on the way to it, the same for the driver's connections and the measured sessions'.

use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

use crate::engine::sql::error::{ErrorKind, ServerError};
use crate::error::is_disk_full;

const CONFLICTS: [SqlState; 3] = [
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::LOCK_NOT_AVAILABLE,
];
const MISSING: [SqlState; 4] = [
    SqlState::UNDEFINED_TABLE,
    SqlState::UNDEFINED_COLUMN,
    SqlState::UNDEFINED_FUNCTION,
    SqlState::INVALID_SCHEMA_NAME,
];
const NEXT_WHEN_DENIED: &str =
    "Let this user create a schema (GRANT CREATE ON DATABASE …), or connect as another one.";

/// An error that the server reported, or one of the client's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PostgresFailure {
    /// Of what the server reported.
    pub code: Option<SqlState>,
    /// The server's message with SQLSTATE, or the chain of causes.
    pub text: String,
    /// The connection is gone, or will be.
    pub ends_session: bool,
}

impl PostgresFailure {
    pub fn lost(error: &io::Error) -> Self {
        Self {
            code: None,
            text: format!("the connection ended: {error}"),
            ends_session: true,
        }
    }

    /// The server sends what cannot be understood: whatever follows cannot either.
    pub fn out_of_step(why: &str) -> Self {
        Self {
            code: None,
            text: format!("the server's answer cannot be read: {why}"),
            ends_session: true,
        }
    }

    /// A value that is not as the workload's are; the connection goes on.
    pub fn unreadable(why: &dyn std::error::Error) -> Self {
        Self::of_request(&format!(
            "a value in the server's answer cannot be read: {why}"
        ))
    }

    /// What cannot be sent.
    pub fn of_request(why: &str) -> Self {
        Self {
            code: None,
            text: why.to_owned(),
            ends_session: false,
        }
    }

    /// An ErrorResponse: fields of a letter and a text that ends with a zero byte, until a letter that is zero (the
    /// manual's "Error and Notice Message Fields").
    pub fn of_response(body: &[u8]) -> Self {
        let mut report = ErrorFields::default();
        let mut severity = String::new();
        for field in body.split(|byte| *byte == 0) {
            let Some((letter, text)) = field.split_first() else {
                break;
            };
            let text = String::from_utf8_lossy(text).into_owned();
            match letter {
                b'V' => severity = text,
                b'C' => report.code = text,
                b'M' => report.message = text,
                b'D' => report.detail = Some(text),
                b'H' => report.hint = Some(text),
                _ => {}
            }
        }
        report.failure(matches!(severity.as_str(), "FATAL" | "PANIC"))
    }

    /// Whether the server reported this SQLSTATE.
    pub fn is(&self, code: &str) -> bool {
        self.code.as_ref().is_some_and(|own| own.code() == code)
    }

    pub fn classify(self) -> ServerError {
        let kind = match &self.code {
            Some(code) if *code == SqlState::DISK_FULL || is_disk_full(&self.text) => {
                ErrorKind::DiskFull
            }
            _ if self.ends_session => ErrorKind::Lost,
            Some(code) if CONFLICTS.contains(code) => ErrorKind::Conflict,
            Some(code) if MISSING.contains(code) => ErrorKind::Missing,
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                ErrorKind::Denied(NEXT_WHEN_DENIED)
            }
            Some(code) if *code == SqlState::DEPENDENT_OBJECTS_STILL_EXIST => ErrorKind::Needed,
            _ => ErrorKind::Other,
        };
        ServerError {
            kind,
            message: self.text,
        }
    }
}

#[derive(Default)]
struct ErrorFields {
    code: String,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

impl ErrorFields {
    fn failure(self, is_fatal: bool) -> PostgresFailure {
        let code = SqlState::from_code(&self.code);
        // The hint is to drop what belongs to others, by CASCADE.
        let is_needed = code == SqlState::DEPENDENT_OBJECTS_STILL_EXIST;
        let more: String = [self.detail, self.hint.filter(|_| !is_needed)]
            .into_iter()
            .flatten()
            .map(|text| format!("; {text}"))
            .collect();
        PostgresFailure {
            text: format!("{} (SQLSTATE {}){more}", self.message, self.code),
            // Whatever the reason: after a fatal one the server ends the session.
            ends_session: is_fatal || is_shutdown(&code),
            code: Some(code),
        }
    }
}

impl From<&Error> for PostgresFailure {
    fn from(error: &Error) -> Self {
        if let Some(db) = error.as_db_error() {
            let severity = db.parsed_severity();
            let report = ErrorFields {
                code: db.code().code().to_owned(),
                message: db.message().to_owned(),
                detail: db.detail().map(str::to_owned),
                hint: db.hint().map(str::to_owned),
            };
            return report.failure(matches!(severity, Some(Severity::Fatal | Severity::Panic)));
        }
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(next) = cause {
            text = format!("{text}: {next}");
            cause = next.source();
        }
        Self {
            code: None,
            ends_session: error.is_closed() || text.contains("communicating with the server"),
            text,
        }
    }
}

/// The server ended this session, and more than this session may be gone.
pub(super) fn is_shutdown(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
    ]
    .contains(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_as_the_server_writes_it() {
        let body = b"SFATAL\0VFATAL\0C57P01\0Mterminating\0DBecause.\0HWait.\0Fpostgres.c\0\0";
        let failure = PostgresFailure::of_response(body);
        assert_eq!(
            failure.text,
            "terminating (SQLSTATE 57P01); Because.; Wait."
        );
        assert!(failure.ends_session);
        let body = b"SERROR\0VERROR\0C40P01\0Mdeadlock detected\0\0";
        let failure = PostgresFailure::of_response(body);
        assert_eq!(failure.code, Some(SqlState::T_R_DEADLOCK_DETECTED));
        assert_eq!(failure.classify().kind, ErrorKind::Conflict);
    }

    #[test]
    fn what_others_need_is_not_dropped_by_the_servers_advice() {
        let body = b"SERROR\0VERROR\0C2BP01\0Mcannot drop table a\0Dview v depends on table a\0HUse DROP ... CASCADE\0\0";
        let error = PostgresFailure::of_response(body)
            .classify()
            .at("removing tables");
        let text = error.to_string();
        assert!(
            !text.contains("CASCADE") && text.contains("view v depends"),
            "{text}"
        );
        assert!(
            text.ends_with("\nDrop what needs them first, or name another schema."),
            "{text}"
        );
    }

    #[test]
    fn out_of_memory_and_a_cancelled_query_end_the_attempt_only() {
        for code in ["53200", "57014"] {
            let body = format!("SERROR\0VERROR\0C{code}\0Mno\0\0");
            let failure = PostgresFailure::of_response(body.as_bytes());
            assert_eq!(failure.classify().kind, ErrorKind::Other, "{code}");
        }
    }
}
