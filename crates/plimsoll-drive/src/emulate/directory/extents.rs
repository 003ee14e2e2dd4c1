//! Where on the drive the parts of files lie, so that a disk's head has somewhere to go.
//!
//! Each MiB of a file gets the next free MiB of the drive when it is first written, as a filesystem that allocates in
//! large pieces does. A file written in one go lies in one piece; files that grow side by side lie in turns. Freed
//! pieces are used again, lowest first. Space is counted in pages of 4 KiB, as filesystems do.

use std::collections::{BTreeSet, HashMap};

pub const EXTENT: u64 = 1 << 20;
const PAGE: u64 = 4096;

#[derive(Debug, Clone, Copy)]
struct Extent {
    /// Counted in extents from the start of the drive.
    at: u64,
    used: Pages,
}

/// One bit for each page of an extent.
#[derive(Debug, Clone, Copy, Default)]
struct Pages([u64; (EXTENT / PAGE / 64) as usize]);

impl Pages {
    /// Of the extent with this number: pages that lie between two of the file.
    fn between(index: u64, from: u64, to: u64) -> Self {
        let first = index * (EXTENT / PAGE);
        Self::below(to.saturating_sub(first)).without(Self::below(from.saturating_sub(first)))
    }

    /// The first pages of an extent, so many.
    fn below(pages: u64) -> Self {
        Self(std::array::from_fn(|word| {
            match pages.saturating_sub(word as u64 * 64) {
                64.. => u64::MAX,
                bits => (1 << bits) - 1,
            }
        }))
    }

    fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    fn bytes(self) -> u64 {
        u64::from(self.0.iter().map(|word| word.count_ones()).sum::<u32>()) * PAGE
    }
}

#[derive(Debug)]
pub struct Extents {
    of: HashMap<u64, HashMap<u64, Extent>>,
    free: BTreeSet<u64>,
    next: u64,
    /// Extents on the drive.
    all: u64,
    used: u64,
    limit: u64,
}

