//! The filesystem on the medium.

use plimsoll_plan::units::Bytes;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::{FilesystemKind, MountIssue};
use plimsoll_record::{Diagnosis, DiagnosisLevel};

use super::row::{diagnosis, error, ok, warning};
use crate::doctor::evidence::{DiskEvidence, DiskKind, MediumEvidence, Room};
use crate::host::mount::Mount;

const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];
const NETWORK: [&str; 9] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "ceph",
    "glusterfs",
    "virtiofs",
    "afs",
];
/// Every write goes to a new place, so that old data and new are mixed.
const COPYING: [&str; 3] = ["btrfs", "zfs", "bcachefs"];
/// Above this share of the space, in percent, drives and filesystems spend their time making room: at 90 % of the flash
/// written, random writes cost 5.2 times what they carry (SSD-iq, VLDB 2025).
const FULL: f64 = 90.0;

/// `None` for a device without one.
pub fn filesystem(medium: &MediumEvidence) -> Option<Diagnosis> {
    let mount = medium.mount.as_ref()?;
    let name = mount.filesystem.as_str();
    let in_memory = MEMORY.contains(&name)
        || medium
            .disks
            .iter()
            .any(|disk| disk.kind == DiskKind::Memory);
    let kind = match name {
        _ if in_memory => FilesystemKind::Memory,
        _ if NETWORK.contains(&name) => FilesystemKind::Network,
        "overlay" | "aufs" => FilesystemKind::Layers,
        _ if medium.disks.iter().any(DiskEvidence::is_emulated) => FilesystemKind::Emulated,
        _ if name.starts_with("fuse") => FilesystemKind::Fuse,
        _ if COPYING.contains(&name) => FilesystemKind::CopyOnWrite,
        _ => FilesystemKind::Plain,
    };
    let level = match kind {
        FilesystemKind::Memory => DiagnosisLevel::Error,
        FilesystemKind::Network | FilesystemKind::Layers => DiagnosisLevel::Warning,
        FilesystemKind::Fuse => DiagnosisLevel::Unknown,
        FilesystemKind::Plain | FilesystemKind::Emulated | FilesystemKind::CopyOnWrite => {
            DiagnosisLevel::Ok
        }
    };
    let found = DoctorFinding::Filesystem {
        kind,
        filesystem: name.into(),
        mount: mount.point.display().to_string(),
    };
    Some(diagnosis(level, "filesystem", found))
}

/// The options of a mount.
struct MountOptions<'a>(Vec<&'a str>);

impl<'a> MountOptions<'a> {
    fn of(mount: &'a Mount) -> Self {
        Self(
            mount
                .options
                .split(',')
                .chain(mount.super_options.split(','))
                .collect(),
        )
    }

    fn first(&self, names: &[&str]) -> Option<&'a str> {
        self.0.iter().find(|option| names.contains(option)).copied()
    }

    /// `compress=zstd:3`, `compress`.
    fn begins(&self, start: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|option| option.split('=').next() == Some(start))
            .copied()
    }
}

/// btrfs and XFS have no value for the option (btrfs(5); xfs(5) up to Linux 4.18).
fn with_barriers(mount: &Mount) -> String {
    let has_no_value = matches!(mount.filesystem.as_str(), "btrfs" | "xfs");
    let option = if has_no_value { "barrier" } else { "barrier=1" };
    option.to_owned()
}

/// All that is wrong, the worst first; what is harmless only where nothing is wrong.
pub fn mount_options(medium: &MediumEvidence) -> Vec<Diagnosis> {
    let Some(mount) = medium.mount.as_ref() else {
        return Vec::new();
    };
    let options = MountOptions::of(mount);
    let compressed = options
        .begins("compress")
        .or(options.begins("compress-force"));
    let issues = [
        (
            MountIssue::NoBarriers,
            options.first(&["nobarrier", "barrier=0"]),
        ),
        (MountIssue::ReadOnly, options.first(&["ro"])),
        (MountIssue::Writeback, options.first(&["data=writeback"])),
        (MountIssue::Synchronous, options.first(&["sync", "dirsync"])),
        (MountIssue::Compressed, compressed),
        (
            MountIssue::AsyncCommit,
            options.first(&["journal_async_commit"]),
        ),
    ];
    let found: Vec<Diagnosis> = issues
        .into_iter()
        .filter_map(|(issue, option)| Some(mount_option(mount, issue, option?)))
        .collect();
    if !found.is_empty() {
        return found;
    }
    let fine = DoctorFinding::MountOptionsFine {
        atime: options
            .first(&["noatime", "relatime", "strictatime"])
            .map(str::to_owned),
        discard: options
            .first(&["discard", "discard=async"])
            .map(str::to_owned),
    };
    vec![ok("mount_options", fine)]
}

fn mount_option(mount: &Mount, issue: MountIssue, option: &str) -> Diagnosis {
    let sends_no_flushes = issue == MountIssue::NoBarriers;
    let found = DoctorFinding::MountOption {
        issue,
        option: option.into(),
        mount: mount.point.display().to_string(),
        remedy: sends_no_flushes.then(|| with_barriers(mount)),
    };
    if sends_no_flushes {
        error("mount_options", found)
    } else {
        warning("mount_options", found)
    }
}

/// `None` for a device.
pub fn space(medium: &MediumEvidence) -> Option<Diagnosis> {
    let Room { space, files, .. } = medium.space.as_ref()?;
    let all = space.used.0.saturating_add(space.free.0);
    let used_percent = 100.0 * space.used.0 as f64 / all.max(1) as f64;
    let found = DoctorFinding::Space {
        free_bytes: space.free.0,
        size_bytes: space.size.0,
        used_percent,
    };
    if space.free == Bytes(0) && space.size > Bytes(0) {
        return Some(error("space", found));
    }
    if let Some((0, files)) = *files {
        return Some(error("space", DoctorFinding::NoFilesLeft { files }));
    }
    Some(if used_percent < FULL {
        ok("space", found)
    } else {
        warning("space", found)
    })
}

#[cfg(test)]
#[path = "filesystem_tests.rs"]
mod tests;
