//! Holds answers back until they are due.
//!
//! One thread does it: a heap of due times, a sleep that a nearer due time can end, and spinning for the last stretch,
//! because a sleep overshoots: by 25 to 30 µs on a machine that runs, by 80 µs where a processor has to wake up first. Far from the next due time it costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_plan::units::Nanos;

use super::clock::{self, Alarm};

/// How long before the next due time sleeping ends and spinning begins.
pub const SPIN: Nanos = Nanos::from_micros(100);

/// How long after an answer the thread stays awake for the next request, which often follows at once: waking up would
/// take longer than some drives do.
const LINGER: Nanos = Nanos::from_micros(50);

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

struct TimerQueue<T> {
    heap: BinaryHeap<Reverse<TimerEntry<T>>>,
    arrived: u64,
}

impl<T> TimerQueue<T> {
    fn push(&mut self, due: Nanos, what: T) -> bool {
        let is_next = self.heap.peek().is_none_or(|Reverse(next)| due < next.due);
        self.heap.push(Reverse(TimerEntry {
            due,
            order: self.arrived,
            what,
        }));
        self.arrived += 1;
        is_next
    }

    /// Moves everything due by `now` into `out`, in its order; returns when the next is due. Each is due earlier by the
    /// `lead` of its time.
    fn take_due(
        &mut self,
        now: Nanos,
        lead: impl Fn(Nanos) -> Nanos,
        out: &mut Vec<T>,
    ) -> Option<Nanos> {
        while let Some(next) = self.heap.peek_mut() {
            let due = next.0.due.saturating_sub(lead(next.0.due));
            if due > now {
                return Some(due);
            }
            out.push(PeekMut::pop(next).0.what);
        }
        None
    }
}

pub struct Timer<T> {
    queue: Mutex<TimerQueue<T>>,
    alarm: Alarm,
    ends: AtomicBool,
}

impl<T> Default for Timer<T> {
    fn default() -> Self {
        let queue = TimerQueue {
            heap: BinaryHeap::new(),
            arrived: 0,
        };
        Self {
            queue: Mutex::new(queue),
            alarm: Alarm::default(),
            ends: AtomicBool::new(false),
        }
    }
}

impl<T> Timer<T> {
    fn lock(&self) -> MutexGuard<'_, TimerQueue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, due: Nanos, what: T) {
        let is_next = self.lock().push(due, what);
        if is_next {
            self.alarm.ring();
        }
    }

    /// How many are held.
    pub fn len(&self) -> usize {
        self.lock().heap.len()
    }

    /// Everything that is held, in no order.
    pub fn take_all(&self) -> Vec<T> {
        std::mem::take(&mut self.lock().heap)
            .into_iter()
            .map(|Reverse(held)| held.what)
            .collect()
    }

    pub fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
        self.alarm.ring();
    }

    /// The thread's whole life: hands out what is due, in batches, until [`Self::end`]. `lead` is how much earlier
    /// something that is due at a time has to be handed out; it must not fall for later times.
    pub fn run(&self, lead: impl Fn(Nanos) -> Nanos, mut hand_out: impl FnMut(&mut Vec<T>)) {
        clock::be_punctual();
        let mut batch = Vec::new();
        let mut awake_until = Nanos::ZERO;
        while !self.ends.load(Ordering::SeqCst) {
            let ticket = self.alarm.ticket();
            let now = clock::now();
            let next = self.lock().take_due(now, &lead, &mut batch);
            if !batch.is_empty() {
                hand_out(&mut batch);
                batch.clear();
                awake_until = clock::now() + LINGER;
                continue;
            }
            let spin_until = match next {
                Some(due) if due <= now + SPIN => due,
                _ => awake_until,
            };
            if spin_until <= now {
                self.alarm
                    .sleep_until(ticket, next.map(|due| due.saturating_sub(SPIN)));
            }
            while clock::now() < spin_until && !self.alarm.rang_since(ticket) {
                std::hint::spin_loop();
            }
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
            let mut queue = TimerQueue { heap: BinaryHeap::new(), arrived: 0 };
            let mut earliest = u64::MAX;
            for (order, due) in dues.iter().enumerate() {
                let is_next = queue.push(Nanos(*due), (*due, order));
                prop_assert_eq!(is_next, *due < earliest);
                earliest = earliest.min(*due);
            }
            let mut expected: Vec<(u64, usize)> = dues.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            let (mut out, mut now) = (Vec::new(), 0);
            loop {
                let next = queue.take_due(Nanos(now), |_| Nanos::ZERO, &mut out);
                prop_assert!(out.iter().all(|(due, _)| *due <= now));
                prop_assert!(next.is_none_or(|next| next.0 > now));
                if next.is_none() {
                    break;
                }
                now += step;
            }
            prop_assert_eq!(out, expected);
        }
    }

    #[test]
    fn a_nearer_due_time_ends_the_wait_for_a_far_one() {
        let timer = Timer::default();
        std::thread::scope(|scope| {
            let (done, received) = std::sync::mpsc::channel();
            let timer = &timer;
            scope.spawn(move || {
                timer.run(
                    |_| Nanos::ZERO,
                    |batch| {
                        batch
                            .drain(..)
                            .for_each(|what| done.send((what, clock::now())).unwrap())
                    },
                )
            });
            let start = clock::now();
            timer.push(start + Nanos::from_secs(3600), "far");
            timer.push(start + Nanos::from_millis(3), "near");
            let (what, at) = received.recv().unwrap();
            assert_eq!(what, "near");
            assert!(at >= start + Nanos::from_millis(3));
            assert_eq!(timer.take_all(), ["far"]);
            assert_eq!(timer.len(), 0);
            timer.end();
        });
    }
}
