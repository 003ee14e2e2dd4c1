//! What an emulator's directory holds, and where its data is when they are not in it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Component, Path, PathBuf};

const MOUNT: &str = "mnt";
const OTHER_MOUNT: &str = "mnt-";

/// Where the image is mounted through FUSE.
pub fn fuse(dir: &Path) -> PathBuf {
    dir.join("fuse")
}

/// Where programs' files go: in the directory, or beside it where [`link_mount`] put them.
pub fn mount(dir: &Path) -> PathBuf {
    linked_mount(dir).unwrap_or_else(|| dir.join(MOUNT))
}

/// Mounts the drive of `dir` at `at` from now on, a directory beside it. The link is relative: both may be moved together.
pub fn link_mount(dir: &Path, at: &Path) -> io::Result<()> {
    let target = Path::new("..").join(at.file_name().unwrap_or_default());
    match symlink(target, dir.join(MOUNT)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && mount(dir) == *at => Ok(()),
        made => made,
    }
}

/// `None` where the drive is mounted in its directory.
fn linked_mount(dir: &Path) -> Option<PathBuf> {
    let target = fs::read_link(dir.join(MOUNT)).ok()?;
    let mut parts = target.components();
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Component::ParentDir), Some(Component::Normal(name)), None) => {
            Some(dir.parent()?.join(name))
        }
        // Nothing that an emulator makes.
        _ => None,
    }
}

/// Makes the mount point of a virtual disk, which a drive that is mounted beside its directory has already.
pub fn make_mount(dir: &Path, disk: u32) -> io::Result<()> {
    match disk == 0 && is_mounted_beside(dir) {
        true => Ok(()),
        false => fs::DirBuilder::new()
            .mode(0o755)
            .create(disk_mount(dir, disk)),
    }
}

/// Whether the drive of `dir` is mounted beside it.
pub fn is_mounted_beside(dir: &Path) -> bool {
    linked_mount(dir).is_some()
}

/// What the directory holds before the emulator makes something in it.
pub fn is_prepared(name: &std::ffi::OsStr, dir: &Path) -> bool {
    let is_link = name == MOUNT && is_mounted_beside(dir);
    is_link || Some(name) == socket(dir).file_name()
}

/// Where the files of programs on a virtual disk go: of the first one, or the only one, as of any drive.
pub fn disk_mount(dir: &Path, disk: u32) -> PathBuf {
    match disk {
        0 => mount(dir),
        _ => dir.join(format!("{OTHER_MOUNT}{disk}")),
    }
}

/// Of all virtual disks that there are.
pub fn disk_mounts(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let number = |name: String| name.strip_prefix(OTHER_MOUNT)?.parse::<u32>().ok();
    let mut disks: Vec<u32> = names.filter_map(number).filter(|disk| *disk > 0).collect();
    disks.sort_unstable();
    let others = disks.into_iter().map(|disk| disk_mount(dir, disk));
    std::iter::once(mount(dir)).chain(others).collect()
}

/// The sparse file.
pub fn store(dir: &Path) -> PathBuf {
    dir.join("store")
}

/// What the disk is measured with.
pub fn probe(dir: &Path) -> PathBuf {
    dir.join("probe")
}

/// Where [`super::cut`] asks for a power cut.
pub fn socket(dir: &Path) -> PathBuf {
    dir.join("control")
}

/// The directory form's files, while they are on a disk.
pub fn files(dir: &Path) -> PathBuf {
    dir.join("files")
}

/// The directory form's files, while they are in memory. The name follows from the directory's, so that it is found
/// when the emulator was killed.
pub fn files_in_memory(dir: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    Path::new("/dev/shm").join(format!("plimsoll-drive-{user}-{:016x}", hash(dir)))
}

/// The image's name, of its own for each directory: a loop device over it is known by it even when the mount is gone.
pub fn image(dir: &Path) -> String {
    format!("plimsoll-{:016x}.img", hash(dir))
}

/// FNV-1a (Fowler, Noll, Vo), which never changes between versions.
fn hash(dir: &Path) -> u64 {
    let bytes = dir.as_os_str().as_bytes();
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn no_matter_if_gone(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            Ok(())
        } else {
            Err(error)
        }
    })
}

/// Removes all of it, and the directory where it was made for a drive that is mounted beside it.
pub fn remove_made(dir: &Path) -> io::Result<()> {
    let is_made = is_mounted_beside(dir);
    remove_all(dir)?;
    match is_made {
        true => no_matter_if_gone(fs::remove_dir(dir)),
        false => Ok(()),
    }
}

/// Removes all of it. Mount points go only when they are empty, so nothing mounted is ever removed; one beside the directory
/// stays.
pub fn remove_all(dir: &Path) -> io::Result<()> {
    let link = linked_mount(dir);
    let in_directory = disk_mounts(dir)
        .into_iter()
        .filter(|at| Some(at) != link.as_ref());
    for mount_point in std::iter::once(fuse(dir)).chain(in_directory) {
        no_matter_if_gone(fs::remove_dir(mount_point))?;
    }
    if link.is_some() {
        no_matter_if_gone(fs::remove_file(dir.join(MOUNT)))?;
    }
    for file in [store(dir), socket(dir), probe(dir)] {
        no_matter_if_gone(fs::remove_file(file))?;
    }
    let in_memory = files_in_memory(dir);
    // Others may write to /dev/shm: only a directory, and no link to one, is removed.
    for files in [files(dir), in_memory] {
        if files.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            no_matter_if_gone(fs::remove_dir_all(files))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_the_directory() {
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        assert_ne!(image(a), image(b));
        assert_ne!(files_in_memory(a), files_in_memory(b));
        assert_eq!(
            hash(Path::new("")),
            0xcbf2_9ce4_8422_2325,
            "the published offset basis"
        );
        assert_eq!(
            hash(Path::new("a")),
            0xaf63_dc4c_8601_ec8c,
            "a published test vector"
        );
    }

    #[test]
    fn only_what_is_an_emulators_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let disks = [1, 12].map(|disk| disk_mount(dir, disk));
        let inside = [fuse(dir), mount(dir), files(dir).join("deep")];
        for inside in inside.iter().chain(&disks) {
            fs::create_dir_all(inside).unwrap();
        }
        fs::create_dir(dir.join("other")).unwrap();
        let [second, last] = disks;
        assert_eq!(disk_mounts(dir), [mount(dir), second, last]);
        fs::write(store(dir), "x").unwrap();
        remove_all(dir).unwrap();
        let left: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["other"]);
        fs::create_dir_all(mount(dir).join("in use")).unwrap();
        assert!(
            remove_all(dir).is_err(),
            "a mount point with something in it is not touched"
        );
    }
}
