//! The filesystem that holds a path: its mount and its space.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;

use super::parse::kib_field;
use super::source::KernelFiles;

/// Space of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub size: Bytes,
    pub used: Bytes,
    /// What this user may still write; less than `size - used` where blocks are reserved.
    pub free: Bytes,
}

/// statvfs(3) of the filesystem that holds `path`.
pub fn space(path: &Path) -> io::Result<Space> {
    let stat = rustix::fs::statvfs(path)?;
    let used = stat.f_blocks.saturating_sub(stat.f_bfree);
    let [size, used, free] = [stat.f_blocks, used, stat.f_bavail]
        .map(|blocks| Bytes(blocks.saturating_mul(stat.f_frsize)));
    Ok(Space { size, used, free })
}

/// What this user may still write on the filesystem that holds `path`.
pub fn free_bytes(path: &Path) -> io::Result<Bytes> {
    space(path).map(|space| space.free)
}

/// What programs may still take without pushing others out: MemAvailable (proc(5)).
pub fn available_memory() -> io::Result<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let available = kib_field(&text, "MemAvailable");
    available.ok_or_else(|| io::Error::other("/proc/meminfo has no MemAvailable"))
}

/// One line of /proc/PID/mountinfo (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub point: PathBuf,
    pub filesystem: String,
    pub source: String,
    /// Of this mount; those of the whole filesystem are apart.
    pub options: String,
    pub super_options: String,
}

/// The mount that holds an absolute path without symbolic links: the deepest, and of several on one point the last.
pub fn mount_of(source: &KernelFiles, path: &Path) -> Option<Mount> {
    let text = source.read("proc/self/mountinfo").ok()?;
    let mounts = text
        .lines()
        .filter_map(parse_mount)
        .filter(|mount| path.starts_with(&mount.point));
    mounts.max_by_key(|mount| mount.point.components().count())
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(4);
    let point = unescape(front.next()?);
    let options = front.next()?.to_owned();
    let mut back = back.split(' ');
    Some(Mount {
        point: PathBuf::from(std::ffi::OsStr::from_bytes(&point)),
        filesystem: back.next()?.to_owned(),
        source: String::from_utf8_lossy(&unescape(back.next()?)).into_owned(),
        options,
        super_options: back.next()?.to_owned(),
    })
}

/// Space, tab, newline and backslash are written as `\040`, `\011`, `\012`, `\134`.
pub fn unescape(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut rest = text.as_ref();
    let mut bytes = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let octal = match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                Some(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'))
            }
            _ => None,
        };
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &rest[4..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOUNTS: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 8:1 / /mnt/my\\040disk rw,noatime shared:1 master:2 - xfs /dev/sda1 rw,inode64
41 27 8:2 / /mnt rw,nodev - ext4 /dev/sda2 rw
42 27 8:3 / /mnt ro,nodev - btrfs /dev/sda3 ro
";

    #[test]
    fn the_deepest_mount_holds_a_path_and_the_last_one_hides_others() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        std::fs::write(root.path().join("proc/self/mountinfo"), MOUNTS).unwrap();
        let source = KernelFiles::new(root.path());
        let of = |path: &str| mount_of(&source, Path::new(path)).unwrap();
        let disk = of("/mnt/my disk/data");
        let shown = (
            disk.filesystem.as_str(),
            disk.source.as_str(),
            disk.options.as_str(),
            disk.super_options.as_str(),
        );
        assert_eq!(shown, ("xfs", "/dev/sda1", "rw,noatime", "rw,inode64"));
        assert_eq!(of("/mnt/my").source, "/dev/sda3");
        assert_eq!(of("/mntx").source, "/dev/vda");
    }

    #[test]
    fn space_adds_up_and_a_path_that_is_not_there_has_none() {
        assert!(free_bytes(Path::new("/no such directory")).is_err());
        let space = space(Path::new(".")).unwrap();
        assert!(space.free.0 + space.used.0 <= space.size.0);
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(line in "\\PC*", tail in "[ /a\\\\0-9-]*") {
            parse_mount(&line);
            parse_mount(&tail);
            unescape(&tail);
        }
    }
}
