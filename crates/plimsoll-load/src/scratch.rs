//! A directory of plimsoll's own on a medium, and how leftovers of a killed run are cleared.
//!
//! `<medium>/.plimsoll/<run id>/` begins with an owner file that names the process it belongs to, and a lock that this
//! process holds as long as it lives. [`sweep`] removes such a directory when, and only when, its owner is gone.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::error::LoadError;

pub(crate) mod copy;
pub(crate) mod directory;
mod errors;
mod owner;
mod programs;
mod servers;
mod size;
mod sweep;
mod wait;

use directory::DirectoryHandle;
pub(crate) use errors::io_error;
pub use owner::host;
use owner::{FOLDER, LOCK, OUTSIDE_PREFIX, OWNER, Owner, closed, remove};
pub(crate) use servers::{endings, kill_all, servers_work_in, start_time};
pub(crate) use size::data_size;
pub use sweep::sweep;
pub(crate) use wait::wait_until;

/// A directory that is removed when this is dropped, and by [`sweep`] when the process died before.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    owner: Owner,
    /// Locked while the owner lives; the kernel releases it at its end, in whichever way that comes.
    lock: Option<File>,
    /// A directory for a server's log on another disk.
    log: Option<Box<Scratch>>,
    removed: bool,
}

/// The folder of all runs on a medium, which is made where there is none.
fn open_folder(medium: &Path) -> Result<DirectoryHandle, LoadError> {
    let path = medium.join(FOLDER);
    let parent = DirectoryHandle::open(medium).map_err(|e| io_error(medium, &e))?;
    let folder = match parent.make(OsStr::new(FOLDER), 0o711) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => parent
            .child(OsStr::new(FOLDER))
            .map_err(|e| closed(&path, &e))?,
        made => made.map_err(|e| io_error(&path, &e))?,
    };
    folder.check_owner().map(|()| folder)
}

/// Refuses what others own or can write to. A filesystem without permissions shows also what was just made as open to all:
/// there an ordinary user has nothing to lose, and root has.
fn check_folders(folder: &DirectoryHandle, made: &DirectoryHandle) -> Result<(), LoadError> {
    made.check_owner()?;
    let is_open = made.check_closed();
    if is_open.is_err() && !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    is_open.and_then(|()| folder.check_closed())
}

fn replace_owner(directory: &DirectoryHandle, text: &str) -> io::Result<()> {
    const NEW: &str = "owner.json.new";
    directory.remove_left(OsStr::new(NEW))?;
    let mut file = directory.create(OsStr::new(NEW), 0o644)?;
    file.write_all(text.as_bytes())?;
    directory.rename(NEW, OWNER)
}

fn make_in(directory: &DirectoryHandle, name: &str, mode: u32) -> Result<PathBuf, LoadError> {
    let path = directory.path().join(name);
    let made = directory.make(OsStr::new(name), mode);
    made.map(|_| path.clone()).map_err(|e| io_error(&path, &e))
}

/// Whether no configuration, URL or shell reads a path as anything else.
pub(crate) fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte))
}

