//! Which requests a filesystem sends to the drive for reads, writes and syncs of files, as ext4 does with `data=ordered` and
//! barriers.
//!
//! A sync writes the file's dirty pages in requests of up to 1 MiB. Where the inode has changed since the journal's last
//! commit, 8 KiB of journal follow, a flush, the commit record of 4 KiB and a flush; otherwise only a flush (`ext4_sync_file`,
//! `jbd2_journal_commit_transaction`). A write changes the inode where the file grows, and otherwise once in a jiffy: that is
//! how exact its time of modification is (`current_time`, `CONFIG_HZ=250`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use plimsoll_drive::model::{DriveOp, Op};
use plimsoll_plan::units::{Bytes, Nanos};

use crate::page_cache::{FileId, PAGE, PageCache, PageKey};

/// From so many reads in order on a file is read ahead. Linux begins with the second; a few pages of a tree that follow each
/// other are no scan.
const SCAN: u32 = 8;
/// What is read at a time then: `read_ahead_kb` of block devices, where nobody has set it.
const READ_AHEAD: u64 = 128 << 10;

/// Bytes of a file that lie beside each other on the drive.
const CHUNK: u64 = 8 << 20;
/// The longest request. Assumed.
const LONGEST_REQUEST: u64 = 1 << 20;
/// Descriptor and an inode's block, as a run on ext4 wrote them.
const JOURNAL_WRITE: u64 = 8 << 10;
const COMMIT_RECORD: u64 = 4 << 10;
/// Nanoseconds.
const JIFFY: u64 = 4_000_000;

/// The drive is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSpace;

/// What a call makes the drive do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRequests {
    /// Requests of a stage are in flight together; the caller waits for one stage after the other.
    pub stages: Vec<Vec<Op>>,
    /// Dirty pages that were evicted: nobody waits for them.
    pub background: Vec<Op>,
    /// Whether the journal commits in them.
    pub commits: bool,
}

impl FileRequests {
    pub fn is_empty(&self) -> bool {
        self.stages.iter().all(Vec::is_empty) && self.background.is_empty()
    }

    /// All together.
    pub fn count(&self) -> usize {
        self.stages.iter().map(Vec::len).sum::<usize>() + self.background.len()
    }

    fn stage(&mut self, ops: Vec<Op>) {
        if !ops.is_empty() {
            self.stages.push(ops);
        }
    }
}

/// Files on a drive, behind a page cache.
#[derive(Debug)]
pub struct VirtualFilesystem {
    cache: PageCache,
    files: Vec<File>,
    by_name: BTreeMap<String, FileId>,
    journal: JournalArea,
    /// What is used next lies last.
    free_chunks: Vec<u64>,
    /// Entries of the directory have changed since the journal's last commit.
    directory_changed: bool,
}

/// In the middle of the drive, as mke2fs places it: on a disk each commit seeks there and back.
#[derive(Debug)]
struct JournalArea {
    start: u64,
    size: u64,
    /// Where it is written next.
    at: u64,
}

impl JournalArea {
    /// As large as mke2fs makes it (`ext2fs_default_journal_size`).
    fn of(capacity: Bytes) -> Self {
        let mib = match capacity.0 >> 20 {
            0..1_024 => 16,
            1_024..2_048 => 32,
            2_048..16_384 => 64,
            16_384..32_768 => 128,
            32_768..65_536 => 256,
            65_536..131_072 => 512,
            _ => 1_024,
        };
        Self {
            start: capacity.0 / 2 / CHUNK * CHUNK,
            size: (mib << 20).min(capacity.0 / 8 / PAGE * PAGE),
            at: 0,
        }
    }

    fn touches(&self, range: std::ops::Range<u64>) -> bool {
        range.start < self.start + self.size && self.start < range.end
    }

    fn write(&mut self, len: u64) -> Op {
        if self.at + len > self.size {
            self.at = 0;
        }
        let offset = self.start + self.at;
        self.at += len;
        Op {
            kind: DriveOp::Write,
            offset,
            len,
        }
    }
}

#[derive(Debug, Default)]
struct File {
    size: u64,
    /// Where each [`CHUNK`] of it lies on the drive.
    chunks: Vec<u64>,
    dirty: BTreeSet<u64>,
    /// Since the journal's last commit.
    inode_changed: bool,
    /// The jiffy of its time of modification.
    stamped: Option<u64>,
    /// Where the last read ended.
    read_to: u64,
    /// Reads until then of which each began where the one before ended.
    reads_in_order: u32,
}

