//! Random blocks, read and not kept; and the parts of a file that have none.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::Unreadable;
use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;

use super::options::GatherOptions;
use crate::doctor::bytes::{BLOCK, DataStats, random};
use crate::doctor::evidence::{BlockSample, Holes};

/// Bytes whose first lies where direct I/O wants it.
pub struct Aligned(Vec<u8>);

impl Aligned {
    pub fn new(len: usize) -> Self {
        Self(vec![0; len + BLOCK])
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        let at = self.0.as_ptr().align_offset(BLOCK).min(BLOCK);
        let end = self.0.len() - BLOCK + at;
        &mut self.0[at..end]
    }
}

/// A file that was opened without leaving a trace.
struct Opened {
    file: File,
    /// Past the page cache.
    direct: bool,
}

/// Opens for reading past the page cache if that can be.
fn open(path: &Path) -> io::Result<Opened> {
    match open_quietly(path, OFlags::DIRECT) {
        Ok(file) => Ok(Opened { file, direct: true }),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => Ok(Opened {
            file: open_quietly(path, OFlags::empty())?,
            direct: false,
        }),
        Err(error) => Err(error),
    }
}

fn open_quietly(path: &Path, flags: OFlags) -> io::Result<File> {
    match open_with(path, flags | OFlags::NOATIME) {
        // Only its owner may leave the time of the last access alone.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::PERM) => open_with(path, flags),
        other => other,
    }
}

fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Reads blocks at random until there are enough or the time is over.
pub fn read(path: &Path, options: &GatherOptions<'_>) -> Result<BlockSample, Box<DoctorFinding>> {
    let Opened { file, direct } = open(path).map_err(|error| unread(path, &error))?;
    let size =
        rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|error| unread(path, &error.into()))?;
    let blocks = size / BLOCK as u64;
    if blocks == 0 {
        return Err(Box::new(DoctorFinding::TooSmallToRead {
            path: path.display().to_string(),
            block_bytes: BLOCK as u64,
        }));
    }
    let mut buffer = Aligned::new(BLOCK);
    let mut stats = DataStats::default();
    let mut times = Vec::new();
    let began = (options.now)();
    let mut seed = options.seed;
    for _ in 0..options.blocks {
        let offset = random(&mut seed) % blocks * BLOCK as u64;
        let from = (options.now)();
        file.read_exact_at(buffer.bytes(), offset)
            .map_err(|error| unread(path, &error))?;
        let until = (options.now)();
        times.push(until.saturating_sub(from));
        stats.add(buffer.bytes());
        if until.saturating_sub(began) >= options.patience {
            break;
        }
    }
    Ok(BlockSample {
        of: path.display().to_string(),
        blocks: stats.blocks,
        zero: stats.zero,
        entropy: stats.entropy(),
        compressible: stats.compressible(),
        read: median(&mut times).filter(|_| direct),
    })
}

fn unread(path: &Path, error: &io::Error) -> Box<DoctorFinding> {
    let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
    Box::new(DoctorFinding::Unreadable {
        path: path.display().to_string(),
        error: error.to_string(),
        cause: match rustix::process::geteuid().is_root() {
            _ if !is_denied => Unreadable::Other,
            true => Unreadable::Confined,
            false => Unreadable::NotRoot,
        },
    })
}

pub fn median(times: &mut [Nanos]) -> Option<Nanos> {
    times.sort();
    times.get(times.len() / 2).copied()
}

/// `None` where the filesystem does not report them (lseek(2), `SEEK_HOLE`).
pub fn holes(path: &Path) -> Option<Holes> {
    let file = open(path).ok()?.file;
    let size = file.metadata().ok()?.size();
    let mut at = 0;
    let mut data = 0;
    while at < size {
        let begins = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(begins) => begins,
            // Nothing but a hole up to the end.
            Err(Errno::NXIO) => break,
            Err(_) => return None,
        };
        at = rustix::fs::seek(&file, SeekFrom::Hole(begins)).ok()?;
        data += at.saturating_sub(begins);
    }
    Some(Holes {
        size: Bytes(size),
        holes: Bytes(size.saturating_sub(data)),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn options<'a>(now: &'a dyn Fn() -> Nanos, patience: Nanos) -> GatherOptions<'a> {
        GatherOptions {
            now,
            quiet: None,
            known: &[],
            is: None,
            users: false,
            health: false,
            blocks: 64,
            patience,
            seed: 7,
        }
    }

    #[test]
    fn half_of_a_sparse_file_is_zero_and_nothing_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        let mut file = File::create(&path).unwrap();
        let mut seed = 1;
        let data: Vec<u8> = (0..1 << 20).map(|_| random(&mut seed) as u8).collect();
        file.write_all(&data).unwrap();
        file.set_len(2 << 20).unwrap();
        file.sync_all().unwrap();
        let before = std::fs::metadata(&path).unwrap();
        let sample = read(&path, &options(&|| Nanos::ZERO, Nanos::SECOND)).unwrap();
        assert_eq!(sample.blocks, 64);
        assert!((16..48).contains(&sample.zero), "{sample:?}");
        assert!(
            sample.entropy.unwrap() > 7.9 && sample.compressible.unwrap() < 0.02,
            "{sample:?}"
        );
        // A filesystem may give a file more than it was asked for, and none that reads past the cache has no figures.
        let found = holes(&path).unwrap();
        assert!(
            found.size == Bytes(2 << 20) && found.holes <= Bytes(1 << 20),
            "{found:?}"
        );
        let after = std::fs::metadata(&path).unwrap();
        let shown = |about: &std::fs::Metadata| {
            (
                about.blocks(),
                about.mtime_nsec(),
                about.ctime_nsec(),
                about.atime_nsec(),
            )
        };
        assert_eq!(shown(&before), shown(&after));
    }

    #[test]
    fn it_ends_in_time_and_reports_unreadable_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, vec![0; 1 << 20]).unwrap();
        let ticks = std::cell::Cell::new(0);
        let now = || {
            ticks.set(ticks.get() + 1);
            Nanos::from_millis(ticks.get())
        };
        let sample = read(&path, &options(&now, Nanos::from_millis(10))).unwrap();
        assert!(
            sample.blocks < 10 && sample.zero == sample.blocks,
            "{sample:?}"
        );
        assert!(sample.entropy.is_none());
        std::fs::write(&path, "short").unwrap();
        let short = read(&path, &options(&now, Nanos::SECOND)).unwrap_err();
        assert!(matches!(*short, DoctorFinding::TooSmallToRead { .. }));
        let missing = read(Path::new("/no/such"), &options(&now, Nanos::SECOND)).unwrap_err();
        let DoctorFinding::Unreadable { path, cause, .. } = *missing else {
            panic!("it does not exist")
        };
        assert_eq!((path.as_str(), cause), ("/no/such", Unreadable::Other));
    }
}
