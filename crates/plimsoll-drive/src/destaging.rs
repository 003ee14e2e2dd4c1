//! Write buffers: blocks that are written to where they belong later, in sweeps by address.

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::model::Op;

/// Destaging begins when a buffer is so full (as vSAN).
const DESTAGED_FROM: f64 = 0.3;
/// Requests in flight to each drive when the buffer is full; fewer the emptier it is.
const MOST_IN_FLIGHT: f64 = 16.0;

/// Blocks that wait to be destaged. What is written again while it waits is destaged once.
#[derive(Debug, Clone)]
pub struct DirtyBlocks {
    waiting: RoaringBitmap,
    /// How many there are: the bitmap would have to add them up.
    count: u64,
    block: u64,
    runs: RunLength,
    /// Destaging goes through the addresses again and again.
    sweep: u32,
}

/// Bytes that are destaged at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLength {
    AtMost(u64),
    /// None across a multiple of this, such as whole stripes.
    Within(u64),
}

/// What is destaged at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirtyRun {
    pub offset: u64,
    pub len: u64,
}

impl DirtyBlocks {
    /// Of storage with so many bytes.
    pub fn new(capacity: u64, runs: RunLength) -> Self {
        Self {
            waiting: RoaringBitmap::new(),
            count: 0,
            // The bitmap's numbers have 32 bits.
            block: (capacity >> 32).next_power_of_two().max(4096),
            runs,
            sweep: 0,
        }
    }

    pub const fn block(&self) -> u64 {
        self.block
    }

    /// The blocks that a request touches.
    pub fn blocks(&self, op: Op) -> Range<u32> {
        let first = op.offset / self.block;
        let end = (op.offset + op.len).div_ceil(self.block);
        first as u32..end as u32
    }

    /// Returns the bytes of blocks that did not wait before.
    pub fn add(&mut self, op: Op) -> u64 {
        self.insert(self.blocks(op)) * self.block
    }

    /// How many of them wait.
    pub fn count(&self, blocks: Range<u32>) -> u64 {
        self.waiting.range_cardinality(blocks)
    }

    pub fn contains(&self, block: u32) -> bool {
        self.waiting.contains(block)
    }

    pub fn bytes(&self) -> u64 {
        self.count * self.block
    }

    /// The next run of blocks that wait, from where the sweep is.
    pub fn next_run(&self) -> Option<DirtyRun> {
        let ahead = self.waiting.range(self.sweep..).next();
        let first = ahead.or_else(|| self.waiting.min())?;
        let most = match self.runs {
            RunLength::AtMost(bytes) => bytes / self.block,
            RunLength::Within(bytes) => {
                let size = (bytes / self.block).max(1);
                size - u64::from(first) % size
            }
        };
        let run = self.waiting.range(first..).zip(first..);
        let run = run.take_while(|(own, expected)| own == expected);
        let blocks = run.take(most.max(1) as usize).count() as u64;
        Some(DirtyRun {
            offset: u64::from(first) * self.block,
            len: blocks * self.block,
        })
    }

    pub fn take(&mut self, run: DirtyRun) {
        let blocks = self.run_blocks(run);
        self.sweep = blocks.end;
        self.count -= self.waiting.remove_range(blocks);
    }

    /// A run that was taken waits again.
    pub fn put_back(&mut self, run: DirtyRun) {
        self.insert(self.run_blocks(run));
    }

    fn insert(&mut self, blocks: Range<u32>) -> u64 {
        let inserted = self.waiting.insert_range(blocks);
        self.count += inserted;
        inserted
    }

    pub fn run_blocks(&self, run: DirtyRun) -> Range<u32> {
        let first = run.offset / self.block;
        first as u32..(first + run.len / self.block) as u32
    }
}

/// How full a buffer is, and how much of it is on its way.
///
/// Always: it holds at most its size or one write.
#[derive(Debug, Clone)]
pub struct BufferLevel {
    size: u64,
    /// Bytes of blocks that wait or are on their way.
    held: u64,
    /// Requests to drives.
    in_flight: u32,
    most_in_flight: f64,
}

impl BufferLevel {
    /// Of a buffer before so many drives.
    pub fn new(size: u64, drives: usize) -> Self {
        Self {
            size,
            held: 0,
            in_flight: 0,
            most_in_flight: MOST_IN_FLIGHT * drives as f64,
        }
    }

    pub const fn size(&self) -> u64 {
        self.size
    }

    /// A write that is larger than the buffer fits when that is empty.
    pub const fn has_room(&self, bytes: u64) -> bool {
        self.held == 0 || self.held + bytes <= self.size
    }

    pub const fn add(&mut self, bytes: u64) {
        self.held += bytes;
    }

    /// Whether a run more may be destaged, or `is_needed` by writes that wait.
    pub fn may_begin(&self, is_needed: bool) -> bool {
        let full = self.held as f64 / self.size as f64;
        let depth = self.most_in_flight * (full - DESTAGED_FROM) / (1.0 - DESTAGED_FROM);
        f64::from(self.in_flight) < depth.max(f64::from(u8::from(is_needed)))
    }

    /// A run is destaged, to so many drives.
    pub const fn begin(&mut self, drives: u32) {
        self.in_flight += drives;
    }

    pub const fn end(&mut self, run: DirtyRun, drives: u32) {
        self.held -= run.len;
        self.in_flight -= drives;
    }

    /// Nothing is on its way any more, and so many bytes wait.
    pub const fn reset(&mut self, waiting: u64) {
        self.in_flight = 0;
        self.held = waiting;
    }
}
