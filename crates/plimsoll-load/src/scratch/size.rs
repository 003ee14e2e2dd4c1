//! The size of a database's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;

/// Lengths of all files of a directory, or of a database file with `-wal`, `-shm` and `-journal`. Symbolic links are
/// not followed: what they lead to lies elsewhere. What vanishes meanwhile counts nothing.
pub(crate) fn data_size(path: &Path) -> Result<Bytes, (PathBuf, io::Error)> {
    let meta = fs::metadata(path).map_err(|error| (path.to_owned(), error))?;
    if meta.is_dir() {
        return directory_size(path);
    }
    let siblings: u64 = ["-wal", "-shm", "-journal"]
        .map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            fs::metadata(name).map_or(0, |meta| meta.len())
        })
        .into_iter()
        .fold(0, u64::saturating_add);
    Ok(Bytes(meta.len().saturating_add(siblings)))
}

fn directory_size(path: &Path) -> Result<Bytes, (PathBuf, io::Error)> {
    let mut size = 0_u64;
    let mut open = vec![path.to_owned()];
    while let Some(directory) = open.pop() {
        let fail = |error| (directory.clone(), error);
        let Some(entries) = unless_gone(fs::read_dir(&directory)).map_err(fail)? else {
            continue;
        };
        for entry in entries {
            let Some(entry) = unless_gone(entry).map_err(fail)? else {
                continue;
            };
            let Some(kind) = unless_gone(entry.file_type()).map_err(fail)? else {
                continue;
            };
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file()
                && let Some(meta) = unless_gone(entry.metadata()).map_err(fail)?
            {
                size = size.saturating_add(meta.len());
            }
        }
    }
    Ok(Bytes(size))
}

fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_file_counts_with_its_siblings_and_a_directory_with_all_below() {
        let dir = tempfile::tempdir().unwrap();
        let file =
            |name: &str, bytes: usize| fs::write(dir.path().join(name), vec![0; bytes]).unwrap();
        file("db", 1);
        file("db-wal", 20);
        file("db-shm", 300);
        file("db-journal", 4000);
        file("other", 50_000);
        assert_eq!(data_size(&dir.path().join("db")).unwrap(), Bytes(4321));
        fs::create_dir_all(dir.path().join("base/1")).unwrap();
        file("base/1/2", 600_000);
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).unwrap();
        assert_eq!(data_size(dir.path()).unwrap(), Bytes(654_321));
        let missing = dir.path().join("missing");
        assert_eq!(data_size(&missing).unwrap_err().0, missing);
    }
}
