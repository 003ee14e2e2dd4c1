//! The read cache of a hybrid disk group: what was read from its disks, in lines, on its first drive.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use lru::LruCache;

use crate::model::Op;

/// vSAN fetches and drops as much as this at once (VMware, vSAN caching algorithms).
pub const CACHE_LINE: u64 = 1 << 20;

/// Always: it holds at most its size or one line. Data that are written later stay readable here, as they are on the same
/// drive: nothing was found on what vSAN does with them.
#[derive(Debug, Clone)]
pub struct ReadCache {
    /// The one that was not read for the longest time is dropped first.
    held: LruCache<CacheLine, ()>,
    on_their_way: HashSet<CacheLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheLine {
    /// Of the group's drives with data.
    pub drive: usize,
    pub number: u64,
}

impl ReadCache {
    pub fn new(bytes: u64) -> Self {
        let lines = usize::try_from(bytes / CACHE_LINE).unwrap_or(usize::MAX);
        // One that is made with its size takes memory for it at once.
        let mut held = LruCache::unbounded();
        held.resize(NonZeroUsize::new(lines).unwrap_or(NonZeroUsize::MIN));
        Self {
            held,
            on_their_way: HashSet::new(),
        }
    }

    /// Whether all that is read from a drive is here.
    pub fn read(&mut self, drive: usize, op: Op) -> bool {
        let mut lines = lines_of(drive, op);
        lines.all(|line| self.held.get(&line).is_some())
    }

    /// The lines of a read that have to be fetched: they are on their way from now on.
    pub fn fetch(&mut self, drive: usize, op: Op) -> Vec<CacheLine> {
        let missing = lines_of(drive, op).filter(|line| !self.held.contains(line));
        let on_their_way = &mut self.on_their_way;
        missing.filter(|line| on_their_way.insert(*line)).collect()
    }

    pub fn keep(&mut self, line: CacheLine) {
        self.on_their_way.remove(&line);
        self.held.put(line, ());
    }

    /// What is on its way will not come.
    pub fn power_cycle(&mut self) {
        self.on_their_way.clear();
    }

    pub fn clear(&mut self) {
        self.held.clear();
        self.on_their_way.clear();
    }
}

fn lines_of(drive: usize, op: Op) -> impl Iterator<Item = CacheLine> {
    let lines = op.offset / CACHE_LINE..(op.offset + op.len).div_ceil(CACHE_LINE);
    lines.map(move |number| CacheLine { drive, number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DriveOp;

    fn read(offset: u64, len: u64) -> Op {
        Op {
            kind: DriveOp::Read,
            offset,
            len,
        }
    }

    #[test]
    fn a_line_is_fetched_once_and_the_oldest_is_dropped() {
        let mut own = ReadCache::new(2 * CACHE_LINE);
        let [first, second, third] = [0, 1, 2].map(|number| CacheLine { drive: 0, number });
        assert!(!own.read(0, read(4096, 4096)));
        assert_eq!(own.fetch(0, read(4096, 4096)), [first]);
        assert_eq!(own.fetch(0, read(0, CACHE_LINE + 1)), [second]);
        own.keep(first);
        own.keep(second);
        assert!(own.read(0, read(0, 2 * CACHE_LINE)));
        assert!(!own.read(1, read(0, 1)), "another drive");
        assert!(own.read(0, read(8192, 512)));
        assert_eq!(own.fetch(0, read(2 * CACHE_LINE, 1)), [third]);
        own.keep(third);
        assert!(own.read(0, read(0, 1)) && !own.read(0, read(CACHE_LINE, 1)));
        assert_eq!(own.fetch(0, read(CACHE_LINE, 1)), [second]);
        own.power_cycle();
        assert_eq!(own.fetch(0, read(CACHE_LINE, 1)), [second]);
        own.clear();
        assert!(!own.read(0, read(0, 1)));
    }
}
