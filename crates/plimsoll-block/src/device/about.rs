//! What drive it is, for the head of the file that is written: model, kernel, filesystem.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;

use super::evidence::StorageTarget;
use crate::host::mount::mount_of;
use crate::host::source::KernelFiles;

/// What the kernel reports; `None` where it does not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// `nvme0n1`.
    pub disk: Option<String>,
    pub model: Option<String>,
    /// Of the whole disk.
    pub capacity: Option<Bytes>,
    /// Of the device measured; the disk's where that is a directory.
    pub device_size: Option<Bytes>,
    /// As the kernel reports it. Virtual disks often report it wrongly: the seek curve decides.
    pub rotational: Option<bool>,
    /// `write back`: the kernel sends flushes. `write through`: it sends none.
    pub write_cache: Option<String>,
    pub filesystem: Option<String>,
    pub kernel: Option<String>,
    /// Mean number of processes that ran or waited in the last minute (proc(5), loadavg).
    pub load: Option<f64>,
}

/// Reads the properties of the drive under a directory or device.
pub fn about(target: &StorageTarget) -> About {
    let path = match target {
        StorageTarget::Directory(path)
        | StorageTarget::Device(path)
        | StorageTarget::File(path) => path,
    };
    let number = fs::metadata(path).ok().map(|about| match target {
        StorageTarget::Device(_) => about.rdev(),
        StorageTarget::Directory(_) | StorageTarget::File(_) => about.dev(),
    });
    let directory =
        number.and_then(|number| sysfs(rustix::fs::major(number), rustix::fs::minor(number)));
    let disk = directory.as_deref().map(whole);
    About {
        disk: disk
            .as_ref()
            .and_then(|disk| Some(disk.file_name()?.to_string_lossy().replace('!', "/"))),
        model: line_below(&disk, "device/model"),
        capacity: size(&disk),
        device_size: size(&directory),
        rotational: line_below(&disk, "queue/rotational").map(|text| text == "1"),
        write_cache: line_below(&disk, "queue/write_cache"),
        filesystem: matches!(target, StorageTarget::Directory(_))
            .then(|| mount_of(&KernelFiles::new("/"), path)?.filesystem.into())
            .flatten(),
        kernel: line(Path::new("/proc/sys/kernel/osrelease")),
        load: line(Path::new("/proc/loadavg"))
            .and_then(|text| text.split(' ').next()?.parse().ok()),
    }
}

fn line_below(directory: &Option<PathBuf>, name: &str) -> Option<String> {
    line(&directory.as_ref()?.join(name))
}

/// sysfs counts sectors of 512 bytes, whatever the device's are.
fn size(directory: &Option<PathBuf>) -> Option<Bytes> {
    let sectors: u64 = line_below(directory, "size")?.parse().ok()?;
    sectors.checked_mul(512).map(Bytes)
}

fn sysfs(major: u32, minor: u32) -> Option<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()
}

/// The disk of a partition.
fn whole(directory: &Path) -> PathBuf {
    let partition = directory.join("partition").exists();
    directory
        .parent()
        .filter(|_| partition)
        .unwrap_or(directory)
        .into()
}

fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_directory_has_a_kernel_and_a_filesystem() {
        let here = fs::canonicalize(".").unwrap();
        let about = about(&StorageTarget::Directory(here));
        assert!(
            about.kernel.is_some() && about.filesystem.is_some(),
            "{about:?}"
        );
        assert_eq!(about.disk.is_some(), about.capacity.is_some(), "{about:?}");
    }
}
