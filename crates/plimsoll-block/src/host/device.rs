//! The block device under a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::mount::mount_of;
use super::source::KernelFiles;

/// A block device: a whole disk, or a partition of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Of the kernel: `nvme0n1`, `sda1`, `dm-0`.
    pub name: String,
    pub major: u32,
    pub minor: u32,
    /// The whole disk, of a partition.
    pub partition_of: Option<Box<BlockDevice>>,
}

impl BlockDevice {
    /// The whole disk. It identifies a device: media on two partitions of one disk share that, and the kernel counts
    /// flushes for the whole disk only.
    pub fn disk(&self) -> &Self {
        self.partition_of.as_deref().unwrap_or(self)
    }
}

/// Why there is no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the device that holds {}: {why}", path.display())]
pub struct NoDevice {
    pub path: PathBuf,
    pub why: String,
}

/// The device that holds `path`, or that it is. The error is the reason why there is none: a filesystem in memory, over a network,
/// over other filesystems, or on several devices.
pub fn device_of(path: &Path) -> Result<BlockDevice, NoDevice> {
    let source = KernelFiles::new("/");
    let about = fs::metadata(path).map_err(|error| no_device(path, error))?;
    let number = if about.file_type().is_block_device() {
        about.rdev()
    } else {
        about.dev()
    };
    if rustix::fs::major(number) != 0 {
        return device_with(&source, path, number);
    }
    // An anonymous number: nothing under /sys/dev/block belongs to it.
    let real = fs::canonicalize(path).map_err(|error| no_device(path, error))?;
    let mount = mount_of(&source, &real)
        .ok_or_else(|| no_device(path, "its mount is not in /proc/self/mountinfo"))?;
    if mount.filesystem != "btrfs" {
        let why = format!("a {} filesystem is not on a block device", mount.filesystem);
        return Err(no_device(path, why));
    }
    let number = fs::metadata(&mount.source)
        .map_err(|error| no_device(path, format!("{}: {error}", mount.source)))?
        .rdev();
    let device = device_with(&source, path, number)?;
    match btrfs_devices(&source, &device.name) {
        1 => Ok(device),
        count => Err(no_device(
            path,
            format!("this btrfs is on {count} devices; give each of them as a device to watch"),
        )),
    }
}

fn no_device(path: &Path, why: impl ToString) -> NoDevice {
    NoDevice {
        path: path.into(),
        why: why.to_string(),
    }
}

/// The device with this number, to which `path` led.
fn device_with(source: &KernelFiles, path: &Path, number: u64) -> Result<BlockDevice, NoDevice> {
    let major = rustix::fs::major(number);
    let minor = rustix::fs::minor(number);
    device_at(source, major, minor).ok_or_else(|| no_device(path, unknown_number(major, minor)))
}

/// The device of a node.
pub fn device_at_node(source: &KernelFiles, node: &Path) -> Result<BlockDevice, NoDevice> {
    let about = fs::metadata(node).map_err(|error| no_device(node, error))?;
    device_with(source, node, about.rdev())
}

fn unknown_number(major: u32, minor: u32) -> String {
    format!("/sys/dev/block/{major}:{minor} is not there")
}

/// How many devices the btrfs has to which this one belongs.
fn btrfs_devices(source: &KernelFiles, name: &str) -> usize {
    let filesystems = fs::read_dir(source.path("sys/fs/btrfs"))
        .into_iter()
        .flatten()
        .flatten();
    let devices = filesystems
        .map(|entry| entry.path().join("devices"))
        .find(|devices| devices.join(name).exists());
    devices
        .and_then(|devices| fs::read_dir(devices).ok())
        .map_or(1, Iterator::count)
}

/// The device of this number; `None` where sysfs has none.
pub fn device_at(source: &KernelFiles, major: u32, minor: u32) -> Option<BlockDevice> {
    let directory =
        fs::canonicalize(source.path(&format!("sys/dev/block/{major}:{minor}"))).ok()?;
    let partition_of = if directory.join("partition").exists() {
        Some(Box::new(whole(directory.parent()?)?))
    } else {
        None
    };
    Some(BlockDevice {
        name: kernel_name(&directory)?,
        major,
        minor,
        partition_of,
    })
}

fn whole(directory: &Path) -> Option<BlockDevice> {
    let number = fs::read_to_string(directory.join("dev")).ok()?;
    let (major, minor) = number.trim().split_once(':')?;
    Some(BlockDevice {
        name: kernel_name(directory)?,
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        partition_of: None,
    })
}

/// A `!` in sysfs stands for a `/` (`cciss!c0d0`).
fn kernel_name(directory: &Path) -> Option<String> {
    Some(directory.file_name()?.to_str()?.replace('!', "/"))
}

/// What a directory holds, in order; nothing where it cannot be read.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
