//! The block device under a path.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_model::units::Bytes;

use super::medium::mount_of;
use super::{Facts, chosen};
use crate::error::LoadError;
use crate::probe::source::Source;

/// A block device: a whole disk, or a partition of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Of the kernel: `nvme0n1`, `sda1`, `dm-0`.
    pub name: String,
    pub major: u32,
    pub minor: u32,
    /// The whole disk, of a partition.
    pub partition_of: Option<Box<Device>>,
}

impl Device {
    /// The whole disk. It identifies a device: media on two partitions of one disk share that, and the kernel counts
    /// flushes for the whole disk only.
    pub fn disk(&self) -> &Self {
        self.partition_of.as_deref().unwrap_or(self)
    }
}

/// The device that holds `path`. The error says why there is none to watch: a filesystem in memory, over a network,
/// over other filesystems, or on several devices.
pub fn device_of(path: &Path) -> Result<Device, LoadError> {
    let none = |why: String| LoadError::other(format!("the device that holds {}", path.display()), why);
    let source = Source::new("/");
    let number = fs::metadata(path).map_err(|error| none(error.to_string()))?.dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    if major != 0 {
        return device_at(&source, major, minor).ok_or_else(|| none(unknown_number(major, minor)));
    }
    // An anonymous number: nothing under /sys/dev/block belongs to it.
    let path = fs::canonicalize(path).map_err(|error| none(error.to_string()))?;
    let mount = mount_of(&source, &path).ok_or_else(|| none("its mount is not in /proc/self/mountinfo".into()))?;
    if mount.filesystem != "btrfs" {
        return Err(none(format!("a {} filesystem is not on a block device", mount.filesystem)));
    }
    let number = fs::metadata(&mount.source).map_err(|error| none(format!("{}: {error}", mount.source)))?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = device_at(&source, major, minor).ok_or_else(|| none(unknown_number(major, minor)))?;
    match btrfs_devices(&source, &device.name) {
        1 => Ok(device),
        count => Err(none(format!("this btrfs is on {count} devices; give each of them as a device to watch"))),
    }
}

fn unknown_number(major: u32, minor: u32) -> String {
    format!("/sys/dev/block/{major}:{minor} is not there")
}

/// How many devices the btrfs has to which this one belongs.
fn btrfs_devices(source: &Source, name: &str) -> usize {
    let filesystems = fs::read_dir(source.path("sys/fs/btrfs")).into_iter().flatten().flatten();
    let devices = filesystems.map(|entry| entry.path().join("devices")).find(|devices| devices.join(name).exists());
    devices.and_then(|devices| fs::read_dir(devices).ok()).map_or(1, Iterator::count)
}

fn device_at(source: &Source, major: u32, minor: u32) -> Option<Device> {
    let directory = fs::canonicalize(source.path(&format!("sys/dev/block/{major}:{minor}"))).ok()?;
    let partition_of =
        if directory.join("partition").exists() { Some(Box::new(whole(directory.parent()?)?)) } else { None };
    Some(Device { name: kernel_name(&directory)?, major, minor, partition_of })
}

fn whole(directory: &Path) -> Option<Device> {
    let number = fs::read_to_string(directory.join("dev")).ok()?;
    let (major, minor) = number.trim().split_once(':')?;
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    Some(Device { name: kernel_name(directory)?, major, minor, partition_of: None })
}

/// A `!` in sysfs stands for a `/` (`cciss!c0d0`).
fn kernel_name(directory: &Path) -> Option<String> {
    Some(directory.file_name()?.to_str()?.replace('!', "/"))
}

/// Facts about the whole disk: model, vendor, firmware, size, rotational, scheduler, nr_requests, write_cache, fua,
/// block sizes, read_ahead_kb, numa_node; where it has them, transport, made_of (devices below), backing_file (loop),
/// raid_level (md), mapped_name (dm).
pub fn device_facts(device: &Device) -> Vec<(String, String)> {
    facts_at(&Source::new("/"), device.disk())
}

fn facts_at(source: &Source, disk: &Device) -> Vec<(String, String)> {
    let at = |path: &str| format!("sys/dev/block/{}:{}/{path}", disk.major, disk.minor);
    let mut facts = Facts::new(source);
    facts.add("name", Some(disk.name.clone()));
    // SCSI and ATA keep these with the device; NVMe with its controller, to which `device` leads, too.
    facts.file("model", &[&at("device/model")]);
    facts.file("vendor", &[&at("device/vendor"), &at("device/device/vendor")]);
    facts.file("firmware", &[&at("device/firmware_rev"), &at("device/rev")]);
    // 512-byte sectors, whatever the device's.
    let sectors = facts.text(&at("size")).and_then(|text| text.parse::<u64>().ok());
    facts.add("size", sectors.and_then(|sectors| sectors.checked_mul(512)).map(|bytes| Bytes(bytes).to_string()));
    let rotational = facts.text(&at("queue/rotational"));
    facts.add("rotational", rotational);
    let scheduler = facts.text(&at("queue/scheduler")).map(|text| chosen(&text));
    facts.add("scheduler", scheduler);
    for key in ["nr_requests", "write_cache", "fua", "logical_block_size", "physical_block_size", "read_ahead_kb"] {
        facts.file(key, &[&at(&format!("queue/{key}"))]);
    }
    facts.file("numa_node", &[&at("device/numa_node"), &at("device/device/numa_node")]);
    let some = [
        ("transport", "device/transport"),
        ("backing_file", "loop/backing_file"),
        ("raid_level", "md/level"),
        ("mapped_name", "dm/name"),
    ];
    for (key, path) in some {
        if let Some(value) = facts.text(&at(path)) {
            facts.add(key, Some(value));
        }
    }
    let below = names_in(&source.path(&at("slaves")));
    if !below.is_empty() {
        facts.add("made_of", Some(below.join(", ")));
    }
    facts.finish()
}

