//! Copies of directories, for data sets that are reset.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use rustix::fs::{FileType, OFlags};

use crate::error::LoadError;
use crate::scratch::directory::{DirectoryHandle, give_like};
use crate::scratch::io_error;

/// What was copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Lengths of all files.
    pub bytes: u64,
    /// Of them, those that share their blocks with the original (ioctl_ficlone(2)): made in no time, and of no size.
    pub shared: u64,
}

/// A directory with a server's data, which its user can change.
#[derive(Debug, Clone, Copy)]
pub struct DataDirectory<'a> {
    pub path: &'a Path,
    /// The log's, where it has a disk of its own: the only directory elsewhere that is entered through a link.
    pub log_disk: Option<&'a Path>,
}

impl<'a> From<&'a Path> for DataDirectory<'a> {
    fn from(path: &'a Path) -> Self {
        Self {
            path,
            log_disk: None,
        }
    }
}

impl DataDirectory<'_> {
    fn open(&self) -> Result<DirectoryHandle, LoadError> {
        DirectoryHandle::open(self.path).map_err(|error| io_error(self.path, &error))
    }

    /// The log's directory, where this name is the link to it.
    fn log_behind(
        &self,
        directory: &DirectoryHandle,
        name: &OsStr,
    ) -> io::Result<Option<DirectoryHandle>> {
        match (self.log_disk, directory.read_link(name)) {
            (Some(log), Ok(target)) if directory.path() == self.path && target == log => {
                DirectoryHandle::open(log).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Copies a directory with everything in it to a place that does not exist, with owners and permissions, and returns
/// when it is on the medium: writing it back must not fall into a measurement. `stop` is asked between files. The link to
/// a log on a disk of its own becomes a directory.
pub fn copy_tree(
    from: DataDirectory<'_>,
    to: &Path,
    stop: &dyn Fn() -> Result<(), LoadError>,
) -> Result<Copied, LoadError> {
    let (Some(name), Some(parent)) = (to.file_name(), to.parent()) else {
        return Err(io_error(to, &io::ErrorKind::InvalidFilename.into()));
    };
    let source = from.open()?;
    let made = DirectoryHandle::open(parent)
        .and_then(|parent| parent.make(name, 0o700))
        .and_then(|made| give_like(&made, &source).map(|()| made));
    let target = made.map_err(|error| io_error(to, &error))?;
    let mut copying = Copying {
        from,
        to: to.into(),
        stop,
        copied: Copied::default(),
    };
    copying.entries(&source, &target)?;
    sync(&target).map(|()| copying.copied)
}

fn sync(directory: &DirectoryHandle) -> Result<(), LoadError> {
    rustix::fs::syncfs(directory).map_err(|error| io_error(directory.path(), &error.into()))
}

/// Puts everything in `copy` back in `place`, where it was taken from; what is there now goes. The directory itself
/// stays: a process may have it as its working directory. So does the link in it to a log elsewhere, which is filled.
pub fn put_back(
    copy: DataDirectory<'_>,
    place: DataDirectory<'_>,
    stop: &dyn Fn() -> Result<(), LoadError>,
) -> Result<Copied, LoadError> {
    let target = place.open()?;
    empty(&target, place)?;
    let mut copying = Copying {
        from: copy,
        to: place,
        stop,
        copied: Copied::default(),
    };
    copying.entries(&copy.open()?, &target)?;
    sync(&target).map(|()| copying.copied)
}

fn empty(directory: &DirectoryHandle, place: DataDirectory<'_>) -> Result<(), LoadError> {
    let failed = |error: io::Error| io_error(directory.path(), &error);
    for name in directory.names().map_err(failed)? {
        match place.log_behind(directory, &name).map_err(failed)? {
            Some(log) => empty(&log, place)?,
            None => directory.remove(&name).map_err(failed)?,
        }
    }
    Ok(())
}

struct Copying<'a> {
    from: DataDirectory<'a>,
    to: DataDirectory<'a>,
    stop: &'a dyn Fn() -> Result<(), LoadError>,
    copied: Copied,
}

impl Copying<'_> {
    fn entries(&mut self, from: &DirectoryHandle, to: &DirectoryHandle) -> Result<(), LoadError> {
        let names = from
            .names()
            .map_err(|error| io_error(from.path(), &error))?;
        for name in &names {
            (self.stop)()?;
            let failed = |error: io::Error| io_error(&to.path().join(name), &error);
            let kind = from.kind(name).map_err(failed)?;
            let inside = match kind {
                FileType::Directory => Some(from.child(name).map_err(failed)?),
                FileType::Symlink => self.from.log_behind(from, name).map_err(failed)?,
                _ => None,
            };
            match (inside, kind) {
                (Some(inside), _) => self.directory(name, &inside, to)?,
                (None, FileType::Symlink) => from
                    .read_link(name)
                    .and_then(|target| to.link(name, &target))
                    .map_err(failed)?,
                (None, FileType::RegularFile) => self.file(name, from, to).map_err(failed)?,
                // Sockets and the like are not copied: they belong to processes.
                (None, _) => {}
            }
        }
        Ok(())
    }

    fn directory(
        &mut self,
        name: &OsStr,
        from: &DirectoryHandle,
        to: &DirectoryHandle,
    ) -> Result<(), LoadError> {
        let failed = |error: io::Error| io_error(&to.path().join(name), &error);
        let log = self.to.log_behind(to, name).map_err(failed)?;
        let is_log = log.is_some();
        let target = match log {
            Some(log) => log,
            None => to.make(name, 0o700).map_err(failed)?,
        };
        give_like(&target, from).map_err(failed)?;
        self.entries(from, &target)?;
        if is_log { sync(&target) } else { Ok(()) }
    }

    fn file(
        &mut self,
        name: &OsStr,
        from: &DirectoryHandle,
        to: &DirectoryHandle,
    ) -> io::Result<()> {
        let source = from.open_file(name, OFlags::RDONLY)?;
        let target = to.create(name, 0o600)?;
        let bytes = source.metadata()?.len();
        if rustix::fs::ioctl_ficlone(&target, &source).is_ok() {
            self.copied.shared += bytes;
        } else {
            io::copy(&mut &source, &mut &target)?;
        }
        self.copied.bytes += bytes;
        give_like(&target, &source)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    use super::*;

    fn go_on() -> Result<(), LoadError> {
        Ok(())
    }

    #[test]
    fn a_copy_is_put_back_with_everything() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        let copy = dir.path().join("copy");
        fs::create_dir_all(place.join("base/5")).unwrap();
        fs::write(place.join("base/5/1259"), vec![7; 300_000]).unwrap();
        fs::write(place.join("conf"), "a = 1").unwrap();
        fs::set_permissions(place.join("conf"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("base/5", place.join("link")).unwrap();
        let log = dir.path().join("log");
        fs::create_dir(&log).unwrap();
        fs::write(log.join("1"), "log").unwrap();
        symlink(&log, place.join("log")).unwrap();
        let data = DataDirectory {
            path: &place,
            log_disk: Some(&log),
        };
        let copied = copy_tree(data, &copy, &go_on).unwrap();
        assert_eq!(copied.bytes, 300_008);
        assert!(copied.shared == 0 || copied.shared == copied.bytes);

        fs::write(place.join("base/5/1259"), "other").unwrap();
        fs::write(place.join("new"), "new").unwrap();
        fs::create_dir(place.join("base/6")).unwrap();
        fs::remove_file(place.join("conf")).unwrap();
        fs::rename(log.join("1"), log.join("2")).unwrap();
        assert!(!copy.join("log").is_symlink(), "a copy is complete");
        assert_eq!(
            put_back(copy.as_path().into(), data, &go_on).unwrap().bytes,
            300_008
        );
        assert_eq!(
            fs::read(place.join("base/5/1259")).unwrap(),
            vec![7; 300_000]
        );
        assert_eq!(
            fs::metadata(place.join("conf")).unwrap().mode() & 0o7777,
            0o640
        );
        assert_eq!(
            fs::read_link(place.join("link")).unwrap(),
            Path::new("base/5")
        );
        assert_eq!(fs::read(log.join("1")).unwrap(), b"log");
        assert!(place.join("log").is_symlink() && !log.join("2").exists());
        assert!(!place.join("new").exists() && !place.join("base/6").exists());
        assert!(copy.join("base/5/1259").exists(), "for the next time");
    }

    #[test]
    fn owners_are_kept() {
        if !rustix::process::geteuid().is_root() {
            // Only root can give files away.
            let root = DirectoryHandle::open(Path::new("/")).unwrap();
            assert!(give_like(&root, &root).is_err());
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("a"), "x").unwrap();
        chown(place.join("a"), Some(12_345), Some(54_321)).unwrap();
        copy_tree(place.as_path().into(), &dir.path().join("copy"), &go_on).unwrap();
        let found = fs::metadata(dir.path().join("copy/a")).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 54_321));
    }

    /// A server's user links to what that user must not touch, while root resets the data.
    #[test]
    fn links_of_the_servers_user_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let [data, copy, of_root, log] =
            ["data", "copy", "root", "log"].map(|name| real.join(name));
        for made in [&data.join("base"), &of_root, &log] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(of_root.join("precious"), "x").unwrap();
        symlink(&log, data.join("pg_wal")).unwrap();
        for link in ["a", "base/b"] {
            symlink(&of_root, data.join(link)).unwrap();
        }
        // Neither is the log entered again and again.
        for link in [data.join("base/log"), log.join("log")] {
            symlink(&log, link).unwrap();
        }
        let place = DataDirectory {
            path: &data,
            log_disk: Some(&log),
        };
        assert_eq!(copy_tree(place, &copy, &go_on).unwrap().bytes, 0);
        assert!(copy.join("a").is_symlink() && copy.join("pg_wal/log").is_symlink());
        put_back(copy.as_path().into(), place, &go_on).unwrap();
        assert!(data.join("base/b").is_symlink() && log.join("log").is_symlink());
        assert!(of_root.join("precious").exists());
        // A second name of a file of root's is not copied for its reader.
        fs::hard_link(of_root.join("precious"), data.join("c")).unwrap();
        let error = copy_tree(place, &real.join("again"), &go_on)
            .unwrap_err()
            .to_string();
        assert!(error.contains("again/c: is no file of its own"), "{error}");
    }

    #[test]
    fn it_stops_on_request() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("place")).unwrap();
        fs::write(dir.path().join("place/a"), "x").unwrap();
        let place = dir.path().join("place");
        let error = copy_tree(place.as_path().into(), &dir.path().join("copy"), &|| {
            Err(LoadError::Cancelled)
        });
        assert!(matches!(error, Err(LoadError::Cancelled)));
    }
}
