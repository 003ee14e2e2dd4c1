//! A btrfs on several devices (Documentation/ABI/testing/sysfs-fs-btrfs).

use super::files::ArrayFiles;
use crate::doctor::evidence::ArrayEvidence;
use crate::host::device::names_in;
use crate::host::mount::Mount;
use crate::host::source::KernelFiles;

/// Names of block groups' profiles below `allocation/data`.
const PROFILES: [&str; 10] = [
    "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6", "dup", "single", "zoned",
];

/// One on a single device is none.
pub fn array(source: &KernelFiles, mount: &Mount) -> Option<ArrayEvidence> {
    if mount.filesystem != "btrfs" {
        return None;
    }
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
        ..ArrayEvidence::default()
    })
}

/// Of all kinds.
fn device_errors(files: &ArrayFiles<'_>, id: &str) -> u64 {
    let text = files.text(&format!("devinfo/{id}/error_stats"));
    let text = text.unwrap_or_default();
    let counts = text.lines().filter_map(|line| line.split(' ').nth(1));
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}