/// There is no room.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Extents {
    /// At most `limit` bytes on a drive of `capacity`.
    pub fn new(capacity: u64, limit: u64) -> Self {
        let all = (capacity / EXTENT).max(1);
        Self {
            of: HashMap::new(),
            free: BTreeSet::new(),
            next: 0,
            all,
            used: 0,
            limit: limit.min(capacity),
        }
    }

    /// Bytes in use.
    pub fn free_bytes(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    /// Position on the drive; none where nothing was written.
    pub fn find(&self, node: u64, offset: u64) -> Option<u64> {
        let extent = self.of.get(&node)?.get(&(offset / EXTENT))?;
        Some(extent.at * EXTENT + offset % EXTENT)
    }

    /// Position on the drive of a write. One that goes on into the next piece is timed as if that followed.
    pub fn write(&mut self, node: u64, offset: u64, len: u64) -> Result<u64, Full> {
        let end = offset.saturating_add(len.max(1));
        let indexes = offset / EXTENT..=(end - 1) / EXTENT;
        let first_page = offset / PAGE;
        let end_page = end.div_ceil(PAGE);
        // All or nothing: who is refused has used nothing.
        let mut more = 0;
        for index in indexes.clone() {
            let used = self
                .known(node, index)
                .map_or_else(Pages::default, |extent| extent.used);
            more += Pages::between(index, first_page, end_page)
                .without(used)
                .bytes();
            if self.used + more > self.limit {
                return Err(Full);
            }
        }
        self.used += more;
        let mut position = None;
        for index in indexes {
            let written = Pages::between(index, first_page, end_page);
            let extent = match self.known(node, index) {
                Some(extent) => Extent {
                    at: extent.at,
                    used: extent.used.with(written),
                },
                None => Extent {
                    at: self.give_out(),
                    used: written,
                },
            };
            self.of.entry(node).or_default().insert(index, extent);
            position = position.or(Some(extent.at * EXTENT + offset % EXTENT));
        }
        Ok(position.unwrap_or_default())
    }

    fn known(&self, node: u64, index: u64) -> Option<Extent> {
        self.of.get(&node)?.get(&index).copied()
    }

    /// Many small files can have more pieces than the drive; then positions repeat.
    fn give_out(&mut self) -> u64 {
        if let Some(freed) = self.free.pop_first() {
            return freed;
        }
        self.next += 1;
        (self.next - 1) % self.all
    }

    /// Everything from `size` on is gone.
    pub fn truncate(&mut self, node: u64, size: u64) {
        self.give_back(node, size.div_ceil(PAGE), u64::MAX / PAGE);
    }

    /// A range is gone: the pages that lie in it wholly.
    pub fn punch(&mut self, node: u64, offset: u64, len: u64) {
        self.give_back(
            node,
            offset.div_ceil(PAGE),
            offset.saturating_add(len) / PAGE,
        );
    }

    fn give_back(&mut self, node: u64, from: u64, to: u64) {
        let Some(file) = self.of.get_mut(&node) else {
            return;
        };
        if from >= to {
            return;
        }
        let first = from * PAGE / EXTENT;
        let last = (to - 1) / (EXTENT / PAGE);
        let touched: Vec<u64> = match last - first < file.len() as u64 {
            true => (first..=last).collect(),
            false => file
                .keys()
                .copied()
                .filter(|index| (first..=last).contains(index))
                .collect(),
        };
        for index in touched {
            let Some(extent) = file.get_mut(&index) else {
                continue;
            };
            let left = extent.used.without(Pages::between(index, from, to));
            self.used -= extent.used.bytes() - left.bytes();
            extent.used = left;
            if left.bytes() == 0 {
                self.free.insert(extent.at);
                file.remove(&index);
            }
        }
        if file.is_empty() {
            self.of.remove(&node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_written_in_one_go_lies_in_one_piece() {
        let mut extents = Extents::new(100 * EXTENT, u64::MAX);
        assert_eq!(extents.write(7, 0, EXTENT), Ok(0));
        assert_eq!(extents.write(7, EXTENT, EXTENT), Ok(EXTENT));
        assert_eq!(extents.write(8, 5 * EXTENT + 9, 1), Ok(2 * EXTENT + 9));
        assert_eq!(extents.write(7, 2 * EXTENT, 1), Ok(3 * EXTENT));
        assert_eq!(extents.find(7, EXTENT + 3), Some(EXTENT + 3));
        assert_eq!(extents.find(8, 0), None);
        extents.truncate(7, EXTENT / 2);
        assert_eq!(
            (extents.find(7, 0), extents.find(7, EXTENT)),
            (Some(0), None)
        );
        assert_eq!(
            extents.write(9, 0, 1),
            Ok(EXTENT),
            "a freed piece is used again"
        );
        assert_eq!(extents.used, EXTENT / 2 + 2 * PAGE);
    }

    #[test]
    fn full_is_full() {
        let mut extents = Extents::new(EXTENT, EXTENT);
        assert_eq!(extents.write(1, 0, EXTENT / 2), Ok(0));
        assert_eq!(extents.write(1, 0, EXTENT / 2), Ok(0), "written over");
        assert_eq!(extents.write(2, 0, EXTENT / 2), Ok(0), "positions repeat");
        assert_eq!(extents.write(3, 0, 1), Err(Full));
        extents.truncate(2, 0);
        assert_eq!(extents.write(3, 0, 1), Ok(0));
        assert_eq!(
            (extents.write(4, 0, 1 << 60), extents.used),
            (Err(Full), EXTENT / 2 + PAGE),
            "nothing of it"
        );
    }

    #[test]
    fn what_is_punched_comes_back() {
        let mut extents = Extents::new(4 * EXTENT, 2 * EXTENT);
        assert_eq!(extents.write(1, 0, 2 * EXTENT), Ok(0));
        assert_eq!(extents.write(2, 0, 1), Err(Full));
        extents.punch(1, 1, 2 * PAGE - 1);
        assert_eq!(extents.used, 2 * EXTENT - PAGE, "half a page stays");
        extents.punch(1, EXTENT / 2, EXTENT);
        extents.punch(1, 0, u64::MAX);
        assert_eq!(
            (extents.used, extents.find(1, 0), extents.of.len()),
            (0, None, 0)
        );
    }

    proptest! {
        #[test]
        fn no_two_files_share_a_piece(steps in prop::collection::vec((0u64..4, 0u64..800, 1u64..400, 0..3), 0..60)) {
            let mut extents = Extents::new(1000 * EXTENT, u64::MAX);
            let mut pages = std::collections::BTreeSet::new();
            for (node, page, len, what) in steps {
                match what {
                    0 => extents.truncate(node, page * PAGE),
                    1 => extents.punch(node, page * PAGE, len * PAGE),
                    _ => prop_assert!(extents.write(node, page * PAGE, len * PAGE).is_ok()),
                }
                match what {
                    0 => pages.retain(|(of, at)| *of != node || *at < page),
                    1 => pages.retain(|(of, at)| *of != node || !(page..page + len).contains(at)),
                    _ => pages.extend((page..page + len).map(|at| (node, at))),
                }
                prop_assert_eq!(extents.used, pages.len() as u64 * PAGE);
                let mut pieces: Vec<u64> = extents.of.values().flat_map(|file| file.values().map(|e| e.at)).collect();
                let count = pieces.len();
                pieces.sort_unstable();
                pieces.dedup();
                prop_assert_eq!(pieces.len(), count);
                prop_assert!(pieces.iter().all(|at| !extents.free.contains(at)));
            }
        }
    }
}
