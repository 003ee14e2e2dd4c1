//! A backup's files: copied as what they are, flushed to their medium, read from it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rustix::fs::{Advice, FileType, OFlags, fadvise};

use super::BackupControl;
use crate::control::LoadControl;
use crate::error::LoadError;
use crate::scratch::directory::{DirectoryHandle, give_like};
use crate::scratch::io_error;

/// Between two checks for a stop.
const CHUNK_BYTES: usize = 1 << 20;

/// What is below a directory, by paths relative to it; a directory before what is in it.
#[derive(Debug, Default)]
struct Tree {
    directories: Vec<PathBuf>,
    files: Vec<(PathBuf, u64)>,
}

impl Tree {
    fn read(root: &DirectoryHandle) -> Result<Self, LoadError> {
        let mut tree = Self::default();
        tree.add(root, Path::new(""))?;
        Ok(tree)
    }

    fn add(&mut self, dir: &DirectoryHandle, below: &Path) -> Result<(), LoadError> {
        let failed = |error: io::Error| io_error(dir.path(), &error);
        for name in dir.names().map_err(failed)? {
            let path = below.join(&name);
            match dir.kind(&name).map_err(failed)? {
                FileType::Directory => {
                    let inside = dir.child(&name).map_err(failed)?;
                    self.directories.push(path.clone());
                    self.add(&inside, &path)?;
                }
                FileType::RegularFile => {
                    let file = dir.open_file(&name, OFlags::RDONLY).map_err(failed)?;
                    self.files
                        .push((path, file.metadata().map_err(failed)?.len()));
                }
                // Neither a copy nor a flush would reach what it leads to.
                _ => {
                    return Err(LoadError::other(
                        dir.path().join(&name).display().to_string(),
                        "is neither a file nor a directory, which no backup of plimsoll's has",
                    ));
                }
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<DirectoryHandle, LoadError> {
    DirectoryHandle::open(path).map_err(|error| io_error(path, &error))
}

/// A file of a tree.
fn open_file(root: &DirectoryHandle, file: &Path) -> io::Result<File> {
    let parent = root.below(file.parent().unwrap_or(Path::new("")))?;
    parent.open_file(file.file_name().unwrap_or_default(), OFlags::RDONLY)
}

/// Returns when everything in a directory is on its medium; the files' lengths.
pub fn flush(dir: &Path, control: &LoadControl) -> Result<u64, LoadError> {
    let root = open(dir)?;
    let tree = Tree::read(&root)?;
    for (file, _) in &tree.files {
        control.check()?;
        let synced = open_file(&root, file).and_then(|open| open.sync_all());
        synced.map_err(|error| io_error(&dir.join(file), &error))?;
    }
    sync_directories(&root, &tree.directories)?;
    Ok(tree.files.iter().map(|(_, bytes)| bytes).sum())
}

/// A directory's entries are synchronised as a file's content is (fsync(2)).
fn sync_directories(root: &DirectoryHandle, directories: &[PathBuf]) -> Result<(), LoadError> {
    for path in directories
        .iter()
        .map(PathBuf::as_path)
        .chain([Path::new("")])
    {
        let synced = root
            .below(path)
            .and_then(|open| Ok(rustix::fs::fsync(&open)?));
        synced.map_err(|error| io_error(&root.path().join(path), &error))?;
    }
    Ok(())
}

/// Lets a directory's files be read from their medium the next time, and not from the memory of who wrote them. They must
/// have been flushed; the kernel keeps what others use.
pub fn forget_cached(dir: &Path) -> Result<(), LoadError> {
    let root = open(dir)?;
    for (file, _) in Tree::read(&root)?.files {
        let forgotten =
            open_file(&root, &file).and_then(|open| Ok(fadvise(&open, 0, None, Advice::DontNeed)?));
        forgotten.map_err(|error| io_error(&dir.join(file), &error))?;
    }
    Ok(())
}

/// Copies everything in a directory, but for files that are not `wanted` by their relative path, into one that is empty,
/// with owners and permissions, and returns when it is on the medium; the bytes copied. Blocks are never shared with the
/// original (ioctl_ficlone(2), copy_file_range(2)): that would restore in no time, and measure nothing.
pub fn copy(
    from: &Path,
    to: &Path,
    wanted: &(dyn Fn(&Path) -> bool + Sync),
    task: BackupControl<'_>,
) -> Result<u64, LoadError> {
    let (from, to) = (open(from)?, open(to)?);
    let Tree {
        directories,
        mut files,
    } = Tree::read(&from)?;
    files.retain(|(path, _)| wanted(path));
    // The largest first, so that all workers end at about the same time.
    files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for path in &directories {
        make_like(&from, &to, path).map_err(|error| io_error(&to.path().join(path), &error))?;
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let workers = files
        .len()
        .clamp(1, usize::try_from(task.jobs.max(1)).unwrap_or(usize::MAX));
    let copied: Result<Vec<u64>, LoadError> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|_| {
                scope.spawn(|| {
                    let mut bytes = 0;
                    while let Some((path, _)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if failed.load(Ordering::Relaxed) {
                            break;
                        }
                        let copied = copy_file(&from, &to, path, task.control);
                        bytes += copied.inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                    }
                    Ok(bytes)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|t| {
                t.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let bytes = copied?.into_iter().sum();
    sync_directories(&to, &directories).map(|()| bytes)
}

/// Makes the directory of this relative path.
fn make_like(from: &DirectoryHandle, to: &DirectoryHandle, path: &Path) -> io::Result<()> {
    let parent = to.below(path.parent().unwrap_or(Path::new("")))?;
    let made = parent.make(path.file_name().unwrap_or_default(), 0o700)?;
    give_like(&made, &from.below(path)?)
}

/// Copies the file of this relative path.
fn copy_file(
    from: &DirectoryHandle,
    to: &DirectoryHandle,
    path: &Path,
    control: &LoadControl,
) -> Result<u64, LoadError> {
    let read_error = |error: io::Error| io_error(&from.path().join(path), &error);
    let write_error = |error: io::Error| io_error(&to.path().join(path), &error);
    let mut source = open_file(from, path).map_err(read_error)?;
    let mut target = to
        .below(path.parent().unwrap_or(Path::new("")))
        .and_then(|parent| parent.create(path.file_name().unwrap_or_default(), 0o600))
        .map_err(write_error)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut copied = 0;
    loop {
        control.check()?;
        let read = match source.read(&mut chunk) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(read_error)?,
        };
        target.write_all(&chunk[..read]).map_err(write_error)?;
        copied += read as u64;
    }
    give_like(&target, &source)
        .and_then(|()| target.sync_all())
        .map_err(write_error)?;
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        let to = dir.path().join("to");
        fs::create_dir_all(from.join("base/5")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("base/5/1259"), vec![7; 3 * CHUNK_BYTES + 17]).unwrap();
        fs::write(from.join("base/5/skipped"), "x").unwrap();
        fs::write(from.join("conf"), "a = 1").unwrap();
        fs::set_permissions(from.join("conf"), fs::Permissions::from_mode(0o640)).unwrap();
        (dir, from, to)
    }

    #[test]
    fn a_copy_is_whole() {
        for jobs in [0, 1, 5] {
            let (_dir, from, to) = place();
            let control = LoadControl::default();
            let length = 3 * CHUNK_BYTES as u64 + 17;
            assert_eq!(flush(&from, &control).unwrap(), length + 6);
            forget_cached(&from).unwrap();
            let wanted = |path: &Path| !path.ends_with("skipped");
            let copied = copy(
                &from,
                &to,
                &wanted,
                BackupControl {
                    jobs,
                    control: &control,
                },
            )
            .unwrap();
            assert_eq!(copied, length + 5);
            assert!(
                fs::read(to.join("base/5/1259")).unwrap()
                    == fs::read(from.join("base/5/1259")).unwrap()
            );
            assert_eq!(
                fs::metadata(to.join("conf")).unwrap().mode() & 0o7777,
                0o640
            );
            assert!(!to.join("base/5/skipped").exists());
            assert_eq!(crate::backup::written(&to), copied);
        }
    }

    #[test]
    fn a_copy_stops_on_request_and_where_it_cannot_go_on() {
        let (_dir, from, to) = place();
        let control = LoadControl::default();
        fs::write(to.join("conf"), "in the way").unwrap();
        let error = copy(
            &from,
            &to,
            &|_| true,
            BackupControl {
                jobs: 2,
                control: &control,
            },
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.contains("to/conf") && error.contains("exists"),
            "{error}"
        );
        let (_dir, from, to) = place();
        control.cancel();
        assert!(matches!(
            copy(
                &from,
                &to,
                &|_| true,
                BackupControl {
                    jobs: 2,
                    control: &control
                }
            ),
            Err(LoadError::Cancelled)
        ));
        assert!(matches!(flush(&from, &control), Err(LoadError::Cancelled)));
    }

    #[test]
    fn a_link_is_an_error() {
        let (_dir, from, to) = place();
        symlink("/usr", from.join("link")).unwrap();
        let control = LoadControl::default();
        let error = copy(
            &from,
            &to,
            &|_| true,
            BackupControl {
                jobs: 1,
                control: &control,
            },
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.contains("from/link is neither a file nor a directory")
                || error.contains("from/link: is neither"),
            "{error}"
        );
    }
}
