//! A drive that a person mounts: its filesystem is where it was asked for, the emulator's own files are in a hidden
//! directory beside it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::claim::Claim;
use super::error::EmulatorError;
use super::names;

/// Links that lead from one to the next; the kernel follows no more either (path_resolution(7)).
const MOST_LINKS: usize = 40;
/// Bits of a mode that let others change what is in a directory.
const OTHERS_WRITE: u32 = 0o022;

/// Where a drive is mounted by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountPoint {
    at: PathBuf,
    dir: PathBuf,
}

impl MountPoint {
    /// The directory by its own name, links followed. It is not looked into: what is mounted there may not answer.
    pub fn new(at: &Path) -> io::Result<Self> {
        let mut at = std::path::absolute(at)?;
        let mut links = 0;
        while let Ok(target) = fs::read_link(&at) {
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::from(rustix::io::Errno::LOOP));
            }
            at = parent(&at).join(target);
        }
        let Some(name) = at.file_name() else {
            // `/`, or `a/..`, whose name is that of another directory.
            let at = at.canonicalize()?;
            return match at.file_name() {
                Some(name) => Ok(Self::named(parent(&at), name)),
                None => Err(io::Error::other(
                    "nothing is mounted over the root directory",
                )),
            };
        };
        Ok(Self::named(&parent(&at).canonicalize()?, name))
    }

    fn named(parent: &Path, name: &std::ffi::OsStr) -> Self {
        let mut hidden = OsString::from(".plimsoll-");
        hidden.push(name);
        Self {
            at: parent.join(name),
            dir: parent.join(hidden),
        }
    }

    /// Where the drive's filesystem goes.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// The emulator's directory, [`super::protocol::MountSpec::dir`].
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the emulator's directory and clears what a killed emulator left of its drive.
    pub fn claim(&self) -> Result<ClaimedMount, EmulatorError> {
        make_private(&self.dir)?;
        let (claim, cleared) = Claim::of(&self.dir)?;
        let claimed = ClaimedMount {
            dir: self.dir.clone(),
            cleared,
            _claim: claim,
        };
        // From here on the directory goes with the claim.
        self.link()?;
        self.check_free()?;
        Ok(claimed)
    }

    /// Whether an emulator has, or had, its files there.
    pub fn is_used(&self) -> bool {
        self.dir.symlink_metadata().is_ok()
    }

    /// Unmounts and removes what a killed emulator left; one that is alive is an error. Returns what was done.
    pub fn clear(&self) -> Result<Vec<String>, EmulatorError> {
        check_private(&self.dir)?;
        let (_claim, done) = Claim::of(&self.dir)?;
        names::remove_all(&self.dir).map_err(EmulatorError::at(&self.dir))?;
        fs::remove_dir(&self.dir).map_err(EmulatorError::at(&self.dir))?;
        Ok(done)
    }

    /// What is in the directory would be out of reach below the drive.
    fn check_free(&self) -> Result<(), EmulatorError> {
        let refused = |why: String, next: &str| Err(EmulatorError::new(why, next));
        let at = self.at.display();
        match fs::read_dir(&self.at).map(|mut entries| entries.next()) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => refused(
                format!(
                    "cannot mount a drive at {at}\nThe directory is not empty; the drive would cover what is in it."
                ),
                "Give an empty directory.",
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => refused(
                format!("cannot mount a drive at {at}\n{error}"),
                &format!("Make it first: mkdir -p {at}"),
            ),
            Err(error) => refused(
                format!("cannot mount a drive at {at}\n{error}"),
                "Give an empty directory that this user may write to.",
            ),
        }
    }

    fn link(&self) -> Result<(), EmulatorError> {
        names::link_mount(&self.dir, &self.at).map_err(EmulatorError::at(&self.dir))
    }
}

/// The emulator's directory is this process's until this is dropped; then it goes.
#[derive(Debug)]
pub struct ClaimedMount {
    dir: PathBuf,
    /// What a killed emulator had left, a sentence each.
    pub cleared: Vec<String>,
    _claim: Claim,
}

