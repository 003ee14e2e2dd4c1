//! Files that are whole as soon as they have a name.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

const MODE: u32 = 0o666;

/// Creates a file with these bytes, which are on disk before it has its name.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] where anything has that name, also a link that leads nowhere.
pub fn create_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match create_unnamed(path, bytes) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Where neither works the first error names the directory, the second a temporary file.
            create_beside(path, bytes).map_err(|second| match second.kind() {
                io::ErrorKind::AlreadyExists => second,
                _ => error,
            })?;
        }
        created => created?,
    }
    sync_directory_of(path)
}

/// Nothing is left of it where the process is killed before it has its name.
fn create_unnamed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file: File = open(directory_of(path), flags, Mode::from_raw_mode(MODE))?.into();
    file.write_all(bytes)?;
    file.sync_all()?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// For file systems without unnamed files.
fn create_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".plimsoll-")
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(directory_of(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file.persist_noclobber(path).map(drop)?)
}

pub(super) fn sync_directory_of(path: &Path) -> io::Result<()> {
    File::open(directory_of(path))?.sync_all()
}

fn directory_of(path: &Path) -> &Path {
    let directory = path.parent();
    directory
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn both_ways_create_the_same_file_and_replace_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for create in [create_unnamed, create_beside] {
            let path = dir.path().join("a");
            create(&path, b"new").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o600, 0o600, "{mode:o}");
            let again = create(&path, b"other").unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            std::fs::remove_file(&path).unwrap();

            symlink(dir.path().join("nowhere"), &path).unwrap();
            let through = create(&path, b"other").unwrap_err();
            assert_eq!(through.kind(), io::ErrorKind::AlreadyExists);
            std::fs::remove_file(&path).unwrap();
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
        let nowhere = create_whole(&dir.path().join("no/a"), b"").unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    }
}
