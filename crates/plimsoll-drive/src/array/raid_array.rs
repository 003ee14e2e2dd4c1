//! One array in the midst of its work.

mod bitmap_writes;
mod rebuilding;

use plimsoll_plan::array::{ArraySpec, BitmapPlace};
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;
use slab::Slab;

use super::bitmap::{Bitmap, BitmapStep};
use super::host_requests::{FollowingRequest, HostRequests};
use super::layout::{ArrayLayout, ArrayRange, split};
use super::member_set::MemberSet;
use super::members::{
    FailedRequest, MemberDrives, MemberRange, MemberRequest, Members, TaskId, TaskProgress, merged,
};
use super::missed_writes::MissedWrites;
use super::rebuild::{Rebuild, RebuildSpeed, RebuildUnit, UNIT};
use super::stripe_writes::{StripeWrite, StripeWrites, WritePart, read_pieces};
use crate::model::{
    Assembled, Completion, Op, RebuildLog, RebuildReport, RequestId, Setup, Storage, Work,
};
use crate::spec::DriveSpec;

/// An array in the midst of its work.
#[derive(Debug, Clone)]
pub struct Array<M = MemberDrives> {
    spec: ArraySpec,
    layout: ArrayLayout,
    members: M,
    /// All times of the members count so many times.
    slower: f64,
    failed: MemberSet,
    tasks: Slab<ArrayTask>,
    host: HostRequests,
    stripes: StripeWrites,
    rebuild: Option<Rebuild>,
    /// Drives that are left to take the places of members that fail.
    spares: u32,
    rebuild_log: RebuildLog,
    bitmap: Option<Bitmap>,
    missed: MissedWrites,
}

/// Requests to members, and what follows when all of them are complete.
#[derive(Debug, Clone)]
struct ArrayTask {
    pending: u32,
    then: NextPhase,
}

#[derive(Debug, Clone)]
enum NextPhase {
    /// A part of a host's request is complete.
    Complete(RequestId),
    /// The stripe has been read and is written.
    WriteStripe(StripeWrite),
    EndStripe(StripeWrite),
    /// The rest has been read and the new member is written.
    WriteRebuilt(RebuildUnit),
    EndRebuilt(RebuildUnit),
    /// A step of setting bits of the bitmap is done.
    SetBits(BitmapStep),
}

impl Array {
    /// Of the drives of this one. `setup` is the array's.
    pub fn new(drive: &DriveSpec, spec: &ArraySpec, setup: &Setup) -> Self {
        let setup = Setup {
            capacity: Bytes(spec.member_bytes(setup.capacity.0)),
            ..setup.clone()
        };
        let capacity = setup.capacity;
        let of_bitmap = u32::from(spec.bitmap_on == BitmapPlace::External);
        let drives = spec.members + of_bitmap;
        let members = (0..drives).map(|member| drive.drive(member).clone());
        let members = MemberDrives::new(members.collect(), setup);
        Self::of_members(spec, capacity, members, drive.slower)
    }
}

impl<M: Members> Array<M> {
    /// `capacity` is that of each member.
    pub fn of_members(spec: &ArraySpec, capacity: Bytes, members: M, slower: f64) -> Self {
        let bitmap = spec.bitmap;
        let region = bitmap.map_or(UNIT, |own| own.0);
        let bitmap = bitmap.map(|region| Bitmap::new(region.0, slower));
        let mut own = Self {
            layout: ArrayLayout::new(spec, capacity.0),
            members,
            failed: spec.failed.iter().copied().collect(),
            spec: spec.clone(),
            slower,
            tasks: Slab::new(),
            host: HostRequests::default(),
            stripes: StripeWrites::default(),
            rebuild: None,
            spares: spec.spares,
            rebuild_log: RebuildLog::default(),
            bitmap,
            missed: MissedWrites::new(region),
        };
        if let Some(member) = spec.rebuild {
            own.replace(Nanos::ZERO, member, RebuildSpeed::default());
        }
        own.use_spare(Nanos::ZERO);
        own
    }

    pub const fn members_mut(&mut self) -> &mut M {
        &mut self.members
    }

    /// A member fails `now`. What it had in flight is done with the others. False where data are lost by that.
    pub fn fail(&mut self, now: Nanos, member: u32) -> bool {
        self.run_to(now);
        if self.failed.is_empty() && !self.is_rebuilding() {
            self.missed.clear();
        }
        if let Some(own) = self.rebuild.take_if(|own| own.member == member) {
            let unfilled = own.unfilled();
            self.missed.add(unfilled.from, unfilled.to);
        }
        self.rebuild_log.forget(member);
        self.failed = self.failed | MemberSet::of(member);
        for request in self.members.fail(member) {
            self.redirect(now, request);
        }
        let lost = self.failed | self.rebuilding();
        let survives = self.spec.survives(|member| lost.contains(member));
        if survives {
            self.use_spare(now);
        }
        survives
    }

