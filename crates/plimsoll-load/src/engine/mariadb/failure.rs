//! What an error means.

use std::io;

use crate::engine::sql::error::{ErrorKind, ServerError};
use crate::error::{LoadError, is_disk_full};

// Numbers of errors (the manual's "MariaDB Error Codes").
pub(super) const UNKNOWN_DATABASE: u16 = 1049;
/// Table, procedure, column, database.
const MISSING: [u16; 4] = [1146, 1305, 1054, UNKNOWN_DATABASE];
/// Deadlock, a long wait for a lock, and, with innodb_snapshot_isolation, a row that another session has changed since
/// the snapshot.
const CONFLICTS: [u16; 3] = [1213, 1205, 1020];
const ACCESS_DENIED: [u16; 7] = [1044, 1045, 1142, 1143, 1227, 1370, 1698];
const DISK_FULL: [u16; 2] = [1021, 1114];
const SHUTDOWN: [u16; 5] = [1053, 1077, 1927, 2006, 2013];
const LOCAL_INFILE_OFF: [u16; 3] = [1148, 3948, 4166];

const UNKNOWN_STATE: &str = "HY000";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MariadbFailure {
    /// The server's number of the error.
    pub code: Option<u16>,
    /// SQLSTATE, of the server's errors.
    pub state: String,
    pub message: String,
    /// The connection is gone, or will be.
    pub is_lost: bool,
}

impl MariadbFailure {
    pub fn lost(error: &io::Error) -> Self {
        Self::of_wire(error.to_string())
    }

    /// The stream cannot be followed any more.
    pub fn out_of_step(what: &str) -> Self {
        Self::of_wire(format!("the server sent {what}"))
    }

    fn of_wire(message: String) -> Self {
        Self {
            code: None,
            state: String::new(),
            message,
            is_lost: true,
        }
    }

    /// The session goes on.
    pub fn unreadable(why: String) -> Self {
        Self {
            is_lost: false,
            ..Self::of_wire(why)
        }
    }

    /// Of an ERR packet behind its first byte: code, `#` and SQLSTATE, message.
    pub fn of_packet(body: &[u8]) -> Self {
        let Some((code, rest)) = body.split_first_chunk() else {
            return Self::out_of_step("an error without a number");
        };
        let code = u16::from_le_bytes(*code);
        let with_state = rest
            .strip_prefix(b"#")
            .and_then(|rest| rest.split_at_checked(5));
        let (state, message) = with_state.unwrap_or((UNKNOWN_STATE.as_bytes(), rest));
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: Some(code),
            state: text(state),
            message: text(message),
            is_lost: SHUTDOWN.contains(&code),
        }
    }

    /// The server's message with its number, or what else is known.
    pub fn text(&self) -> String {
        let Self {
            code,
            state,
            message,
            ..
        } = self;
        match code {
            Some(code) => format!("{message} (error {code}, SQLSTATE {state})"),
            None => message.clone(),
        }
    }

    pub fn classify(&self) -> ServerError {
        let message = self.text();
        let kind = match self.code {
            Some(code) if DISK_FULL.contains(&code) || is_disk_full(&message) => {
                ErrorKind::DiskFull
            }
            _ if self.is_lost => ErrorKind::Lost,
            Some(code) if CONFLICTS.contains(&code) => ErrorKind::Conflict,
            Some(code) if MISSING.contains(&code) => ErrorKind::Missing,
            Some(code) if ACCESS_DENIED.contains(&code) => ErrorKind::Denied(
                "Let this user have the schema (GRANT ALL ON schema.* TO …), or connect as another one.",
            ),
            Some(code) if LOCAL_INFILE_OFF.contains(&code) => ErrorKind::Denied(
                "Let clients load data (SET GLOBAL local_infile = 1), if only while plimsoll loads.",
            ),
            _ => ErrorKind::Other,
        };
        ServerError { kind, message }
    }
}

/// An error of a statement, with the next step where there is one.
pub(crate) fn server_error(what: &str, failure: &MariadbFailure) -> LoadError {
    failure.classify().at(what)
}
