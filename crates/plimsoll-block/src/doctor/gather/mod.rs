//! Gathers evidence without changing anything: files of /proc and /sys, programs that only ask, reads of random blocks. The write test
//! is apart ([`write`]) and is done only when it is wanted.

mod array;
mod disk;
mod options;
mod quiet;
mod sample;
mod tool;
mod write;

use std::path::Path;

use plimsoll_record::message::DoctorFinding;

use super::evidence::{Machine, MediumEvidence, Room, SyncOutcome};
use crate::BlockError;
use crate::device::evidence::{StorageTarget, gather as gather_use, target};
use crate::host::cpu::governors;
use crate::host::device::{self, device_of};
use crate::host::mount::{mount_of, space};
use crate::host::parse;
use crate::host::source::KernelFiles;
pub use options::GatherOptions;
pub use quiet::{Counters, Quiet};

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
        .and_then(|device| disk::node(&source, device));
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
    let mount = if is_device {
        None
    } else {
        mount_of(&source, &real)
    };
    Ok(MediumEvidence {
        in_use,
        disks,
        noise,
        sample,
        arrays: array::arrays(
            &source,
            device.as_ref().ok(),
            mount.as_ref(),
            options.health,
        ),
        mount,
        space: if is_device { None } else { room(&real) },
        holes: if let StorageTarget::File(file) = &target {
            sample::holes(file)
        } else {
            None
        },
        device: device.map(|device| disk::device(&source, &device)),
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

fn room(path: &Path) -> Option<Room> {
    let stat = rustix::fs::statvfs(path).ok()?;
    let files = (stat.f_files > 0).then_some((stat.f_favail, stat.f_files));
    Some(Room {
        space: space(path).ok()?,
        block_size: stat.f_bsize,
        files,
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::units::Nanos;

    use super::*;

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