/// Of so many bytes at an offset; none where there are none.
fn pages(offset: u64, len: u64) -> std::ops::Range<u64> {
    match len {
        0 => 0..0,
        _ => offset / PAGE..(offset + len).div_ceil(PAGE),
    }
}

impl VirtualFilesystem {
    /// On a drive of this size, with so much memory for the page cache (`None`: enough for everything).
    pub fn new(capacity: Bytes, memory: Option<Bytes>) -> Self {
        let journal = JournalArea::of(capacity);
        let chunks = (0..capacity.0 / CHUNK).map(|number| number * CHUNK);
        Self {
            cache: PageCache::new(memory),
            files: Vec::new(),
            by_name: BTreeMap::new(),
            free_chunks: chunks
                .filter(|at| !journal.touches(*at..at + CHUNK))
                .rev()
                .collect(),
            journal,
            directory_changed: false,
        }
    }

    /// A file that is `size` long. What it holds already was written before, and is in memory as far as that goes.
    pub fn open(&mut self, name: &str, size: u64) -> Result<FileId, NoSpace> {
        let known = self.by_name.get(name).copied();
        let id = known.unwrap_or_else(|| {
            let id = FileId(self.files.len() as u32);
            self.files.push(File::default());
            self.by_name.insert(name.to_owned(), id);
            self.directory_changed = true;
            id
        });
        let known_size = self.file(id).size;
        if known_size > size {
            // It was made shorter outside of virtual time.
            self.truncate(id, size)?;
        } else if known_size < size {
            self.allocate(id, size)?;
            self.file_mut(id).size = size;
            for number in pages(known_size, size - known_size) {
                self.cache.insert(PageKey { file: id, number }, false);
            }
        }
        Ok(id)
    }

    fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    fn file_mut(&mut self, id: FileId) -> &mut File {
        &mut self.files[id.0 as usize]
    }

    /// Blocks for a file up to `size`; all of them, or none.
    fn allocate(&mut self, id: FileId, size: u64) -> Result<(), NoSpace> {
        let has = self.file(id).chunks.len() as u64;
        let needed = size.div_ceil(CHUNK).saturating_sub(has);
        let left = self.free_chunks.len().checked_sub(needed as usize);
        let taken = self.free_chunks.split_off(left.ok_or(NoSpace)?);
        self.file_mut(id).chunks.extend(taken.into_iter().rev());
        Ok(())
    }

    /// Where a page lies on the drive.
    fn place(&self, page: PageKey) -> u64 {
        let offset = page.number * PAGE;
        self.file(page.file).chunks[(offset / CHUNK) as usize] + offset % CHUNK
    }

    /// Requests for pages that lie in this order; those beside each other are one.
    fn requests(&self, kind: DriveOp, pages: impl Iterator<Item = PageKey>) -> Vec<Op> {
        let mut ops: Vec<Op> = Vec::new();
        for page in pages {
            let offset = self.place(page);
            match ops.last_mut() {
                Some(last) if last.offset + last.len == offset && last.len < LONGEST_REQUEST => {
                    last.len += PAGE;
                }
                _ => ops.push(Op {
                    kind,
                    offset,
                    len: PAGE,
                }),
            }
        }
        ops
    }

    /// Brings a page into memory; an evicted dirty page is written.
    fn insert(&mut self, page: PageKey, is_dirty: bool, requests: &mut FileRequests) {
        if is_dirty {
            self.file_mut(page.file).dirty.insert(page.number);
        }
        if let Some(evicted) = self.cache.insert(page, is_dirty) {
            let written = self.requests(DriveOp::Write, std::iter::once(evicted));
            requests.background.extend(written);
            self.file_mut(evicted.file).dirty.remove(&evicted.number);
        }
    }

    /// Reads so many bytes at an offset; beyond the end there is nothing to read.
    pub fn read(&mut self, id: FileId, offset: u64, len: u64) -> FileRequests {
        let mut requests = FileRequests::default();
        let left = self.file(id).size.saturating_sub(offset);
        let len = left.min(len);
        let mut missing = self.missing(id, pages(offset, len));
        if self.is_scan(id, offset, len) && !missing.is_empty() {
            missing = self.missing(id, pages(offset, left.min(READ_AHEAD)));
        }
        requests.stage(self.requests(DriveOp::Read, missing.iter().copied()));
        for page in missing {
            self.insert(page, false, &mut requests);
        }
        requests
    }

