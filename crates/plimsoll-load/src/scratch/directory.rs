//! Directories by their handles. Others may rename and link in a directory above, or in one that was given to a server's
//! user, while plimsoll works there as root: names are single components, and links are never followed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, Stat, Uid};

use super::errors::{belongs_to, io_error};
use crate::error::LoadError;
use crate::passwd::user_name;

const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// An open directory.
#[derive(Debug)]
pub(crate) struct DirectoryHandle {
    handle: OwnedFd,
    /// Where it was when it was opened, for messages.
    path: PathBuf,
}

impl DirectoryHandle {
    /// Opens a directory by an absolute path without links; one that has become a link meanwhile is an error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut at = rustix::fs::openat(CWD, "/", DIRECTORY | OFlags::PATH, Mode::empty())?;
        for part in path.components() {
            if let Component::Normal(name) = part {
                at = rustix::fs::openat(&at, name, DIRECTORY | OFlags::PATH, Mode::empty())?;
            }
        }
        // One that may be written to and not read can still get a directory.
        let handle = rustix::fs::openat(&at, ".", DIRECTORY, Mode::empty()).unwrap_or(at);
        Ok(Self {
            handle,
            path: path.into(),
        })
    }

    /// As [`Self::open`], one of this user.
    pub fn open_own(path: &Path) -> Result<Self, LoadError> {
        let directory = Self::open(path).map_err(|error| io_error(path, &error))?;
        directory.check_owner().map(|()| directory)
    }

    /// Refuses a directory of another user.
    pub fn check_owner(&self) -> Result<(), LoadError> {
        let owner = self.about()?.st_uid;
        if owner == rustix::process::geteuid().as_raw() {
            Ok(())
        } else {
            Err(belongs_to(&self.path, &user_name(owner)))
        }
    }

    /// Refuses a directory that others can write to: what plimsoll makes there could be their link a moment later.
    pub fn check_closed(&self) -> Result<(), LoadError> {
        if self.about()?.st_mode & 0o022 == 0 {
            return Ok(());
        }
        let place = self.path.display();
        Err(LoadError::Refused {
            what: place.to_string(),
            why: "others than its owner can write to it".into(),
            next: format!("Look at what is in it, then close it: chmod go-w '{place}'"),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn about(&self) -> Result<Stat, LoadError> {
        rustix::fs::fstat(&self.handle).map_err(|error| io_error(&self.path, &error.into()))
    }

    /// A path that leads here whatever is renamed.
    fn by_handle(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.handle.as_raw_fd()).into()
    }

    pub fn child(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self {
            handle: rustix::fs::openat(&self.handle, name, DIRECTORY, Mode::empty())?,
            path: self.path.join(name),
        })
    }

    /// The directory at a relative path.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        let handle = rustix::fs::openat(&self.handle, ".", DIRECTORY, Mode::empty())?;
        let here = Self {
            handle,
            path: self.path.clone(),
        };
        path.iter().try_fold(here, |at, name| at.child(name))
    }

    /// A new directory.
    pub fn make(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.handle, name, Mode::from_raw_mode(mode))?;
        let made = self.child(name)?;
        // The umask may have taken bits away that the server's own user needs.
        rustix::fs::fchmod(&made.handle, Mode::from_raw_mode(mode))?;
        Ok(made)
    }

    /// A new file.
    pub fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let made = rustix::fs::openat(&self.handle, name, flags, Mode::from_raw_mode(mode))?;
        Ok(made.into())
    }

    /// A regular file that is there under this name only.
    pub fn open_file(&self, name: &OsStr, access: OFlags) -> io::Result<File> {
        let file = rustix::fs::openat(&self.handle, name, FILE | access, Mode::empty())?;
        let file = File::from(file);
        let about = file.metadata()?;
        if about.is_file() && about.nlink() == 1 {
            Ok(file)
        } else {
            Err(io::Error::other(
                "is no file of its own: a link, or a device",
            ))
        }
    }

    /// Names of everything inside.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(self.by_handle())?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect()
    }

    /// What a name stands for; a link for itself.
    pub fn kind(&self, name: &OsStr) -> io::Result<FileType> {
        let about = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(about.st_mode))
    }

    pub fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(self.by_handle().join(name))
    }

    pub fn link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.handle, name)?)
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Removes what has this name, with everything in it.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match self.kind(name)? {
            FileType::Directory => fs::remove_dir_all(self.by_handle().join(name)),
            _ => Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?),
        }
    }

    /// As [`Self::remove`]; it may be gone already.
    pub fn remove_left(&self, name: &OsStr) -> io::Result<()> {
        match self.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes an empty directory.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.handle,
            name,
            AtFlags::REMOVEDIR,
        )?)
    }
}

impl From<DirectoryHandle> for OwnedFd {
    fn from(directory: DirectoryHandle) -> Self {
        directory.handle
    }
}

