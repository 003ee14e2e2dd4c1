//! Writing files from their beginning to their end before the first job, so that reads find written blocks and a drive
//! is in the state that it has in use.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneMessage};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::BlockError;
use crate::arguments::{Part, in_file, reporting};
use crate::fio::{FioCommand, Flow, IoEngine};
use crate::lane::{self, Links, Task};
use crate::snapshot::Shape;

/// What is written, by all workers at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub parts: Vec<Part>,
    /// How often each part is written; 0 leaves it as it is.
    pub fill: f64,
    pub direct: bool,
    /// How far the data can be compressed, in percent.
    pub compressible_percent: u32,
    pub engine: IoEngine,
    pub seed: u64,
}

/// How far the writing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    pub bytes: u64,
    pub of: u64,
}

const KIB: u64 = 1024;
const DEPTH: u32 = 16;

impl Layout {
    /// Bytes that one part gets, in whole blocks.
    fn bytes(&self, part: &Part) -> u64 {
        let block = self.block(part);
        (part.size as f64 * self.fill / block as f64).round() as u64 * block
    }

    /// SNIA's preconditioning writes blocks of 128 KiB (PTS 2.0.2, "workload independent preconditioning"); what only
    /// has to be written once is written faster. The last block must be whole.
    fn block(&self, part: &Part) -> u64 {
        let most = if self.fill > 1.0 {
            128 * KIB
        } else {
            1024 * KIB
        };
        let divides = 1u64 << part.size.trailing_zeros().min(63);
        divides.clamp(512, most)
    }

    /// fio's arguments for a worker's part.
    pub fn arguments(&self, worker: usize) -> Vec<String> {
        let Some(part) = self.parts.get(worker) else {
            return Vec::new();
        };
        let depth = if self.engine == IoEngine::Libaio && self.direct {
            DEPTH
        } else {
            1
        };
        let mut args = reporting();
        args.extend(in_file(part));
        args.extend([
            format!("--randseed={}", self.seed.wrapping_add(worker as u64)),
            "--name=layout".into(),
            format!("--ioengine={}", self.engine.name()),
            format!("--iodepth={depth}"),
            "--rw=write".into(),
            format!("--bs={}", self.block(part)),
            format!("--io_size={}", self.bytes(part)),
            "--refill_buffers=1".into(),
            "--end_fsync=1".into(),
        ]);
        if self.compressible_percent > 0 {
            args.push(format!(
                "--buffer_compress_percentage={}",
                self.compressible_percent
            ));
        }
        if self.direct {
            args.extend(["--direct=1".into(), "--invalidate=0".into()]);
        }
        args
    }

    fn command(&self, worker: usize) -> FioCommand {
        let part = self.parts.get(worker);
        FioCommand {
            args: self.arguments(worker),
            directory: part.map(|part| part.directory.clone()),
            writable: part.map(Part::path).into_iter().collect(),
            ..FioCommand::default()
        }
    }

    /// Bytes of all parts together.
    pub fn total(&self) -> u64 {
        self.parts
            .iter()
            .map(|part| self.bytes(part))
            .fold(0, u64::saturating_add)
    }
}

/// Writes it all. `tick` receives the progress several times a second.
///
/// # Errors
/// fio's own, with its messages; [`BlockError::Cancelled`] after [`Flow::Stop`].
pub fn lay_out(layout: &Layout, tick: &mut dyn FnMut(Written) -> Flow) -> Result<(), BlockError> {
    let of = layout.total();
    if of == 0 {
        return Ok(());
    }
    let task = Task {
        job: "laying out".into(),
        workers: (0..layout.parts.len())
            .map(|worker| layout.command(worker))
            .collect(),
        shape: Shape::Whole,
        warm: Nanos::ZERO,
        measure: Nanos(u64::MAX),
        ends: true,
    };
    let written = std::cell::Cell::new(0u64);
    let mut ended = LaneEnd::Stopped;
    let tick = std::cell::RefCell::new(tick);
    lane::run(
        &task,
        Links {
            // The times are not used.
            now: &|| Nanos::ZERO,
            of_unix_ms: &|_| Nanos::ZERO,
            order: &|| {
                let bytes = written.get().min(of);
                match tick.borrow_mut()(Written { bytes, of }) {
                    Flow::GoOn => LaneControl::Run,
                    Flow::Stop => LaneControl::Stop,
                }
            },
            send: &mut |message| {
                match message {
                    LaneMessage::Second(second) => {
                        let more: u64 = second.tallies.iter().map(|tally| tally.counts.bytes).sum();
                        written.set(written.get() + more);
                    }
                    LaneMessage::Ended(end) => ended = end,
                    LaneMessage::Started { .. }
                    | LaneMessage::Event(_)
                    | LaneMessage::Acknowledged(_) => {}
                }
                Flow::GoOn
            },
        },
    );
    match ended {
        LaneEnd::Complete => Ok(()),
        LaneEnd::Closed | LaneEnd::Stopped => Err(BlockError::Cancelled),
        LaneEnd::Failed(why) | LaneEnd::DiskFull { why, .. } => Err(BlockError::Lane(why)),
    }
}

