//! The block device under a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use plimsoll_record::message::doctor::NoDeviceCause;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDevice {
    pub cause: NoDeviceCause,
    /// Beside the cause: an error, a name or a number.
    pub what: String,
}

/// The device that holds `path`, or that it is. The error is the reason why there is none: a filesystem in memory, over a network,
/// over other filesystems, or on several devices.
pub fn device_of(path: &Path) -> Result<BlockDevice, NoDevice> {
    let source = KernelFiles::new("/");
    let about = fs::metadata(path).map_err(NoDevice::error)?;
    let number = if about.file_type().is_block_device() {
        about.rdev()
    } else {
        about.dev()
    };
    if rustix::fs::major(number) != 0 {
        return device_with(&source, number);
    }
    // An anonymous number: nothing under /sys/dev/block belongs to it.
    let real = fs::canonicalize(path).map_err(NoDevice::error)?;
    let mount =
        mount_of(&source, &real).ok_or_else(|| NoDevice::new(NoDeviceCause::NoMount, ""))?;
    if mount.filesystem != "btrfs" {
        return Err(NoDevice::new(NoDeviceCause::NotOnDevice, mount.filesystem));
    }
    let number = fs::metadata(&mount.source)
        .map_err(|error| NoDevice::error(format!("{}: {error}", mount.source)))?
        .rdev();
    let device = device_with(&source, number)?;
    match btrfs_devices(&source, &device.name) {
        1 => Ok(device),
        count => Err(NoDevice::new(NoDeviceCause::SeveralDevices, count)),
    }
}

impl NoDevice {
    fn new(cause: NoDeviceCause, what: impl ToString) -> Self {
        Self {
            cause,
            what: what.to_string(),
        }
    }

    fn error(error: impl ToString) -> Self {
        Self::new(NoDeviceCause::Error, error)
    }
}

fn device_with(source: &KernelFiles, number: u64) -> Result<BlockDevice, NoDevice> {
    let major = rustix::fs::major(number);
    let minor = rustix::fs::minor(number);
    device_at(source, major, minor)
        .ok_or_else(|| NoDevice::new(NoDeviceCause::NotInSysfs, format!("{major}:{minor}")))
}

/// The device of a node.
pub fn device_at_node(source: &KernelFiles, node: &Path) -> Result<BlockDevice, NoDevice> {
    let about = fs::metadata(node).map_err(NoDevice::error)?;
    device_with(source, about.rdev())
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

/// The disks of this machine, without what the kernel makes of files, memory and other devices.
pub fn disks(source: &KernelFiles) -> Vec<BlockDevice> {
    let all = source.path("sys/block");
    let names = names_in(&all).into_iter();
    let disks = names
        .map(|name| all.join(name))
        .filter(|disk| disk.join("device").exists());
    disks.filter_map(|disk| whole(&disk)).collect()
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