impl Scratch {
    /// Makes `<medium>/.plimsoll/<run_id>`. The medium must exist; `run_id` is one path component.
    pub fn create(medium: &Path, run_id: &str) -> Result<Self, LoadError> {
        if run_id.is_empty() || run_id.starts_with('.') || run_id.contains('/') {
            return Err(LoadError::other(
                format!("run id {run_id:?}"),
                "is not a plain file name",
            ));
        }
        let medium = medium.canonicalize().map_err(|e| io_error(medium, &e))?;
        let folder = open_folder(&medium)?;
        let made = folder.make(OsStr::new(run_id), 0o711);
        let made = made.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => LoadError::Foreign {
                what: folder.path().join(run_id).display().to_string(),
                why: "a run of this name uses it, or left it behind".into(),
                next: "If no other plimsoll is at work here, remove that directory.".into(),
            },
            _ => closed(folder.path(), &e),
        })?;
        check_folders(&folder, &made).inspect_err(|_| {
            // It is as new as the error.
            let _ = folder.remove_empty(OsStr::new(run_id));
        })?;
        let mut scratch = Self {
            path: made.path().to_owned(),
            owner: Owner::new(run_id),
            lock: None,
            log: None,
            removed: false,
        };
        scratch.take_lock()?;
        scratch.save()?;
        Ok(scratch)
    }

    /// A directory on a drive of plimsoll's own that is mounted in another scratch directory. It takes no lock: an open
    /// file would keep the drive from being unmounted. The other one's lock protects both.
    pub fn inside(mount: &Path, name: &str) -> Result<Self, LoadError> {
        let path = mount.join(name);
        let on = DirectoryHandle::open(mount).map_err(|e| io_error(mount, &e))?;
        make_in(&on, name, 0o711)?;
        let scratch = Self {
            path,
            owner: Owner::new(name),
            lock: None,
            log: None,
            removed: false,
        };
        scratch.save()?;
        Ok(scratch)
    }

    /// The log of a server that is started here goes into `log`.
    #[must_use]
    pub fn with_log(mut self, log: Self) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    /// A new directory for a server's log, where it has a disk of its own.
    pub(crate) fn log_dir(&mut self, name: &str) -> Result<Option<PathBuf>, LoadError> {
        let log = self.log.as_mut();
        log.map(|own| own.dir(name)).transpose()
    }

    fn take_lock(&mut self) -> Result<(), LoadError> {
        let directory = DirectoryHandle::open_own(&self.path)?;
        let file = directory.create(OsStr::new(LOCK), 0o644);
        let file = file.map_err(|e| io_error(&self.path.join(LOCK), &e))?;
        // A file system without locks is no obstacle: pid and start time remain.
        self.lock = file.try_lock().is_ok().then_some(file);
        Ok(())
    }

    /// Replaces the owner file as a whole: a crash leaves the old one or the new one.
    fn save(&self) -> Result<(), LoadError> {
        let text = serde_json::to_string_pretty(&self.owner)
            .map_err(|e| LoadError::other("owner file", e))?;
        let directory = DirectoryHandle::open_own(&self.path)?;
        replace_owner(&directory, &(text + "\n")).map_err(|e| io_error(&self.path.join(OWNER), &e))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An open handle: through it a program that root starts works in this very directory, whatever is renamed above it.
    pub fn open(&self) -> Result<OwnedFd, LoadError> {
        DirectoryHandle::open_own(&self.path).map(OwnedFd::from)
    }

    /// A new directory inside, `name` being one path component; its name is recorded first.
    pub fn dir(&mut self, name: &str) -> Result<PathBuf, LoadError> {
        self.owner.contains.insert(name.into());
        self.save()?;
        let directory = DirectoryHandle::open_own(&self.path)?;
        make_in(&directory, name, 0o711)
    }

    /// A directory for sockets whose own path plus `reserve` bytes fits into a socket address: inside when that is
    /// short enough, else a new one under the directory for temporary files. `sun_path` holds 108 bytes with its
    /// terminating zero (unix(7)). Clients take the path in URLs and lists of hosts, which have no quotes for all signs.
    pub fn socket_dir(&mut self, name: &str, reserve: usize) -> Result<PathBuf, LoadError> {
        const LONGEST: usize = 107;
        let suits = |path: &Path| path.as_os_str().len() + reserve <= LONGEST && is_plain(path);
        if suits(&self.path.join(name)) {
            return self.dir(name);
        }
        let temporary = std::env::temp_dir();
        let temporary = temporary
            .canonicalize()
            .map_err(|e| io_error(&temporary, &e))?;
        let directory = DirectoryHandle::open(&temporary).map_err(|e| io_error(&temporary, &e))?;
        for _ in 0..100 {
            // Another's guess would only be in the way: a directory that is there is never taken.
            let unique = format!("{OUTSIDE_PREFIX}{:016x}", RandomState::new().hash_one(name));
            let path = temporary.join(&unique);
            if !suits(&path) {
                return Err(LoadError::Unsupported {
                    what: format!("make a socket in {}", temporary.display()),
                    why: "its path is too long, or has other signs than letters, digits and /._-+"
                        .into(),
                    next: "Set TMPDIR to a short and plain path, such as /tmp.".into(),
                });
            }
            self.owner.outside.insert(path.clone());
            self.save()?;
            match directory.make(OsStr::new(&unique), 0o700) {
                Ok(made) => return made.check_owner().map(|()| path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.owner.outside.remove(&path);
                }
                Err(error) => return Err(io_error(&path, &error)),
            }
        }
        Err(LoadError::other(
            temporary.display().to_string(),
            "no free name for a socket directory",
        ))
    }

    /// Removes everything, and the folder `.plimsoll` when nothing else is in it.
    pub fn remove(mut self) -> Result<(), LoadError> {
        self.remove_all()
    }

    fn remove_all(&mut self) -> Result<(), LoadError> {
        if self.removed {
            return Ok(());
        }
        self.removed = true;
        let log = self.log.as_mut().map_or(Ok(()), |own| own.remove_all());
        remove(&self.path, &self.owner).and(log)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whoever can report an error calls `remove`; the next run's sweep finds what remains.
        let _ = self.remove_all();
    }
}

