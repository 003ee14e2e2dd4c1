//! A device and the disks that it lies on, from sysfs.

use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;
use plimsoll_record::message::doctor::HealthFault;

use super::options::GatherOptions;
use super::tool;
use crate::doctor::evidence::{
    DiskEvidence, DiskKind, KnownDrive, NoHealth, Queue, VolumeEvidence,
};
use crate::doctor::smart::{self, HealthFailure, Smart};
use crate::host::chosen;
use crate::host::device::{BlockDevice, device_at, names_in};
use crate::host::source::KernelFiles;

/// No stack of devices is deeper.
pub const DEEPEST: u32 = 16;

/// Files of one device below sysfs.
struct SysfsDevice<'a> {
    source: &'a KernelFiles,
    directory: String,
}

impl<'a> SysfsDevice<'a> {
    fn of(source: &'a KernelFiles, device: &BlockDevice) -> Self {
        Self {
            source,
            directory: format!("sys/dev/block/{}:{}", device.major, device.minor),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        let text = self
            .source
            .read(&format!("{}/{path}", self.directory))
            .ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    fn flag(&self, path: &str) -> Option<bool> {
        Some(self.number(path)? != 0)
    }

    /// 512-byte sectors, whatever the device's.
    fn sectors(&self, path: &str) -> Option<Bytes> {
        self.number(path)?.checked_mul(512).map(Bytes)
    }

    fn queue(&self) -> Queue {
        Queue {
            scheduler: self.text("queue/scheduler").map(|text| chosen(&text)),
            nr_requests: self.number("queue/nr_requests"),
            max_sectors_kb: self.number("queue/max_sectors_kb"),
            max_hw_sectors_kb: self.number("queue/max_hw_sectors_kb"),
            rotational: self.flag("queue/rotational"),
            logical_block_size: self.number("queue/logical_block_size"),
            physical_block_size: self.number("queue/physical_block_size"),
            iostats: self.flag("queue/iostats"),
            write_cache: self.text("queue/write_cache"),
            fua: self.flag("queue/fua"),
        }
    }
}

/// What the filesystem or the user has to do with. Its queue is its disk's.
pub fn device(source: &KernelFiles, device: &BlockDevice) -> VolumeEvidence {
    let own = SysfsDevice::of(source, device);
    VolumeEvidence {
        name: device.name.clone(),
        size: own.sectors("size"),
        start: if device.partition_of.is_some() {
            own.sectors("start")
        } else {
            None
        },
        alignment_offset: own
            .text("alignment_offset")
            .and_then(|text| text.parse().ok()),
        queue: SysfsDevice::of(source, device.disk()).queue(),
    }
}

/// The node that the kernel made for a device.
pub fn node(source: &KernelFiles, device: &BlockDevice) -> Option<PathBuf> {
    let path = format!("sys/dev/block/{}:{}/uevent", device.major, device.minor);
    let text = source.read(&path).ok()?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(Path::new("/dev").join(name))
}

/// The lowest disks, each once.
pub fn below(
    source: &KernelFiles,
    device: &BlockDevice,
    options: &GatherOptions<'_>,
) -> Vec<DiskEvidence> {
    let mut lowest = Vec::new();
    add_lowest(source, device.disk(), DEEPEST, &mut lowest);
    lowest
        .iter()
        .map(|device| disk(source, device, options))
        .collect()
}

/// A drive that is known to be there, though the kernel has no device of it.
pub fn without_device(known: &KnownDrive) -> DiskEvidence {
    DiskEvidence {
        name: known.name.clone(),
        kind: DiskKind::Other,
        vendor: None,
        model: None,
        firmware: None,
        transport: None,
        size: None,
        queue: Queue::default(),
        cache_type: None,
        direct: None,
        health: Err(NoHealth::None),
        known: Some(known.clone()),
    }
}

fn add_lowest(
    source: &KernelFiles,
    device: &BlockDevice,
    deeper: u32,
    lowest: &mut Vec<BlockDevice>,
) {
    if deeper > 0 {
        for next in slaves(source, device) {
            add_lowest(source, &next, deeper - 1, lowest);
        }
    }
    let is_lowest = names_in(&source.path(&slaves_of(device))).is_empty();
    if is_lowest && !lowest.contains(device) {
        lowest.push(device.clone());
    }
}

fn slaves_of(device: &BlockDevice) -> String {
    format!("sys/dev/block/{}:{}/slaves", device.major, device.minor)
}

/// The whole disks that a device is made of.
pub fn slaves(source: &KernelFiles, device: &BlockDevice) -> Vec<BlockDevice> {
    let directory = slaves_of(device);
    let names = names_in(&source.path(&directory));
    let found = names.iter().filter_map(|name| {
        let number = source.read(&format!("{directory}/{name}/dev")).ok()?;
        let (major, minor) = number.trim().split_once(':')?;
        let next = device_at(source, major.parse().ok()?, minor.parse().ok()?)?;
        Some(next.disk().clone())
    });
    found.collect()
}

fn disk(source: &KernelFiles, device: &BlockDevice, options: &GatherOptions<'_>) -> DiskEvidence {
    let files = SysfsDevice::of(source, device);
    let mut disk = DiskEvidence {
        name: device.name.clone(),
        kind: DiskKind::Other,
        vendor: files
            .text("device/vendor")
            .or_else(|| files.text("device/device/vendor"))
            .filter(|vendor| !vendor.starts_with("0x")),
        model: files.text("device/model"),
        firmware: files
            .text("device/firmware_rev")
            .or_else(|| files.text("device/rev")),
        transport: files.text("device/transport"),
        size: files.sectors("size"),
        queue: files.queue(),
        cache_type: cache_type(source, &files),
        direct: files.flag("loop/dio"),
        health: Err(NoHealth::Skipped),
        known: None,
    };
    disk.kind = kind(&disk, files.text("loop/backing_file"));
    if options.health {
        disk.health = health(source, device, &disk.kind);
    }
    if let Ok(smart) = &disk.health {
        // sysfs has only a part of a SCSI disk's name.
        disk.model = smart.model.clone().or(disk.model);
        disk.firmware = smart.firmware.clone().or(disk.firmware);
    }
    disk.known = options.is.cloned().or_else(|| {
        disk.model
            .as_deref()
            .and_then(|model| find(options.known, model))
    });
    disk
}

/// `device/scsi_disk/2:0:0:0/cache_type`.
fn cache_type(source: &KernelFiles, files: &SysfsDevice<'_>) -> Option<String> {
    let directory = source.path(&format!("{}/device/scsi_disk", files.directory));
    let name = names_in(&directory).into_iter().next()?;
    files.text(&format!("device/scsi_disk/{name}/cache_type"))
}

/// Beginnings of kernel names (Documentation/admin-guide/devices.txt).
fn kind(disk: &DiskEvidence, backing: Option<String>) -> DiskKind {
    match () {
        () if is_named(disk, &["loop"]) => DiskKind::Loop(backing.unwrap_or_default()),
        () if is_named(disk, &["vd"]) => DiskKind::Virtual("virtio"),
        () if is_named(disk, &["xvd"]) => DiskKind::Virtual("Xen"),
        () if is_named(disk, &["dm-", "md"]) => DiskKind::Stacked,
        () if is_named(disk, &["nbd", "rbd", "drbd"]) || is_fabric(disk) => DiskKind::Network,
        () if is_named(disk, &["zram", "ram", "pmem"]) => DiskKind::Memory,
        () => match hypervisor(disk) {
            Some(name) => DiskKind::Virtual(name),
            None if is_named(disk, &["nvme"]) => DiskKind::Nvme,
            None if is_named(disk, &["sd"]) => DiskKind::Scsi,
            None => DiskKind::Other,
        },
    }
}

fn is_named(disk: &DiskEvidence, starts: &[&str]) -> bool {
    starts.iter().any(|start| disk.name.starts_with(start))
}

/// NVMe over something else than PCI Express.
fn is_fabric(disk: &DiskEvidence) -> bool {
    disk.transport
        .as_deref()
        .is_some_and(|transport| ["tcp", "rdma", "fc", "loop"].contains(&transport))
}

/// What hypervisors and clouds call their disks.
fn hypervisor(disk: &DiskEvidence) -> Option<&'static str> {
    const NAMES: [(&str, &str); 8] = [
        ("qemu", "QEMU"),
        ("vmware", "VMware"),
        ("virtual disk", "Hyper-V"),
        ("vbox", "VirtualBox"),
        ("amazon elastic block store", "AWS EBS"),
        ("amazon ec2 nvme instance storage", "AWS instance store"),
        ("nvme_card", "Google Cloud"),
        ("persistentdisk", "Google Cloud"),
    ];
    let text = [&disk.vendor, &disk.model]
        .map(|text| text.as_deref().unwrap_or_default().to_lowercase())
        .join(" ");
    NAMES
        .iter()
        .find(|(part, _)| text.contains(part))
        .map(|(_, name)| *name)
}

/// The drive whose model this name begins with; blanks and underscores are alike, capitals do not matter.
fn find(known: &[KnownDrive], model: &str) -> Option<KnownDrive> {
    let model = plain(model);
    known
        .iter()
        .find(|drive| {
            drive
                .models
                .iter()
                .any(|known| !known.is_empty() && model.starts_with(&plain(known)))
        })
        .cloned()
}

fn plain(model: &str) -> String {
    model.replace('_', " ").to_lowercase()
}

fn health(source: &KernelFiles, device: &BlockDevice, kind: &DiskKind) -> Result<Smart, NoHealth> {
    match kind {
        DiskKind::Nvme | DiskKind::Scsi | DiskKind::Other => {}
        DiskKind::Virtual(_)
        | DiskKind::Loop(_)
        | DiskKind::Stacked
        | DiskKind::Network
        | DiskKind::Memory => return Err(NoHealth::None),
    }
    let node = node(source, device).ok_or_else(no_node)?;
    let node = node.display().to_string();
    // A disk that sleeps is left to sleep.
    let asked = tool::run(
        "smartctl",
        &[
            "-j", "-i", "-H", "-A", "-g", "wcache", "-n", "standby", &node,
        ],
    );
    match asked {
        Err(tool::ToolFailure::NotInstalled) if *kind == DiskKind::Nvme => {
            let asked = tool::run("nvme", &["smart-log", &node, "-o", "json"]);
            read_health(asked, smart::nvme)
        }
        asked => read_health(asked, smart::smartctl),
    }
}

fn no_node() -> NoHealth {
    NoHealth::Failed(HealthFailure {
        cause: HealthFault::NoNode,
        program: None,
        what: String::new(),
    })
}

fn read_health(
    asked: Result<String, tool::ToolFailure>,
    read: fn(&str) -> Result<Smart, HealthFailure>,
) -> Result<Smart, NoHealth> {
    match asked {
        Ok(text) => read(&text).map_err(NoHealth::Failed),
        Err(tool::ToolFailure::NotInstalled) => Err(NoHealth::NotInstalled("smartctl")),
        Err(tool::ToolFailure::Failed(failure)) => Err(NoHealth::Failed(failure)),
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
