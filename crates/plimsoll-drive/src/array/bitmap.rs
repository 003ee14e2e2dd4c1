//! The write-intent bitmap: before a region is written to, its bit is set on every member, or in a file elsewhere.
//!
//! As md (md-bitmap.c, `md_super_write`): setting bits is a flush, a write and a flush of each member, or a write of the
//! file's block (`write_file_page`), one at a time; writes that come meanwhile share the next one. A bit is cleared two to
//! three times the delay of 5 s after the last write to its region; that the clearing is written, too, is left out.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use plimsoll_plan::units::Nanos;

use super::batches::Batches;
use crate::model::{Op, RequestId};
use crate::network::slowed;

/// 2.5 times the delay.
const CLEARED_AFTER: Nanos = Nanos::from_millis(12_500);

/// Which regions have a bit, and the writes that wait for one.
#[derive(Debug, Clone)]
pub struct Bitmap {
    /// Bytes of a member that one bit stands for.
    region: u64,
    cleared_after: Nanos,
    /// When each was last written to.
    written: HashMap<u64, Nanos>,
    writes: Batches<WaitingWrite>,
}

/// A host's write that waits for bits.
#[derive(Debug, Clone, Copy)]
pub struct WaitingWrite {
    pub host: RequestId,
    pub op: Op,
    pub regions: FirstAndLast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstAndLast {
    first: u64,
    last: u64,
}

impl FirstAndLast {
    fn all(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }
}

impl Bitmap {
    /// Of drives all of whose times are so many times as long.
    pub fn new(region: u64, slower: f64) -> Self {
        Self {
            region: region.max(1),
            cleared_after: slowed(CLEARED_AFTER, slower),
            written: HashMap::new(),
            writes: Batches::default(),
        }
    }

    /// Of bytes `from` to `to` of the members.
    pub fn regions(&self, from: u64, to: u64) -> FirstAndLast {
        FirstAndLast {
            first: from / self.region,
            last: to.saturating_sub(1).max(from) / self.region,
        }
    }

    /// Whether all bits are set. They stay so while they are written to.
    pub fn is_set(&mut self, now: Nanos, regions: FirstAndLast) -> bool {
        let cleared_after = self.cleared_after;
        let is_set = |written: &HashMap<u64, Nanos>, region: u64| {
            let last = written.get(&region);
            last.is_some_and(|last| now.saturating_sub(*last) < cleared_after)
        };
        let all = regions.all().all(|region| is_set(&self.written, region));
        if all {
            self.set(now, regions);
        }
        all
    }

    fn set(&mut self, now: Nanos, regions: FirstAndLast) {
        self.written
            .extend(regions.all().map(|region| (region, now)));
    }

    pub fn wait(&mut self, write: WaitingWrite) {
        self.writes.wait(write);
    }

    /// Begins to write the bits that are waited for. False while others are written, or none is waited for.
    pub fn begin(&mut self) -> bool {
        self.writes.begin()
    }

    /// The bits are set: the writes that waited for them.
    pub fn end(&mut self, now: Nanos) -> Vec<WaitingWrite> {
        let writes = self.writes.end();
        for write in &writes {
            self.set(now, write.regions);
        }
        writes
    }

    pub fn clear_waiting(&mut self) {
        self.writes.clear();
    }
}

/// What setting bits consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitmapStep {
    FlushBefore,
    Write,
    /// The flush after it, or the only write of an external one.
    Last,
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::drive::DriveOp;

    #[test]
    fn bits_are_set_together_and_cleared_when_nothing_is_written() {
        let mut bitmap = Bitmap::new(1 << 20, 1.0);
        let write = |bitmap: &Bitmap, offset| WaitingWrite {
            host: RequestId::new(0),
            op: Op {
                kind: DriveOp::Write,
                offset,
                len: 4096,
            },
            regions: bitmap.regions(offset, offset + 4096),
        };
        let (one, two) = (write(&bitmap, 0), write(&bitmap, 5 << 20));
        assert!(!bitmap.is_set(Nanos::ZERO, one.regions));
        bitmap.wait(one);
        assert!(bitmap.begin());
        bitmap.wait(two);
        bitmap.wait(one);
        assert!(!bitmap.begin(), "one at a time");
        assert_eq!(bitmap.end(Nanos(5)).len(), 1);
        assert!(bitmap.begin());
        assert_eq!(bitmap.end(Nanos(9)).len(), 2);
        assert!(bitmap.is_set(Nanos::from_secs(12), one.regions));
        // Written to at 12 s.
        assert!(bitmap.is_set(Nanos::from_secs(24), one.regions));
        assert!(!bitmap.is_set(Nanos::from_secs(24), two.regions));
        assert_eq!(bitmap.regions(1 << 20, 3 << 20).all(), 1..=2);
    }
}
