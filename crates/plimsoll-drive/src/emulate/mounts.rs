//! Mounts and loop devices that belong to one directory: taking them down, also after an emulator that is gone.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use plimsoll_block::host::mount::unescape;
use plimsoll_block::host::source::text;
use plimsoll_plan::units::Nanos;
use rustix::mount::{UnmountFlags, unmount};

use super::{clock, names, tool};

/// What the emulator's FUSE mounts show as their source.
pub const SOURCE: &str = "plimsoll";

/// A line of `/proc/self/mountinfo` (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
struct MountinfoLine {
    /// Of the device, which for FUSE is the number of its connection.
    minor: u32,
    at: PathBuf,
    kind: String,
    /// The device, or for FUSE the name that the server gave.
    source: String,
}

impl MountinfoLine {
    fn is_fuse(&self) -> bool {
        self.kind.starts_with("fuse")
    }

    fn is_emulators_fuse(&self) -> bool {
        self.is_fuse() && self.source == SOURCE
    }
}

fn parse_mountinfo(line: &str) -> Option<MountinfoLine> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(2);
    let minor = fields.next()?.split_once(':')?.1.parse().ok()?;
    let at = PathBuf::from(OsString::from_vec(unescape(fields.nth(1)?)));
    let mut of_filesystem = filesystem.split(' ');
    let kind = of_filesystem.next()?.to_owned();
    Some(MountinfoLine {
        minor,
        at,
        kind,
        source: of_filesystem.next()?.to_owned(),
    })
}

