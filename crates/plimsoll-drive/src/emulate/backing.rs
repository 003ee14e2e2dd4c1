//! Whether a disk that holds the data can keep up with the drive that is emulated on it.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::message::EventKind;
use rustix::fs::{Mode, OFlags};

use super::clock;
use super::error::EmulatorError;
use super::names;
use crate::model::{Op, Storage};
use crate::storage_model::StorageModel;

const LARGE: usize = 1 << 20;
const SMALL: usize = 4096;
/// Writes of 1 MiB, as many as go into the time.
const WRITES: u64 = 64;
const TIME: Nanos = Nanos::from_millis(500);
const READS: u64 = 64;

/// What a medium does: sequential writes, and reads of 4 KiB one at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    pub mb_s: f64,
    pub read: Nanos,
}

/// How the backing compares with the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackingFit {
    KeepsUp,
    /// Bursts will, page cache permitting; a long load will not.
    Slower,
    /// Not even half as fast, or an answer takes longer than the model's.
    Hopeless,
}

fn compare(backing: Speed, model: Speed) -> BackingFit {
    if backing.mb_s < model.mb_s / 2.0 || backing.read > model.read {
        BackingFit::Hopeless
    } else if backing.mb_s < model.mb_s {
        BackingFit::Slower
    } else {
        BackingFit::KeepsUp
    }
}

/// Measures the disk below `dir` with a file of its own, removed afterwards. An event when it is slower than the model.
pub fn check(
    dir: &Path,
    model: &StorageModel,
    capacity: u64,
) -> Result<Option<EventKind>, EmulatorError> {
    let probe = names::probe(dir);
    let measured = measure(&probe).map_err(EmulatorError::at(&probe));
    std::fs::remove_file(&probe).map_err(EmulatorError::at(&probe))?;
    let backing = measured?;
    let model = speed_of(model, capacity);
    match compare(backing, model) {
        BackingFit::KeepsUp => Ok(None),
        BackingFit::Slower => Ok(Some(EventKind::BackingSlower {
            directory: dir.display().to_string(),
            disk_mb_per_second: backing.mb_s,
            disk_read_ns: backing.read.0,
            drive_mb_per_second: model.mb_s,
            drive_read_ns: model.read.0,
        })),
        BackingFit::Hopeless => Err(EmulatorError::new(
            format!(
                "the disk below {} is too slow: it writes {:.0} MB/s and reads 4 KiB in {:.0} us; the emulated drive \
                 writes {:.0} MB/s and reads in {:.0} us",
                dir.display(),
                backing.mb_s,
                backing.read.as_micros_f64(),
                model.mb_s,
                model.read.as_micros_f64()
            ),
            "Keep the data in memory (backing = \"memory\"), or on a faster disk.",
        )),
    }
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    // Not all filesystems pass their cache by; then the cache is what is measured, as it is what is used.
    rustix::fs::open(path, flags | OFlags::DIRECT, mode).or_else(|_| {
        let _ = rustix::fs::unlink(path);
        rustix::fs::open(path, flags, mode)
    })
}

fn measure(path: &Path) -> rustix::io::Result<Speed> {
    let file = open(path)?;
    let mut memory = vec![0x5a; 2 * LARGE];
    let start = memory.as_ptr().align_offset(SMALL);
    let block = &mut memory[start..start + LARGE];
    let began = clock::now();
    let mut written = 0;
    while written < WRITES && clock::now().saturating_sub(began) < TIME {
        rustix::io::pwrite(&file, block, written * LARGE as u64)?;
        written += 1;
    }
    rustix::fs::fdatasync(&file)?;
    let took = clock::now().saturating_sub(began);
    let blocks = written * (LARGE / SMALL) as u64;
    let mut times = Vec::new();
    for n in 0..READS {
        let before = clock::now();
        rustix::io::pread(&file, &mut block[..SMALL], n * 4099 % blocks * SMALL as u64)?;
        times.push(clock::now().saturating_sub(before));
    }
    times.sort_unstable();
    let bytes = (written * LARGE as u64) as f64;
    Ok(Speed {
        mb_s: bytes / 1e6 / took.as_secs_f64().max(1e-9),
        read: times[times.len() / 2],
    })
}

const DEPTH: usize = 8;

