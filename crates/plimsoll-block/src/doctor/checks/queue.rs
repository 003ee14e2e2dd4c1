//! How the kernel hands requests to the device, and who else does.

use plimsoll_plan::units::Bytes;
use plimsoll_record::Diagnosis;

use super::{grouped, ok, unknown, warning};
use crate::doctor::evidence::{Device, Disk, DiskKind, Medium, Noise, Room};

/// In a quiet moment: requests per second, and percent of the time.
const NOISY_REQUESTS: f64 = 20.0;
const NOISY_BUSY: f64 = 2.0;
/// Larger requests than this are what makes sequential access fast.
const SMALL_REQUEST_KIB: u64 = 128;
/// Flash and filesystems work in blocks of this, whatever a drive reports.
const FLASH_BLOCK: u64 = 4096;

pub fn scheduler(device: &Device, disks: &[Disk]) -> Diagnosis {
    let on_flash = disks.iter().any(|disk| disk.kind == DiskKind::Nvme);
    match device.queue.scheduler.as_deref() {
        None => unknown(
            "scheduler",
            format!("{} has none in sysfs", device.name),
            "",
        ),
        // Documentation/block/bfq-iosched.rst, section 1: what it costs per request, and the throughput it gives up.
        Some("bfq") => warning(
            "scheduler",
            "bfq: it shares the device out among programs, which costs CPU for each request and gives up throughput",
            &format!(
                "Set it for the measurement: echo none > /sys/block/{}/queue/scheduler",
                device.name
            ),
        ),
        Some("none") => ok("scheduler", "none: requests go to the device as they come"),
        Some(name) if on_flash => {
            let cost = "reorders what this drive does not need reordered; none costs less CPU";
            ok("scheduler", format!("{name}: {cost}"))
        }
        Some(name) => ok("scheduler", name),
    }
}

pub fn queue(device: &Device, disks: &[Disk]) -> Diagnosis {
    let queue = &device.queue;
    let is_virtual = disks
        .iter()
        .any(|disk| matches!(disk.kind, DiskKind::Virtual(_)));
    let turns = if is_virtual {
        "reported to rotate, as many virtual disks are without rotating"
    } else {
        "reported to rotate"
    };
    let parts = [
        queue
            .nr_requests
            .map(|n| format!("{n} requests in flight at most")),
        queue
            .max_sectors_kb
            .map(|kib| format!("{} each", Bytes(kib << 10))),
        queue
            .logical_block_size
            .zip(queue.physical_block_size)
            .map(|(l, p)| format!("blocks of {l} ({p} physical) bytes")),
        queue
            .rotational
            .map(|yes| if yes { turns } else { "reported not to rotate" }.to_owned()),
    ];
    let found = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let name = &device.name;
    if queue.iostats == Some(false) {
        let found = format!(
            "{found}; the kernel does not count its requests, so a report has no figures of the device"
        );
        return warning(
            "queue",
            found,
            &format!("echo 1 > /sys/block/{name}/queue/iostats"),
        );
    }
    if queue
        .max_hw_sectors_kb
        .is_some_and(|hw| hw > SMALL_REQUEST_KIB)
        && let Some(most) = queue.max_sectors_kb
        && most < SMALL_REQUEST_KIB
    {
        let found = format!(
            "{found}: requests above {most} KiB are cut up, though the device takes larger ones"
        );
        return warning(
            "queue",
            found,
            &format!("echo 1280 > /sys/block/{name}/queue/max_sectors_kb"),
        );
    }
    if queue.rotational == Some(true) && disks.iter().any(|disk| disk.kind == DiskKind::Nvme) {
        let found = format!(
            "{found}: wrong for an NVMe drive, and the kernel reads ahead and merges accordingly"
        );
        return warning(
            "queue",
            found,
            &format!("echo 0 > /sys/block/{name}/queue/rotational"),
        );
    }
    if found.is_empty() {
        unknown("queue", "sysfs shows nothing", "")
    } else {
        ok("queue", found)
    }
}

pub fn alignment(device: &Device, room: Option<&Room>) -> Diagnosis {
    let physical = device.queue.physical_block_size.unwrap_or(512);
    let twice = "each write of a block there becomes two, of which the drive reads the rest first";
    if let Some(off) = device.alignment_offset.filter(|off| *off != 0) {
        let found = format!(
            "{} begins {off} bytes off the drive's blocks: {twice}",
            device.name
        );
        return warning(
            "alignment",
            found,
            "Partition it anew with its beginning at a whole MiB, as parted and fdisk do.",
        );
    }
    if let Some(room) = room.filter(|room| room.block_size < physical) {
        let found = format!(
            "the filesystem's blocks of {} bytes are smaller than the drive's of {physical}",
            room.block_size
        );
        return warning(
            "alignment",
            found,
            "Make the filesystem anew with larger blocks.",
        );
    }
    match device.start {
        None => ok(
            "alignment",
            format!("{} is no partition: it begins with its drive", device.name),
        ),
        Some(start) if start.0 % physical.max(FLASH_BLOCK) == 0 => ok(
            "alignment",
            format!("{} begins at {start}, on a whole block", device.name),
        ),
        Some(start) => warning(
            "alignment",
            format!(
                "{} begins at byte {}, in the midst of a block of {}: {twice}",
                device.name,
                start.0,
                physical.max(FLASH_BLOCK)
            ),
            "Partition it anew with its beginning at a whole MiB, as parted and fdisk do.",
        ),
    }
}

/// `None`: not watched.
pub fn noise(medium: &Medium) -> Option<Diagnosis> {
    let Noise { spent, over } = match medium.noise.as_ref()? {
        Ok(noise) => noise,
        Err(why) => return Some(unknown("noise", why.clone(), "")),
    };
    let seconds = over.as_secs_f64().max(1e-9);
    let rate = (spent.reads + spent.writes + spent.flushes.unwrap_or(0)) as f64 / seconds;
    let bytes = Bytes(
        ((spent.read_sectors.saturating_add(spent.write_sectors)) as f64 * 512.0 / seconds) as u64,
    );
    let busy = spent.busy_ms as f64 / 10.0 / seconds;
    let found = format!(
        "others make {} requests and {bytes} a second, busy {busy:.1} % of the time",
        grouped(rate)
    );
    Some(if rate < NOISY_REQUESTS && busy < NOISY_BUSY {
        ok("noise", found)
    } else {
        warning(
            "noise",
            format!("{found}: they are in every figure"),
            "Stop them while measuring (iotop or pidstat -d shows which).",
        )
    })
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
