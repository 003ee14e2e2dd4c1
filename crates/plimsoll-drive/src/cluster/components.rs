//! The components of a virtual disk, as the members of an array.

use std::collections::VecDeque;

use plimsoll_plan::units::Nanos;
use slab::Slab;

use crate::array::{FailedRequest, MemberRequest, Members, TaskId, TaskProgress};

/// Requests that go out are taken by the cluster, which answers them later.
#[derive(Debug, Clone, Default)]
pub struct Components {
    in_flight: Slab<ComponentRequest>,
    sent: Vec<SentRequest>,
    answered: VecDeque<TaskProgress>,
    /// Reads come from this one, not from all in turn.
    read_from: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct ComponentRequest {
    request: MemberRequest,
    task: TaskId,
    /// Its component failed meanwhile.
    is_void: bool,
}

/// A request that goes out.
#[derive(Debug, Clone, Copy)]
pub struct SentRequest {
    /// To be answered.
    pub id: usize,
    pub request: MemberRequest,
    pub at: Nanos,
}

/// vSAN divides the reads of a mirror among its copies by address, in pieces of this size.
const READ_FROM_ONE: u64 = 1 << 20;

impl Components {
    /// While it has the data, reads come from this component.
    pub const fn read_from(&mut self, member: u32) {
        self.read_from = Some(member);
    }

    pub fn take_sent(&mut self) -> Vec<SentRequest> {
        std::mem::take(&mut self.sent)
    }

    pub fn answer(&mut self, now: Nanos, id: usize) {
        let own = self.in_flight.remove(id);
        if !own.is_void {
            self.answered.push_back(TaskProgress {
                task: own.task,
                at: now,
            });
        }
    }
}

impl Members for Components {
    const FILLS_STRIPES: bool = false;
    const KNOW_CHANGES: bool = true;

    fn send(&mut self, now: Nanos, request: MemberRequest, task: TaskId) -> Option<Nanos> {
        let id = self.in_flight.insert(ComponentRequest {
            request,
            task,
            is_void: false,
        });
        self.sent.push(SentRequest {
            id,
            request,
            at: now,
        });
        None
    }

    fn next_at(&self) -> Option<Nanos> {
        self.answered.front().map(|own| own.at)
    }

    fn take(&mut self, to: Nanos) -> Option<TaskProgress> {
        self.answered.front().filter(|own| own.at <= to)?;
        self.answered.pop_front()
    }

    fn reader(&self, of: impl Iterator<Item = u32>, offset: u64) -> Option<u32> {
        let members: Vec<u32> = of.collect();
        if let Some(own) = self.read_from {
            let is_there = members.contains(&own);
            return if is_there {
                Some(own)
            } else {
                members.first().copied()
            };
        }
        let turn = offset / READ_FROM_ONE % members.len().max(1) as u64;
        members.get(turn as usize).copied()
    }

    fn fail(&mut self, member: u32) -> Vec<FailedRequest> {
        let in_flight = self.in_flight.iter_mut().map(|(_, own)| own);
        let of_member = in_flight.filter(|own| own.request.member == member && !own.is_void);
        let void = of_member.map(|own| {
            own.is_void = true;
            FailedRequest {
                request: own.request,
                task: own.task,
            }
        });
        void.collect()
    }

    /// Its place is the cluster's matter.
    fn replace(&mut self, _: u32) {}

    fn power_cycle(&mut self, _: Nanos) {
        *self = Self::default();
    }
}
