//! Where a session keeps its socket and its journal: a directory of its user's, which no one else can enter.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Drawn by the controller for each host of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(String);

impl SessionId {
    /// Letters and digits only: it becomes part of a path and of a command.
    pub fn parse(text: &str) -> Option<Self> {
        let is_fine = (8..=40).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_fine.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub struct StateDir(PathBuf);

impl StateDir {
    /// Below the directory for temporary files; made where it is missing.
    pub fn of(session: &SessionId) -> io::Result<Self> {
        let own = std::env::temp_dir().join(format!("plimsoll-{}", geteuid().as_raw()));
        make_private(&own)?;
        let dir = own.join(session.as_str());
        make_private(&dir)?;
        Ok(Self(dir))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }

    pub fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    pub fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    /// Held by the session while it runs.
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    pub fn remove(&self) -> io::Result<()> {
        std::fs::remove_dir_all(&self.0)
    }
}

fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Everybody can make names in a directory for temporary files.
    let is = path.symlink_metadata()?;
    if is.is_dir() && is.uid() == geteuid().as_raw() && is.mode() & 0o077 == 0 {
        Ok(())
    } else {
        let why = format!("{} is somebody else's, or open to others", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_a_word() {
        assert!(SessionId::parse("0123abcdEF-2").is_some());
        for bad in [
            "",
            "short",
            "../../../etc",
            "has space here",
            "new\nline-line",
        ] {
            assert!(SessionId::parse(bad).is_none(), "{bad:?}");
        }
        assert!(SessionId::parse(&"x".repeat(41)).is_none());
    }

    #[test]
    fn a_directory_of_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&open, all).unwrap();
        assert!(make_private(&open).is_err());
        let own = dir.path().join("own");
        make_private(&own).unwrap();
        make_private(&own).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(make_private(&link).is_err());
    }
}
