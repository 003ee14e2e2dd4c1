//! A new member is filled from the others, at md's speed limits.
//!
//! As `md_do_sync` in drivers/md/md.c: below the least speed a rebuild does not yield to other requests; above it, while
//! there are others, it begins only when nothing of its own is in flight; above the highest speed it waits.

use plimsoll_plan::units::Nanos;

use super::members::MemberRange;
use super::missed_writes::{MemberBytes, MissedWrites};
use super::stripe_writes::{ChunkRange, StripeRows};
use crate::network::slowed;

/// Bytes of each member that are rebuilt together.
pub const UNIT: u64 = 64 << 10;
/// Units in flight: md's stripe cache of 256 pages.
pub const DEPTH_PARITY: u32 = 16;
/// The same of a mirror: 32 windows.
pub const DEPTH_MIRROR: u32 = 32;
/// Other requests are there if one came within this time, of drives as rated.
const BUSY_FOR: Nanos = Nanos::from_millis(100);
/// Rows that a write changes are tried again after this time.
const RETRY: Nanos = Nanos::from_micros(100);

/// `sync_speed_min` and `sync_speed_max` of md, in bytes per second of each member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildSpeed {
    pub least: u64,
    pub most: u64,
}

impl RebuildSpeed {
    #[must_use]
    fn slower(self, times: f64) -> Self {
        let [least, most] = [self.least, self.most].map(|own| (own as f64 / times) as u64);
        Self { least, most }
    }
}

impl Default for RebuildSpeed {
    fn default() -> Self {
        Self {
            least: 1000 << 10,
            most: 200_000 << 10,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Rebuild {
    pub member: u32,
    /// All before is on the new member.
    pub done: u64,
    /// When a host's request last came.
    pub last_request: Nanos,
    capacity: u64,
    begun: u64,
    /// Bytes of units that have begun.
    copied: u64,
    /// The member has what it was written before it was missing.
    is_partial: bool,
    /// Units beyond `done` that are complete.
    early: Vec<RebuildUnit>,
    in_flight: u32,
    depth: u32,
    speed: RebuildSpeed,
    began: Nanos,
    next_at: Option<Nanos>,
    /// All times of the members count so many times.
    slower: f64,
}

/// Bytes of the new member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildUnit {
    pub member: u32,
    /// Where the one before ended: what lies between is on the member already.
    after: u64,
    from: u64,
    to: u64,
    /// When its rebuild began: the member may have failed since, and been replaced again.
    rebuild: Nanos,
}

impl Rebuild {
    /// Of a member with so many bytes. `speed` is that of drives as rated.
    pub fn new(member: u32, capacity: u64, depth: u32, speed: RebuildSpeed, now: Nanos) -> Self {
        Self {
            member,
            done: 0,
            last_request: Nanos::ZERO,
            capacity,
            begun: 0,
            copied: 0,
            is_partial: false,
            early: Vec::new(),
            in_flight: 0,
            depth,
            speed,
            began: now,
            next_at: Some(now),
            slower: 1.0,
        }
    }

    /// Of drives all of whose times are so many times as long.
    #[must_use]
    pub fn slower(self, times: f64) -> Self {
        let speed = self.speed.slower(times);
        Self {
            speed,
            slower: times,
            ..self
        }
    }

    /// Of a member that lacks only what it was not written meanwhile.
    #[must_use]
    pub fn partial(self) -> Self {
        Self {
            is_partial: true,
            ..self
        }
    }

    /// What the member would lack even if nothing was written from now on.
    pub fn unfilled(&self) -> MemberBytes {
        let to = self.capacity;
        let from = if self.is_partial { to } else { self.done };
        MemberBytes { from, to }
    }

    pub fn next_at(&self) -> Option<Nanos> {
        self.next_at
    }

    pub fn is_complete(&self) -> bool {
        self.done >= self.capacity
    }

    /// When the next unit may begin; `None` until one of those in flight is complete.
    fn pace(&self, now: Nanos) -> Option<Nanos> {
        if self.begun >= self.capacity || self.in_flight >= self.depth {
            return None;
        }
        let at_speed = |speed: u64| {
            self.began + Nanos::from_secs_f64(self.copied as f64 / speed.max(1) as f64)
        };
        let is_busy = now.saturating_sub(self.last_request) < slowed(BUSY_FOR, self.slower);
        if is_busy && self.in_flight > 0 && at_speed(self.speed.least) > now {
            return None;
        }
        Some(at_speed(self.speed.most).max(now))
    }

    /// The unit that is next. It does not cross chunks, and is empty if nothing is left to copy.
    pub fn next_unit(&self, chunk: u64, missed: &MissedWrites) -> RebuildUnit {
        let MemberBytes { from, to } = self.next_bytes(missed);
        let end_of_chunk = from / chunk * chunk + chunk;
        RebuildUnit {
            member: self.member,
            after: self.begun,
            from,
            to: (from + UNIT).min(end_of_chunk).min(to),
            rebuild: self.began,
        }
    }

    fn next_bytes(&self, missed: &MissedWrites) -> MemberBytes {
        let capacity = self.capacity;
        let all = MemberBytes {
            from: self.begun,
            to: capacity,
        };
        if !self.is_partial {
            return all;
        }
        let next = missed.next(self.begun);
        next.map_or(
            MemberBytes {
                from: capacity,
                ..all
            },
            |own| MemberBytes {
                from: own.from.min(capacity),
                to: own.to.min(capacity),
            },
        )
    }

    pub fn is_of(&self, unit: RebuildUnit) -> bool {
        (self.member, self.began) == (unit.member, unit.rebuild)
    }

    pub fn begin(&mut self, now: Nanos, unit: RebuildUnit) {
        self.begun = unit.to;
        self.copied += unit.to - unit.from;
        self.in_flight += 1;
        self.next_at = self.pace(now);
    }

    /// A write changes the rows of the next unit.
    pub fn retry(&mut self, now: Nanos) {
        self.next_at = Some(now + slowed(RETRY, self.slower));
    }

    /// What was in flight is begun again.
    pub fn restart(&mut self, now: Nanos) {
        self.begun = self.done;
        self.early.clear();
        self.in_flight = 0;
        self.next_at = self.pace(now);
    }

    pub fn end(&mut self, now: Nanos, unit: RebuildUnit) {
        self.in_flight -= 1;
        self.early.push(unit);
        while let Some(place) = self.early.iter().position(|own| own.after == self.done) {
            self.done = self.early.swap_remove(place).to;
        }
        self.next_at = self.pace(now);
    }
}

impl RebuildUnit {
    pub const fn is_empty(self) -> bool {
        self.from == self.to
    }

    pub fn piece(self) -> MemberRange {
        let Self {
            member, from, to, ..
        } = self;
        MemberRange { member, from, to }
    }

    pub fn rows(self, chunk: u64) -> StripeRows {
        let row = self.from / chunk;
        StripeRows {
            row,
            range: ChunkRange {
                from: self.from - row * chunk,
                to: self.to - row * chunk,
            },
        }
    }
}