#[cfg(test)]
impl Scratch {
    /// Leaves the directory behind as a process that is gone would: for tests of [`sweep`].
    pub(crate) fn abandon(mut self) -> PathBuf {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        self.owner.pid = child.id().cast_signed();
        self.save().unwrap();
        // Not just closed: a child that another test is just starting has the file open as well, until it executes.
        if let Some(lock) = &self.lock {
            lock.unlock().unwrap();
        }
        self.removed = true;
        self.path.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::errors::belongs_to;
    use super::owner::mounted_below;
    use super::sweep::parse_owner;
    use super::*;

    #[test]
    fn nothing_remains_after_the_end() {
        let medium = tempfile::tempdir().unwrap();
        let mut a = Scratch::create(medium.path(), "a").unwrap();
        let b = Scratch::create(medium.path(), "b").unwrap();
        fs::write(a.dir("data").unwrap().join("file"), "x").unwrap();
        assert!(matches!(
            Scratch::create(medium.path(), "a"),
            Err(LoadError::Foreign { .. })
        ));
        a.remove().unwrap();
        assert!(b.path().exists());
        drop(b);
        assert_eq!(fs::read_dir(medium.path()).unwrap().count(), 0);
        assert!(Scratch::create(medium.path(), "../x").is_err());
    }

    #[test]
    fn only_what_a_dead_owner_left_is_swept() {
        let medium = tempfile::tempdir().unwrap();
        assert_eq!(sweep(medium.path(), &|_| Ok(Vec::new())).unwrap(), [""; 0]);
        let living = Scratch::create(medium.path(), "living").unwrap();
        let folder = medium.path().join(FOLDER);
        for (name, owner) in [
            ("foreign", None),
            ("broken", Some("{\"format\":\"plimsoll scr")),
            ("other", Some("{\"format\":\"plimsoll scratch 0\"}")),
            // Of another program.
            ("list", Some("[]")),
            ("theirs", Some("{\"owner\":\"somebody else\"}")),
        ] {
            fs::create_dir(folder.join(name)).unwrap();
            if let Some(text) = owner {
                fs::write(folder.join(name).join(OWNER), text).unwrap();
            }
        }
        let mut dead = Scratch::create(medium.path(), &"dead".repeat(20)).unwrap();
        let socket = dead.socket_dir("sock", 20).unwrap();
        assert!(!socket.starts_with(medium.path()));
        fs::write(socket.join(".s.PGSQL.5432"), "").unwrap();
        // Named as a socket directory, with another directory in it that is named as a socket.
        let mine = medium.path().join("plimsoll-mine/.s.PGSQL.notes");
        fs::create_dir_all(&mine).unwrap();
        fs::write(mine.join("notes"), "x").unwrap();
        dead.owner.outside.insert(mine.parent().unwrap().into());
        // An owner file that names a directory which is not plimsoll's.
        dead.owner.outside.insert(medium.path().join("precious"));
        fs::create_dir(medium.path().join("precious")).unwrap();
        let dead = dead.abandon();
        let actions = sweep(medium.path(), &|_| Ok(Vec::new())).unwrap();
        let has = |words: [&str; 2]| {
            let mut all = actions.iter();
            all.any(|own| words.iter().all(|word| own.contains(word)))
        };
        assert_eq!(actions.len(), 3, "{actions:?}");
        assert!(has(["Removed", "dead"]), "{actions:?}");
        for name in ["broken", "other"] {
            let path = folder.join(name).display().to_string();
            assert!(
                has([&path, "does not understand owner.json"]),
                "{actions:?}"
            );
        }
        assert!(!dead.exists() && !socket.exists());
        assert!(living.path().exists() && medium.path().join("precious").exists());
        assert!(mine.join("notes").exists());
        for name in ["foreign", "broken", "other", "list", "theirs"] {
            assert!(folder.join(name).exists(), "{name}");
        }
    }

    #[test]
    fn what_is_mounted_inside_is_not_removed() {
        let medium = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::create(medium.path(), "mounted").unwrap();
        let inside = scratch.dir("with space").unwrap();
        if !rustix::process::geteuid().is_root() {
            // Only root can mount: of what is there, the root directory has mounts below it.
            assert!(mounted_below(Path::new("/")).unwrap().is_some());
            return;
        }
        rustix::mount::mount(
            "none",
            &inside,
            "tmpfs",
            rustix::mount::MountFlags::empty(),
            None,
        )
        .unwrap();
        fs::write(inside.join("precious"), "x").unwrap();
        let error = remove(scratch.path(), &scratch.owner)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("is still mounted") && inside.join("precious").exists(),
            "{error}"
        );
        // At once, although a child that another test is just starting has a file in it open, until it executes.
        rustix::mount::unmount(&inside, rustix::mount::UnmountFlags::DETACH).unwrap();
        scratch.remove().unwrap();
    }

