//! Where a session keeps its socket and its journal: a directory of its user's, which no one else can enter.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// How long a journal is kept that nobody has asked for.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

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

    /// Removes what sessions of its user have left that ended long ago.
    pub fn sweep(&self) -> io::Result<()> {
        let Some(all) = self.0.parent() else {
            return Ok(());
        };
        for entry in all.read_dir()? {
            let other = Self(entry?.path());
            if other.is_old() {
                // Another session may be at it, too.
                let _ = other.remove();
            }
        }
        Ok(())
    }

    /// Nobody runs it, and nothing was written for some days.
    fn is_old(&self) -> bool {
        let is_free = File::open(self.lock()).is_ok_and(|lock| lock.try_lock().is_ok());
        let age = || {
            self.journal()
                .metadata()?
                .modified()?
                .elapsed()
                .map_err(io::Error::other)
        };
        is_free && age().is_ok_and(|age| age > KEPT)
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
    fn what_ended_long_ago_is_removed_and_nothing_else() {
        let all = tempfile::tempdir().unwrap();
        let session = |name: &str, age: u32| {
            let dir = StateDir(all.path().join(name));
            make_private(dir.path()).unwrap();
            let lock = File::create(dir.lock()).unwrap();
            let journal = File::create(dir.journal()).unwrap();
            let modified = std::time::SystemTime::now() - KEPT / 10 * age;
            journal.set_modified(modified).unwrap();
            (dir, lock)
        };
        let (recent, _) = session("recent", 9);
        let (running, lock) = session("running", 11);
        lock.try_lock().unwrap();
        let (old, _) = session("old", 11);
        std::fs::create_dir(all.path().join("foreign")).unwrap();
        recent.sweep().unwrap();
        assert!(recent.path().exists() && running.path().exists() && !old.path().exists());
        assert!(all.path().join("foreign").exists());
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
