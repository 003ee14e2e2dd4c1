//! The drive itself: what it is, how it is, and what becomes of what it acknowledged.

use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::{CriticalWarning, DriveKind, MediaFault, PowerLossUnknown};
use plimsoll_record::{Diagnosis, DiagnosisLevel};

use super::row::{diagnosis, error, ok, unknown, warning};
use crate::device::safety::Exclusive;
use crate::doctor::evidence::{
    DiskEvidence, DiskKind, KnownDrive, MediumEvidence, NoHealth, Protection,
};
use crate::doctor::smart::Smart;

/// Of the rated endurance, in percent, from which on a replacement should be at hand.
const WORN: u64 = 90;

/// Who holds a device and what it holds; `None` for directories and files.
pub fn use_of(medium: &MediumEvidence) -> Option<Diagnosis> {
    let evidence = medium.in_use.as_ref()?;
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
    if is_used {
        let [mounts, swaps, holders, open_by] = lists.map(|list| list.clone().unwrap_or_default());
        let found = DoctorFinding::InUse {
            mounts,
            swaps,
            holders,
            open_by,
        };
        return Some(warning("in_use", found));
    }
    if let Some(error) = lists.iter().find_map(|list| list.as_ref().err()) {
        let error = error.clone();
        return Some(unknown("in_use", DoctorFinding::InUseUnknown { error }));
    }
    let found = DoctorFinding::NotInUse {
        signatures: evidence.signatures.clone().unwrap_or_default(),
        partitions: evidence.partitions.clone().unwrap_or_default(),
    };
    Some(ok("in_use", found))
}

/// The finding for a medium without a disk.
pub fn missing(medium: &MediumEvidence) -> Option<Diagnosis> {
    let none = medium
        .device
        .as_ref()
        .err()
        .filter(|_| medium.disks.is_empty())?
        .clone();
    Some(unknown(
        "drive",
        DoctorFinding::NoBlockDevice {
            cause: none.cause,
            what: none.what,
        },
    ))
}

pub fn identity(disk: &DiskEvidence) -> Diagnosis {
    let vendor = disk.vendor.as_deref().filter(|vendor| *vendor != "ATA");
    let model = [vendor, disk.model.as_deref()];
    let model = model.into_iter().flatten().map(str::trim);
    let model = model.collect::<Vec<_>>().join(" ");
    let known = disk.known.as_ref().map(|known| known.name.clone());
    let (kind, name) = match &disk.kind {
        _ if disk.is_emulated() => (DriveKind::Emulated, known.clone().unwrap_or_default()),
        DiskKind::Virtual(whose) => (
            DriveKind::Virtual,
            format!("{whose} {model}").trim_end().to_owned(),
        ),
        DiskKind::Loop(file) if disk.direct == Some(false) => (DriveKind::CachedFile, file.clone()),
        DiskKind::Loop(file) => (DriveKind::File, file.clone()),
        DiskKind::Stacked => (DriveKind::Stacked, model),
        DiskKind::Network => (DriveKind::Network, model),
        DiskKind::Memory => (DriveKind::Memory, model),
        _ if model.is_empty() => (DriveKind::NoModel, model),
        _ => (DriveKind::Model, model),
    };
    let level = match kind {
        DriveKind::Emulated | DriveKind::Model => DiagnosisLevel::Ok,
        DriveKind::CachedFile => DiagnosisLevel::Warning,
        _ => DiagnosisLevel::Unknown,
    };
    let found = DoctorFinding::Drive {
        kind,
        name,
        device: disk.name.clone(),
        transport: disk.transport.clone(),
        size_bytes: disk.size.map(|size| size.0),
        firmware: disk.firmware.clone(),
        catalogue: known.filter(|_| kind == DriveKind::Model),
    };
    diagnosis(level, "drive", found)
}

/// One row for each fault of the drive.
pub fn health(disk: &DiskEvidence) -> Vec<Diagnosis> {
    let found = match &disk.health {
        _ if disk.is_emulated() => DoctorFinding::NoHealthReport,
        Ok(smart) => return check_smart(smart),
        Err(NoHealth::None) => DoctorFinding::NoHealthReport,
        Err(NoHealth::NotInstalled(name)) => DoctorFinding::HealthProgramMissing {
            program: (*name).to_owned(),
        },
        Err(NoHealth::Failed(failure)) => DoctorFinding::HealthUnreadable {
            cause: failure.cause,
            program: failure.program.map(str::to_owned),
            what: failure.what.clone(),
        },
        Err(NoHealth::Skipped) => DoctorFinding::HealthNotRead,
    };
    vec![unknown("health", found)]
}

/// By bit of an NVMe drive's critical warning.
const CRITICAL: [CriticalWarning; 6] = [
    CriticalWarning::SpareLow,
    CriticalWarning::Temperature,
    CriticalWarning::MediaErrors,
    CriticalWarning::ReadOnly,
    CriticalWarning::CapacitorsFailed,
    CriticalWarning::MemoryUnreliable,
];

