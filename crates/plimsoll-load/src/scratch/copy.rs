//! Copies of directories, for data sets that are reset.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::error::LoadError;
use crate::scratch::io_error;

/// What was copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Lengths of all files.
    pub bytes: u64,
    /// Of them, those that share their blocks with the original (ioctl_ficlone(2)): made in no time, and of no size.
    pub shared: u64,
}

/// Copies a directory with everything in it to a place that does not exist, with owners and permissions, and returns
/// when it is on the medium: writing it back must not fall into a measurement. `stop` is asked between files. A link to
/// a directory elsewhere, such as a log on a disk of its own, becomes a directory.
pub fn copy_tree(
    from: &Path,
    to: &Path,
    stop: &dyn Fn() -> Result<(), LoadError>,
) -> Result<Copied, LoadError> {
    let mut copied = Copied::default();
    copy_dir(from, to, stop, &mut copied)?;
    sync(to).map(|()| copied)
}

fn sync(dir: &Path) -> Result<(), LoadError> {
    let synced = File::open(dir).and_then(|open| Ok(rustix::fs::syncfs(&open)?));
    synced.map_err(|error| io_error(dir, &error))
}

/// Puts everything in `copy` back in `place`, where it was taken from; what is there now goes. The directory itself
/// stays: a process may have it as its working directory. So does a link in it to a directory elsewhere, which is filled.
pub fn put_back(
    copy: &Path,
    place: &Path,
    stop: &dyn Fn() -> Result<(), LoadError>,
) -> Result<Copied, LoadError> {
    empty(place)?;
    let mut copied = Copied::default();
    copy_entries(copy, place, stop, &mut copied)?;
    sync(place).map(|()| copied)
}

fn empty(dir: &Path) -> Result<(), LoadError> {
    entries(dir)?.iter().try_for_each(|path| {
        if leads_elsewhere(path) {
            empty(path)
        } else {
            remove(path).map_err(|error| io_error(path, &error))
        }
    })
}

/// A link to a directory that is not beside it.
fn leads_elsewhere(path: &Path) -> bool {
    fs::read_link(path).is_ok_and(|target| target.is_absolute() && target.is_dir())
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let read = || {
        fs::read_dir(dir)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()
    };
    read().map_err(|error| io_error(dir, &error))
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn copy_dir(
    from: &Path,
    to: &Path,
    stop: &dyn Fn() -> Result<(), LoadError>,
    copied: &mut Copied,
) -> Result<(), LoadError> {
    let made = if leads_elsewhere(to) {
        Ok(())
    } else {
        fs::create_dir(to)
    };
    let alike = made.and_then(|()| like(to, &from.metadata()?));
    alike.map_err(|error| io_error(to, &error))?;
    copy_entries(from, to, stop, copied)?;
    if leads_elsewhere(to) {
        sync(to)
    } else {
        Ok(())
    }
}

fn copy_entries(
    from: &Path,
    to: &Path,
    stop: &dyn Fn() -> Result<(), LoadError>,
    copied: &mut Copied,
) -> Result<(), LoadError> {
    for path in entries(from)? {
        stop()?;
        let Some(name) = path.file_name() else {
            continue;
        };
        let target = to.join(name);
        let found = path
            .symlink_metadata()
            .map_err(|error| io_error(&path, &error))?;
        if found.is_dir() || leads_elsewhere(&path) {
            copy_dir(&path, &target, stop, copied)?;
        } else {
            copy_file(&path, &target, &found, copied).map_err(|error| io_error(&target, &error))?;
        }
    }
    Ok(())
}

/// Sockets and the like are not copied: they belong to processes.
fn copy_file(from: &Path, to: &Path, found: &Metadata, copied: &mut Copied) -> io::Result<()> {
    if found.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if !found.is_file() {
        return Ok(());
    }
    let source = File::open(from)?;
    let target = File::create_new(to)?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_ok() {
        copied.shared += found.len();
    } else {
        io::copy(&mut &source, &mut &target)?;
    }
    copied.bytes += found.len();
    like(to, found)
}

/// Owner and permissions as the original has them.
pub(crate) fn like(path: &Path, original: &Metadata) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(original.mode() & 0o7777))?;
    if rustix::process::geteuid().is_root() {
        chown(path, Some(original.uid()), Some(original.gid()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
        let copied = copy_tree(&place, &copy, &go_on).unwrap();
        assert_eq!(copied.bytes, 300_008);
        assert!(copied.shared == 0 || copied.shared == copied.bytes);

        fs::write(place.join("base/5/1259"), "other").unwrap();
        fs::write(place.join("new"), "new").unwrap();
        fs::create_dir(place.join("base/6")).unwrap();
        fs::remove_file(place.join("conf")).unwrap();
        fs::rename(log.join("1"), log.join("2")).unwrap();
        assert!(!copy.join("log").is_symlink(), "a copy is complete");
        assert_eq!(put_back(&copy, &place, &go_on).unwrap().bytes, 300_008);
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
            assert!(like(Path::new("/nowhere"), &fs::metadata("/").unwrap()).is_err());
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("a"), "x").unwrap();
        chown(place.join("a"), Some(12_345), Some(54_321)).unwrap();
        copy_tree(&place, &dir.path().join("copy"), &go_on).unwrap();
        let found = fs::metadata(dir.path().join("copy/a")).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 54_321));
    }

    #[test]
    fn it_stops_on_request() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("place")).unwrap();
        fs::write(dir.path().join("place/a"), "x").unwrap();
        let error = copy_tree(&dir.path().join("place"), &dir.path().join("copy"), &|| {
            Err(LoadError::Cancelled)
        });
        assert!(matches!(error, Err(LoadError::Cancelled)));
    }
}
