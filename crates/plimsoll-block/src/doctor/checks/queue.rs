//! How the kernel hands requests to the device, and who else does.

use plimsoll_plan::units::Bytes;
use plimsoll_record::Diagnosis;
use plimsoll_record::message::DoctorFinding;

use super::row::{ok, unknown, warning};
use crate::doctor::evidence::{
    DiskEvidence, DiskKind, DiskNoise, MediumEvidence, Room, VolumeEvidence,
};

/// In a quiet moment: requests per second, and percent of the time.
const NOISY_REQUESTS: f64 = 20.0;
const NOISY_BUSY: f64 = 2.0;
/// Larger requests than this are what makes sequential access fast.
const SMALL_REQUEST_KIB: u64 = 128;
/// Flash and filesystems work in blocks of this, whatever a drive reports.
const FLASH_BLOCK: u64 = 4096;

pub fn scheduler(device: &VolumeEvidence, disks: &[DiskEvidence]) -> Diagnosis {
    let is_nvme = disks.iter().any(|disk| disk.kind == DiskKind::Nvme);
    let name = device.name.clone();
    match device.queue.scheduler.clone() {
        None => unknown(
            "scheduler",
            DoctorFinding::SchedulerUnknown { device: name },
        ),
        // Documentation/block/bfq-iosched.rst, section 1: what it costs per request, and the throughput it gives up.
        Some(bfq) if bfq == "bfq" => {
            warning("scheduler", DoctorFinding::SchedulerBfq { device: name })
        }
        Some(scheduler) => ok("scheduler", DoctorFinding::Scheduler { scheduler, is_nvme }),
    }
}

pub fn queue(device: &VolumeEvidence, disks: &[DiskEvidence]) -> Diagnosis {
    let queue = &device.queue;
    let name = device.name.clone();
    // Device mapper counts on its own (drivers/md/dm.c, dm_start_io_acct).
    if queue.iostats == Some(false) && !name.starts_with("dm-") {
        return warning("queue", DoctorFinding::QueueNotCounted { device: name });
    }
    let hardware_kib = queue.max_hw_sectors_kb.unwrap_or(0);
    if let Some(most_kib) = queue.max_sectors_kb
        && most_kib < SMALL_REQUEST_KIB
        && hardware_kib > SMALL_REQUEST_KIB
    {
        let found = DoctorFinding::QueueCutsRequests {
            device: name,
            largest_bytes: most_kib << 10,
        };
        return warning("queue", found);
    }
    if queue.rotational == Some(true) && disks.iter().any(|disk| disk.kind == DiskKind::Nvme) {
        return warning("queue", DoctorFinding::QueueRotates { device: name });
    }
    let is_shown = queue.nr_requests.is_some()
        || queue.max_sectors_kb.is_some()
        || queue.logical_block_size.is_some()
        || queue.rotational.is_some();
    if !is_shown {
        return unknown("queue", DoctorFinding::QueueUnknown);
    }
    let found = DoctorFinding::Queue {
        requests: queue.nr_requests,
        largest_bytes: queue.max_sectors_kb.map(|kib| kib << 10),
        logical_bytes: queue.logical_block_size,
        physical_bytes: queue.physical_block_size,
        rotates: queue.rotational,
        is_virtual: disks
            .iter()
            .any(|disk| matches!(disk.kind, DiskKind::Virtual(_))),
    };
    ok("queue", found)
}

pub fn alignment(device: &VolumeEvidence, room: Option<&Room>) -> Diagnosis {
    let physical = device.queue.physical_block_size.unwrap_or(512);
    let block_bytes = physical.max(FLASH_BLOCK);
    let name = device.name.clone();
    if let Some(off_bytes) = device.alignment_offset.filter(|off| *off != 0) {
        let found = DoctorFinding::Misaligned {
            device: name,
            off_bytes,
            block_bytes: physical,
        };
        return warning("alignment", found);
    }
    if let Some(room) = room.filter(|room| room.block_size < physical) {
        let found = DoctorFinding::SmallBlocks {
            block_bytes: room.block_size,
            physical_bytes: physical,
        };
        return warning("alignment", found);
    }
    let Some(Bytes(start_bytes)) = device.start else {
        return ok("alignment", DoctorFinding::WholeDrive { device: name });
    };
    if start_bytes.is_multiple_of(block_bytes) {
        let found = DoctorFinding::Aligned {
            device: name,
            start_bytes,
        };
        return ok("alignment", found);
    }
    let found = DoctorFinding::Misaligned {
        device: name,
        off_bytes: (start_bytes % block_bytes).cast_signed(),
        block_bytes,
    };
    warning("alignment", found)
}

/// `None`: not watched.
pub fn noise(medium: &MediumEvidence) -> Option<Diagnosis> {
    let Some(DiskNoise { spent, over }) = medium.noise.as_ref()? else {
        return Some(unknown("noise", DoctorFinding::NoiseUnknown));
    };
    let seconds = over.as_secs_f64().max(1e-9);
    let requests = spent.reads + spent.writes + spent.flushes.unwrap_or(0);
    let requests_per_second = requests as f64 / seconds;
    let sectors = spent.read_sectors.saturating_add(spent.write_sectors);
    let busy_percent = spent.busy_ms as f64 / 10.0 / seconds;
    let found = DoctorFinding::Noise {
        requests_per_second,
        moved_bytes: (sectors as f64 * 512.0 / seconds) as u64,
        busy_percent,
    };
    let is_quiet = requests_per_second < NOISY_REQUESTS && busy_percent < NOISY_BUSY;
    Some(if is_quiet {
        ok("noise", found)
    } else {
        warning("noise", found)
    })
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
