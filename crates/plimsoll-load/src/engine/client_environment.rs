//! What clients of databases take from where they run: variables, and files of the user.

use std::env::VarError;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use plimsoll_plan::resolved::Credential;

/// The variables of a process.
pub(crate) struct ClientEnvironment<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a variable is set to what is not UTF-8.
    is_unreadable: fn(&str) -> bool,
}

impl<'a> ClientEnvironment<'a> {
    /// Those that `variable` gives.
    pub const fn new(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            variable,
            is_unreadable: |_| false,
        }
    }

    /// `None` where it is missing or empty.
    pub fn password(&self, name: &str) -> Result<Option<String>, &'static str> {
        if (self.is_unreadable)(name) {
            return Err("the password in the environment is not UTF-8");
        }
        Ok(self.variable(name))
    }

    /// `None` where it is missing or empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// A file in the user's home directory.
    pub fn in_home(&self, path: &str) -> Option<PathBuf> {
        Some(Path::new(&self.variable("HOME")?).join(path))
    }
}

/// Those of this process. What is not UTF-8 is none of them.
pub(crate) const PROCESS: ClientEnvironment<'static> = ClientEnvironment {
    variable: &|name| std::env::var(name).ok(),
    is_unreadable: |name| matches!(std::env::var(name), Err(VarError::NotUnicode(_))),
};

/// What became of a file that may hold a password.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PasswordFile {
    /// There is none, or it has no password for this server.
    #[default]
    Without,
    /// The password is that of this file.
    Used(PathBuf),
    /// It has permissions with which clients do not read it, which are named.
    Ignored(PathBuf, &'static str),
}

impl PasswordFile {
    /// For an error about a missing password: why the file was not read, and what to do.
    pub fn ignored(&self) -> Option<IgnoredFile> {
        match self {
            Self::Ignored(path, why) => Some(IgnoredFile {
                why: format!("{} is not read: {why}", path.display()),
                next: format!("chmod 600 {}", path.display()),
            }),
            Self::Without | Self::Used(_) => None,
        }
    }

    /// Where a wrong password is to be corrected, in front of other places.
    pub fn place(&self) -> String {
        match self {
            Self::Used(path) => format!("{}, ", path.display()),
            Self::Without | Self::Ignored(..) => String::new(),
        }
    }
}

/// Why a file with passwords was not read, and what to do about it.
pub(crate) struct IgnoredFile {
    pub why: String,
    pub next: String,
}

/// A file of the user's with secrets, read as a client does that refuses some permissions.
pub(crate) enum SecretFile {
    Missing,
    /// A permission that is one too many.
    Forbidden,
    Text(Credential),
}

impl SecretFile {
    /// # Errors
    /// When a file is there that cannot be read.
    pub fn read(path: &Path, forbidden: u32) -> io::Result<Self> {
        let meta = match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => meta,
            // As /dev/null is, by which files of the user are left out.
            Ok(_) => return Ok(Self::Missing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Missing),
            Err(error) => return Err(error),
        };
        if meta.permissions().mode() & forbidden != 0 {
            return Ok(Self::Forbidden);
        }
        Ok(Self::Text(std::fs::read_to_string(path)?.into()))
    }
}
