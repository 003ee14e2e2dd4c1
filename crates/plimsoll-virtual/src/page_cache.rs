//! A page cache of a given size: which pages of files are in memory, and which of them are not written yet.
//!
//! The least recently used page is evicted (Linux keeps two lists or generations of pages, which come close to that for loads
//! without large scans).

use lru::LruCache;
use plimsoll_plan::units::Bytes;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// A file, as the filesystem numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A page of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    pub file: FileId,
    /// Offset ÷ [`PAGE`].
    pub number: u64,
}

/// Pages in memory.
#[derive(Debug)]
pub struct PageCache {
    /// The value: not written to the drive yet.
    pages: LruCache<PageKey, bool>,
    capacity: Option<usize>,
}

impl PageCache {
    /// `None`: enough for everything.
    pub fn new(size: Option<Bytes>) -> Self {
        let capacity = size.map(|size| (size.0 / PAGE).max(1) as usize);
        Self {
            pages: LruCache::unbounded(),
            capacity,
        }
    }

    /// Pages in memory.
    pub fn used(&self) -> usize {
        self.pages.len()
    }

    /// Uses a page; whether it is in memory.
    pub fn touch(&mut self, page: PageKey) -> bool {
        self.pages.get(&page).is_some()
    }

    /// Brings a page into memory, as the one used last. Returns a page that was evicted for it and has to be written first.
    pub fn insert(&mut self, page: PageKey, is_dirty: bool) -> Option<PageKey> {
        let was_dirty = self.pages.peek(&page).copied().unwrap_or(false);
        self.pages.put(page, is_dirty || was_dirty);
        if self.capacity.is_none_or(|most| self.pages.len() <= most) {
            return None;
        }
        let (key, is_dirty) = self.pages.pop_lru()?;
        is_dirty.then_some(key)
    }

    pub fn is_dirty(&self, page: PageKey) -> bool {
        self.pages.peek(&page).copied().unwrap_or(false)
    }

    /// It is on the drive now.
    pub fn clean(&mut self, page: PageKey) {
        if let Some(is_dirty) = self.pages.peek_mut(&page) {
            *is_dirty = false;
        }
    }

    /// It is in no file any more.
    pub fn forget(&mut self, page: PageKey) {
        self.pages.pop(&page);
    }

    /// Nothing is in memory any more.
    pub fn clear(&mut self) {
        self.pages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(number: u64) -> PageKey {
        let file = FileId(0);
        PageKey { file, number }
    }

    #[test]
    fn the_least_recently_used_page_is_evicted() {
        let mut cache = PageCache::new(Some(Bytes(2 * PAGE)));
        assert_eq!(cache.insert(page(1), false), None);
        assert_eq!(cache.insert(page(2), true), None);
        assert!(cache.touch(page(1)));
        assert_eq!(
            cache.insert(page(3), false),
            Some(page(2)),
            "it was not written"
        );
        assert!(!cache.touch(page(2)));
        assert!(cache.touch(page(1)));
        assert_eq!(
            cache.insert(page(4), false),
            None,
            "a clean page is dropped"
        );
    }

    #[test]
    fn a_page_stays_dirty_until_it_is_written() {
        let mut cache = PageCache::new(None);
        cache.insert(page(1), true);
        cache.insert(page(1), false);
        assert!(cache.is_dirty(page(1)));
        cache.clean(page(1));
        assert!(!cache.is_dirty(page(1)));
    }

    proptest! {
        /// As many as fit, and those used last, whatever is done.
        #[test]
        fn what_was_used_last_is_in_memory(
            most in 1usize..9,
            used in prop::collection::vec((0u64..12, any::<bool>()), 0..200),
        ) {
            let mut cache = PageCache::new(Some(Bytes(most as u64 * PAGE)));
            let mut order: Vec<u64> = Vec::new();
            for (number, is_dirty) in used {
                if !cache.touch(page(number)) || is_dirty {
                    cache.insert(page(number), is_dirty);
                }
                order.retain(|own| *own != number);
                order.push(number);
                let kept = &order[order.len().saturating_sub(most)..];
                prop_assert_eq!(cache.used(), kept.len());
                for number in 0..12 {
                    let is_kept = kept.contains(&number);
                    prop_assert_eq!(cache.pages.contains(&page(number)), is_kept);
                }
            }
        }
    }
}