    /// What a failed member did not answer: writes are left out, what was to be read is read from the others.
    fn redirect(&mut self, now: Nanos, request: FailedRequest) {
        let FailedRequest { request, task } = request;
        let MemberRequest { member, op } = request;
        if op.kind == DriveOp::Read {
            let piece = MemberRange {
                member,
                from: op.offset,
                to: op.offset + op.len,
            };
            for source in self.sources(piece) {
                self.send(now, source.request(op.kind), task);
            }
        } else if op.kind == DriveOp::Write {
            self.missed.add(op.offset, op.offset + op.len);
        }
        self.progress(TaskProgress { task, at: now });
    }

    /// What gives the data of a piece without its member: the same bytes of all others with parity, another copy without.
    fn sources(&self, piece: MemberRange) -> Vec<MemberRange> {
        let MemberRange { member, from, to } = piece;
        if self.has_parity() {
            let others = self.all() - self.lost(to) - MemberSet::of(member);
            return others
                .iter()
                .map(|member| MemberRange { member, from, to })
                .collect();
        }
        let in_rows = split(piece.request(DriveOp::Read).op, self.layout.chunk);
        let other_copy = |in_row: ArrayRange| {
            let at = in_row.number * u64::from(self.layout.members) + u64::from(member);
            let part = ArrayRange {
                number: at / u64::from(self.layout.copies),
                ..in_row
            };
            let mut copies = self.copies(part);
            copies.find(|own| own.member != member)
        };
        in_rows.filter_map(other_copy).collect()
    }

    /// Members without the data that end at `to` on them.
    fn lost(&self, to: u64) -> MemberSet {
        match &self.rebuild {
            Some(own) if own.done < to => self.failed | MemberSet::of(own.member),
            _ => self.failed,
        }
    }

    /// Returns when it will be complete, where that is known already.
    fn send(&mut self, now: Nanos, request: MemberRequest, task: TaskId) -> Option<Nanos> {
        self.tasks[task].pending += 1;
        self.members.send(now, request, task)
    }

    /// Sends `requests`; `then` follows when all are complete, at once if there are none.
    fn begin(&mut self, now: Nanos, requests: Vec<MemberRequest>, then: NextPhase) {
        let task = self.tasks.insert(ArrayTask { pending: 1, then });
        let mut ends = Some(now);
        for request in requests {
            let end = self.send(now, request, task);
            ends = ends.zip(end).map(|(last, end)| last.max(end));
        }
        if let Some(ends) = ends {
            self.ends_ahead(task, ends);
        }
        self.progress(TaskProgress { task, at: now });
    }

    /// All requests of a task will be complete by then.
    fn ends_ahead(&mut self, task: TaskId, ends: Nanos) {
        match &self.tasks[task].then {
            NextPhase::Complete(host) => self.host.part_ends(ends, *host),
            NextPhase::EndStripe(write) => {
                let parts = write.parts.iter();
                parts.for_each(|part| self.host.part_ends(ends, part.host));
            }
            _ => {}
        }
    }

    /// A request of a task is complete.
    fn progress(&mut self, progress: TaskProgress) {
        let TaskProgress { task, at } = progress;
        let own = &mut self.tasks[task];
        own.pending -= 1;
        if own.pending == 0 {
            let then = self.tasks.remove(task).then;
            self.follow(at, then);
        }
    }

    fn follow(&mut self, now: Nanos, next: NextPhase) {
        match next {
            NextPhase::Complete(host) => self.end_part(now, host),
            NextPhase::WriteStripe(write) => {
                self.stripes.reading -= 1;
                self.write_stripe(now, write);
                self.begin_stripes(now);
            }
            NextPhase::EndStripe(write) => {
                self.stripes.end(&write, &self.layout);
                for part in &write.parts {
                    self.end_part(now, part.host);
                }
                self.begin_stripes(now);
            }
            NextPhase::WriteRebuilt(unit) => self.write_rebuilt(now, unit),
            NextPhase::EndRebuilt(unit) => {
                self.end_rebuilt(now, unit);
                self.begin_stripes(now);
            }
            NextPhase::SetBits(step) => self.set_bits(now, step),
        }
    }

    /// Begins the writes to stripes that need not wait any more.
    fn begin_stripes(&mut self, now: Nanos) {
        for write in self.stripes.begin(&self.layout, M::FILLS_STRIPES) {
            let pieces = write.pieces(&self.layout, self.lost_in_row(write.row));
            if pieces.reads.is_empty() {
                self.write_stripe(now, write);
            } else {
                self.stripes.reading += 1;
                let reads = merged(DriveOp::Read, pieces.reads);
                self.begin(now, reads, NextPhase::WriteStripe(write));
            }
        }
    }

