//! Why something could not be done: what, where, and what to do next.

use std::path::PathBuf;

use thiserror::Error;

/// An error of an engine, a managed system or a load. Every text has the next step; none holds a password.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("{what} cannot be reached\n{why}\n{next}")]
    Unreachable {
        what: String,
        why: String,
        next: String,
    },
    #[error("{what} takes no more connections\n{why}\n{next}")]
    TooManyConnections {
        what: String,
        why: String,
        next: String,
    },
    #[error("{what} refuses this user\n{why}\n{next}")]
    Refused {
        what: String,
        why: String,
        next: String,
    },
    #[error("no space left on {place}\n{why}\n{next}")]
    DiskFull {
        place: String,
        why: String,
        next: String,
    },
    #[error("{} cannot be written\n{why}\nGive the medium a directory that this user may write to.", path.display())]
    ReadOnly { path: PathBuf, why: String },
    #[error("{what} was not found\n{searched}\n{next}")]
    Missing {
        what: String,
        searched: String,
        next: String,
    },
    #[error("{what} ended by itself\n{why}\n{next}")]
    Died {
        what: String,
        why: String,
        next: String,
        /// The end of its log or output, for `--verbose`.
        log: String,
    },
    #[error("{what} already exists\n{why}\n{next}")]
    Foreign {
        what: String,
        why: String,
        next: String,
    },
    /// What plimsoll would change or remove if it could prove that it made it.
    #[error("{what} is not known to be plimsoll's\n{why}\n{next}")]
    Unproven {
        what: String,
        why: String,
        next: String,
    },
    /// Data of plimsoll's that it replaces only with permission.
    #[error("{what} already holds {holds}\n{next}")]
    Occupied {
        what: String,
        holds: String,
        next: String,
    },
    #[error("cannot {what}\n{why}\n{next}")]
    Unsupported {
        what: String,
        why: String,
        next: String,
    },
    #[error("stopped by the user")]
    Cancelled,
    /// Anything else, with the server's or system's message.
    #[error("{what}: {why}")]
    Other { what: String, why: String },
}

/// What to do about a full disk.
pub const FREE_SPACE: &str = "Free space there, choose another medium, or shrink the data with --data-scale (bench: --warehouses, --size).";

/// Where a server keeps its files, if no more is known than that.
pub const SERVERS_DISK: &str = "the server's disk";

/// Whether a message of a server, or of a program that makes its data directory, is about a full disk (ENOSPC, EDQUOT in
/// the C locale).
pub(crate) fn is_disk_full(message: &str) -> bool {
    const WORDS: [&str; 3] = [
        "No space left on device",
        "Disk quota exceeded",
        // MySQL's clone plugin looks before it begins (ER_CLONE_DISK_SPACE).
        "ERROR 3873",
    ];
    WORDS.iter().any(|words| message.contains(words))
}

impl LoadError {
    pub fn disk_full(place: impl Into<String>, why: impl ToString) -> Self {
        Self::DiskFull {
            place: place.into(),
            why: why.to_string(),
            next: FREE_SPACE.into(),
        }
    }

    pub fn other(what: impl Into<String>, why: impl ToString) -> Self {
        Self::Other {
            what: what.into(),
            why: why.to_string(),
        }
    }

    /// What failed and why in one line, without what to do.
    pub fn reason(&self) -> String {
        let text = self.to_string();
        text.rsplit_once('\n')
            .map_or(text.as_str(), |(reason, _)| reason)
            .replace('\n', ": ")
    }

    /// The end of the log or output of what ended; empty if there is none.
    pub fn log(&self) -> &str {
        match self {
            Self::Died { log, .. } => log,
            _ => "",
        }
    }

    /// Whether the same connection may be opened a little later, with nothing done about it but starting the
    /// server: not so after a refused password or with a database that is gone.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TooManyConnections { .. } | Self::DiskFull { .. } => {
                true
            }
            Self::Died { .. } | Self::Other { .. } => true,
            Self::Refused { .. } | Self::ReadOnly { .. } | Self::Missing { .. } => false,
            Self::Foreign { .. } | Self::Unproven { .. } | Self::Occupied { .. } => false,
            Self::Unsupported { .. } | Self::Cancelled => false,
        }
    }
}