fn all() -> Vec<MountinfoLine> {
    // Others may have mounted something whose name is no text.
    let text = text(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    text.lines().filter_map(parse_mountinfo).collect()
}

/// Mounts at or below a directory, innermost first.
fn below(dir: &Path) -> Vec<MountinfoLine> {
    let mut found = all();
    found.retain(|mounted| mounted.at.starts_with(dir));
    found.reverse();
    found.sort_by_key(|mounted| std::cmp::Reverse(mounted.at.components().count()));
    found
}

/// Mounts in a drive's directory, and at or below where it is mounted, innermost first.
fn of_directory(dir: &Path) -> Vec<MountinfoLine> {
    let mut found = below(dir);
    let at = names::mount(dir);
    if !at.starts_with(dir) {
        found.extend(below(&at));
    }
    found
}

pub fn is_mounted(at: &Path) -> bool {
    below(at).iter().any(|mounted| mounted.at == at)
}

/// The number of the FUSE connection behind a mount of the emulator's.
pub fn connection(at: &Path) -> Option<u32> {
    below(at)
        .into_iter()
        .find(|mounted| mounted.at == at && mounted.is_emulators_fuse())
        .map(|mounted| mounted.minor)
}

/// Where a FUSE connection is mounted now: directories can be moved with what is mounted in them.
pub fn place_of_connection(connection: u32) -> Option<PathBuf> {
    all()
        .into_iter()
        .find(|mounted| mounted.is_fuse() && mounted.minor == connection)
        .map(|mounted| mounted.at)
}

/// Breaks a FUSE connection: whoever waits for it gets an error, and its server ends.
pub fn abort(connection: u32) {
    // Not there where fusectl is not mounted, as in many containers, or when it is broken already; not allowed for others
    // than its owner.
    let _ = fs::write(format!("/sys/fs/fuse/connections/{connection}/abort"), "1");
    // The same for root without fusectl (umount(2), MNT_FORCE): it breaks the connection even where it then cannot
    // unmount because it is still in use.
    if let Some(at) = place_of_connection(connection) {
        let _ = unmount(&at, UnmountFlags::FORCE);
    }
}

/// How a filesystem was unmounted.
#[derive(Debug, PartialEq, Eq)]
pub enum Unmounted {
    /// It is gone.
    Wholly,
    /// It has no path any more, but is still in use.
    Lazily,
}

/// Unmounts, by another program (see [`tool`]); waits up to `patience` for those who use it.
pub fn take_down(at: &Path, patience: Nanos) -> io::Result<Unmounted> {
    if !rustix::process::geteuid().is_root() {
        return fusermount(at);
    }
    // Neither helpers nor links are resolved: both ask the filesystem, which may be one that does not answer. The
    // program's message differs between versions; whether it is mounted does not.
    let wholly = clock::wait_until(patience, || {
        let gone = umount("-ic", at);
        if !gone {
            clock::pause(Nanos::from_millis(50));
        }
        gone
    });
    match wholly {
        true => Ok(Unmounted::Wholly),
        false if umount("-icl", at) => Ok(Unmounted::Lazily),
        // In a container root may lack the right.
        false => fusermount(at),
    }
}

fn umount(how: &str, at: &Path) -> bool {
    tool::run("umount", &[how.as_ref(), at.as_os_str()]).is_ok() || !is_mounted(at)
}

/// Users other than root unmount what they mounted with a program that has the right to.
fn fusermount(at: &Path) -> io::Result<Unmounted> {
    let at = at.to_string_lossy();
    if tool::run("fusermount3", &["-u", &*at]).is_ok() {
        return Ok(Unmounted::Wholly);
    }
    tool::run("fusermount3", &["-uz", &*at])
        .map(|_| Unmounted::Lazily)
        .map_err(io::Error::other)
}

/// Loop devices over this directory's image, also when the filesystem that holds it can no longer be reached.
fn loops_of(dir: &Path) -> Vec<PathBuf> {
    let image = names::image(dir);
    let blocks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let over = blocks.filter_map(|entry| {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        let backing = PathBuf::from(backing.trim_end().trim_end_matches(" (deleted)"));
        let is_ours =
            backing.starts_with(dir) || backing.file_name().is_some_and(|name| *name == *image);
        is_ours.then(|| Path::new("/dev").join(entry.file_name()))
    });
    over.collect()
}

/// An emulator's mounts among those below its directory, and whatever is mounted inside them.
fn of_emulator(
    dir: &Path,
    devices: &[PathBuf],
    mut mounts: Vec<MountinfoLine>,
) -> Vec<MountinfoLine> {
    let mut points = names::disk_mounts(dir);
    points.push(names::fuse(dir));
    let ours: Vec<PathBuf> = mounts
        .iter()
        .filter(|mounted| {
            let from_device = devices
                .iter()
                .any(|device| *device == Path::new(&mounted.source));
            points.contains(&mounted.at) && (from_device || mounted.is_emulators_fuse())
        })
        .map(|mounted| mounted.at.clone())
        .collect();
    mounts.retain(|mounted| ours.iter().any(|at| mounted.at.starts_with(at)));
    mounts
}

/// Breaks the FUSE connections of the drive in `dir`, so that nothing waits for answers that do not come.
pub fn abort_all(dir: &Path) {
    let ours = of_emulator(dir, &[], of_directory(dir));
    ours.iter()
        .filter(|mounted| mounted.is_emulators_fuse())
        .for_each(|fuse| abort(fuse.minor));
}

/// As [`super::clear`], for whoever has the directory's lock. The path is canonical.
pub fn clear_claimed(dir: &Path) -> io::Result<Vec<String>> {
    let mut done = Vec::new();
    let devices = loops_of(dir);
    let mounts = of_emulator(dir, &devices, of_directory(dir));
    // This may unmount already.
    abort_all(dir);
    for mounted in mounts.iter().filter(|mounted| !mounted.is_emulators_fuse()) {
        done.push(take_down_left(&mounted.at)?);
    }
    for device in devices {
        tool::run("losetup", &["-d".as_ref(), device.as_os_str()]).map_err(io::Error::other)?;
        done.push(format!(
            "Detached {}, left by an emulated drive.",
            device.display()
        ));
    }
    for mounted in mounts.iter().filter(|mounted| mounted.is_emulators_fuse()) {
        done.push(take_down_left(&mounted.at)?);
    }
    names::remove_all(dir)?;
    Ok(done)
}

fn take_down_left(at: &Path) -> io::Result<String> {
    take_down(at, Nanos::SECOND)?;
    Ok(format!(
        "Unmounted {}, left by an emulated drive.",
        at.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_mountinfo() {
        let line = r"98 29 0:47 / /mnt/a\040b\134/fuse rw,nosuid shared:5 - fuse.plimsoll plimsoll rw,user_id=0";
        let mounted = parse_mountinfo(line).unwrap();
        let (kind, source) = ("fuse.plimsoll".into(), "plimsoll".into());
        assert_eq!(
            mounted,
            MountinfoLine {
                minor: 47,
                at: r"/mnt/a b\/fuse".into(),
                kind,
                source
            }
        );
        assert!(
            is_mounted(Path::new("/proc")),
            "the root's mounts are found"
        );
        assert!(!is_mounted(Path::new("/proc/self")));
    }

    #[test]
    fn only_an_emulators_mounts_are_its() {
        let mount = |at: &str, kind: &str, source: &str| {
            parse_mountinfo(&format!("98 29 0:47 / {at} rw - {kind} {source} rw")).unwrap()
        };
        let ours = [
            mount("/d/mnt/a/b", "fuse.sshfs", "host:"),
            mount("/d/mnt/a", "tmpfs", "none"),
            mount("/d/mnt", "ext4", "/dev/loop7"),
            mount("/d/fuse", "fuse.plimsoll", "plimsoll"),
        ];
        let theirs = [
            mount("/d/other", "fuse.plimsoll", "plimsoll"),
            mount("/d", "fuse.plimsoll", "plimsoll"),
            mount("/d/mntb", "fuse.plimsoll", "plimsoll"),
        ];
        let found = of_emulator(
            Path::new("/d"),
            &["/dev/loop7".into()],
            [&ours[..], &theirs].concat(),
        );
        assert_eq!(found, ours);
        let theirs = [
            mount("/d/mnt", "fuse.sshfs", "plimsoll2"),
            mount("/d/fuse", "ext4", "/dev/loop8"),
        ];
        assert_eq!(
            of_emulator(Path::new("/d"), &["/dev/loop7".into()], theirs.into()),
            []
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(line in ".*", fields in "[0-9: /\\\\-]*") {
            let _ = (parse_mountinfo(&line), parse_mountinfo(&fields));
        }
    }
}
