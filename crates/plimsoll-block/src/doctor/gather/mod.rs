//! Gathers evidence without changing anything: files of /proc and /sys, programs that only ask, reads of random blocks. The write test
//! is apart ([`write`]) and is done only when it is wanted.

mod disk;
mod sample;
mod tool;
mod write;

use std::path::{Path, PathBuf};

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::DoctorFinding;

use super::evidence::{
    DiskNoise, KnownDrive, Machine, MediumEvidence, Room, SyncOutcome, VolumeEvidence,
};
use crate::BlockError;
use crate::device::evidence::{StorageTarget, gather as gather_use, target};
use crate::host::cpu::governors;
use crate::host::device::{self, device_of};
use crate::host::mount::{mount_of, space};
use crate::host::parse::{self, CpuTimes};
use crate::host::source::KernelFiles;
pub use sample::BLOCK;

/// The time, which is a parameter here as everywhere.
pub type Now<'a> = &'a dyn Fn() -> Nanos;

/// What to gather.
pub struct GatherOptions<'a> {
    pub now: Now<'a>,
    /// Counters before and after a quiet moment; `None`: noise is not measured.
    pub quiet: Option<&'a Quiet>,
    /// Drives of the catalogue.
    pub known: &'a [KnownDrive],
    /// What the drive is, for certain: emulated, or named by the user.
    pub is: Option<&'a KnownDrive>,
    /// Find out who uses a device, for which it is opened exclusively for a moment.
    pub users: bool,
    /// Ask the disks for their health, which starts programs.
    pub health: bool,
    /// Most blocks to be read, and most time for that.
    pub blocks: u32,
    pub patience: Nanos,
    /// Of the places of those blocks.
    pub seed: u64,
}

/// Counters of the machine at one time.
#[derive(Debug, Clone)]
pub struct Counters {
    at: Nanos,
    cpu: Option<CpuTimes>,
    disks: String,
}

impl Counters {
    pub fn read(now: Now<'_>) -> Self {
        let source = KernelFiles::new("/");
        let cpu = source
            .parse("proc/stat", parse::stat)
            .ok()
            .map(|stat| stat.all);
        Self {
            at: now(),
            cpu,
            disks: source.read("proc/diskstats").unwrap_or_default(),
        }
    }
}

/// A moment in which plimsoll did nothing.
#[derive(Debug, Clone)]
pub struct Quiet {
    pub before: Counters,
    pub after: Counters,
}

impl Quiet {
    fn cpu(&self) -> Option<CpuTimes> {
        self.before
            .cpu
            .as_ref()
            .zip(self.after.cpu.as_ref())
            .and_then(|(old, new)| new.since(old))
    }

    /// `None`: the kernel does not count this device's requests.
    fn noise(&self, major: u32, minor: u32) -> Option<DiskNoise> {
        Some(DiskNoise {
            spent: self.spent(major, minor)?,
            over: self.after.at.saturating_sub(self.before.at),
        })
    }

    fn spent(&self, major: u32, minor: u32) -> Option<parse::DiskStats> {
        let before = parse::diskstats(&self.before.disks, major, minor)?;
        parse::diskstats(&self.after.disks, major, minor)?.since(&before)
    }
}

/// The machine.
pub fn machine(quiet: Option<&Quiet>) -> Machine {
    machine_at(&KernelFiles::new("/"), quiet)
}

fn machine_at(source: &KernelFiles, quiet: Option<&Quiet>) -> Machine {
    let clock = source
        .read("sys/devices/system/clocksource/clocksource0/current_clocksource")
        .ok();
    Machine {
        governors: governors(source),
        clock_source: clock
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty()),
        cpu: source
            .parse("proc/stat", parse::stat)
            .ok()
            .map(|stat| stat.all),
        quiet_cpu: quiet.and_then(Quiet::cpu),
    }
}