    #[test]
    fn a_lock_held_elsewhere_protects() {
        let medium = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::create(medium.path(), "other").unwrap();
        let lock = scratch.lock.take().unwrap();
        let path = scratch.abandon();
        assert_eq!(sweep(medium.path(), &|_| Ok(Vec::new())).unwrap(), [""; 0]);
        assert!(path.exists());
        lock.unlock().unwrap();
        assert_eq!(sweep(medium.path(), &|_| Ok(Vec::new())).unwrap().len(), 1);
        assert!(!path.exists());
    }

    #[test]
    fn an_initdb_that_outlived_its_owner_is_waited_for() {
        let medium = tempfile::tempdir().unwrap();
        let program = medium.path().join("initdb");
        // Its name in the process table is the link's. A copy that another test's child has still open for writing
        // could not be executed (execve(2), ETXTBSY).
        std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
        let mut scratch = Scratch::create(medium.path(), "init").unwrap();
        let data = scratch.dir("postgres").unwrap();
        // Before the other one begins, which could end meanwhile.
        let path = scratch.abandon();
        let mut child = std::process::Command::new(&program)
            .arg("2")
            .current_dir(&data)
            .spawn()
            .unwrap();
        assert!(wait_until(60, || servers_work_in(&path)));
        assert_eq!(sweep(medium.path(), &|_| Ok(Vec::new())).unwrap().len(), 1);
        assert!(child.try_wait().unwrap().is_some() && !path.exists());
    }

    #[test]
    fn a_folder_of_another_user_is_theirs() {
        let message = belongs_to(Path::new("/m/.plimsoll"), "anna").to_string();
        assert!(
            message.contains("it belongs to anna") && message.contains("rm -r '/m/.plimsoll'"),
            "{message}"
        );
        let own = tempfile::tempdir().unwrap();
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(matches!(
            closed(own.path(), &denied),
            LoadError::ReadOnly { .. }
        ));
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(own.path(), Some(12345), None).unwrap();
            assert!(
                closed(own.path(), &denied)
                    .to_string()
                    .contains("user 12345")
            );
        }
    }

    #[test]
    fn another_hosts_directory_is_left_alone() {
        let medium = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::create(medium.path(), "far").unwrap();
        scratch.owner.host = "elsewhere.example".into();
        let path = scratch.abandon();
        assert!(
            sweep(medium.path(), &|_| Ok(Vec::new())).unwrap()[0].contains("elsewhere.example")
        );
        assert!(path.exists());
    }

    proptest! {
        #[test]
        fn rubbish_is_no_owner(text in ".*") {
            prop_assert!(parse_owner(&text).is_err());
        }
    }
}