    /// Members may have failed while the stripe was read.
    fn write_stripe(&mut self, now: Nanos, write: StripeWrite) {
        let lost = self.lost_in_row(write.row);
        if !lost.is_empty() {
            self.note_missed(&write);
        }
        let pieces = write.pieces(&self.layout, lost);
        let writes = merged(DriveOp::Write, pieces.writes);
        self.begin(now, writes, NextPhase::EndStripe(write));
    }

    /// Parity has the same place in its chunk as the data that it is of.
    fn note_missed(&mut self, write: &StripeWrite) {
        let chunk = self.layout.chunk;
        let row = write.row * chunk;
        for part in &write.parts {
            let is_in_one_chunk = part.from / chunk == part.to.saturating_sub(1) / chunk;
            let (from, len) = if is_in_one_chunk {
                (part.from % chunk, part.to - part.from)
            } else {
                (0, chunk)
            };
            self.missed.add(row + from, row + from + len);
        }
    }

    fn lost_in_row(&self, row: u64) -> MemberSet {
        self.lost((row + 1) * self.layout.chunk)
    }

    /// The power was away and is back `now`: nothing is in flight any more. A rebuild goes on.
    pub fn power_cycle(&mut self, now: Nanos) {
        self.members.power_cycle(now);
        self.tasks.clear();
        self.host.clear();
        self.stripes = StripeWrites::default();
        self.bitmap.iter_mut().for_each(Bitmap::clear_waiting);
        if let Some(own) = &mut self.rebuild {
            own.restart(now);
        }
    }

    fn all(&self) -> MemberSet {
        MemberSet::first(self.layout.members)
    }

    fn has_parity(&self) -> bool {
        self.layout.level.parities() > 0
    }

    fn read(&self, op: Op) -> Vec<MemberRequest> {
        let mut pieces = Vec::new();
        if self.has_parity() {
            for part in split(op, self.layout.stripe_bytes()) {
                pieces.extend(read_pieces(
                    &self.layout,
                    part,
                    self.lost_in_row(part.number),
                ));
            }
        } else {
            pieces.extend(split(op, self.layout.chunk).filter_map(|part| self.read_copy(part)));
        }
        merged(DriveOp::Read, pieces)
    }

    /// One of the copies of a chunk; none where all are lost.
    fn read_copy(&self, part: ArrayRange) -> Option<MemberRange> {
        let copies: Vec<MemberRange> = self.copies(part).collect();
        let offset = copies.first()?.from;
        let members = copies.iter().map(|own| own.member);
        let member = self.members.reader(members, offset)?;
        copies.into_iter().find(|own| own.member == member)
    }

    fn copies(&self, part: ArrayRange) -> impl Iterator<Item = MemberRange> {
        let all = self.all_copies(part);
        all.filter(|own| !self.lost(own.to).contains(own.member))
    }

    /// Of members that are missing, too.
    fn all_copies(&self, part: ArrayRange) -> impl Iterator<Item = MemberRange> {
        let chunk = self.layout.chunk;
        let places = self.layout.places(part.number);
        places.map(move |place| MemberRange {
            member: place.member,
            from: place.row * chunk + part.from,
            to: place.row * chunk + part.to,
        })
    }

    fn write_copies(&mut self, op: Op) -> Vec<MemberRequest> {
        let pieces = split(op, self.layout.chunk).flat_map(|part| self.all_copies(part));
        let is_lost = |own: &MemberRange| self.lost(own.to).contains(own.member);
        let (lost, there): (Vec<_>, Vec<_>) = pieces.partition(is_lost);
        for own in lost {
            self.missed.add(own.from, own.to);
        }
        merged(op.kind, there)
    }

    fn write(&mut self, now: Nanos, host: RequestId, op: Op) {
        if self.has_parity() {
            return self.write_stripes(now, host, op);
        }
        let requests = self.write_copies(op);
        self.host.add_part(host);
        self.begin(now, requests, NextPhase::Complete(host));
    }

    fn write_stripes(&mut self, now: Nanos, host: RequestId, op: Op) {
        for part in split(op, self.layout.stripe_bytes()) {
            self.host.add_part(host);
            let ArrayRange { number, from, to } = part;
            self.stripes.add(number, WritePart { host, from, to });
        }
        self.begin_stripes(now);
    }

    /// The same request to every member that is left.
    fn to_all(&self, op: Op) -> Vec<MemberRequest> {
        let members = self.all() - self.failed;
        let request = |member| MemberRequest { member, op };
        members.iter().map(request).collect()
    }