/// The medium that a path leads to. Nothing is written.
///
/// # Errors
/// The path leads to no directory, file or block device.
pub fn medium(path: &Path, options: &GatherOptions<'_>) -> Result<MediumEvidence, BlockError> {
    let source = KernelFiles::new("/");
    let target = target(path)?;
    let is_device = matches!(target, StorageTarget::Device(_));
    let (StorageTarget::Directory(real) | StorageTarget::File(real) | StorageTarget::Device(real)) =
        &target;
    let real = real.clone();
    let device = if is_device {
        device::device_at_node(&source, &real)
    } else {
        device_of(&real)
    };
    let noise = options.quiet.map(|quiet| match &device {
        Ok(device) => quiet.noise(device.disk().major, device.disk().minor),
        Err(_) => None,
    });
    let in_use = if is_device && options.users {
        Some(gather_use(path, &real)?.0)
    } else {
        None
    };
    let node = device
        .as_ref()
        .ok()
        .and_then(|device| node(&source, device));
    let place = match &target {
        StorageTarget::File(file) => Some(file.clone()),
        _ => node,
    };
    let sample = match place {
        Some(path) => sample::read(&path, options),
        None => Err(Box::new(DoctorFinding::NoDeviceToRead)),
    };
    let disks = match &device {
        Ok(device) => disk::below(&source, device, options),
        // Emulated as a directory.
        Err(_) => options.is.map(disk::without_device).into_iter().collect(),
    };
    Ok(MediumEvidence {
        in_use,
        disks,
        noise,
        sample,
        mount: if is_device {
            None
        } else {
            mount_of(&source, &real)
        },
        space: if is_device { None } else { room(&real) },
        holes: if let StorageTarget::File(file) = &target {
            sample::holes(file)
        } else {
            None
        },
        device: device
            .map(|device| disk::device(&source, &device))
            .map_err(|error| error.why),
        target,
        sync: None,
    })
}

/// As [`medium`], with the write test in a directory: a file of plimsoll's own is made there and removed.
///
/// # Errors
/// As [`medium`].
pub fn medium_with_writes(
    path: &Path,
    options: &GatherOptions<'_>,
) -> Result<MediumEvidence, BlockError> {
    let mut medium = medium(path, options)?;
    medium.sync = Some(match &medium.target {
        StorageTarget::Directory(directory) => write::test(directory, options.now, options.seed),
        StorageTarget::File(_) | StorageTarget::Device(_) => {
            let is_device = matches!(medium.target, StorageTarget::Device(_));
            SyncOutcome::Untested(DoctorFinding::FlushUntestable { is_device })
        }
    });
    Ok(medium)
}

/// The node that the kernel made for a device.
fn node(source: &KernelFiles, device: &device::BlockDevice) -> Option<PathBuf> {
    let path = format!("sys/dev/block/{}:{}/uevent", device.major, device.minor);
    let text = source.read(&path).ok()?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(Path::new("/dev").join(name))
}

fn room(path: &Path) -> Option<Room> {
    let stat = rustix::fs::statvfs(path).ok()?;
    let files = (stat.f_files > 0).then_some((stat.f_favail, stat.f_files));
    Some(Room {
        space: space(path).ok()?,
        block_size: stat.f_bsize,
        files,
    })
}

impl VolumeEvidence {
    /// Whether it begins in the midst of a disk.
    pub fn is_partition(&self) -> bool {
        self.start.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(at: u64, cpu: &str, disk: &str) -> Counters {
        let cpu = parse::stat(cpu).map(|stat| stat.all);
        Counters {
            at: Nanos::from_secs(at),
            cpu,
            disks: disk.into(),
        }
    }

    #[test]
    fn a_quiet_moment_is_the_difference_of_two_readings() {
        let before = counters(
            1,
            "cpu  10 0 10 80 0 0 0 0",
            "8 0 sda 100 0 800 9 10 0 80 9 0 10 10\n",
        );
        let after = counters(
            3,
            "cpu  20 0 10 160 0 0 0 10",
            "8 0 sda 102 0 816 9 15 0 120 9 0 30 10\n",
        );
        let quiet = Quiet { before, after };
        let cpu = quiet.cpu().unwrap();
        assert_eq!((cpu.user, cpu.idle, cpu.steal), (10, 80, 10));
        let noise = quiet.noise(8, 0).unwrap();
        assert_eq!(
            (noise.spent.reads, noise.spent.writes, noise.spent.busy_ms),
            (2, 5, 20)
        );
        assert_eq!(noise.over, Nanos::from_secs(2));
        assert_eq!(quiet.noise(8, 1), None);
    }

    #[test]
    fn this_machine_and_this_directory_are_looked_at() {
        let now = || Nanos::ZERO;
        let counters = Counters::read(&now);
        let quiet = Quiet {
            before: counters.clone(),
            after: counters,
        };
        assert!(machine(Some(&quiet)).cpu.is_some());
        let options = GatherOptions {
            now: &now,
            quiet: Some(&quiet),
            known: &[],
            is: None,
            users: true,
            health: false,
            blocks: 4,
            patience: Nanos::SECOND,
            seed: 1,
        };
        let here = medium(Path::new("."), &options).unwrap();
        assert!(
            here.mount.is_some() && here.space.is_some() && here.sync.is_none(),
            "{here:?}"
        );
        assert_eq!(here.device.is_ok(), !here.disks.is_empty());
        assert!(medium(Path::new("/dev/null"), &options).is_err());
    }
}
