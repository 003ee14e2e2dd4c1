//! Prepares a path for measurements, and keeps what has to be held meanwhile.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;
use rustix::io::Errno;

use super::jobs::MeasuredArea;
use super::logs::{self, Logs};
use plimsoll_block::BlockError;
use plimsoll_block::device::about::{About, about};
use plimsoll_block::device::evidence::{DeviceClaim, StorageTarget, gather, target};
use plimsoll_block::device::safety::{Decision, decide};
use plimsoll_block::fio::FioName;
use plimsoll_block::testfile::{self, RESERVED, TestFile};

/// What will be done at a path. Nothing has been touched yet.
#[derive(Debug)]
pub struct LearnIntent {
    pub target: StorageTarget,
    pub about: About,
    pub size: Bytes,
    pub writes: bool,
    /// Sentences for the user: what is left out and why, what is lost.
    pub notices: Vec<String>,
    /// The file or device that fio works on.
    file: FioName,
    /// Held from the decision until the end.
    claim: Option<DeviceClaim>,
}

/// Inspects a path and decides what may be done there.
///
/// # Errors
/// Refusals: what is neither directory nor block device, a device in use that is to be overwritten, too little space.
pub fn inspect(
    path: &Path,
    overwrite: bool,
    size: Option<Bytes>,
) -> Result<LearnIntent, BlockError> {
    match target(path)? {
        StorageTarget::Device(node) => device(path, node, overwrite, size),
        StorageTarget::Directory(directory) => in_directory(directory, overwrite, size),
        StorageTarget::File(file) => in_directory(testfile::directory_of(&file)?, overwrite, size),
    }
}

fn not_there(path: &Path) -> impl Fn(Errno) -> BlockError {
    |error| BlockError::NotThere {
        path: path.to_owned(),
        why: error.to_string(),
    }
}

fn in_directory(
    directory: PathBuf,
    overwrite: bool,
    asked: Option<Bytes>,
) -> Result<LearnIntent, BlockError> {
    let kind = rustix::fs::statfs(&directory)
        .map_err(not_there(&directory))?
        .f_type;
    if let Some(name) = memory(kind as u32) {
        return Err(BlockError::TestFile {
            path: directory,
            why: format!("this is a {name}: memory would be measured, not a drive"),
            next: "Give a directory on a filesystem that lies on the drive.".into(),
        });
    }
    let stat = rustix::fs::statvfs(&directory).map_err(not_there(&directory))?;
    let free = Bytes(stat.f_bavail.saturating_mul(stat.f_frsize));
    let size = testfile::size(asked, free, &directory)?;
    let target = StorageTarget::Directory(directory);
    let about = about(&target);
    let notices = directory_notices(&about, overwrite);
    Ok(LearnIntent {
        file: FioName::new(Path::new(&testfile::name()))?,
        about,
        target,
        size,
        writes: true,
        notices,
        claim: None,
    })
}

/// The notice for a filesystem without a device of its own number.
const NO_DISK: &str = "No block device was found below the directory: it may be a network, several devices or memory \
                       that is measured.";

fn directory_notices(about: &About, overwrite: bool) -> Vec<String> {
    let sentences = [
        (overwrite, "--overwrite is not supported for a directory"),
        (about.disk.is_none(), NO_DISK),
    ];
    sentences
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, text)| text.to_owned())
        .collect()
}

/// The name of a filesystem that lies in memory, by its number in linux/magic.h. tmpfs has direct I/O since Linux 6.6.
fn memory(kind: u32) -> Option<&'static str> {
    match kind {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        _ => None,
    }
}

fn device(
    given: &Path,
    node: PathBuf,
    overwrite: bool,
    asked: Option<Bytes>,
) -> Result<LearnIntent, BlockError> {
    let file = FioName::new(&node)?;
    let (evidence, claim) = gather(given, &node)?;
    let decision = decide(&evidence, overwrite);
    let writes = matches!(decision, Decision::Overwrite(_));
    let shown = node.display();
    let notice = match decision {
        Decision::ReadOnly(why) => format!("{shown} is only read: {}", why.join("; ")),
        Decision::Overwrite(lost) if lost.is_empty() => {
            format!("{shown} is overwritten; nothing was recognised on it")
        }
        Decision::Overwrite(lost) => format!("{shown} is overwritten: {}", lost.join("; ")),
        Decision::Refused { why, remedy } => {
            let next = remedy.or("leave out --overwrite: then it is only read");
            return Err(BlockError::Refused {
                path: node,
                why,
                next,
            });
        }
    };
    let target = StorageTarget::Device(node.clone());
    let about = about(&target);
    File::open(&node).map_err(|error| BlockError::TestFile {
        path: node.clone(),
        why: format!("it cannot be read: {error}"),
        next: "Run as root, or give a directory on it.".into(),
    })?;
    let has = about.device_size.unwrap_or_default();
    // Writes stay in a part: the buffer and the sustained rate show there as well.
    let by_default = if writes {
        Bytes(has.0.min(4 << 30))
    } else {
        has
    };
    let size = Bytes(asked.map_or(by_default.0, |asked| asked.0.min(has.0)) >> 20 << 20);
    if size < Bytes::mib(16) {
        let why = format!("{size} is too little to measure a drive in");
        let next = "Give a larger device, or more with --size.".into();
        return Err(BlockError::TestFile {
            path: node,
            why,
            next,
        });
    }
    Ok(LearnIntent {
        target,
        file,
        about,
        size,
        writes,
        notices: vec![notice],
        claim: writes.then_some(claim),
    })
}

