//! A controller's cache, or the memory of a write-back journal: blocks of the array.
//!
//! With a battery or journal writes are complete when they are in it (write-back), and are destaged by address, in whole
//! stripes where those have filled. Without one they are complete when they are in the array (write-through). Reads of
//! what it holds need no drive.

use std::ops::Range;

use lru::LruCache;
use plimsoll_plan::array::{ArraySpec, JournalMode};
use plimsoll_record::drive::DriveOp;

use crate::destaging::{BufferLevel, DirtyBlocks, DirtyRun, RunLength};
use crate::model::Op;

/// Always: it holds at most its size or one write; a block that was written and not destaged stays.
#[derive(Debug, Clone)]
pub struct ControllerCache {
    is_write_back: bool,
    chunk: u64,
    level: BufferLevel,
    dirty: DirtyBlocks,
    on_their_way: Vec<DirtyRun>,
    /// Those that may be dropped.
    clean: LruCache<u32, ()>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAnswer {
    /// It is complete.
    Complete,
    /// It waits until something has been destaged.
    Waits,
    /// The array has to do it.
    AsksArray,
}

/// Rows of 4 KiB of data that a write-back journal keeps in memory (`stripe_cache_size` of md).
const ROWS_IN_MEMORY: u64 = 256;

impl ControllerCache {
    /// What an array with so many bytes has before it: its controller's cache, or the memory of a write-back journal.
    pub fn of(spec: &ArraySpec, capacity: u64) -> Option<Self> {
        let memory = ROWS_IN_MEMORY * spec.row_bytes();
        let of_journal = spec.journal == Some(JournalMode::WriteBack);
        let size = spec.cache.map(|own| own.0);
        let size = size.or_else(|| of_journal.then_some(memory))?;
        Some(Self {
            is_write_back: spec.battery,
            chunk: spec.chunk.0,
            level: BufferLevel::new(size, spec.members as usize),
            dirty: DirtyBlocks::new(capacity, RunLength::Within(spec.stripe_bytes())),
            on_their_way: Vec::new(),
            clean: LruCache::unbounded(),
        })
    }

    /// A request has come; `others_wait` for room.
    pub fn take(&mut self, op: Op, others_wait: bool) -> CacheAnswer {
        let is_complete = match op.kind {
            DriveOp::Read => self.read(op),
            DriveOp::Write if self.is_write_back => {
                if others_wait || !self.write(op) {
                    return CacheAnswer::Waits;
                }
                true
            }
            // What it holds survives a power cut.
            DriveOp::Flush => self.is_write_back,
            DriveOp::Write | DriveOp::Trim => false,
        };
        match is_complete {
            true => CacheAnswer::Complete,
            false => CacheAnswer::AsksArray,
        }
    }

    /// Whether it holds all of it.
    fn read(&mut self, op: Op) -> bool {
        let Self { dirty, clean, .. } = self;
        let mut blocks = dirty.blocks(op);
        blocks.all(|block| dirty.contains(block) || clean.get(&block).is_some())
    }

    /// False if there is no room.
    pub fn write(&mut self, op: Op) -> bool {
        let has_room = self.level.has_room(op.len);
        if has_room {
            self.level.add(self.dirty.add(op));
            for block in self.dirty.blocks(op) {
                self.clean.pop(&block);
            }
            self.drop_clean();
        }
        has_room
    }

    /// The array has done this.
    pub fn keep(&mut self, op: Op) {
        if matches!(op.kind, DriveOp::Read | DriveOp::Write) {
            self.keep_blocks(self.dirty.blocks(op));
        }
    }

    fn keep_blocks(&mut self, blocks: Range<u32>) {
        for block in blocks {
            if !self.dirty.contains(block) {
                self.clean.put(block, ());
            }
        }
        self.drop_clean();
    }

    /// The blocks that were not used for the longest time make room.
    fn drop_clean(&mut self) {
        let room = self.level.size().saturating_sub(self.dirty.bytes());
        while self.clean.len() as u64 * self.dirty.block() > room {
            self.clean.pop_lru();
        }
    }

    /// What is destaged next, if that is due, or `is_needed` by writes that wait.
    pub fn begin_destaging(&mut self, is_needed: bool) -> Option<DirtyRun> {
        if !self.level.may_begin(is_needed) {
            return None;
        }
        let run = self.dirty.next_run()?;
        self.dirty.take(run);
        self.on_their_way.push(run);
        self.level.begin(self.drives(run));
        self.keep_blocks(self.dirty.run_blocks(run));
        Some(run)
    }

    pub fn end_destaging(&mut self, run: DirtyRun) {
        self.on_their_way.retain(|own| *own != run);
        self.level.end(run, self.drives(run));
    }

    /// Drives with data that a run is written to.
    const fn drives(&self, run: DirtyRun) -> u32 {
        run.len.div_ceil(self.chunk) as u32
    }

    /// What was on its way is destaged again. What need not be kept is gone.
    pub fn power_cycle(&mut self) {
        for run in std::mem::take(&mut self.on_their_way) {
            self.dirty.put_back(run);
        }
        self.level.reset(self.dirty.bytes());
        self.clean.clear();
    }
}

#[cfg(test)]
impl ControllerCache {
    /// Bytes that are not in the array yet.
    pub fn waiting_bytes(&self) -> u64 {
        self.dirty.bytes() + self.on_their_way.iter().map(|run| run.len).sum::<u64>()
    }
}
