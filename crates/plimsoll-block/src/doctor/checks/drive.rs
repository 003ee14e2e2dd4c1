//! The drive itself: what it is, how it is, and what becomes of what it acknowledged.

use plimsoll_record::Diagnosis;

use super::{error, ok, unknown, warning};
use crate::device::safety::{Decision, Exclusive, decide};
use crate::doctor::evidence::{Disk, DiskKind, KnownDrive, Medium, NoHealth, Protection};
use crate::doctor::smart::Smart;

const INSTALL: &str = "Install it and run as root (Debian and Ubuntu: apt-get install smartmontools; Fedora: dnf install smartmontools).";
/// Of the rated endurance, in percent, from which on a replacement should be at hand.
const WORN: u64 = 90;

/// Who holds a device and what it holds; `None` for directories and files.
pub fn use_of(medium: &Medium) -> Option<Diagnosis> {
    let evidence = medium.in_use.as_ref()?;
    let Decision::ReadOnly(why) = decide(evidence, false) else {
        return None;
    };
    // The first reason is the missing `--overwrite`.
    let reasons = why.get(1..).unwrap_or_default().join("; ");
    let lists = [
        &evidence.mounts,
        &evidence.swaps,
        &evidence.holders,
        &evidence.open_by,
    ];
    let is_used = evidence.exclusive == Exclusive::Busy
        || lists
            .iter()
            .any(|list| list.as_ref().is_ok_and(|l| !l.is_empty()));
    let unknown_why = lists.iter().find_map(|list| list.as_ref().err());
    Some(match (is_used, unknown_why) {
        (true, _) => warning(
            "in_use",
            format!("{reasons}. It is only read here, and others' requests are in every figure"),
            "Unmount and release it before it is measured by itself.",
        ),
        (false, Some(why)) => {
            let reasons = if reasons.is_empty() {
                reasons
            } else {
                format!(". {reasons}")
            };
            unknown(
                "in_use",
                format!("who uses it is not known: {why}{reasons}"),
                "Run as root, outside of any container.",
            )
        }
        (false, None) if reasons.is_empty() => {
            ok("in_use", "not in use, and nothing is recognised on it")
        }
        (false, None) => ok(
            "in_use",
            format!("not in use. {reasons}: writing to it would destroy that"),
        ),
    })
}

/// The finding for a medium without a disk.
pub fn missing(medium: &Medium) -> Option<Diagnosis> {
    let why = medium
        .device
        .as_ref()
        .err()
        .filter(|_| medium.disks.is_empty())?;
    Some(unknown(
        "drive",
        format!("no block device: {why}"),
        "For figures of a drive give a directory that lies on one.",
    ))
}

pub fn identity(disk: &Disk) -> Diagnosis {
    let what = [
        disk.vendor.as_deref().filter(|vendor| *vendor != "ATA"),
        disk.model.as_deref(),
    ];
    let name = what
        .into_iter()
        .flatten()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    let size = disk
        .size
        .map(|size| format!(", {size}"))
        .unwrap_or_default();
    let firmware = disk
        .firmware
        .as_ref()
        .map(|text| format!(", firmware {text}"))
        .unwrap_or_default();
    let transport = disk
        .transport
        .as_ref()
        .map(|text| format!(", {text}"))
        .unwrap_or_default();
    let rest = format!("({}{transport}{size}{firmware})", disk.name);
    match &disk.kind {
        _ if disk.is_emulated() => ok(
            "drive",
            format!(
                "emulated: {} {rest}",
                disk.known.as_ref().map_or("", |known| &known.name)
            ),
        ),
        DiskKind::Virtual(whose) => {
            let found = format!("a virtual disk of {whose} {name} {rest}").replace("  ", " ");
            unknown(
                "drive",
                format!("{found}: what lies below it is hidden from here"),
                "Run doctor on the host as well.",
            )
        }
        DiskKind::Loop(file) if disk.direct == Some(false) => warning(
            "drive",
            format!(
                "the file {file} {rest}, through the page cache below it: reads come from memory"
            ),
            &format!("Set it up anew with: losetup --direct-io=on --find {file}"),
        ),
        DiskKind::Loop(file) => unknown(
            "drive",
            format!("the file {file} {rest}"),
            "Run doctor on the directory that holds it as well.",
        ),
        DiskKind::Stacked => unknown(
            "drive",
            format!("made of others that are hidden {rest}"),
            "",
        ),
        DiskKind::Network => unknown(
            "drive",
            format!("on another machine: {name} {rest}"),
            "Run doctor there as well.",
        ),
        DiskKind::Memory => unknown("drive", format!("memory {rest}"), "Give a drive."),
        _ if name.is_empty() => unknown("drive", format!("it reports no model {rest}"), ""),
        _ => match disk.known.as_ref() {
            Some(known) => ok(
                "drive",
                format!("{name} {rest}, in the catalogue as {}", known.name),
            ),
            None => ok("drive", format!("{name} {rest}")),
        },
    }
}

