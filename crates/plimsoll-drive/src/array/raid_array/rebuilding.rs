//! An array fills a new member, or a spare, from the others.

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::{Array, NextPhase};
use crate::array::member_set::MemberSet;
use crate::array::members::{Members, merged};
use crate::array::rebuild::{DEPTH_MIRROR, DEPTH_PARITY, Rebuild, RebuildSpeed, RebuildUnit};
use crate::model::{RebuildProgress, RebuildReport};

impl<M: Members> Array<M> {
    /// The last rebuild was of this member, and has come to its end.
    pub fn has_rebuilt(&self, member: u32) -> bool {
        let mut rebuild = self.rebuild.iter();
        rebuild.any(|own| own.member == member && own.is_complete())
    }

    /// A member has all its data.
    pub fn is_whole_member(&self, member: u32) -> bool {
        !(self.failed | self.rebuilding()).contains(member)
    }

    /// Rebuilds that have ended or begun by themselves since this was asked last.
    pub fn take_rebuild_reports(&mut self) -> Vec<RebuildReport> {
        self.rebuild_log.take()
    }

    pub fn is_rebuilding(&self) -> bool {
        !self.rebuilding().is_empty()
    }

    pub(super) fn rebuilding(&self) -> MemberSet {
        let rebuild = self.rebuild.iter().filter(|own| !own.is_complete());
        rebuild.map(|own| own.member).collect()
    }

    /// A spare takes the place of a failed member, if no other is being filled.
    pub(super) fn use_spare(&mut self, now: Nanos) {
        let failed = self.failed.iter().next();
        let is_free = self.spares > 0 && !self.is_rebuilding();
        if let Some(member) = failed.filter(|_| is_free) {
            self.spares -= 1;
            self.begin_filling(now, member, RebuildSpeed::default());
            let on_spare = RebuildProgress::BegunOnSpare;
            self.rebuild_log.begin_by_itself(now, member, on_spare);
        }
    }

    /// A new drive takes the place of a failed member and is filled from the others. `speed` is that of drives as rated.
    pub fn replace(&mut self, now: Nanos, member: u32, speed: RebuildSpeed) {
        self.run_to(now);
        self.begin_filling(now, member, speed);
    }

    /// A member that has failed was empty.
    pub fn misses_everything(&mut self) {
        let capacity = self.layout.rows * self.layout.chunk;
        self.missed.add(0, capacity);
    }

    /// A failed member returns with its old data. Only what was written meanwhile is copied, where that was recorded.
    pub fn bring_back(&mut self, now: Nanos, member: u32, speed: RebuildSpeed) {
        self.run_to(now);
        self.begin_copying(now, member, speed);
        if M::KNOW_CHANGES || self.bitmap.is_some() {
            self.rebuild = self.rebuild.take().map(Rebuild::partial);
        }
    }

    fn begin_filling(&mut self, now: Nanos, member: u32, speed: RebuildSpeed) {
        self.members.replace(member);
        self.begin_copying(now, member, speed);
    }

    fn begin_copying(&mut self, now: Nanos, member: u32, speed: RebuildSpeed) {
        self.failed = self.failed - MemberSet::of(member);
        let depth = if self.has_parity() {
            DEPTH_PARITY
        } else {
            DEPTH_MIRROR
        };
        let capacity = self.layout.rows * self.layout.chunk;
        self.rebuild_log.begin(now, member);
        let rebuild = Rebuild::new(member, capacity, depth, speed, now);
        self.rebuild = Some(rebuild.slower(self.slower));
    }

    /// Bytes of the member that was replaced last that are rebuilt.
    pub fn rebuilt(&self) -> Bytes {
        Bytes(self.rebuild.as_ref().map_or(0, |own| own.done))
    }

    pub(super) fn begin_rebuilding(&mut self, now: Nanos) {
        let chunk = self.layout.chunk;
        let has_parity = self.has_parity();
        let Some(own) = &mut self.rebuild else {
            return;
        };
        let unit = own.next_unit(chunk, &self.missed);
        if unit.is_empty() {
            own.begin(now, unit);
            return self.end_unit(now, unit);
        }
        if has_parity && !self.stripes.reserve(unit.rows(chunk)) {
            return own.retry(now);
        }
        own.begin(now, unit);
        let reads = merged(DriveOp::Read, self.sources(unit.piece()));
        self.begin(now, reads, NextPhase::WriteRebuilt(unit));
    }

    fn rebuild_of(&mut self, unit: RebuildUnit) -> Option<&mut Rebuild> {
        let own = self.rebuild.as_mut();
        own.filter(|own| own.is_of(unit))
    }

    pub(super) fn write_rebuilt(&mut self, now: Nanos, unit: RebuildUnit) {
        // Its member may have failed meanwhile.
        let write = self
            .rebuild_of(unit)
            .map(|_| unit.piece().request(DriveOp::Write));
        self.begin(
            now,
            write.into_iter().collect(),
            NextPhase::EndRebuilt(unit),
        );
    }

    pub(super) fn end_rebuilt(&mut self, now: Nanos, unit: RebuildUnit) {
        if self.has_parity() {
            self.stripes.release(unit.rows(self.layout.chunk));
        }
        self.end_unit(now, unit);
        self.use_spare(now);
    }

    fn end_unit(&mut self, now: Nanos, unit: RebuildUnit) {
        let Some(own) = self.rebuild_of(unit) else {
            return;
        };
        own.end(now, unit);
        if own.is_complete() {
            self.rebuild_log.end_all(now);
        }
    }
}
