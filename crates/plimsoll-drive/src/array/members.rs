//! The members of an array: what each is asked for, and when it answers.

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;

use super::member_set::MemberSet;
use crate::model::{ByRequest, CompletionQueue, Drive, Op, Setup, Work};
use crate::spec::DriveSpec;

/// A request to one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRequest {
    pub member: u32,
    pub op: Op,
}

/// Number of the task that waits for a request.
pub type TaskId = usize;

/// A request in flight.
#[derive(Debug, Clone, Copy)]
struct InFlightRequest {
    request: MemberRequest,
    task: TaskId,
    /// Its member failed meanwhile.
    is_void: bool,
}

/// What the requests of an array go to: drives, or the components of a virtual disk.
pub trait Members {
    /// A stripe that is not written whole waits while others are read for parity, so that sequential writes fill it, as in
    /// md.
    const FILLS_STRIPES: bool;
    /// What a member that is missing was not written is known without a bitmap.
    const KNOW_CHANGES: bool;

    /// Returns when it will be complete, where that is known already.
    fn send(&mut self, now: Nanos, request: MemberRequest, task: TaskId) -> Option<Nanos>;

    fn next_at(&self) -> Option<Nanos>;

    /// The task whose request is the next to complete up to a time, and when.
    fn take(&mut self, to: Nanos) -> Option<TaskProgress>;

    /// The member of `of` that is to read from `offset`.
    fn reader(&self, of: impl Iterator<Item = u32>, offset: u64) -> Option<u32>;

    /// A member fails: what it had in flight will not be answered.
    fn fail(&mut self, member: u32) -> Vec<FailedRequest>;

    /// A new member, empty, takes the place of one that failed.
    fn replace(&mut self, member: u32);

    fn power_cycle(&mut self, now: Nanos);
}

/// Drives of its own.
#[derive(Debug, Clone)]
pub struct MemberDrives {
    specs: Vec<DriveSpec>,
    /// Of each drive.
    setup: Setup,
    drives: Vec<Drive>,
    in_flight: CompletionQueue,
    sent: ByRequest<InFlightRequest>,
    queues: Vec<MemberQueue>,
}

/// What a member has to do.
#[derive(Debug, Clone, Copy, Default)]
struct MemberQueue {
    in_flight: u32,
    /// Where its last request ended.
    position: u64,
}

impl MemberDrives {
    /// `setup` is that of each.
    pub fn new(specs: Vec<DriveSpec>, setup: Setup) -> Self {
        let drives = (0..).zip(&specs);
        let drives = drives.map(|(member, spec)| Drive::new(spec, &setup.of_member(member)));
        Self {
            queues: vec![MemberQueue::default(); specs.len()],
            drives: drives.collect(),
            specs,
            setup,
            in_flight: CompletionQueue::default(),
            sent: ByRequest::default(),
        }
    }

    pub fn slow_down(&mut self, now: Nanos, member: u32, factor: f64) {
        self.drives[member as usize].slow_down(now, factor);
    }

    pub fn work(&self) -> impl Iterator<Item = Work> {
        self.drives.iter().map(Drive::work)
    }
}

impl Members for MemberDrives {
    const FILLS_STRIPES: bool = true;
    const KNOW_CHANGES: bool = false;

    fn send(&mut self, now: Nanos, request: MemberRequest, task: TaskId) -> Option<Nanos> {
        let member = request.member as usize;
        let done = self.drives[member].complete(now, request.op);
        let id = self.in_flight.add(done);
        let in_flight = InFlightRequest {
            request,
            task,
            is_void: false,
        };
        self.sent.set(id, in_flight);
        let queue = &mut self.queues[member];
        queue.in_flight += 1;
        if request.op.kind != DriveOp::Flush {
            queue.position = request.op.offset + request.op.len;
        }
        Some(done)
    }

    fn next_at(&self) -> Option<Nanos> {
        self.in_flight.next_at()
    }

    fn take(&mut self, to: Nanos) -> Option<TaskProgress> {
        loop {
            let done = self.in_flight.take(to)?;
            let own = *self.sent.get(done.id);
            if !own.is_void {
                self.queues[own.request.member as usize].in_flight -= 1;
                return Some(TaskProgress {
                    task: own.task,
                    at: done.at,
                });
            }
        }
    }

    /// As md balances mirrors: the one that goes on from there, else the one with the fewest requests in flight, of equal
    /// ones the nearest.
    fn reader(&self, of: impl Iterator<Item = u32>, offset: u64) -> Option<u32> {
        of.min_by_key(|member| {
            let queue = self.queues[*member as usize];
            let distance = queue.position.abs_diff(offset);
            (distance > 0, queue.in_flight, distance)
        })
    }

    fn fail(&mut self, member: u32) -> Vec<FailedRequest> {
        self.queues[member as usize] = MemberQueue::default();
        let mut failed = Vec::new();
        for id in self.in_flight.ids() {
            let mut own = *self.sent.get(id);
            if own.request.member == member && !own.is_void {
                own.is_void = true;
                self.sent.set(id, own);
                failed.push(FailedRequest {
                    request: own.request,
                    task: own.task,
                });
            }
        }
        failed
    }

    fn replace(&mut self, member: u32) {
        // It draws other random numbers than the one before.
        let setup = self.setup.of_member(member + MemberSet::MOST);
        self.drives[member as usize] = Drive::new(&self.specs[member as usize], &setup);
    }

    fn power_cycle(&mut self, now: Nanos) {
        self.in_flight.clear();
        self.queues.fill(MemberQueue::default());
        self.drives
            .iter_mut()
            .for_each(|drive| drive.power_cycle(now));
    }
}

/// One of a task's requests is complete.
#[derive(Debug, Clone, Copy)]
pub struct TaskProgress {
    pub task: TaskId,
    pub at: Nanos,
}

/// A request that a failed member did not answer.
#[derive(Debug, Clone, Copy)]
pub struct FailedRequest {
    pub request: MemberRequest,
    pub task: TaskId,
}

/// The same bytes in the fewest requests: what overlaps or adjoins on a member is one request. `kind` reads or writes.
pub fn merged(kind: DriveOp, mut pieces: Vec<MemberRange>) -> Vec<MemberRequest> {
    pieces.sort_unstable_by_key(|piece| (piece.member, piece.from));
    let mut merged: Vec<MemberRange> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match merged.last_mut() {
            Some(last) if last.member == piece.member && last.to >= piece.from => {
                last.to = last.to.max(piece.to);
            }
            _ => merged.push(piece),
        }
    }
    merged
        .into_iter()
        .map(|piece| piece.request(kind))
        .collect()
}

/// Bytes of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRange {
    pub member: u32,
    pub from: u64,
    pub to: u64,
}

impl MemberRange {
    pub fn request(self, kind: DriveOp) -> MemberRequest {
        MemberRequest {
            member: self.member,
            op: Op {
                kind,
                offset: self.from,
                len: self.to - self.from,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjoining_pieces_are_one_request() {
        let piece = |member, from, to| MemberRange { member, from, to };
        let pieces = vec![
            piece(1, 8, 12),
            piece(0, 0, 4),
            piece(1, 0, 4),
            piece(1, 4, 9),
            piece(1, 13, 14),
        ];
        let requests: Vec<(u32, u64, u64)> = merged(DriveOp::Read, pieces)
            .into_iter()
            .map(|own| (own.member, own.op.offset, own.op.len))
            .collect();
        assert_eq!(requests, [(0, 0, 4), (1, 0, 12), (1, 13, 1)]);
    }
}
