//! The write test: what a write costs until it is acknowledged, and until it is durable.
//!
//! One block of 4 KiB in a file of plimsoll's own is written again and again, one request after the other. A disk cannot
//! make the same place durable twice in one turn, and flash cannot without programming a page: whoever answers sooner
//! either keeps what it acknowledges alive without power, or forgets it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::DoctorFinding;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::options::Now;
use super::sample::{Aligned, median};
use crate::doctor::bytes::{BLOCK, random};
use crate::doctor::evidence::{Pace, SyncOutcome, SyncTest};
use crate::testfile::{RESERVED, TestFile, write_fault};

/// Each kind of request goes on until there are so many, or for so long.
const MOST: usize = 2000;
const LONGEST: Nanos = Nanos::from_millis(1000);
/// Few are enough where each takes a turn of a disk; a median of fewer means nothing.
const FEWEST: usize = 5;
/// Room behind the mark.
const ROOM: Bytes = Bytes::mib(1);

/// Makes a file in a directory, writes it, measures, and removes it.
pub fn test(directory: &Path, now: Now<'_>, seed: u64) -> SyncOutcome {
    let tested =
        TestFile::make(directory, ROOM).and_then(|file| measure(&file.by_handle(), now, seed));
    match tested {
        Ok(test) => SyncOutcome::Tested(test),
        Err(error) => SyncOutcome::Untested(DoctorFinding::FlushTestFailed {
            directory: directory.display().to_string(),
            cause: write_fault(&error),
            error: error.to_string(),
        }),
    }
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

fn measure(path: &Path, now: Now<'_>, seed: u64) -> io::Result<SyncTest> {
    let direct = match open(path, OFlags::DIRECT) {
        Ok(_) => true,
        // Not on every filesystem.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => false,
        Err(error) => return Err(error),
    };
    let flags = if direct {
        OFlags::DIRECT
    } else {
        OFlags::empty()
    };
    let file = open(path, flags)?;
    let mut writer = Writer {
        buffer: Aligned::new(BLOCK),
        seed,
    };
    // The whole room, so that no later write has to be given blocks, and the journal has nothing to write.
    for offset in (0..ROOM.0).step_by(BLOCK) {
        writer.write(&file, RESERVED + offset)?;
    }
    file.sync_all()?;
    let [unsynced, _] = pace(now, || writer.write(&file, RESERVED), || Ok(()))?;
    file.sync_data()?;
    let [synced, flush] = pace(now, || writer.write(&file, RESERVED), || file.sync_data())?;
    let durable = open(path, flags | OFlags::DSYNC)?;
    let [dsync, _] = pace(now, || writer.write(&durable, RESERVED), || Ok(()))?;
    Ok(SyncTest {
        direct,
        unsynced,
        synced,
        flush,
        dsync,
    })
}

struct Writer {
    buffer: Aligned,
    seed: u64,
}

impl Writer {
    /// A block that is never the same: nothing may be left out because it is there already, or compressed away.
    fn write(&mut self, file: &File, offset: u64) -> io::Result<()> {
        for word in self.buffer.bytes().chunks_exact_mut(8) {
            word.copy_from_slice(&random(&mut self.seed).to_le_bytes());
        }
        file.write_all_at(self.buffer.bytes(), offset)
    }
}

/// Both parts of a request, again and again: the time of both together, and of the second alone.
fn pace(
    now: Now<'_>,
    mut first: impl FnMut() -> io::Result<()>,
    second: impl Fn() -> io::Result<()>,
) -> io::Result<[Pace; 2]> {
    let mut whole = Vec::new();
    let mut tail = Vec::new();
    let began = now();
    loop {
        let from = now();
        first()?;
        let between = now();
        second()?;
        let until = now();
        whole.push(until.saturating_sub(from));
        tail.push(until.saturating_sub(between));
        let enough = whole.len() >= MOST || until.saturating_sub(began) >= LONGEST;
        if enough && whole.len() >= FEWEST {
            break;
        }
    }
    let requests = u32::try_from(whole.len()).unwrap_or(u32::MAX);
    Ok([whole, tail].map(|mut times| Pace {
        requests,
        median: median(&mut times).unwrap_or_default(),
    }))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use plimsoll_record::message::doctor::WriteFault;

    use super::*;

    #[test]
    fn the_time_of_both_parts_is_taken_and_the_end_comes() {
        let at = Cell::new(0);
        let now = || Nanos::from_millis(at.get());
        let takes = |ms: u64| at.set(at.get() + ms);
        let [both, second] = pace(
            &now,
            || {
                takes(3);
                Ok(())
            },
            || {
                takes(7);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(
            (both.requests, both.median, second.median),
            (100, Nanos::from_millis(10), Nanos::from_millis(7))
        );
        assert_eq!(both.per_second(), 100.0);
        let [slow, _] = pace(
            &now,
            || {
                takes(5_000);
                Ok(())
            },
            || Ok(()),
        )
        .unwrap();
        assert_eq!(slow.requests, 5, "as few as mean something");
    }

    #[test]
    fn a_directory_is_as_it_was_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let ticks = Cell::new(0);
        // Each reading of the clock is 10 ms later.
        let now = || {
            ticks.set(ticks.get() + 10);
            Nanos::from_millis(ticks.get())
        };
        let SyncOutcome::Tested(test) = test(dir.path(), &now, 1) else {
            panic!("it can be written to")
        };
        assert!(
            [test.unsynced, test.synced, test.dsync]
                .iter()
                .all(|pace| pace.requests >= 5),
            "{test:?}"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_nothing_can_be_made_nothing_is_tested() {
        let outcome = test(Path::new("/proc"), &|| Nanos::ZERO, 1);
        let SyncOutcome::Untested(DoctorFinding::FlushTestFailed {
            directory, cause, ..
        }) = outcome
        else {
            panic!("{outcome:?}")
        };
        assert_eq!(
            (directory.as_str(), cause),
            ("/proc", WriteFault::NotPermitted)
        );
    }

    #[test]
    fn faults_follow_from_the_error() {
        let of = |errno: Errno| write_fault(&io::Error::from(errno));
        assert_eq!(of(Errno::NOSPC), WriteFault::NoSpace);
        assert_eq!(of(Errno::ROFS), WriteFault::ReadOnly);
        assert_eq!(of(Errno::ACCESS), WriteFault::NotPermitted);
        assert_eq!(of(Errno::IO), WriteFault::Other);
    }
}