fn check_smart(smart: &Smart) -> Vec<Diagnosis> {
    let program = smart.source.to_owned();
    let failures = failures(smart);
    if !failures.is_empty() {
        let rows = failures.into_iter().map(|found| error("health", found));
        return rows.collect();
    }
    let doubts = doubts(smart);
    if !doubts.is_empty() {
        return doubts
            .into_iter()
            .map(|found| warning("health", found))
            .collect();
    }
    vec![match smart.passed {
        Some(_) => ok(
            "health",
            DoctorFinding::HealthGood {
                used_percent: smart.used_percent,
                spare_percent: smart.spare.map(|(spare, _)| spare),
                celsius: smart.celsius,
                program,
            },
        ),
        None => unknown("health", DoctorFinding::HealthNoVerdict { program }),
    }]
}

/// By the drive's own verdict.
fn failures(smart: &Smart) -> Vec<DoctorFinding> {
    let bits = smart.critical_warning.unwrap_or(0);
    let program = smart.source.to_owned();
    let faults: Vec<DoctorFinding> = CRITICAL
        .into_iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, fault)| DoctorFinding::HealthCritical {
            fault,
            program: program.clone(),
        })
        .collect();
    if smart.passed == Some(false) && faults.is_empty() {
        let attribute = smart.failing.clone();
        return vec![DoctorFinding::HealthFails { attribute, program }];
    }
    faults
}

/// Signs of wear, and errors that the drive counted.
fn doubts(smart: &Smart) -> Vec<DoctorFinding> {
    let program = smart.source;
    let worn = smart
        .used_percent
        .filter(|used| *used >= WORN)
        .map(|used_percent| DoctorFinding::HealthWorn {
            used_percent,
            program: program.into(),
        });
    let counts = [
        (MediaFault::NotCorrected, smart.media_errors),
        (MediaFault::Unreadable, smart.pending),
        (MediaFault::Uncorrectable, smart.uncorrectable),
        (MediaFault::Replaced, smart.reallocated),
    ];
    let errors = counts.into_iter().filter_map(|(kind, count)| {
        Some(DoctorFinding::HealthErrors {
            kind,
            count: count.filter(|count| *count > 0)?,
            program: program.into(),
        })
    });
    worn.into_iter().chain(errors).collect()
}

/// The write cache according to the kernel and the drive.
pub fn write_cache(disk: &DiskEvidence) -> Diagnosis {
    match (disk.queue.write_cache.as_deref(), has_cache(disk)) {
        (Some("write through"), Some(true)) => error(
            "write_cache",
            DoctorFinding::CacheNotFlushed {
                device: disk.name.clone(),
            },
        ),
        (Some("write through"), Some(false)) => ok("write_cache", DoctorFinding::NoCache),
        (Some("write through"), None) => unknown(
            "write_cache",
            DoctorFinding::CacheUnclear {
                is_virtual: !matches!(disk.kind, DiskKind::Nvme | DiskKind::Scsi),
            },
        ),
        (Some(mode), _) => ok(
            "write_cache",
            DoctorFinding::CacheFlushed {
                mode: mode.into(),
                fua: disk.queue.fua,
            },
        ),
        (None, _) => unknown("write_cache", DoctorFinding::CacheUnknown),
    }
}

/// Whether the drive reports a write cache. The kernel's setting may have been made by hand.
fn has_cache(disk: &DiskEvidence) -> Option<bool> {
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

fn is_verified(known: &KnownDrive) -> bool {
    !["unverified", "assumed"].contains(&known.source.as_str())
}

/// Whether acknowledged writes outlive the power.
pub fn power_loss(disk: &DiskEvidence) -> Diagnosis {
    if let Some(known) = &disk.known {
        let drive = known.name.clone();
        let is_verified = is_verified(known);
        let found = match known.protection {
            Protection::Protected => DoctorFinding::PowerLossProtected { drive, is_verified },
            Protection::Volatile => DoctorFinding::PowerLossVolatile { drive, is_verified },
        };
        return ok("power_loss", found);
    }
    let writes_through = disk.queue.write_cache.as_deref() == Some("write through");
    let of = match &disk.kind {
        DiskKind::Virtual(_) => PowerLossUnknown::Virtual,
        DiskKind::Nvme | DiskKind::Scsi if writes_through && has_cache(disk) == Some(false) => {
            return ok("power_loss", DoctorFinding::PowerLossNoCache);
        }
        DiskKind::Nvme | DiskKind::Scsi if writes_through => PowerLossUnknown::WriteThrough,
        DiskKind::Loop(_) => PowerLossUnknown::File,
        _ => PowerLossUnknown::Model,
    };
    unknown("power_loss", DoctorFinding::PowerLossUnknown { of })
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