    /// Whether a read goes on with a scan of the file.
    fn is_scan(&mut self, id: FileId, offset: u64, len: u64) -> bool {
        let file = self.file_mut(id);
        file.reads_in_order = match offset == file.read_to {
            true => file.reads_in_order.saturating_add(1),
            false => 0,
        };
        file.read_to = offset + len;
        file.reads_in_order >= SCAN
    }

    fn missing(&mut self, file: FileId, pages: std::ops::Range<u64>) -> Vec<PageKey> {
        pages
            .map(|number| PageKey { file, number })
            .filter(|page| !self.cache.touch(*page))
            .collect()
    }

    /// Writes so many bytes at an offset into memory. A page that is written in part is read first, where it holds data.
    pub fn write(
        &mut self,
        id: FileId,
        offset: u64,
        len: u64,
        now: Nanos,
    ) -> Result<FileRequests, NoSpace> {
        let mut requests = FileRequests::default();
        if len == 0 {
            return Ok(requests);
        }
        let end = offset + len;
        self.allocate(id, end)?;
        let size = self.file(id).size;
        let edges = [
            (offset, !offset.is_multiple_of(PAGE)),
            (end, !end.is_multiple_of(PAGE)),
        ];
        let mut partial = Vec::new();
        for (edge, in_part) in edges {
            let number = edge / PAGE;
            // Of the last page of the file only what is there already counts.
            if in_part && number * PAGE < size && !(edge == end && end >= size) {
                partial.push(number);
            }
        }
        partial.dedup();
        let missing: Vec<PageKey> = partial
            .into_iter()
            .flat_map(|number| self.missing(id, number..number + 1))
            .collect();
        requests.stage(self.requests(DriveOp::Read, missing.into_iter()));
        for number in pages(offset, len) {
            self.insert(PageKey { file: id, number }, true, &mut requests);
        }
        let jiffy = now.0 / JIFFY;
        let file = self.file_mut(id);
        file.inode_changed |= end > size || file.stamped != Some(jiffy);
        file.stamped = Some(jiffy);
        file.size = size.max(end);
        Ok(requests)
    }

    /// Makes a file this long.
    pub fn truncate(&mut self, id: FileId, size: u64) -> Result<(), NoSpace> {
        self.allocate(id, size)?;
        let before = std::mem::replace(&mut self.file_mut(id).size, size);
        if before != size {
            self.file_mut(id).inode_changed = true;
        }
        for number in size.div_ceil(PAGE)..before.div_ceil(PAGE) {
            self.cache.forget(PageKey { file: id, number });
            self.file_mut(id).dirty.remove(&number);
        }
        let kept = size.div_ceil(CHUNK) as usize;
        let freed = self.file_mut(id).chunks.split_off(kept);
        self.free_chunks.extend(freed.into_iter().rev());
        Ok(())
    }

    /// Makes a file durable (fsync(2)).
    pub fn sync(&mut self, id: FileId) -> FileRequests {
        let mut requests = FileRequests::default();
        let dirty = std::mem::take(&mut self.file_mut(id).dirty);
        let pages = || {
            dirty.iter().map(|number| PageKey {
                file: id,
                number: *number,
            })
        };
        requests.stage(self.requests(DriveOp::Write, pages()));
        pages().for_each(|page| self.cache.clean(page));
        let inode_changed = std::mem::take(&mut self.file_mut(id).inode_changed);
        self.end_of_sync(inode_changed, &mut requests);
        requests
    }

    /// Makes names of files durable.
    pub fn sync_directory(&mut self) -> FileRequests {
        let mut requests = FileRequests::default();
        self.end_of_sync(false, &mut requests);
        requests
    }

    /// The journal's commit, where it has something to commit, and the flush. A commit takes all that has changed.
    fn end_of_sync(&mut self, inode_changed: bool, requests: &mut FileRequests) {
        if inode_changed || self.directory_changed {
            self.directory_changed = false;
            requests.commits = true;
            requests.stage(vec![self.journal.write(JOURNAL_WRITE)]);
            requests.stage(vec![FLUSH]);
            requests.stage(vec![self.journal.write(COMMIT_RECORD)]);
        }
        requests.stage(vec![FLUSH]);
    }

