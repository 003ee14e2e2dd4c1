//! Answers that are held back until they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use plimsoll_plan::units::Nanos;

struct TimerEntry<T> {
    due: Nanos,
    /// Equal due times are served in the order of their arrival.
    order: u64,
    what: T,
}

impl<T> PartialEq for TimerEntry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<T> Eq for TimerEntry<T> {}

impl<T> PartialOrd for TimerEntry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for TimerEntry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.order).cmp(&(other.due, other.order))
    }
}

pub struct TimerQueue<T> {
    heap: BinaryHeap<Reverse<TimerEntry<T>>>,
    arrived: u64,
}

impl<T> Default for TimerQueue<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            arrived: 0,
        }
    }
}

impl<T> TimerQueue<T> {
    pub fn push(&mut self, due: Nanos, what: T) {
        self.heap.push(Reverse(TimerEntry {
            due,
            order: self.arrived,
            what,
        }));
        self.arrived += 1;
    }

    pub fn next_due(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse(next)| next.due)
    }

    /// How many are held.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Everything that is held, in no order.
    pub fn take_all(&mut self) -> Vec<T> {
        std::mem::take(&mut self.heap)
            .into_iter()
            .map(|Reverse(held)| held.what)
            .collect()
    }

    /// Moves everything due by `now` into `out`, in its order. Each is due earlier by the `lead` of its time, which must not
    /// fall for later times.
    pub fn take_due(&mut self, now: Nanos, lead: impl Fn(Nanos) -> Nanos, out: &mut Vec<T>) {
        while let Some(next) = self.heap.peek_mut() {
            let due = next.0.due.saturating_sub(lead(next.0.due));
            if due > now {
                return;
            }
            out.push(PeekMut::pop(next).0.what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn handed_out_by_due_time_then_by_arrival(dues in prop::collection::vec(0u64..20, 0..60), step in 1u64..7) {
            let mut queue = TimerQueue::default();
            let mut earliest = u64::MAX;
            for (order, due) in dues.iter().enumerate() {
                queue.push(Nanos(*due), (*due, order));
                earliest = earliest.min(*due);
                prop_assert_eq!(queue.next_due(), Some(Nanos(earliest)));
            }
            let mut expected: Vec<(u64, usize)> = dues.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let (mut out, mut now) = (Vec::new(), 0);
            loop {
                queue.take_due(Nanos(now), |_| Nanos::ZERO, &mut out);
                prop_assert!(out.iter().all(|(due, _)| *due <= now));
                prop_assert!(queue.next_due().is_none_or(|next| next.0 > now));
                if queue.len() == 0 {
                    break;
                }
                now += step;
            }
            prop_assert_eq!(out, expected);
        }
    }
}