fn names_in(directory: &PathBuf) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// An NVMe drive with a partition, and a mapped device on it, as sysfs shows them.
    fn recorded() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join("sys").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let controller = "devices/pci0000:00/nvme/nvme0";
        let disk = format!("{controller}/nvme0n1");
        file(&format!("{controller}/model"), "KINGSTON SEDC1500M960G                  \n");
        file(&format!("{controller}/firmware_rev"), "S67F0103\n");
        file(&format!("{controller}/serial"), "50026B7282D0FFFF\n");
        file(&format!("{controller}/transport"), "pcie\n");
        file(&format!("{controller}/numa_node"), "0\n");
        file(&format!("{disk}/dev"), "259:0\n");
        file(&format!("{disk}/size"), "1875385008\n");
        file(&format!("{disk}/queue/rotational"), "0\n");
        file(&format!("{disk}/queue/scheduler"), "[none] mq-deadline\n");
        file(&format!("{disk}/queue/nr_requests"), "1023\n");
        file(&format!("{disk}/queue/write_cache"), "write through\n");
        file(&format!("{disk}/queue/fua"), "1\n");
        file(&format!("{disk}/queue/logical_block_size"), "512\n");
        file(&format!("{disk}/queue/physical_block_size"), "4096\n");
        file(&format!("{disk}/nvme0n1p2/partition"), "2\n");
        file("devices/virtual/block/dm-0/dm/name", "vg-data\n");
        file("devices/virtual/block/dm-0/slaves/nvme0n1p2", "");
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        let link = |target: &str, number: &str| {
            symlink(format!("../../{target}"), root.path().join("sys/dev/block").join(number)).unwrap();
        };
        symlink("../../nvme0", root.path().join("sys").join(&disk).join("device")).unwrap();
        link(&disk, "259:0");
        link(&format!("{disk}/nvme0n1p2"), "259:2");
        link("devices/virtual/block/dm-0", "253:0");
        root
    }

    fn shown(source: &Source, device: &Device) -> Vec<String> {
        facts_at(source, device.disk()).iter().map(|(key, value)| format!("{key} = {value}")).collect()
    }

    #[test]
    fn a_partition_is_known_by_its_disk() {
        let root = recorded();
        let source = Source::new(root.path());
        let partition = device_at(&source, 259, 2).unwrap();
        assert_eq!((partition.name.as_str(), partition.disk().name.as_str()), ("nvme0n1p2", "nvme0n1"));
        assert_eq!(partition.disk(), &device_at(&source, 259, 0).unwrap());
        let expected = [
            "name = nvme0n1",
            "model = KINGSTON SEDC1500M960G",
            "firmware = S67F0103",
            "size = 894.3 GiB",
            "rotational = 0",
            "scheduler = none",
            "nr_requests = 1023",
            "write_cache = write through",
            "fua = 1",
            "logical_block_size = 512",
            "physical_block_size = 4096",
            "numa_node = 0",
            "transport = pcie",
            "unreadable = vendor, read_ahead_kb",
        ];
        assert_eq!(shown(&source, &partition), expected);
    }

    #[test]
    fn a_mapped_device_says_what_it_is_made_of() {
        let root = recorded();
        let source = Source::new(root.path());
        let facts = shown(&source, &device_at(&source, 253, 0).unwrap());
        assert!(facts.contains(&"mapped_name = vg-data".into()), "{facts:?}");
        assert!(facts.contains(&"made_of = nvme0n1p2".into()), "{facts:?}");
        assert_eq!(device_at(&source, 7, 0), None);
    }

    #[test]
    fn what_is_in_memory_has_no_device() {
        let why = device_of(Path::new("/proc")).unwrap_err().to_string();
        assert!(why.ends_with("a proc filesystem is not on a block device"), "{why}");
    }

    #[test]
    fn the_device_of_this_directory_has_facts_or_a_reason() {
        match device_of(Path::new(".")) {
            Ok(device) => {
                let facts = device_facts(&device);
                assert!(facts.iter().any(|(key, _)| key == "size"), "{facts:?}");
                assert!(facts.iter().all(|(key, _)| key != "serial"));
            }
            Err(error) => assert!(error.to_string().contains("device"), "{error}"),
        }
    }
}