    /// Removes a file.
    pub fn delete(&mut self, name: &str) {
        let Some(id) = self.by_name.remove(name) else {
            return;
        };
        self.directory_changed = true;
        // Freeing needs no space.
        let _ = self.truncate(id, 0);
    }

    /// Files below this directory are gone.
    pub fn remove(&mut self, directory: &Path) {
        for name in self.below(directory) {
            self.delete(&name);
        }
    }

    /// What is on the drive of files below this directory is in memory no more.
    pub fn forget_cached(&mut self, directory: &Path) {
        for name in self.below(directory) {
            let Some(id) = self.by_name.get(&name).copied() else {
                continue;
            };
            for number in 0..self.files[id.0 as usize].size.div_ceil(PAGE) {
                let page = PageKey { file: id, number };
                if !self.cache.is_dirty(page) {
                    self.cache.forget(page);
                }
            }
        }
    }

    fn below(&self, directory: &Path) -> Vec<String> {
        let names = self.by_name.keys();
        let below = names.filter(|name| Path::new(name).starts_with(directory));
        below.cloned().collect()
    }

    /// Memory is empty, as after a restart.
    pub fn drop_cache(&mut self) {
        self.cache.clear();
        for file in &mut self.files {
            file.dirty.clear();
        }
    }

    /// Bytes in memory.
    pub fn cached(&self) -> Bytes {
        Bytes(self.cache.used() as u64 * PAGE)
    }
}