pub fn health(disk: &Disk) -> Diagnosis {
    match &disk.health {
        _ if disk.is_emulated() => unknown("health", "an emulated drive has none", ""),
        Ok(smart) => check_smart(smart),
        Err(NoHealth::None(what)) => unknown("health", format!("{what} has no SMART"), ""),
        Err(NoHealth::NotInstalled(name)) => {
            unknown("health", format!("{name} is not installed"), INSTALL)
        }
        Err(NoHealth::Failed(why)) => unknown(
            "health",
            why.clone(),
            "Run as root; behind a RAID controller ask its own program.",
        ),
        Err(NoHealth::Skipped) => unknown("health", "not asked", ""),
    }
}

/// The bits of an NVMe drive's critical warning (NVM Express base specification, log page 02h).
const CRITICAL: [&str; 6] = [
    "spare blocks have fallen below the threshold",
    "temperature beyond a threshold",
    "reliability degraded by media errors",
    "the drive has become read-only",
    "the capacitors that save its buffer have failed",
    "its persistent memory has become unreliable",
];

fn if_any(count: Option<u64>, what: &str) -> Option<String> {
    count
        .filter(|count| *count > 0)
        .map(|count| format!("{count} {what}"))
}

fn check_smart(smart: &Smart) -> Diagnosis {
    let bits = smart.critical_warning.unwrap_or(0);
    let mut faults: Vec<String> = CRITICAL
        .iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, text)| text.to_string())
        .collect();
    if smart.passed == Some(false) && faults.is_empty() {
        let what = smart
            .failing
            .as_ref()
            .map(|name| format!(": {name}"))
            .unwrap_or_default();
        faults.push(format!("the drive reports that it fails{what}"));
    }
    if !faults.is_empty() {
        return error(
            "health",
            format!("{} ({})", faults.join("; "), smart.source),
            "Save its data and replace it; figures of it mean nothing.",
        );
    }
    let doubts = [
        smart
            .used_percent
            .filter(|used| *used >= WORN)
            .map(|used| format!("{used} % of its endurance is used up")),
        if_any(smart.media_errors, "errors that were not corrected"),
        if_any(smart.pending, "sectors that cannot be read"),
        if_any(smart.uncorrectable, "sectors that could not be corrected"),
        if_any(smart.reallocated, "sectors replaced"),
    ];
    let doubts: Vec<String> = doubts.into_iter().flatten().collect();
    if !doubts.is_empty() {
        let next =
            "Inspect it with smartctl -a; a drive that repairs itself is slower than a sound one.";
        return warning(
            "health",
            format!("{} ({})", doubts.join(", "), smart.source),
            next,
        );
    }
    let good = [
        smart
            .used_percent
            .map(|used| format!("{used} % of its endurance used")),
        smart
            .spare
            .map(|(spare, _)| format!("{spare} % of the spare blocks left")),
        smart.celsius.map(|celsius| format!("{celsius} °C")),
    ];
    let good: Vec<String> = good.into_iter().flatten().collect();
    match smart.passed {
        Some(_) => ok(
            "health",
            format!(
                "no fault known to the drive ({}){}{}",
                smart.source,
                if good.is_empty() { "" } else { ": " },
                good.join(", ")
            ),
        ),
        None => unknown(
            "health",
            format!("{} gives no verdict of the drive's", smart.source),
            "Run as root.",
        ),
    }
}

