//! The filesystem on the medium.

use plimsoll_plan::units::Bytes;
use plimsoll_record::Diagnosis;

use super::{error, ok, unknown, warning};
use crate::doctor::evidence::{Disk, DiskKind, Medium, Room};
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
pub fn filesystem(medium: &Medium) -> Option<Diagnosis> {
    let mount = medium.mount.as_ref()?;
    let name = mount.filesystem.as_str();
    let at = mount.point.display();
    let in_memory = MEMORY.contains(&name)
        || medium
            .disks
            .iter()
            .any(|disk| disk.kind == DiskKind::Memory);
    Some(match name {
        _ if in_memory => error(
            "filesystem",
            format!(
                "{name} at {at} lies in memory: no drive is measured, and nothing survives a power cut"
            ),
            "Give a directory on a filesystem that lies on the drive.",
        ),
        _ if NETWORK.contains(&name) => warning(
            "filesystem",
            format!(
                "{name} at {at}: on another machine, whose network and memory are measured as well"
            ),
            "Measure on that machine, or state it beside every figure.",
        ),
        "overlay" | "aufs" => warning(
            "filesystem",
            format!(
                "{name} at {at}: a container's layers, where the first write to a file copies it"
            ),
            "Give a volume that is mounted into the container.",
        ),
        _ if medium.disks.iter().any(Disk::is_emulated) => {
            ok("filesystem", format!("{name} at {at}, plimsoll's own"))
        }
        _ if name.starts_with("fuse") => {
            let found = format!(
                "{name} at {at}: a program answers, and what it does with a flush is unknown"
            );
            unknown(
                "filesystem",
                found,
                "Read its documentation, or test it with --write.",
            )
        }
        _ if COPYING.contains(&name) => ok(
            "filesystem",
            format!("{name} at {at}: each write goes to a new place, so rates fall as it fills"),
        ),
        _ => ok("filesystem", format!("{name} at {at}")),
    })
}

/// The options of a mount.
struct Options<'a>(Vec<&'a str>);

impl<'a> Options<'a> {
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
fn remount_with_barriers(mount: &Mount) -> String {
    let option = if matches!(mount.filesystem.as_str(), "btrfs" | "xfs") {
        "barrier"
    } else {
        "barrier=1"
    };
    format!(
        "Mount it without that option: mount -o remount,{option} {}",
        mount.point.display()
    )
}

/// All that is wrong, the worst first; what is harmless only where nothing is wrong.
pub fn mount_options(medium: &Medium) -> Option<Diagnosis> {
    let mount = medium.mount.as_ref()?;
    let options = Options::of(mount);
    let barrier = options.first(&["nobarrier", "barrier=0"]);
    let with_barriers = remount_with_barriers(mount);
    let faults = [
        (
            barrier,
            "the filesystem sends no flushes, so a power cut takes what databases take for durable",
            with_barriers.as_str(),
        ),
        (
            options.first(&["ro"]),
            "read-only: no load can be put on it",
            "mount -o remount,rw",
        ),
        (
            options.first(&["data=writeback"]),
            "after a power cut files may hold old data of others; and it is faster than what most people run",
            "Mount it with data=ordered, the default.",
        ),
        (
            options.first(&["sync", "dirsync"]),
            "every write waits until it is durable, whatever a program wants",
            "Mount it without that option.",
        ),
        (
            options
                .begins("compress")
                .or(options.begins("compress-force")),
            "data are compressed, so that a rate depends on what is written; fio's data do not compress by default",
            "Set compressible in the plan's block job, or mount it without that option.",
        ),
        (
            options.first(&["journal_async_commit"]),
            "the journal's commit does not wait for its blocks: after a power cut the filesystem may be damaged",
            "Mount it without that option.",
        ),
    ];
    let found: Vec<(String, &str)> = faults
        .into_iter()
        .filter_map(|(option, found, next)| Some((format!("{}: {found}", option?), next)))
        .collect();
    if let Some((_, next)) = found.first() {
        let all = found
            .iter()
            .map(|(found, _)| found.as_str())
            .collect::<Vec<_>>()
            .join("; ");
        return Some(match barrier {
            Some(_) => error("mount_options", all, next),
            None => warning("mount_options", all, next),
        });
    }
    let about =
        |option: Option<&str>, text: &str| option.map(|option| format!("{option} ({text})"));
    let known = [
        about(
            options.first(&["noatime", "relatime"]),
            "reads hardly write",
        ),
        about(options.first(&["strictatime"]), "each read writes its time"),
        about(
            options.first(&["discard", "discard=async"]),
            "each deletion is sent to the drive at once, which slows some drives down",
        ),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    Some(ok(
        "mount_options",
        if known.is_empty() {
            "none that matters".to_owned()
        } else {
            known.join(", ")
        },
    ))
}

/// `None` for a device.
pub fn space(medium: &Medium) -> Option<Diagnosis> {
    let Room { space, files, .. } = medium.space.as_ref()?;
    let all = Bytes(space.used.0.saturating_add(space.free.0));
    let used = 100.0 * space.used.0 as f64 / all.0.max(1) as f64;
    let found = format!("{} free of {}, {used:.0} % used", space.free, space.size);
    if space.free == Bytes(0) && space.size > Bytes(0) {
        return Some(error(
            "space",
            format!("{found}: nothing can be written"),
            "Free space there.",
        ));
    }
    if let Some((0, files)) = files {
        return Some(error(
            "space",
            format!("all {files} files of the filesystem are in use"),
            "Remove some.",
        ));
    }
    Some(if used < FULL {
        ok("space", found)
    } else {
        let found =
            format!("{found}: a drive and a filesystem this full spend their time making room");
        warning(
            "space",
            found,
            "Free space there, or state it beside the figures.",
        )
    })
}

#[cfg(test)]
#[path = "filesystem_tests.rs"]
mod tests;
