//! Writes to stripes with parity: which wait, which go together, and what is read and written for them.
//!
//! As in md (raid5.c), a row of 4 KiB over all members has one write at a time, and a stripe that is not written whole
//! waits while others are read for parity, so that sequential writes fill it meanwhile.

use super::layout::{ArrayLayout, ArrayRange, RowRequests};
use super::member_set::MemberSet;
use super::members::MemberRange;
use crate::model::RequestId;

const ROW: u64 = 4096;

/// The part of a host's write that lies in one stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WritePart {
    pub host: RequestId,
    /// Bytes of the stripe's data.
    pub from: u64,
    pub to: u64,
}

/// What is written to a stripe at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeWrite {
    pub row: u64,
    pub parts: Vec<WritePart>,
}

/// Bytes of the chunks of a stripe, the same of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRange {
    pub from: u64,
    pub to: u64,
}

/// Rows of 4 KiB of a stripe, of which one is changed at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripeRows {
    pub row: u64,
    pub range: ChunkRange,
}

impl StripeRows {
    fn overlaps(&self, other: &Self) -> bool {
        self.row == other.row
            && self.range.from < other.range.to
            && other.range.from < self.range.to
    }
}

/// Bytes of one chunk of a stripe.
#[derive(Debug, Clone, Copy)]
struct DataRange {
    member: u32,
    range: ChunkRange,
}

impl StripeWrite {
    fn is_full(&self, layout: &ArrayLayout) -> bool {
        let bytes: u64 = self.parts.iter().map(|part| part.to - part.from).sum();
        if bytes < layout.stripe_bytes() {
            return false;
        }
        let mut parts = self.parts.clone();
        parts.sort_unstable_by_key(|part| part.from);
        let covered = parts.iter().fold(0, |covered, part| {
            if part.from <= covered {
                part.to.max(covered)
            } else {
                covered
            }
        });
        covered >= layout.stripe_bytes()
    }

    fn overlaps(&self, other: &WritePart) -> bool {
        self.parts
            .iter()
            .any(|part| part.from < other.to && other.from < part.to)
    }

    /// The rows of 4 KiB that it changes, from the first to the last.
    fn rows(&self, chunk: u64) -> StripeRows {
        let of_part = |part: &WritePart| {
            let crosses_chunks = part.from / chunk != (part.to - 1) / chunk;
            match crosses_chunks {
                true => ChunkRange { from: 0, to: chunk },
                false => ChunkRange {
                    from: part.from % chunk / ROW * ROW,
                    to: ((part.to - 1) % chunk / ROW + 1) * ROW,
                },
            }
        };
        let ranges = self.parts.iter().map(of_part);
        let all = ranges.reduce(|a, b| ChunkRange {
            from: a.from.min(b.from),
            to: a.to.max(b.to),
        });
        StripeRows {
            row: self.row,
            range: all.unwrap_or(ChunkRange { from: 0, to: 0 }),
        }
    }

    fn data_ranges(&self, layout: &ArrayLayout) -> Vec<DataRange> {
        let of_part = |part: &WritePart| data_ranges(layout, self.row, part.from, part.to);
        self.parts.iter().flat_map(of_part).collect()
    }

    /// What is read and written: for each range of bytes in which the same members are written, as the layout has it.
    pub fn pieces(&self, layout: &ArrayLayout, lost: MemberSet) -> StripePieces {
        let stripe = layout.stripe(self.row);
        let data = self.data_ranges(layout);
        let mut bounds: Vec<u64> = data
            .iter()
            .flat_map(|own| [own.range.from, own.range.to])
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut pieces = StripePieces::default();
        for bound in bounds.windows(2) {
            let range = ChunkRange {
                from: bound[0],
                to: bound[1],
            };
            let written: MemberSet = data
                .iter()
                .filter(|own| own.range.from <= range.from && range.to <= own.range.to)
                .map(|own| own.member)
                .collect();
            if !written.is_empty() {
                pieces.add(stripe.write(written, lost), self.row * layout.chunk, range);
            }
        }
        pieces
    }
}