impl Drop for ClaimedMount {
    fn drop(&mut self) {
        // What is still mounted stays, and is cleared by the next one.
        let _ = names::remove_made(&self.dir);
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn make_private(dir: &Path) -> Result<(), EmulatorError> {
    match fs::DirBuilder::new().mode(0o755).create(dir) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_private(dir),
        Err(error) => Err(EmulatorError::new(
            format!(
                "cannot make {}, where the emulator keeps its files\n{error}",
                dir.display()
            ),
            "Give a directory in one that this user may write to.",
        )),
    }
}

/// Others may have made it first, where they may write: what they put into it is not trusted.
fn check_private(dir: &Path) -> Result<(), EmulatorError> {
    let about = dir.symlink_metadata().map_err(EmulatorError::at(dir))?;
    let is_own = about.is_dir()
        && about.uid() == rustix::process::geteuid().as_raw()
        && about.mode() & OTHERS_WRITE == 0;
    match is_own {
        true => Ok(()),
        false => Err(EmulatorError::new(
            format!(
                "cannot use {} for the emulator's files\nIt is no directory of this user's alone.",
                dir.display()
            ),
            "Remove it, or give another directory.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        (dir, path)
    }

    #[test]
    fn links_dots_and_slashes_name_one_mount_point() {
        let (_dir, path) = place();
        fs::create_dir_all(path.join("a/slow")).unwrap();
        symlink("a/slow", path.join("first")).unwrap();
        symlink(path.join("first"), path.join("second")).unwrap();
        let expected = MountPoint::new(&path.join("a/slow")).unwrap();
        assert_eq!(expected.path(), path.join("a/slow"));
        assert_eq!(expected.dir(), path.join("a/.plimsoll-slow"));
        for same in ["a/slow/", "a/./slow", "first", "second", "a/slow/../slow"] {
            assert_eq!(
                MountPoint::new(&path.join(same)).unwrap(),
                expected,
                "{same}"
            );
        }
        symlink("round", path.join("round")).unwrap();
        assert!(MountPoint::new(&path.join("round")).is_err());
        assert!(MountPoint::new(Path::new("/")).is_err());
    }

    #[test]
    fn a_directory_that_holds_something_is_not_covered() {
        let (_dir, path) = place();
        let at = path.join("slow");
        let missing = MountPoint::new(&at).unwrap().claim().unwrap_err();
        assert!(missing.next.contains("mkdir -p"), "{missing}");
        fs::create_dir(&at).unwrap();
        fs::write(at.join("mine"), "x").unwrap();
        let refused = MountPoint::new(&at).unwrap().claim().unwrap_err();
        assert!(refused.why.contains("not empty"), "{refused}");
        assert_eq!(
            fs::read_dir(&path).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        fs::remove_file(at.join("mine")).unwrap();
        let claim = MountPoint::new(&at).unwrap().claim().unwrap();
        let alive = MountPoint::new(&at).unwrap().claim().unwrap_err();
        assert!(alive.why.contains("alive"), "{alive}");
        drop(claim);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
    }

    /// As anybody may do in `/tmp`.
    #[test]
    fn a_directory_that_others_prepared_is_not_used() {
        let (_dir, path) = place();
        let at = path.join("slow");
        fs::create_dir(&at).unwrap();
        let hidden = path.join(".plimsoll-slow");
        fs::create_dir(path.join("victim")).unwrap();
        fs::create_dir(path.join("victim/files")).unwrap();
        symlink(path.join("victim"), &hidden).unwrap();
        let point = MountPoint::new(&at).unwrap();
        assert!(point.claim().unwrap_err().why.contains("alone"));
        assert!(point.clear().is_err());
        assert!(path.join("victim/files").exists());
        fs::remove_file(&hidden).unwrap();
        fs::create_dir(&hidden).unwrap();
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(point.claim().unwrap_err().why.contains("alone"));
    }
}