/// The write cache according to the kernel and the drive.
pub fn write_cache(disk: &Disk) -> Diagnosis {
    let fua = match disk.queue.fua {
        Some(true) => "single writes are made durable by the drive (FUA)",
        Some(false) => "no FUA: a durable write is a write and a flush",
        None => "whether there is FUA is not known",
    };
    let reported = has_cache(disk);
    match disk.queue.write_cache.as_deref() {
        Some("write through") if reported == Some(true) => error(
            "write_cache",
            "the drive has a cache of writes, and the kernel is set to assume none: no flush is sent, a power cut \
             takes what was acknowledged as durable",
            &format!(
                "echo \"write back\" > /sys/block/{}/queue/write_cache",
                disk.name
            ),
        ),
        Some("write through") if reported == Some(false) => ok(
            "write_cache",
            "write through: the drive reports none, so the kernel sends no flushes",
        ),
        Some("write through") => unknown(
            "write_cache",
            "write through: the kernel sends no flushes. Whether the drive has no cache or this was set by hand is not known",
            if matches!(disk.kind, DiskKind::Nvme | DiskKind::Scsi) {
                ASK_DRIVE
            } else {
                ASK_HOST
            },
        ),
        Some(kind) => ok(
            "write_cache",
            format!("{kind}: the kernel sends flushes; {fua}"),
        ),
        None => unknown("write_cache", "sysfs does not show it", ""),
    }
}

const ASK_HOST: &str = "Look it up: the cache mode of this disk on the host.";
const ASK_DRIVE: &str = "Ask the drive: smartctl -g wcache, or nvme id-ctrl -H (vwc).";

/// Whether the drive reports a write cache. The kernel's setting may have been made by hand.
fn has_cache(disk: &Disk) -> Option<bool> {
    let asked = disk
        .health
        .as_ref()
        .ok()
        .and_then(|smart| smart.write_cache);
    let of_driver = disk
        .cache_type
        .as_deref()
        .map(|kind| kind.starts_with("write back"));
    match (asked, of_driver) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (asked, of_driver) => asked.or(of_driver),
    }
}

fn unsure(known: &KnownDrive) -> bool {
    ["unverified", "assumed"].contains(&known.source.as_str())
}

/// Whether acknowledged writes outlive the power.
pub fn power_loss(disk: &Disk) -> Diagnosis {
    const LOOK_UP: &str =
        "Look it up in the data sheet; name the drive with --drive NAME or a drive file.";
    if let Some(known) = &disk.known {
        let source = if unsure(known) {
            format!("{}, {}", known.name, known.source)
        } else {
            known.name.clone()
        };
        return match known.protection {
            Protection::Protected => ok(
                "power_loss",
                format!("what is acknowledged survives a power cut, flushed or not ({source})"),
            ),
            Protection::Volatile => ok(
                "power_loss",
                format!(
                    "what was not flushed is lost ({source}): rates of synced writes are those of the medium"
                ),
            ),
        };
    }
    match (&disk.kind, disk.queue.write_cache.as_deref()) {
        (DiskKind::Virtual(_), _) => unknown(
            "power_loss",
            "what the host does with flushes is unknown here",
            ASK_HOST,
        ),
        (DiskKind::Nvme | DiskKind::Scsi, Some("write through"))
            if has_cache(disk) == Some(false) =>
        {
            ok(
                "power_loss",
                "the drive reports no volatile cache: what is acknowledged survives",
            )
        }
        (DiskKind::Nvme | DiskKind::Scsi, Some("write through")) => unknown(
            "power_loss",
            "the kernel reports write through, which may have been set by hand; the drive does not report that it has no cache",
            ASK_DRIVE,
        ),
        (DiskKind::Loop(_), _) => unknown("power_loss", "that of whatever holds the file", ""),
        (_, _) => unknown(
            "power_loss",
            "the catalogue does not know this model",
            LOOK_UP,
        ),
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
