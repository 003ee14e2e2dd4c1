//! Which processes hold a device open.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::io::Errno;

use super::sysfs::{NameList, Number, first_line, names_in};

/// The initial PID namespace: `PID_NS_INIT_INO` of linux/nsfs.h.
const INITIAL: u64 = 0xEFFF_FFFC;

/// The first process. A security module may shut its files even to root; it opens no disks, so that alone does not keep
/// root from writing. Any other process that is shut does.
const INIT: u32 = 1;

/// Other processes that hold one of these open. A virtual machine, for one, may use a disk without claiming it.
///
/// # Errors
/// Some processes are hidden, so that an empty result would be no evidence. What is open in a thread that shares no
/// files with its process, and what is only mapped, is not found.
pub(super) fn open_by(numbers: &BTreeSet<Number>) -> NameList {
    let proc = Path::new("/proc");
    let namespace = fs::metadata(proc.join("self/ns/pid"))
        .map_err(|error| format!("/proc/self/ns/pid: {error}"))?;
    if namespace.ino() != INITIAL {
        return Err("processes outside of this container (PID namespace) are hidden".into());
    }
    found_in(proc, numbers, std::process::id())
}

/// In a proc filesystem: which processes but `own` hold one of these open.
fn found_in(proc: &Path, numbers: &BTreeSet<Number>, own: u32) -> NameList {
    // With `hidepid` others' processes are not listed. Whoever may read the first, which is root's and has every
    // capability, sees all.
    names_in(&proc.join("1/fd"))
        .map_err(|error| format!("processes of other users are hidden ({error})"))?;
    let mut found = Vec::new();
    for pid in names_in(proc)?
        .iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|pid| *pid != own)
    {
        let directory = proc.join(pid.to_string());
        let holds = match holds(&directory.join("fd"), numbers) {
            Err(error)
                if pid == INIT && is_shut(&error) && rustix::process::geteuid().is_root() =>
            {
                continue;
            }
            other => other,
        };
        if holds.map_err(|error| format!("{}/fd: {error}", directory.display()))? {
            let name = first_line(&directory.join("comm")).unwrap_or_default();
            found.push(format!("{name} ({pid})"));
        }
    }
    Ok(found)
}

/// Whether one of the files is one of these.
fn holds(files: &Path, numbers: &BTreeSet<Number>) -> io::Result<bool> {
    let files = match fs::read_dir(files) {
        Err(error) if has_ended(&error) => return Ok(false),
        other => other?,
    };
    for file in files {
        match file.and_then(|file| is_one_of(&file, numbers)) {
            Ok(true) => return Ok(true),
            Err(error) if is_shut(&error) => return Err(error),
            // Closed meanwhile, ended, or on a filesystem that does not answer: no device node.
            Ok(false) | Err(_) => {}
        }
    }
    Ok(false)
}

fn is_one_of(file: &DirEntry, numbers: &BTreeSet<Number>) -> io::Result<bool> {
    let about = fs::metadata(file.path())?;
    let number = (
        rustix::fs::major(about.rdev()),
        rustix::fs::minor(about.rdev()),
    );
    Ok(about.file_type().is_block_device() && numbers.contains(&number))
}

fn is_shut(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
}

fn has_ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A proc filesystem with these processes, none of which holds anything.
    fn proc(pids: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        pids.iter()
            .for_each(|pid| fs::create_dir_all(root.path().join(pid).join("fd")).unwrap());
        root
    }

    #[test]
    fn hidden_processes_are_not_nothing() {
        let none = BTreeSet::new();
        assert_eq!(
            found_in(proc(&["1", "7", "9"]).path(), &none, 9),
            Ok(Vec::new())
        );
        // What a user sees with hidepid=2: only what is his.
        let error = found_in(proc(&["7", "9"]).path(), &none, 9).unwrap_err();
        assert!(
            error.starts_with("processes of other users are hidden (") && error.contains("/1/fd"),
            "{error}"
        );
    }

    #[test]
    fn a_process_that_cannot_be_read_is_an_error() {
        let root = proc(&["1"]);
        // One that has ended.
        fs::create_dir(root.path().join("5")).unwrap();
        assert_eq!(found_in(root.path(), &BTreeSet::new(), 9), Ok(Vec::new()));
        fs::create_dir(root.path().join("7")).unwrap();
        fs::write(root.path().join("7/fd"), "no directory").unwrap();
        let error = found_in(root.path(), &BTreeSet::new(), 9).unwrap_err();
        assert!(error.contains("/7/fd: "), "{error}");
    }
}