    /// Begins a request, of which one part is open.
    fn start(&mut self, now: Nanos, host: RequestId, op: Op) {
        let requests = match op.kind {
            DriveOp::Read => self.read(op),
            DriveOp::Flush => self.to_all(op),
            DriveOp::Write => {
                self.write_marked(now, host, op);
                Vec::new()
            }
            // md discards nothing of stripes with parity (`devices_handle_discard_safely` is off).
            DriveOp::Trim if self.has_parity() => Vec::new(),
            DriveOp::Trim => self.write_copies(op),
        };
        if let Some(own) = &mut self.rebuild {
            own.last_request = now;
        }
        self.begin(now, requests, NextPhase::Complete(host));
    }

    fn end_part(&mut self, now: Nanos, id: RequestId) {
        if let Some(FollowingRequest { host, op }) = self.host.end_part(now, id) {
            self.start(now, host, op);
        }
    }

    fn run_to(&mut self, to: Nanos) {
        while self.step(to) {}
    }

    /// The next thing that happens up to a time. False if nothing does.
    fn step(&mut self, to: Nanos) -> bool {
        let rebuild_at = self.rebuild.as_ref().and_then(|own| own.next_at());
        let member_at = self.members.next_at();
        match rebuild_at.filter(|at| *at <= to && member_at.is_none_or(|member| *at < member)) {
            Some(at) => self.begin_rebuilding(at),
            None => match self.members.take(to) {
                Some(progress) => self.progress(progress),
                None => return false,
            },
        }
        true
    }
}

impl<M: Members> Array<M> {
    /// See [`Storage::submit`].
    pub fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        self.run_to(now);
        let host = self.host.begin();
        self.start(now, host, op);
        host
    }

    pub fn next_event(&self) -> Option<Nanos> {
        let complete = self.host.next_at();
        let rebuild = self.rebuild.as_ref().and_then(|own| own.next_at());
        let events = [complete, rebuild, self.members.next_at()];
        events.into_iter().flatten().min()
    }

    pub fn advance(&mut self, to: Nanos) -> Option<Completion> {
        loop {
            if let Some(done) = self.host.take(to) {
                return Some(done);
            }
            if !self.step(to) {
                return None;
            }
        }
    }
}

impl Storage for Array {
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        Self::submit(self, now, op)
    }

    fn next_event(&self) -> Option<Nanos> {
        Self::next_event(self)
    }

    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        Self::advance(self, to)
    }

    fn work_by_drive(&self) -> Vec<Work> {
        self.members.work().collect()
    }
}

impl Assembled for Array {
    fn announce(&mut self) {
        self.host.announce();
    }

    fn take_known(&mut self) -> Vec<Completion> {
        self.host.take_known().collect()
    }

    fn submit_after(&mut self, now: Nanos, first: Op, op: Op) -> RequestId {
        self.run_to(now);
        let host = self.host.begin();
        let before = self.host.begin_before(Some(FollowingRequest { host, op }));
        self.start(now, before, first);
        host
    }

    fn has_member(&self, member: u32) -> bool {
        member < self.layout.members
    }

    fn is_missing(&self, member: u32) -> bool {
        self.failed.contains(member)
    }

    fn fail(&mut self, now: Nanos, member: u32) -> bool {
        Self::fail(self, now, member)
    }

    fn take_rebuild_reports(&mut self) -> Vec<RebuildReport> {
        Self::take_rebuild_reports(self)
    }

    fn can_replace(&self, member: u32) -> bool {
        self.failed.contains(member) && self.rebuilding().is_empty()
    }

    fn replace(&mut self, now: Nanos, member: u32) {
        Self::replace(self, now, member, RebuildSpeed::default());
    }

    fn bring_back(&mut self, now: Nanos, member: u32) {
        Self::bring_back(self, now, member, RebuildSpeed::default());
    }

    fn slow_down(&mut self, now: Nanos, member: u32, factor: f64) {
        self.run_to(now);
        self.members.slow_down(now, member, factor);
    }

    fn set_network(&mut self, _: Nanos, _: u32) -> Option<u32> {
        None
    }

    fn has_rebuilt(&self, member: u32) -> bool {
        Self::has_rebuilt(self, member)
    }

    fn rebuilt(&self) -> Bytes {
        Self::rebuilt(self)
    }

    fn power_cycle(&mut self, now: Nanos) {
        Self::power_cycle(self, now);
    }
}

#[cfg(test)]
impl Array {
    /// No member is missing or being filled.
    pub(super) fn is_whole(&self) -> bool {
        self.rebuilding().is_empty() && self.failed.is_empty()
    }

    /// Nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.host.is_empty()
    }
}