/// A prepared area. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct PreparedArea {
    pub place: MeasuredArea,
    /// Leftovers of killed runs that were removed.
    pub swept: Vec<PathBuf>,
    _file: Option<TestFile>,
    _logs: Option<Logs>,
    _claim: Option<DeviceClaim>,
}

impl LearnIntent {
    /// The device, or the test file that is made.
    pub fn path(&self) -> PathBuf {
        match &self.target {
            StorageTarget::Device(node) => node.clone(),
            StorageTarget::Directory(path) | StorageTarget::File(path) => testfile::path_in(path),
        }
    }

    /// What fio would measure, for a list of what would be done.
    pub fn place(&self) -> MeasuredArea {
        MeasuredArea {
            file: self.file.clone(),
            offset: match self.target {
                StorageTarget::Device(_) => 0,
                StorageTarget::Directory(_) | StorageTarget::File(_) => RESERVED,
            },
            size: self.size,
            logs: None,
        }
    }

    /// Makes the test file, sweeps what killed runs left, and keeps the claim on a device.
    ///
    /// # Errors
    /// The directory cannot be written to, or has no direct I/O.
    pub fn prepare(self) -> Result<PreparedArea, BlockError> {
        let mut place = self.place();
        let temporary = std::env::temp_dir();
        let mut swept = logs::sweep(&temporary);
        let logs = if self.writes {
            Some(Logs::create(&temporary)?)
        } else {
            None
        };
        place.logs = logs.as_ref().map(|logs| logs.path().to_owned());
        let file = match &self.target {
            StorageTarget::Device(_) => None,
            StorageTarget::Directory(path) | StorageTarget::File(path) => {
                swept.extend(testfile::sweep(path));
                let file = TestFile::create(path, self.size)?;
                file.check_direct()?;
                place.file = FioName::new(&file.handed_down()?)?;
                Some(file)
            }
        };
        let lost_claim = self.claim.as_ref().is_some_and(|claim| !claim.is_held());
        if self.writes
            && matches!(self.target, StorageTarget::Device(_))
            && (lost_claim || self.claim.is_none())
        {
            // The decision rules this out; writing without the claim is not to happen whatever else changes.
            let why = io::Error::from(io::ErrorKind::ResourceBusy).to_string();
            let next = "Leave out --overwrite: then it is only read.".into();
            return Err(BlockError::Refused {
                path: place.file.to_string().into(),
                why: vec![why],
                next,
            });
        }
        if let Some(claim) = &self.claim {
            claim.hand_down().map_err(|error| BlockError::TestFile {
                path: place.file.to_string().into(),
                why: format!("the claim on it cannot be handed down to fio: {error}"),
                next: "Leave out --overwrite: then it is only read.".into(),
            })?;
        }
        Ok(PreparedArea {
            place,
            swept,
            _file: file,
            _logs: logs,
            _claim: self.claim,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_gets_a_file_that_goes_again() {
        let dir = tempfile::tempdir().unwrap();
        let intent = inspect(dir.path(), false, Some(Bytes::mib(32))).unwrap();
        assert!(intent.writes);
        assert_eq!(intent.notices, directory_notices(&intent.about, false));
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "inspecting changes nothing"
        );
        let expected = testfile::path_in(dir.path());
        let prepared = intent.prepare().unwrap();
        let number =
            |path: &Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
        let file = prepared.place.file.to_string();
        let made = number(Path::new(&file));
        assert_eq!(made, number(&expected));
        assert!(prepared.place.offset >= RESERVED && prepared.place.logs.is_some());
        // Whoever owns the directory puts something else in its place: fio still works in what was made.
        std::fs::remove_file(&expected).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &expected).unwrap();
        assert_eq!(number(Path::new(&file)), made);
        drop(prepared);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn memory_is_no_drive() {
        assert_eq!(memory(0x0102_1994), Some("tmpfs"));
        assert_eq!(memory(0x8584_58f6), Some("ramfs"));
        assert_eq!(memory(0xef53), None, "ext4");
        // Every Linux with a C library has this one, for shm_open(3).
        let error = inspect(Path::new("/dev/shm"), false, Some(Bytes::mib(16)))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("memory would be measured, not a drive"),
            "{error}"
        );
    }

    #[test]
    fn a_directory_without_a_block_device_has_a_notice() {
        let on_disk = About {
            disk: Some("sda".into()),
            ..About::default()
        };
        assert!(directory_notices(&on_disk, false).is_empty());
        assert_eq!(
            directory_notices(&about(&StorageTarget::Directory("/sys".into())), false),
            [NO_DISK],
            "sysfs has none"
        );
        assert_eq!(directory_notices(&About::default(), true).len(), 2);
    }

    #[test]
    fn a_file_of_others_is_refused_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        std::fs::write(&path, "precious").unwrap();
        for overwrite in [false, true] {
            let error = inspect(&path, overwrite, None).unwrap_err().to_string();
            assert!(
                error.contains("a file that plimsoll did not make"),
                "{error}"
            );
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }
}
