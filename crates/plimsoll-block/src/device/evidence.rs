//! Who uses a device and what it holds: what [`super::safety`] decides on.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::OFlags;

use super::openers::open_by;
use super::relatives::Relatives;
use super::safety::{DeviceEvidence, Exclusive};
use super::sysfs::{NameList, Number, first_line, names_in, number_at, parse_number, partitions};
use crate::BlockError;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorageTarget {
    Directory(PathBuf),
    /// The device node, without symbolic links.
    Device(PathBuf),
    File(PathBuf),
}

fn not_there(path: &Path, error: io::Error) -> BlockError {
    BlockError::NotThere {
        path: path.into(),
        why: error.to_string(),
    }
}

/// Resolves a path.
pub fn target(path: &Path) -> Result<StorageTarget, BlockError> {
    let real = fs::canonicalize(path).map_err(|error| not_there(path, error))?;
    let about = fs::metadata(&real).map_err(|error| not_there(path, error))?;
    let kind = about.file_type();
    match () {
        () if kind.is_dir() => Ok(StorageTarget::Directory(real)),
        () if kind.is_block_device() => Ok(StorageTarget::Device(real)),
        () if kind.is_file() => Ok(StorageTarget::File(real)),
        () if kind.is_char_device() => Err(BlockError::Unsuitable {
            path: path.into(),
            what: "a character device, which has no blocks",
        }),
        () => Err(BlockError::Unsuitable {
            path: path.into(),
            what: "neither a directory nor a block device",
        }),
    }
}

/// A device that the kernel gives to no other process as long as this lives: it cannot be mounted meanwhile.
#[derive(Debug, Default)]
pub struct DeviceClaim(Option<File>);

impl DeviceClaim {
    pub fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Lets the programs that this one starts hold it as well: should one outlive us, it keeps the device to itself.
    pub fn hand_down(&self) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), hand_down)
    }
}

/// Lets the programs that this one starts have the file open under the same number.
pub(crate) fn hand_down(file: &File) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?)
}

/// Tries to get the device alone, then gathers everything else. `given` is what the user wrote.
pub fn gather(given: &Path, node: &Path) -> Result<(DeviceEvidence, DeviceClaim), BlockError> {
    let about = fs::metadata(node).map_err(|error| not_there(node, error))?;
    let number = (
        rustix::fs::major(about.rdev()),
        rustix::fs::minor(about.rdev()),
    );
    let (exclusive, claim) = claim(node);
    let sysfs = fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1))
        .map_err(|e| e.to_string());
    let partitions = sysfs.clone().and_then(|directory| partitions(&directory));
    let relatives = sysfs
        .clone()
        .and_then(|directory| Relatives::of(&directory));
    let numbers = relatives.as_ref().map(|relatives| &relatives.numbers);
    let evidence = DeviceEvidence {
        given: given.into(),
        node: node.into(),
        own_name: sysfs.clone().and_then(|directory| own_name(&directory)),
        mounts: numbers.map_err(String::clone).and_then(mounts),
        swaps: numbers.map_err(String::clone).and_then(swaps),
        exclusive,
        holders: relatives.as_ref().map_err(String::clone).and_then(holders),
        open_by: numbers.map_err(String::clone).and_then(open_by),
        signatures: signatures(node),
        partitions,
        read_only: sysfs
            .is_ok_and(|directory| first_line(&directory.join("ro")).is_ok_and(|ro| ro != "0")),
    };
    Ok((evidence, claim))
}

/// The node that the kernel made, by its uevent.
fn own_name(directory: &Path) -> Result<PathBuf, String> {
    let path = directory.join("uevent");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = text.lines().find_map(|line| line.strip_prefix("DEVNAME="));
    name.map(|name| Path::new("/dev").join(name))
        .ok_or_else(|| format!("{} has no DEVNAME", path.display()))
}

fn claim(node: &Path) -> (Exclusive, DeviceClaim) {
    let flags = OFlags::EXCL | OFlags::NONBLOCK;
    match OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(node)
    {
        Ok(file) => (Exclusive::Granted, DeviceClaim(Some(file))),
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
            (Exclusive::Busy, DeviceClaim(None))
        }
        Err(error) => (Exclusive::Unknown(error.to_string()), DeviceClaim(None)),
    }
}

fn mounts(numbers: &BTreeSet<Number>) -> NameList {
    let path = "/proc/self/mountinfo";
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let found = text.lines().filter_map(parse_mount).filter(|mount| {
        // btrfs has a number of its own; its source is one of its devices.
        numbers.contains(&mount.number)
            || number_at(mount.source).is_some_and(|number| numbers.contains(&number))
    });
    Ok(found.map(|mount| mount.point.to_owned()).collect())
}