/// When the last of large writes one after the other is done, with a few in flight.
fn written(model: &mut StorageModel, begins: Nanos, numbers: Range<usize>, spread: u64) -> Nanos {
    let op = |n: usize| Op {
        kind: DriveOp::Write,
        offset: (n * LARGE) as u64 % spread,
        len: LARGE as u64,
    };
    let mut numbers = numbers;
    let mut open = 0;
    for n in numbers.by_ref().take(DEPTH) {
        model.submit(begins, op(n));
        open += 1;
    }
    let mut last = begins;
    while open > 0
        && let Some(done) = model.advance(Nanos(u64::MAX))
    {
        last = done.at;
        open -= 1;
        if let Some(n) = numbers.next() {
            model.submit(done.at, op(n));
            open += 1;
        }
    }
    last
}

/// The same, by the model, beginning with an idle drive; its buffer has filled before it counts.
fn speed_of(model: &StorageModel, capacity: u64) -> Speed {
    let spread = capacity.saturating_sub(LARGE as u64).max(1);
    let writes = 4096;
    let mut writer = model.clone();
    let halfway = written(&mut writer, Nanos::ZERO, 0..writes / 2, spread);
    let end = written(&mut writer, halfway, writes / 2..writes, spread);
    let seconds = end.saturating_sub(halfway).as_secs_f64().max(1e-9);
    let mut reader = model.clone();
    let mut now = Nanos::ZERO;
    let mut times = Vec::new();
    for n in 0..READS {
        let op = Op {
            kind: DriveOp::Read,
            offset: n * 7_919_000_000_007 % spread / 4096 * 4096,
            len: SMALL as u64,
        };
        reader.submit(now, op);
        let done = reader.advance(Nanos(u64::MAX)).map_or(now, |done| done.at);
        times.push(done.saturating_sub(now));
        now = done;
    }
    times.sort_unstable();
    Speed {
        mb_s: (writes / 2 * LARGE) as f64 / 1e6 / seconds,
        read: times[times.len() / 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Setup;
    use crate::spec::DriveSpec;
    use plimsoll_plan::units::Bytes;

    fn drive(mb_s: u32, read_us: u32) -> StorageModel {
        let figure = |key: &str, value: u32| {
            format!("{key} = {{ value = {value}, source = \"assumed\" }}\n")
        };
        let mut text = format!(
            "title = \"x\"\nkind = \"volume\"\n{}",
            figure("capacity_gb", 10)
        );
        text += "write_cache = { value = \"protected\", source = \"assumed\" }\n[volume]\n";
        for (key, value) in [
            ("iops", 100_000),
            ("mib_s", mb_s),
            ("read_us", read_us),
            ("write_us", 100),
            ("flush_us", 1),
        ] {
            text += &figure(key, value);
        }
        let setup = Setup {
            capacity: Bytes(1 << 33),
            fill: 1.0,
            seed: 1,
            ignores_flush: false,
        };
        StorageModel::new(&DriveSpec::parse("x", &text).unwrap(), &setup)
    }

    #[test]
    fn what_the_model_does() {
        let speed = speed_of(&drive(100, 5000), 1 << 33);
        assert!((speed.mb_s - 104.86).abs() < 1.0, "{speed:?}");
        assert!(speed.read.0.abs_diff(5_000_000) < 1_000_000, "{speed:?}");
    }

    #[test]
    fn slower_and_hopeless() {
        let speed = |mb_s, us| Speed {
            mb_s,
            read: Nanos::from_micros(us),
        };
        let model = speed(1000.0, 100);
        assert_eq!(compare(speed(1000.0, 100), model), BackingFit::KeepsUp);
        assert_eq!(compare(speed(999.0, 100), model), BackingFit::Slower);
        assert_eq!(compare(speed(499.0, 100), model), BackingFit::Hopeless);
        assert_eq!(compare(speed(2000.0, 101), model), BackingFit::Hopeless);
    }

    #[test]
    fn a_real_disk_is_measured_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        // No disk is slower than this, and none as fast as that.
        assert_eq!(check(dir.path(), &drive(1, 900_000), 1 << 33), Ok(None));
        let error = check(dir.path(), &drive(100_000, 1), 1 << 33).unwrap_err();
        assert!(
            error.why.contains("is too slow") && error.why.contains("MB/s"),
            "{error}"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
