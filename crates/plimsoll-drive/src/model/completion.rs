//! What a drive has in flight, and when each of it completes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_plan::units::Nanos;

/// A request from its submission to its completion; afterwards the drive gives its number to another one. Numbers are
/// below the most requests that were ever in flight at a time, so that callers can keep a table ([`ByRequest`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u32);

impl RequestId {
    pub(crate) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A request that the drive has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    pub id: RequestId,
    pub at: Nanos,
}

/// What a caller keeps of each request in flight.
#[derive(Debug, Clone)]
pub struct ByRequest<T>(Vec<T>);

impl<T> Default for ByRequest<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByRequest<T> {
    #[inline]
    pub fn set(&mut self, id: RequestId, value: T) {
        match self.0.get_mut(id.0 as usize) {
            Some(place) => *place = value,
            // A new number is the next one.
            None => self.0.push(value),
        }
    }

    /// Of a request that is in flight or has just completed.
    #[inline]
    pub fn get(&self, id: RequestId) -> &T {
        &self.0[id.0 as usize]
    }
}

/// Completions that lie ahead, by time; equal ones in the order of their submission. Allocates only when more are in
/// flight than ever before.
#[derive(Debug, Clone, Default)]
pub struct CompletionQueue {
    ahead: BinaryHeap<Reverse<Ahead>>,
    free: Vec<RequestId>,
    submitted: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ahead {
    at: Nanos,
    order: u64,
    id: RequestId,
}

impl CompletionQueue {
    #[inline]
    pub fn add(&mut self, at: Nanos) -> RequestId {
        let next = RequestId(self.ahead.len() as u32);
        let id = self.free.pop().unwrap_or(next);
        self.ahead.push(Reverse(Ahead {
            at,
            order: self.submitted,
            id,
        }));
        self.submitted += 1;
        id
    }

    #[inline]
    pub fn next_at(&self) -> Option<Nanos> {
        self.ahead.peek().map(|Reverse(next)| next.at)
    }

    /// The next completion at or before `to`.
    #[inline]
    pub fn take(&mut self, to: Nanos) -> Option<Completion> {
        if self.next_at()? > to {
            return None;
        }
        let Reverse(Ahead { at, id, .. }) = self.ahead.pop()?;
        self.free.push(id);
        Some(Completion { id, at })
    }

    /// Of all that is in flight, in no order.
    pub fn ids(&self) -> impl Iterator<Item = RequestId> {
        self.ahead.iter().map(|Reverse(ahead)| ahead.id)
    }

    /// Nothing is in flight any more.
    pub fn clear(&mut self) {
        let ids = self.ahead.drain().map(|Reverse(ahead)| ahead.id);
        self.free.extend(ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each request completes once, in the order of the times, and no number is in use twice at a time.
        #[test]
        fn completions_come_in_their_order(
            steps in prop::collection::vec((0u64..50, 0u64..100, 1usize..4), 1..80),
        ) {
            let mut queue = CompletionQueue::default();
            let mut used = std::collections::BTreeMap::new();
            let mut now = 0;
            let mut last = (Nanos(0), 0);
            let mut submitted = 0;
            for (gap, span, requests) in steps {
                now += gap;
                while let Some(done) = queue.take(Nanos(now)) {
                    let (at, order) = used.remove(&done.id).unwrap();
                    prop_assert_eq!(at, done.at);
                    prop_assert!((at, order) > last || order == 0, "{:?} after {:?}", (at, order), last);
                    last = (at, order);
                }
                for _ in 0..requests {
                    let at = Nanos(now + span);
                    let id = queue.add(at);
                    prop_assert!(used.insert(id, (at, submitted)).is_none());
                    submitted += 1;
                }
                prop_assert_eq!(queue.ahead.len(), used.len());
            }
            queue.clear();
            prop_assert_eq!(queue.next_at(), None);
            prop_assert!(used.is_empty() || used.contains_key(&queue.add(Nanos(now))));
        }
    }
}
