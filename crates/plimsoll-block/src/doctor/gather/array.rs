//! The array that a medium lies on, as the kernel has it: md and btrfs.

use crate::doctor::evidence::{ArrayEvidence, MdSettings};
use crate::host::device::{BlockDevice, names_in};
use crate::host::mount::Mount;
use crate::host::source::KernelFiles;

/// Files below one directory.
struct ArrayFiles<'a> {
    source: &'a KernelFiles,
    directory: String,
}

impl ArrayFiles<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let text = self.source.read(&format!("{}/{path}", self.directory));
        let text = text.ok()?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// While an md is reshaped, the old number stands behind the new one: `5 (4)`.
    fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.split(' ').next()?.parse().ok()
    }

    fn names(&self, path: &str) -> Vec<String> {
        names_in(&self.source.path(&format!("{}/{path}", self.directory)))
    }
}

/// `None` where the data are on one drive, or on what the kernel does not show.
pub fn array(
    source: &KernelFiles,
    device: Option<&BlockDevice>,
    mount: Option<&Mount>,
) -> Option<ArrayEvidence> {
    let btrfs = mount.filter(|mount| mount.filesystem == "btrfs");
    btrfs
        .and_then(|mount| btrfs_array(source, mount))
        .or_else(|| md_array(source, device?))
}

/// Documentation/admin-guide/md.rst.
fn md_array(source: &KernelFiles, device: &BlockDevice) -> Option<ArrayEvidence> {
    let disk = device.disk();
    let files = ArrayFiles {
        source,
        directory: format!("sys/dev/block/{}:{}/md", disk.major, disk.minor),
    };
    // md writes "none" for a missing bitmap or journal.
    let set = |path: &str| files.text(path).filter(|text| text != "none");
    Some(ArrayEvidence {
        name: disk.name.clone(),
        level: files.text("level")?,
        members: files.number("raid_disks")?,
        missing: files.number("degraded").unwrap_or(0),
        action: files.text("sync_action").filter(|action| action != "idle"),
        errors: 0,
        md: Some(MdSettings {
            chunk: files.number("chunk_size").filter(|bytes| *bytes > 0),
            bitmap: set("bitmap/location"),
            stripe_cache: files.number("stripe_cache_size"),
            journal: set("journal_mode"),
        }),
    })
}

/// Names of block groups' profiles below `allocation/data`.
const PROFILES: [&str; 10] = [
    "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6", "dup", "single", "zoned",
];

/// Documentation/ABI/testing/sysfs-fs-btrfs; one on a single device is none.
fn btrfs_array(source: &KernelFiles, mount: &Mount) -> Option<ArrayEvidence> {
    // `/dev/mapper/…` is a link to the name that the kernel has.
    let node = std::fs::canonicalize(&mount.source).unwrap_or_else(|_| mount.source.clone().into());
    let device = node.file_name()?.to_str()?;
    let all = names_in(&source.path("sys/fs/btrfs"));
    let mut filesystems = all.into_iter().map(|uuid| ArrayFiles {
        source,
        directory: format!("sys/fs/btrfs/{uuid}"),
    });
    let files = filesystems.find(|own| own.names("devices").iter().any(|name| name == device))?;
    // The target of a replacement has the number 0.
    let mut members = files.names("devinfo");
    members.retain(|id| id != "0");
    let is_missing = |id: &&String| files.number(&format!("devinfo/{id}/missing")) == Some(1);
    let errors = members.iter().map(|id| device_errors(&files, id)).sum();
    let profiles = files.names("allocation/data");
    let level = profiles
        .into_iter()
        .filter(|name| PROFILES.contains(&name.as_str()));
    let action = files.text("exclusive_operation");
    (members.len() > 1).then(|| ArrayEvidence {
        name: "btrfs".to_owned(),
        level: level.collect::<Vec<_>>().join(" and "),
        members: members.len() as u64,
        missing: members.iter().filter(is_missing).count() as u64,
        action: action.filter(|action| action != "none"),
        errors,
        md: None,
    })
}

/// Of all kinds.
fn device_errors(files: &ArrayFiles<'_>, id: &str) -> u64 {
    let text = files.text(&format!("devinfo/{id}/error_stats"));
    let text = text.unwrap_or_default();
    let counts = text.lines().filter_map(|line| line.split(' ').nth(1));
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

#[cfg(test)]
#[path = "array_tests.rs"]
mod tests;