/// Makes a worker's file, with room reserved where the filesystem can.
///
/// # Errors
/// It is there already, or there is no room.
pub fn make_file(path: &Path, size: u64) -> Result<(), BlockError> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    made.and_then(|file| reserve(&file, size)).map_err(|error| {
        let next = if error.kind() == io::ErrorKind::StorageFull {
            "Free space there, or take a smaller `size` or fewer `workers`."
        } else {
            "Give a directory on the drive that this user may write to."
        };
        BlockError::TestFile {
            path: path.into(),
            why: error.to_string(),
            next: next.into(),
        }
    })
}

/// A filesystem that cannot reserve space gets a sparse file.
pub(crate) fn reserve(file: &File, size: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(size),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::{FioName, command_line, find};

    fn layout(directory: &Path, sizes: &[u64], fill: f64) -> Layout {
        let part = |(number, size): (usize, &u64)| {
            let name = number.to_string();
            make_file(&directory.join(&name), *size).unwrap();
            Part {
                directory: directory.into(),
                file: FioName::new(Path::new(&name)).unwrap(),
                offset: 0,
                size: *size,
            }
        };
        Layout {
            parts: sizes.iter().enumerate().map(part).collect(),
            fill,
            direct: false,
            compressible_percent: 0,
            engine: find().unwrap().engine,
            seed: 5,
        }
    }

    #[test]
    fn files_are_written_to_their_end_with_data_that_differ() {
        let directory = tempfile::tempdir().unwrap();
        let layout = layout(directory.path(), &[3 << 20, (1 << 20) + 4096], 1.0);
        let mut last = None;
        lay_out(&layout, &mut |written| {
            last = Some(written);
            Flow::GoOn
        })
        .unwrap();
        assert_eq!(last.unwrap().of, (4 << 20) + 4096);
        let [a, b] = ["0", "1"].map(|name| std::fs::read(directory.path().join(name)).unwrap());
        assert_eq!((a.len(), b.len()), (3 << 20, (1 << 20) + 4096));
        assert!(
            b.chunks(4096)
                .all(|block| block.iter().any(|byte| *byte != 0)),
            "to the last block"
        );
        assert_ne!(a[..4096], b[..4096]);
        assert_ne!(a[..1 << 20], a[1 << 20..2 << 20]);
    }

    #[test]
    fn how_often_and_in_which_blocks() {
        let part = |size| Part {
            directory: "/".into(),
            file: FioName::new(Path::new("x")).unwrap(),
            offset: 1 << 20,
            size,
        };
        let of = |fill, size| Layout {
            parts: vec![part(size)],
            fill,
            direct: true,
            compressible_percent: 40,
            engine: IoEngine::Libaio,
            seed: 1,
        };
        let line = |fill, size| command_line(&of(fill, size).arguments(0));
        let once = line(1.0, 8 << 20);
        for expected in [
            "--offset=1048576",
            "--bs=1048576 --io_size=8388608",
            "--end_fsync=1",
            "percentage=40",
        ] {
            assert!(once.contains(expected), "{expected}: {once}");
        }
        assert!(
            line(2.0, 8 << 20).contains("--bs=131072 --io_size=16777216"),
            "SNIA"
        );
        assert!(line(0.5, 8 << 20).contains("--io_size=4194304"));
        assert!(line(1.0, (8 << 20) + 4096).contains("--bs=4096 "));
        assert_eq!(of(0.0, 8 << 20).total(), 0);
    }

    #[test]
    fn a_stop_and_a_failure_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let layout = layout(directory.path(), &[64 << 20], 1000.0);
        let stopped = lay_out(&layout, &mut |_| Flow::Stop);
        assert!(matches!(stopped, Err(BlockError::Cancelled)), "{stopped:?}");
        std::fs::remove_file(directory.path().join("0")).unwrap();
        let error = lay_out(&layout, &mut |_| Flow::GoOn)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("fio failed at laying out: ")
                && error.contains("file creation disallowed"),
            "{error}"
        );
    }

    #[test]
    fn a_file_is_made_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        make_file(&path, 8192).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 8192);
        assert!(
            make_file(&path, 8192)
                .unwrap_err()
                .to_string()
                .contains("exists")
        );
    }
}
