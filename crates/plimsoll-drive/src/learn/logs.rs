//! A directory of our own for what fio logs: it opens logs by name, and in a directory of others a name may be a link.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;

const PREFIX: &str = ".plimsoll-logs-";
/// What fio makes of the name that it is given.
pub(super) const LOG: &str = "burst_bw.log";

/// Removed with the log when this is dropped.
#[derive(Debug)]
pub struct Logs(PathBuf);

impl Logs {
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes it in a directory; what a killed process with our number left is taken away before.
    pub fn create(directory: &Path) -> Result<Self, BlockError> {
        let path = directory.join(format!("{PREFIX}{}", std::process::id()));
        let made = match make_private(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                remove(&path).and_then(|()| make_private(&path))
            }
            other => other,
        };
        match made {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(BlockError::TestFile {
                path,
                why: error.to_string(),
                next: "Set TMPDIR to a directory that this user may write to, or remove what is in the way."
                    .into(),
            }),
        }
    }
}

fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

impl Drop for Logs {
    fn drop(&mut self) {
        // What cannot be removed stays for the next sweep.
        let _ = remove(&self.0);
    }
}

/// The log and the directory, which stays when anything else is in it.
fn remove(path: &Path) -> io::Result<()> {
    let about = path.symlink_metadata()?;
    if !about.is_dir() || about.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "it is not a directory of this user",
        ));
    }
    match fs::remove_file(path.join(LOG)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::remove_dir(path),
    }
}

/// Removes those of processes that are no more.
pub fn sweep(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_orphaned(path) && remove(path).is_ok())
        .collect()
}

fn is_orphaned(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(PREFIX)
        .and_then(|pid| pid.parse::<u32>().ok())
        .is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ours_alone_and_goes_with_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let logs = Logs::create(dir.path()).unwrap();
        let path = logs.path().to_owned();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        assert!(LOG.starts_with(crate::learn::jobs::LOG));
        fs::write(logs.0.join(LOG), "1, 2").unwrap();
        drop(logs);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        // A link in its place is not followed.
        std::os::unix::fs::symlink("/tmp", path).unwrap();
        assert!(
            Logs::create(dir.path())
                .unwrap_err()
                .to_string()
                .contains("not a directory of this user")
        );
    }

    #[test]
    fn only_what_dead_processes_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        // Beyond the largest number that Linux gives a process.
        let dead = [4_194_305, 4_194_306].map(|pid| path(&format!("{PREFIX}{pid}")));
        dead.iter().for_each(|path| fs::create_dir(path).unwrap());
        fs::write(dead[0].join(LOG), "1, 2").unwrap();
        fs::write(dead[1].join("mine"), "precious").unwrap();
        let held = Logs::create(dir.path()).unwrap();
        assert_eq!(sweep(dir.path()), [dead[0].clone()]);
        assert!(held.0.exists() && dead[1].join("mine").exists());
    }
}