const FLUSH: Op = Op {
    kind: DriveOp::Flush,
    offset: 0,
    len: 0,
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: Bytes = Bytes(4 << 30);

    /// Kinds and lengths, by stage.
    fn shape(requests: &FileRequests) -> Vec<Vec<(DriveOp, u64)>> {
        let stages = requests.stages.iter();
        stages
            .map(|stage| stage.iter().map(|op| (op.kind, op.len)).collect())
            .collect()
    }

    #[test]
    fn a_sync_of_a_file_that_grew_commits_the_journal() {
        let mut own = VirtualFilesystem::new(CAPACITY, None);
        let file = own.open("wal", 0).unwrap();
        own.write(file, 0, 12_360, Nanos(0)).unwrap();
        use DriveOp::{Flush, Write};
        assert_eq!(
            shape(&own.sync(file)),
            [
                vec![(Write, 16_384)],
                vec![(Write, 8_192)],
                vec![(Flush, 0)],
                vec![(Write, 4_096)],
                vec![(Flush, 0)],
            ]
        );
        // Overwritten in the same jiffy: the inode is as it was.
        own.write(file, 4_096, 4_096, Nanos(3_999_999)).unwrap();
        assert_eq!(
            shape(&own.sync(file)),
            [vec![(Write, 4_096)], vec![(Flush, 0)]]
        );
        own.write(file, 4_096, 4_096, Nanos(4_000_000)).unwrap();
        assert_eq!(own.sync(file).stages.len(), 5);
        assert_eq!(shape(&own.sync(file)), [vec![(Flush, 0)]]);
    }

    #[test]
    fn requests_are_merged_up_to_one_mebibyte() {
        let mut own = VirtualFilesystem::new(CAPACITY, None);
        let file = own.open("db", 0).unwrap();
        own.write(file, 0, 5 << 20, Nanos(0)).unwrap();
        own.write(file, 6 << 20, PAGE, Nanos(0)).unwrap();
        let lengths: Vec<u64> = own.sync(file).stages[0].iter().map(|op| op.len).collect();
        assert_eq!(lengths, [1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, PAGE]);
    }

    #[test]
    fn memory_decides_what_is_read() {
        let mut own = VirtualFilesystem::new(CAPACITY, Some(Bytes(10 * PAGE)));
        let file = own.open("db", 20 * PAGE).unwrap();
        assert!(
            own.read(file, 15 * PAGE, PAGE).is_empty(),
            "the end was written last"
        );
        let read = own.read(file, 0, 2 * PAGE);
        assert_eq!(shape(&read), [vec![(DriveOp::Read, 2 * PAGE)]]);
        assert!(own.read(file, 0, 2 * PAGE).is_empty());
        assert!(
            own.read(file, 100 * PAGE, PAGE).is_empty(),
            "beyond the end"
        );
        assert_eq!(own.cached(), Bytes(10 * PAGE));
    }

    #[test]
    fn an_evicted_dirty_page_is_written_and_not_again_by_the_sync() {
        let mut own = VirtualFilesystem::new(CAPACITY, Some(Bytes(2 * PAGE)));
        let file = own.open("db", 0).unwrap();
        let background: usize = (0..5)
            .map(|n| {
                own.write(file, n * PAGE, PAGE, Nanos(0))
                    .unwrap()
                    .background
                    .len()
            })
            .sum();
        assert_eq!(background, 3);
        assert_eq!(
            own.sync(file).stages[0],
            [own.requests(
                DriveOp::Write,
                (3..5).map(|number| PageKey { file, number }),
            )[0]]
        );
    }

    #[test]
    fn a_scan_reads_ahead_and_pages_out_of_order_do_not() {
        let mut own = VirtualFilesystem::new(CAPACITY, None);
        let file = own.open("a", 4 << 20).unwrap();
        own.drop_cache();
        let ops = |own: &mut VirtualFilesystem, order: &mut dyn Iterator<Item = u64>| {
            let reads = order.map(|page| own.read(file, page * PAGE, PAGE));
            let ops = reads.flat_map(|own| own.stages.concat());
            ops.map(|op| op.len).collect::<Vec<u64>>()
        };
        let scanned = ops(&mut own, &mut (0..256));
        let (begin, rest) = scanned.split_at(SCAN as usize - 1);
        assert!(begin.iter().all(|len| *len == PAGE), "{begin:?}");
        assert_eq!(rest, [READ_AHEAD; 8]);
        let backwards = ops(&mut own, &mut (512..768).rev());
        assert_eq!(backwards, [PAGE; 256]);
    }

    #[test]
    fn a_page_that_is_overwritten_in_part_is_read_first() {
        let mut own = VirtualFilesystem::new(CAPACITY, Some(Bytes(4 * PAGE)));
        let file = own.open("wal", 100 * PAGE).unwrap();
        let written = own.write(file, 32, PAGE + 24, Nanos(0)).unwrap();
        assert_eq!(shape(&written), [vec![(DriveOp::Read, 2 * PAGE)]]);
        // At the end of the file the rest of the page is nothing.
        let appended = own.write(file, 100 * PAGE, 24, Nanos(0)).unwrap();
        assert_eq!(shape(&appended), [] as [Vec<(DriveOp, u64)>; 0]);
    }

    #[test]
    fn a_full_drive_is_an_error_and_space_of_deleted_files_is_used_again() {
        let mut own = VirtualFilesystem::new(Bytes(64 << 20), None);
        let file = own.open("a", 0).unwrap();
        assert_eq!(own.write(file, 56 << 20, 1, Nanos(0)), Err(NoSpace));
        own.write(file, 0, 48 << 20, Nanos(0)).unwrap();
        let other = own.open("b", 0).unwrap();
        own.write(other, 0, 8 << 20, Nanos(0)).unwrap();
        assert_eq!(own.write(other, 8 << 20, 1, Nanos(0)), Err(NoSpace));
        own.delete("a");
        own.write(other, 8 << 20, 1, Nanos(0)).unwrap();
    }

    proptest! {
        /// Whatever is done: each page of a file has a place of its own on the drive, within it and beside the journal, and a
        /// sync leaves nothing dirty.
        #[test]
        fn files_do_not_overlap(
            steps in prop::collection::vec((0u32..3, 0u64..6_000, 1u64..3_000, 0u8..4), 1..60),
        ) {
            let mut own = VirtualFilesystem::new(CAPACITY, Some(Bytes(500 * PAGE)));
            for (file, at, len, what) in steps {
                let name = file.to_string();
                let id = own.open(&name, 0).unwrap();
                match what {
                    0 => { own.write(id, at * 1_000, len * 1_000, Nanos(0)).unwrap(); }
                    1 => { own.read(id, at * 1_000, len * 1_000); }
                    2 => {
                        own.sync(id);
                        prop_assert!(own.file(id).dirty.is_empty());
                    }
                    _ => own.truncate(id, at * 1_000).unwrap(),
                }
                let mut used = BTreeSet::new();
                for id in own.by_name.values() {
                    for chunk in &own.file(*id).chunks {
                        prop_assert!(used.insert(*chunk), "a chunk in two places");
                        prop_assert!(!own.journal.touches(*chunk..chunk + CHUNK) && chunk + CHUNK <= CAPACITY.0);
                    }
                }
            }
        }
    }
}
