//! Where a session keeps its socket and its journal: a directory of its user's, which no one else can enter.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat};
use rustix::io::Errno;
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
    /// The session's, where it is; else a new one in the first place that is its user's alone. Whoever looks for it later
    /// looks in the same places.
    pub fn of(session: &SessionId) -> io::Result<Self> {
        Self::among(&places(), session)
    }

    fn among(places: &[PathBuf], session: &SessionId) -> io::Result<Self> {
        let find = |place: &PathBuf| {
            let root = open_private(CWD, place).ok()?;
            let own = open_private(&root, Path::new(session.as_str()));
            own.is_ok().then(|| Self(place.join(session.as_str())))
        };
        if let Some(found) = places.iter().find_map(find) {
            return Ok(found);
        }
        let mut refused = Vec::new();
        for place in places {
            match Self::make(place, session) {
                Ok(made) => return Ok(made),
                Err(error) => refused.push(error.to_string()),
            }
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            refused.join("; "),
        ))
    }

    fn make(place: &Path, session: &SessionId) -> io::Result<Self> {
        let above = place.parent().unwrap_or(Path::new("/"));
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(above)?;
        refuse_replaceable(above)?;
        let root = make_private(CWD, place)?;
        make_private(&root, Path::new(session.as_str()))?;
        Ok(Self(place.join(session.as_str())))
    }

    /// A directory by itself.
    #[cfg(test)]
    pub fn at(path: &Path) -> io::Result<Self> {
        make_private(CWD, path)?;
        Ok(Self(path.to_owned()))
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

/// Below the directory for temporary files, which a link's end does not empty as it does the user's runtime directory;
/// where somebody else has that name, below the user's cache.
fn places() -> Vec<PathBuf> {
    let temporary = std::env::temp_dir().join(format!("plimsoll-{}", geteuid().as_raw()));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .filter(|cache| cache.is_absolute());
    let cached = cache.map(|cache| cache.join("plimsoll/sessions"));
    std::iter::once(temporary).chain(cached).collect()
}

/// Where others may rename what is in it, a name says nothing.
fn refuse_replaceable(dir: &Path) -> io::Result<()> {
    let opened = openat(CWD, dir, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let is = fstat(&opened)?;
    let is_own = is.st_uid == geteuid().as_raw();
    let is_open = is.st_mode & 0o022 != 0 && is.st_mode & 0o1000 == 0;
    match is_open && !is_own {
        true => Err(denied(dir, "lets others rename what is in it")),
        false => Ok(()),
    }
}

fn make_private(at: impl rustix::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    match mkdirat(&at, path, Mode::RWXU) {
        Err(error) if error != Errno::EXIST => return Err(error.into()),
        _ => {}
    }
    open_private(at, path)
}

/// What is checked is what is opened, and not what has the name a moment later.
fn open_private(at: impl rustix::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat(at, path, flags, Mode::empty()) {
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(denied(path, "is no directory")),
        opened => opened?,
    };
    let is = fstat(&opened)?;
    if is.st_uid != geteuid().as_raw() {
        return Err(denied(path, &format!("belongs to user {}", is.st_uid)));
    }
    match is.st_mode & 0o077 {
        0 => Ok(opened),
        _ => Err(denied(path, "is open to others")),
    }
}

fn denied(path: &Path, why: &str) -> io::Error {
    let why = format!("{} {why}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, why)
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
            make_private(CWD, dir.path()).unwrap();
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

    fn open_to(path: &Path, mode: u32) {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, mode).unwrap();
    }

    #[test]
    fn a_directory_of_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        for mode in [0o777, 0o750, 0o701] {
            open_to(&open, mode);
            let error = make_private(CWD, &open).unwrap_err();
            assert!(error.to_string().ends_with("is open to others"), "{error}");
        }
        let own = dir.path().join("own");
        make_private(CWD, &own).unwrap();
        make_private(CWD, &own).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for other in [link, file] {
            let error = make_private(CWD, &other).unwrap_err();
            assert!(error.to_string().ends_with("is no directory"), "{error}");
        }
        if geteuid().is_root() {
            std::os::unix::fs::chown(&own, Some(65_534), None).unwrap();
            let error = make_private(CWD, &own).unwrap_err();
            assert!(error.to_string().ends_with("belongs to user 65534"));
        }
    }

    #[test]
    fn a_name_that_is_taken_sends_a_session_elsewhere_where_it_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let places =
            ["tmp/plimsoll-1", "cache/plimsoll/sessions"].map(|name| dir.path().join(name));
        let [temporary, cached] = &places;
        let session = SessionId::parse("abcdefgh").unwrap();
        std::fs::create_dir_all(temporary).unwrap();
        open_to(temporary, 0o777);
        let own = StateDir::among(&places, &session).unwrap();
        assert_eq!(own.path(), cached.join("abcdefgh"));
        // Whether the other one goes or not.
        std::fs::remove_dir(temporary).unwrap();
        let again = StateDir::among(&places, &session).unwrap();
        assert_eq!(again.path(), own.path());
        assert!(!temporary.exists());
        let other = SessionId::parse("ijklmnop").unwrap();
        let first = StateDir::among(&places, &other).unwrap();
        assert_eq!(first.path(), temporary.join("ijklmnop"));
        std::fs::remove_dir_all(cached).unwrap();
        std::fs::write(cached, "").unwrap();
        open_to(temporary, 0o755);
        let error = StateDir::among(&places, &session).map(|_| ()).unwrap_err();
        for why in ["plimsoll-1 is open to others", "sessions is no directory"] {
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn a_place_where_others_rename_things_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let above = dir.path().join("above");
        std::fs::create_dir(&above).unwrap();
        if geteuid().is_root() {
            std::os::unix::fs::chown(&above, Some(65_534), None).unwrap();
            open_to(&above, 0o777);
            assert!(refuse_replaceable(&above).is_err());
        }
        open_to(&above, 0o1777);
        refuse_replaceable(&above).unwrap();
    }
}