impl AsFd for DirectoryHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Gives a file or directory to a user, with this mode.
pub(crate) fn give(to: impl AsFd, user: Option<(u32, u32)>, mode: u32) -> io::Result<()> {
    if let Some((uid, gid)) = user {
        rustix::fs::fchown(&to, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    Ok(rustix::fs::fchmod(to, Mode::from_raw_mode(mode))?)
}

/// Gives it the owner and permissions of another.
pub(crate) fn give_like(to: impl AsFd, original: impl AsFd) -> io::Result<()> {
    let original = rustix::fs::fstat(original)?;
    let is_root = rustix::process::geteuid().is_root();
    let user = is_root.then_some((original.st_uid, original.st_gid));
    give(to, user, original.st_mode & 0o7777)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;
    use crate::scratch::{Scratch, sweep};

    const VICTIM: &str = "of root";

    fn name(name: &str) -> &OsStr {
        OsStr::new(name)
    }

    fn place() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let (medium, victim) = (real.join("medium"), real.join("victim"));
        fs::create_dir(&medium).unwrap();
        fs::write(&victim, VICTIM).unwrap();
        (dir, medium, victim)
    }

    #[test]
    fn links_are_never_followed() {
        let (_dir, medium, victim) = place();
        let others = medium.join("others");
        fs::create_dir(&others).unwrap();
        fs::write(others.join("file"), "x").unwrap();
        for (link, target) in [("dir", &others), ("file", &victim)] {
            symlink(target, medium.join(link)).unwrap();
        }
        fs::hard_link(&victim, medium.join("hard")).unwrap();
        rustix::fs::mknodat(CWD, medium.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
        let here = DirectoryHandle::open(&medium).unwrap();
        assert!(DirectoryHandle::open(&medium.join("dir")).is_err());
        assert!(DirectoryHandle::open(&medium.join("dir/x")).is_err());
        assert!(here.child(name("dir")).is_err() && here.below(Path::new("dir")).is_err());
        for file in ["file", "hard", "pipe", "others"] {
            for access in [OFlags::RDONLY, OFlags::WRONLY] {
                assert!(here.open_file(name(file), access).is_err(), "{file}");
            }
            assert!(here.create(name(file), 0o600).is_err(), "{file}");
            assert!(here.make(name(file), 0o700).is_err(), "{file}");
        }
        for link in ["dir", "file", "hard", "pipe"] {
            here.remove(name(link)).unwrap();
        }
        assert_eq!(fs::read_to_string(victim).unwrap(), VICTIM);
        assert!(others.join("file").exists());
        here.remove(name("others")).unwrap();
        assert!(here.names().unwrap().is_empty());
    }

    /// Between two steps of plimsoll's, the owner of the medium puts something else in the place of its folder.
    #[test]
    fn a_folder_that_is_swapped_leads_nowhere() {
        let (dir, medium, victim) = place();
        let mut scratch = Scratch::create(&medium, "run").unwrap();
        let trap = dir.path().join("trap/run");
        fs::create_dir_all(&trap).unwrap();
        for file in ["owner.json", "owner.json.new", "owner.lock", "first"] {
            symlink(&victim, trap.join(file)).unwrap();
        }
        let folder = medium.join(".plimsoll");
        let held = dir.path().join("held");
        fs::rename(&folder, &held).unwrap();
        // A link to it is an error, and so is a directory of another user.
        symlink(trap.parent().unwrap(), &folder).unwrap();
        assert!(scratch.dir("first").is_err() && scratch.dir("second").is_err());
        assert!(Scratch::create(&medium, "another").is_err());
        fs::remove_file(&folder).unwrap();
        fs::rename(trap.parent().unwrap(), &folder).unwrap();
        if rustix::process::geteuid().is_root() {
            for path in [&folder, &folder.join("run")] {
                chown(path, Some(12_345), None).unwrap();
            }
            let error = scratch.dir("second").unwrap_err().to_string();
            assert!(error.contains("belongs to user 12345"), "{error}");
            let error = Scratch::create(&medium, "another").unwrap_err().to_string();
            assert!(error.contains("belongs to user 12345"), "{error}");
            let swept = sweep(&medium, &|_| Ok(Vec::new())).unwrap();
            assert!(swept[0].contains("belongs to user 12345"), "{swept:?}");
            assert!(scratch.remove().is_err());
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM);
        assert!(folder.join("run/owner.json").is_symlink());
        assert!(held.join("run/owner.json").is_file());
    }

    #[test]
    fn what_others_can_write_to_is_refused_and_left_alone() {
        let (_dir, medium, _) = place();
        let folder = medium.join(".plimsoll");
        let abandoned = Scratch::create(&medium, "run").unwrap().abandon();
        for (open, closed) in [(&folder, &abandoned), (&abandoned, &folder)] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o775)).unwrap();
            fs::set_permissions(closed, fs::Permissions::from_mode(0o711)).unwrap();
            let swept = sweep(&medium, &|_| Ok(Vec::new())).unwrap();
            let expected = format!("chmod go-w '{}'", open.display());
            assert!(
                swept.len() == 1 && swept[0].ends_with(&expected),
                "{swept:?}"
            );
            assert!(abandoned.join("owner.json").exists());
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o775)).unwrap();
        let error = Scratch::create(&medium, "next").unwrap_err().to_string();
        assert!(
            error.contains("others than its owner can write to it")
                && !folder.join("next").exists(),
            "{error}"
        );
        for closed in [&folder, &abandoned] {
            fs::set_permissions(closed, fs::Permissions::from_mode(0o711)).unwrap();
        }
        assert_eq!(sweep(&medium, &|_| Ok(Vec::new())).unwrap().len(), 1);
        assert!(!folder.exists());
    }

    /// The owner file of a directory that another user made names what they want to have removed.
    #[test]
    fn the_owner_file_of_another_user_is_not_believed() {
        let (_dir, medium, victim) = place();
        let abandoned = Scratch::create(&medium, "run").unwrap().abandon();
        if !rustix::process::geteuid().is_root() {
            // Another user's directory cannot be made by this one; one's own is swept.
            assert_eq!(sweep(&medium, &|_| Ok(Vec::new())).unwrap().len(), 1);
            return;
        }
        chown(&abandoned, Some(12_345), None).unwrap();
        let swept = sweep(&medium, &|_| Ok(Vec::new())).unwrap();
        assert!(
            swept.len() == 1 && swept[0].contains("belongs to user 12345"),
            "{swept:?}"
        );
        assert!(abandoned.join("owner.json").exists() && victim.exists());
    }
}
