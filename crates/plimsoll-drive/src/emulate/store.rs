//! Where an emulated block device's data really are: a sparse file, in memory (memfd_create(2)) or on a disk.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_plan::units::Bytes;
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::protocol::Backing;

/// Below this a write of zeroes is written as it is.
const PAGE: u64 = 4096;

#[derive(Debug)]
pub struct Store {
    file: OwnedFd,
    size: u64,
    limit: u64,
    /// What may be written before the space in use has to be looked up again.
    budget: AtomicU64,
}

impl Store {
    pub fn in_memory(size: Bytes, limit: Bytes) -> rustix::io::Result<Self> {
        Self::over(
            rustix::fs::memfd_create("plimsoll-drive", MemfdFlags::CLOEXEC)?,
            size,
            limit,
        )
    }

    /// A new file, which must not exist.
    pub fn in_file(path: &Path, size: Bytes, limit: Bytes) -> rustix::io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Self::over(
            rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?,
            size,
            limit,
        )
    }

    fn over(file: OwnedFd, size: Bytes, limit: Bytes) -> rustix::io::Result<Self> {
        rustix::fs::ftruncate(&file, size.0)?;
        Ok(Self {
            file,
            size: size.0,
            limit: limit.0,
            budget: AtomicU64::new(0),
        })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Fills `space` from `offset`; returns how much of it lies within the device.
    pub fn read(&self, offset: u64, space: &mut [u8]) -> rustix::io::Result<usize> {
        let inside = self.size.saturating_sub(offset).min(space.len() as u64) as usize;
        let mut done = 0;
        while done < inside {
            match rustix::io::pread(&self.file, &mut space[done..inside], offset + done as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(n) => done += n,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(inside)
    }

    /// ENOSPC when the limit would be passed, or beyond the end of the device. Whole pages of zeroes take no space.
    pub fn write(&self, offset: u64, data: &[u8]) -> rustix::io::Result<()> {
        let len = data.len() as u64;
        if offset.checked_add(len).is_none_or(|end| end > self.size) {
            return Err(Errno::NOSPC);
        }
        if offset.is_multiple_of(PAGE) && len.is_multiple_of(PAGE) && is_zero(data) {
            return self.punch(offset, len);
        }
        self.spend(offset, len)?;
        self.put(offset, data)
    }

    /// Without a limit: for what a power cut brings back.
    pub fn put(&self, offset: u64, data: &[u8]) -> rustix::io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            match rustix::io::pwrite(&self.file, &data[done..], offset + done as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(n) => done += n,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads as zeroes from now on, and takes no space.
    pub fn punch(&self, offset: u64, len: u64) -> rustix::io::Result<()> {
        let len = len.min(self.size.saturating_sub(offset));
        if len == 0 {
            return Ok(());
        }
        rustix::fs::fallocate(
            &self.file,
            FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            offset,
            len,
        )
    }

    /// How much of the range takes no space yet.
    fn holes(&self, offset: u64, len: u64) -> rustix::io::Result<u64> {
        let mut at = offset;
        let end = offset + len;
        let mut found = 0;
        while at < end {
            let data = match rustix::fs::seek(&self.file, SeekFrom::Data(at)) {
                Ok(data) => data.min(end),
                Err(Errno::NXIO) => end,
                Err(error) => return Err(error),
            };
            found += data - at;
            at = match data < end {
                true => rustix::fs::seek(&self.file, SeekFrom::Hole(data))?,
                false => end,
            };
        }
        Ok(found)
    }

    /// Nothing was ever written there. A page half used counts as written.
    pub fn is_hole(&self, offset: u64, len: u64) -> bool {
        match rustix::fs::seek(&self.file, SeekFrom::Data(offset)) {
            Ok(data) => data >= offset + len,
            Err(Errno::NXIO) => true,
            Err(_) => false,
        }
    }

    pub fn used(&self) -> rustix::io::Result<Bytes> {
        Ok(Bytes(rustix::fs::fstat(&self.file)?.st_blocks as u64 * 512))
    }

    /// Asks for the space in use only when half of what was free then may be written by now. What is written over takes
    /// none; that is measured when the budget, which counts it, is used up.
    fn spend(&self, offset: u64, len: u64) -> rustix::io::Result<()> {
        let budget = self.budget.load(Ordering::Relaxed);
        if let Some(left) = budget.checked_sub(len) {
            self.budget.store(left, Ordering::Relaxed);
            return Ok(());
        }
        let free = self.limit.saturating_sub(self.used()?.0);
        let more = self.holes(offset, len)?;
        if more > free {
            return Err(Errno::NOSPC);
        }
        self.budget.store((free - more) / 2, Ordering::Relaxed);
        Ok(())
    }
}

/// What a backing store may hold by default: half of the memory that is available, or all but a twentieth of the
/// free space of the directory's filesystem. Nothing where that cannot be found out, which fails at the first write.
pub fn default_limit(backing: Backing, dir: &Path) -> Bytes {
    match backing {
        Backing::Memory => {
            let available = std::fs::read_to_string("/proc/meminfo")
                .ok()
                .and_then(|text| parse_available(&text));
            Bytes(available.unwrap_or_default().0 / 2)
        }
        Backing::File => {
            Bytes(rustix::fs::statvfs(dir).map_or(0, |fs| fs.f_bavail * fs.f_frsize / 20 * 19))
        }
    }
}

/// `MemAvailable:   12 kB` (proc(5)).
fn parse_available(text: &str) -> Option<Bytes> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
        .map(Bytes)
}

pub fn is_zero(data: &[u8]) -> bool {
    // Most data shows at once that it is none.
    data.chunks(256)
        .all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: usize = 64 << 10;

    fn small() -> Store {
        Store::in_memory(Bytes(SIZE as u64), Bytes(SIZE as u64)).unwrap()
    }

    #[test]
    fn the_limit_holds_and_zeroes_are_free() {
        let store = Store::in_memory(Bytes::mib(64), Bytes::mib(1)).unwrap();
        let (data, zeroes) = (vec![1; 64 << 10], vec![0; 1 << 20]);
        for n in 0..32 {
            store.write(n << 20, &zeroes).unwrap();
        }
        assert_eq!(store.used().unwrap(), Bytes(0));
        let fits = (0..64)
            .take_while(|n| store.write(n << 20, &data).is_ok())
            .count();
        assert_eq!(fits, 16);
        assert_eq!(store.write(40 << 20, &data), Err(Errno::NOSPC));
        for n in [0, 15, 0, 15] {
            store.write(n << 20, &data).unwrap();
        }
        assert_eq!(
            store.write((15 << 20) + (32 << 10), &data),
            Err(Errno::NOSPC),
            "half of it is new"
        );
        store
            .write((15 << 20) + (32 << 10), &data[..32 << 10])
            .unwrap();
        store.punch(0, 1 << 20).unwrap();
        store.write(40 << 20, &data).unwrap();
        assert_eq!(store.write((64 << 20) - 1, &[1, 1]), Err(Errno::NOSPC));
    }

    #[test]
    fn a_file_is_sparse_and_new() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        let store = Store::in_file(&path, Bytes(1 << 40), Bytes::mib(10)).unwrap();
        store.write(1 << 39, &[9; 512]).unwrap();
        let mut back = [0; 1024];
        assert_eq!(store.read((1 << 39) - 512, &mut back).unwrap(), 1024);
        assert!(back[..512] == [0; 512] && back[512..] == [9; 512]);
        assert!(store.used().unwrap() <= Bytes(64 << 10));
        assert!(Store::in_file(&path, Bytes(1), Bytes(1)).is_err());
    }

    #[derive(Debug, Clone)]
    enum Step {
        Write(usize, Vec<u8>),
        Punch(usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let data = prop_oneof![
            prop::collection::vec(any::<u8>(), 1..3000),
            (1usize..5).prop_map(|pages| vec![0; pages * 4096]),
        ];
        prop_oneof![
            (0usize..16, 0usize..2, data)
                .prop_map(|(page, odd, data)| Step::Write(page * 4096 + odd * 512, data)),
            (0usize..SIZE, 0usize..SIZE).prop_map(|(at, len)| Step::Punch(at, len)),
        ]
    }

    #[test]
    fn default_limits() {
        assert_eq!(
            parse_available("MemFree: 1 kB\nMemAvailable:\t 12 kB\n"),
            Some(Bytes(12 << 10))
        );
        let here = tempfile::tempdir().unwrap();
        for backing in [Backing::Memory, Backing::File] {
            assert!(default_limit(backing, here.path()) > Bytes::mib(1));
        }
        assert_eq!(
            default_limit(Backing::File, Path::new("/nowhere/at/all")),
            Bytes(0)
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse_available(&text);
        }

        #[test]
        fn holds_what_was_written(steps in prop::collection::vec(step(), 0..30)) {
            let (store, mut expected) = (small(), vec![0; SIZE]);
            for step in steps {
                match step {
                    Step::Write(at, data) => match store.write(at as u64, &data) {
                        Ok(()) => expected[at..at + data.len()].copy_from_slice(&data),
                        Err(error) => prop_assert!(error == Errno::NOSPC && at + data.len() > SIZE),
                    },
                    Step::Punch(at, len) => {
                        store.punch(at as u64, len as u64).unwrap();
                        expected[at..(at + len).min(SIZE)].fill(0);
                    }
                }
            }
            let mut back = vec![1; SIZE + 100];
            prop_assert_eq!(store.read(0, &mut back).unwrap(), SIZE);
            prop_assert!(back[..SIZE] == expected[..]);
        }
    }
}