/// `from` and `to` are bytes of the stripe's data.
fn data_ranges(
    layout: &ArrayLayout,
    row: u64,
    from: u64,
    to: u64,
) -> impl Iterator<Item = DataRange> + use<> {
    let stripe = layout.stripe(row);
    let chunk = layout.chunk;
    (from / chunk..to.div_ceil(chunk)).map(move |number| DataRange {
        member: stripe.data(number as u32),
        range: ChunkRange {
            from: from.max(number * chunk) - number * chunk,
            to: to.min((number + 1) * chunk) - number * chunk,
        },
    })
}

/// What is read of a stripe's data.
pub fn read_pieces(layout: &ArrayLayout, range: ArrayRange, lost: MemberSet) -> Vec<MemberRange> {
    let row = range.number;
    let stripe = layout.stripe(row);
    let ranges = data_ranges(layout, row, range.from, range.to);
    let of_range = |own: DataRange| {
        let members = stripe.read(MemberSet::of(own.member), lost);
        let base = row * layout.chunk;
        members.iter().map(move |member| MemberRange {
            member,
            from: base + own.range.from,
            to: base + own.range.to,
        })
    };
    ranges.flat_map(of_range).collect()
}

/// Bytes of members that are read, and then those that are written.
#[derive(Debug, Clone, Default)]
pub struct StripePieces {
    pub reads: Vec<MemberRange>,
    pub writes: Vec<MemberRange>,
}

impl StripePieces {
    fn add(&mut self, requests: RowRequests, base: u64, range: ChunkRange) {
        let of = |members: MemberSet| {
            members.iter().map(move |member| MemberRange {
                member,
                from: base + range.from,
                to: base + range.to,
            })
        };
        self.reads.extend(of(requests.reads));
        self.writes.extend(of(requests.writes));
    }
}

/// The writes that wait, and the rows that are written.
#[derive(Debug, Clone, Default)]
pub struct StripeWrites {
    /// In the order in which they came.
    waiting: Vec<StripeWrite>,
    active: Vec<StripeRows>,
    /// Writes whose reads are in flight.
    pub reading: u32,
}

impl StripeWrites {
    pub fn add(&mut self, row: u64, part: WritePart) {
        let mut waiting = self.waiting.iter_mut().rev();
        let same = waiting.find(|own| own.row == row);
        match same.filter(|own| !own.overlaps(&part)) {
            Some(own) => own.parts.push(part),
            None => self.waiting.push(StripeWrite {
                row,
                parts: vec![part],
            }),
        }
    }

    /// Takes the writes that begin now: those whose rows are not being changed. With `fills_stripes`, if the stripe is full
    /// or none is being read for.
    pub fn begin(&mut self, layout: &ArrayLayout, fills_stripes: bool) -> Vec<StripeWrite> {
        let partial_too = !fills_stripes || self.reading == 0;
        let mut begun = Vec::new();
        let mut at = 0;
        while let Some(write) = self.waiting.get(at) {
            if (partial_too || write.is_full(layout)) && self.is_free(at, layout.chunk) {
                let write = self.waiting.remove(at);
                self.active.push(write.rows(layout.chunk));
                begun.push(write);
            } else {
                at += 1;
            }
        }
        begun
    }

    /// Neither is a row of this waiting write being changed, nor does one before it wait for it.
    fn is_free(&self, at: usize, chunk: u64) -> bool {
        let (before, rest) = self.waiting.split_at(at);
        let Some(write) = rest.first() else {
            return false;
        };
        let rows = write.rows(chunk);
        let mut of_stripe = before.iter().filter(|own| own.row == write.row);
        let is_active = self.active.iter().any(|own| own.overlaps(&rows));
        !is_active && !of_stripe.any(|own| own.rows(chunk).overlaps(&rows))
    }

    pub fn end(&mut self, write: &StripeWrite, layout: &ArrayLayout) {
        self.release(write.rows(layout.chunk));
    }

    /// Rows are to be changed by a rebuild. False while a write changes them.
    pub fn reserve(&mut self, rows: StripeRows) -> bool {
        let is_free = !self.active.iter().any(|own| own.overlaps(&rows));
        if is_free {
            self.active.push(rows);
        }
        is_free
    }

    pub fn release(&mut self, rows: StripeRows) {
        if let Some(place) = self.active.iter().position(|own| *own == rows) {
            self.active.swap_remove(place);
        }
    }
}