/// A line of mountinfo (proc(5)).
#[derive(Debug, PartialEq)]
struct MountLine<'l> {
    number: Number,
    point: &'l str,
    source: &'l str,
}

fn parse_mount(line: &str) -> Option<MountLine<'_>> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(2);
    Some(MountLine {
        number: parse_number(front.next()?)?,
        point: front.nth(1)?,
        source: back.split(' ').nth(1)?,
    })
}

fn swaps(numbers: &BTreeSet<Number>) -> NameList {
    let path = "/proc/swaps";
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let names = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    let ours = names.filter(|name| number_at(name).is_some_and(|number| numbers.contains(&number)));
    Ok(ours.map(str::to_owned).collect())
}

/// Devices that the kernel knows to be built on it, and loop devices, which it does not list as holders.
fn holders(relatives: &Relatives) -> NameList {
    let mut found = Vec::new();
    for directory in &relatives.claimable {
        found.extend(names_in(&directory.join("holders"))?);
    }
    for name in names_in(Path::new("/sys/block"))?
        .into_iter()
        .filter(|name| name.starts_with("loop"))
    {
        let backing = first_line(
            &Path::new("/sys/block")
                .join(&name)
                .join("loop/backing_file"),
        );
        if backing.is_ok_and(|path| {
            number_at(path).is_some_and(|number| relatives.numbers.contains(&number))
        }) {
            found.push(name);
        }
    }
    Ok(found)
}

/// Every signature that libblkid knows, as wipefs(8) lists them; it runs with `--no-act`.
pub(super) fn signatures(node: &Path) -> NameList {
    let places = ["wipefs", "/usr/sbin/wipefs", "/sbin/wipefs"];
    let output = places
        .iter()
        .find_map(|place| {
            Command::new(place)
                .args(["--no-act", "--noheadings", "--output", "TYPE"])
                .arg(node)
                .stdin(Stdio::null())
                .output()
                .ok()
        })
        .ok_or("wipefs is not installed")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !errors.trim().is_empty() {
        return Err(format!("wipefs: {}", errors.trim()));
    }
    let types: BTreeSet<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Ok(types.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_a_directory_a_device_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(
            target(dir.path()).unwrap(),
            StorageTarget::Directory(real.clone())
        );
        fs::write(dir.path().join("f"), "x").unwrap();
        assert_eq!(
            target(&dir.path().join("f")).unwrap(),
            StorageTarget::File(real.join("f"))
        );
        let error = |path: &str| target(Path::new(path)).unwrap_err().to_string();
        assert!(
            error("/dev/null").starts_with("/dev/null is a character device"),
            "{}",
            error("/dev/null")
        );
        assert!(
            error("/no/such").starts_with("cannot access /no/such\n"),
            "{}",
            error("/no/such")
        );
    }

    #[test]
    fn a_claim_that_is_handed_down_is_held_by_children() {
        let claim = DeviceClaim(Some(File::open("/dev/null").unwrap()));
        let held = || {
            let number = std::os::fd::AsRawFd::as_raw_fd(claim.0.as_ref().unwrap());
            Command::new("test")
                .arg("-c")
                .arg(format!("/proc/self/fd/{number}"))
                .status()
                .unwrap()
                .success()
        };
        assert!(!held());
        claim.hand_down().unwrap();
        assert!(held());
    }

    #[test]
    fn lines_of_mountinfo() {
        let line = "42 27 7:0 / /tmp/m rw,relatime shared:2 - ext4 /dev/loop0 rw";
        let mount = MountLine {
            number: (7, 0),
            point: "/tmp/m",
            source: "/dev/loop0",
        };
        assert_eq!(parse_mount(line), Some(mount));
        assert_eq!(parse_mount("42 27 7 / /tmp/m rw - ext4"), None);
    }

    #[test]
    fn what_is_mounted_here_is_found_by_its_number() {
        let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let MountLine { number, point, .. } = text.lines().find_map(parse_mount).unwrap();
        assert!(
            mounts(&BTreeSet::from([number]))
                .unwrap()
                .contains(&point.to_owned())
        );
        assert_eq!(mounts(&BTreeSet::from([(4095, 1)])), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(line in "\\PC*", tail in "[ /:0-9-]*") {
            parse_mount(&line);
            parse_mount(&tail);
            parse_number(&tail);
        }
    }
}
