//! What errors of servers mean. An engine classifies its own; what follows from a kind is the same for all.

use crate::error::{LoadError, SERVERS_DISK};
use crate::session::SessionError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    DiskFull,
    /// The connection is gone, or will be.
    Lost,
    /// Another session was in the way: the same may be tried again.
    Conflict,
    /// A table, column, procedure or schema that the statement needs is missing.
    Missing,
    /// What the server forbids this user, and what to do about it.
    Denied(&'static str),
    /// Somebody's objects need what the statement removes.
    Needed,
    Other,
}

/// An error of a statement.
#[derive(Debug)]
pub(crate) struct ServerError {
    pub kind: ErrorKind,
    /// The server's, with its code.
    pub message: String,
}

impl ServerError {
    /// With the next step where there is one.
    pub fn at(self, what: &str) -> LoadError {
        let what = what.to_owned();
        let why = self.message;
        match self.kind {
            ErrorKind::DiskFull => LoadError::disk_full(SERVERS_DISK, format!("{what}: {why}")),
            ErrorKind::Denied(next) => LoadError::Refused {
                what,
                why,
                next: next.into(),
            },
            ErrorKind::Needed => LoadError::Unsupported {
                what: format!("go on with {what}"),
                why,
                next: "Drop what needs them first, or name another schema.".into(),
            },
            ErrorKind::Lost => LoadError::Died {
                what: format!("{what}: the server's connection"),
                why,
                next: "Read the server's log.".into(),
                log: String::new(),
            },
            ErrorKind::Conflict | ErrorKind::Missing | ErrorKind::Other => {
                LoadError::Other { what, why }
            }
        }
    }

    /// While a session opens: what is missing was never loaded.
    pub fn of_preparing(self, not_loaded: impl FnOnce(&str) -> LoadError) -> LoadError {
        match self.kind {
            ErrorKind::Missing => not_loaded(&self.message),
            _ => self.at("preparing a session"),
        }
    }

    pub fn of_session(self) -> SessionError {
        let message = self.message;
        match self.kind {
            ErrorKind::DiskFull => SessionError::server_full(message),
            ErrorKind::Lost => SessionError::Lost(message),
            ErrorKind::Conflict => SessionError::Retry(message),
            ErrorKind::Missing => SessionError::gone(&message),
            ErrorKind::Denied(_) => SessionError::forbidden(&message),
            ErrorKind::Needed | ErrorKind::Other => SessionError::Failed(message),
        }
    }
}

/// The workload's data is not in the schema.
pub(crate) fn not_loaded(data: &str, schema: &str, searched: &str) -> LoadError {
    LoadError::Missing {
        what: format!("{data} data in schema {schema}"),
        searched: searched.into(),
        next: "Load it first: plimsoll run.".into(),
    }
}
