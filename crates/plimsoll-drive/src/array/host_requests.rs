//! The requests that a host has sent to an array.

use std::collections::VecDeque;

use plimsoll_plan::units::Nanos;
use slab::Slab;

use crate::model::{Completion, Op, RequestId};

/// The host's requests, each with its open parts.
#[derive(Debug, Clone, Default)]
pub struct HostRequests {
    requests: Slab<HostRequest>,
    /// Complete, and not taken yet; by time.
    complete: VecDeque<Completion>,
    /// Completions that lie ahead, if they are asked for.
    known: Option<Vec<Completion>>,
}

#[derive(Debug, Clone)]
struct HostRequest {
    open_parts: u32,
    /// Parts whose end is not known yet.
    unknown_parts: u32,
    /// The last end that is known.
    ends: Nanos,
    /// It is no request of the host's, but what has to be complete before one begins.
    then: Option<FollowingRequest>,
}

/// A request that begins when another is complete.
#[derive(Debug, Clone, Copy)]
pub struct FollowingRequest {
    pub host: RequestId,
    pub op: Op,
}

impl HostRequests {
    /// A request with one open part, which its sender ends when all others are known.
    pub fn begin(&mut self) -> RequestId {
        self.begin_before(None)
    }

    /// What comes before another request, likewise.
    pub fn begin_before(&mut self, then: Option<FollowingRequest>) -> RequestId {
        let request = HostRequest {
            open_parts: 1,
            unknown_parts: 1,
            ends: Nanos::ZERO,
            then,
        };
        RequestId::new(self.requests.insert(request))
    }

    pub fn add_part(&mut self, id: RequestId) {
        let own = &mut self.requests[id.index()];
        own.open_parts += 1;
        own.unknown_parts += 1;
    }

    /// From now on completions are given as soon as they are known, at the latest when they are there.
    pub fn announce(&mut self) {
        self.known = Some(Vec::new());
    }

    /// A part will end at this time, if no member fails.
    pub fn part_ends(&mut self, at: Nanos, id: RequestId) {
        let own = &mut self.requests[id.index()];
        own.unknown_parts -= 1;
        own.ends = own.ends.max(at);
        let at = own.ends;
        let is_known = own.unknown_parts == 0 && own.then.is_none();
        if let Some(known) = self.known.as_mut().filter(|_| is_known) {
            known.push(Completion { id, at });
        }
    }

    pub fn take_known(&mut self) -> impl Iterator<Item = Completion> {
        self.known.iter_mut().flat_map(|known| known.drain(..))
    }

    /// The request that begins now, if this was the last part of what came before it.
    pub fn end_part(&mut self, at: Nanos, id: RequestId) -> Option<FollowingRequest> {
        let own = &mut self.requests[id.index()];
        own.open_parts -= 1;
        if own.open_parts > 0 {
            return None;
        }
        if own.then.is_none() {
            let done = Completion { id, at };
            let was_known = own.unknown_parts == 0;
            self.complete.push_back(done);
            if let Some(known) = self.known.as_mut().filter(|_| !was_known) {
                known.push(done);
            }
            return None;
        }
        self.requests.remove(id.index()).then
    }

    pub fn take(&mut self, to: Nanos) -> Option<Completion> {
        self.complete.front().filter(|own| own.at <= to)?;
        let own = self.complete.pop_front()?;
        self.requests.remove(own.id.index());
        Some(own)
    }

    /// Nothing is under way any more.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.complete.clear();
        self.known.iter_mut().for_each(Vec::clear);
    }

    /// When the first that was not taken was complete.
    pub fn next_at(&self) -> Option<Nanos> {
        self.complete.front().map(|own| own.at)
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}
