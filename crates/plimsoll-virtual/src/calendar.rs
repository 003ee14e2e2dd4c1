//! Virtual time: stands still while any task can run, then jumps to the earliest sleeper.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use plimsoll_plan::units::Nanos;

/// Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock(Arc<Mutex<VirtualTime>>);

#[derive(Debug, Default)]
struct VirtualTime {
    now: Nanos,
    sleepers: BinaryHeap<Reverse<Sleeper>>,
    registered: u64,
}

/// Ordered by due time, then by registration, so that a run with a seed has one course only.
#[derive(Debug)]
struct Sleeper {
    due: Nanos,
    order: u64,
    waker: Waker,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        (self.due, self.order) == (other.due, other.order)
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.order).cmp(&(other.due, other.order))
    }
}

impl VirtualClock {
    fn lock(&self) -> MutexGuard<'_, VirtualTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> Nanos {
        self.lock().now
    }

    /// Ends at `due`; at once when that has passed.
    pub fn sleep_until(&self, due: Nanos) -> VirtualSleep {
        VirtualSleep {
            clock: self.clone(),
            due,
            order: None,
        }
    }

    /// Jumps to the earliest sleeper and wakes it. For the runtime, when no task can run.
    pub fn advance(&self) {
        let next = {
            let mut time = self.lock();
            let next = time.sleepers.pop();
            if let Some(Reverse(sleeper)) = &next {
                time.now = time.now.max(sleeper.due);
            }
            next
        };
        if let Some(Reverse(sleeper)) = next {
            sleeper.waker.wake();
        }
    }

    /// Runs a future to its end on this thread, with all tasks that it spawns locally.
    pub fn block_on<F: Future>(&self, future: F) -> std::io::Result<F::Output> {
        let clock = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .on_thread_park(move || clock.advance())
            .build()?;
        Ok(tokio::task::LocalSet::new().block_on(&runtime, future))
    }

    /// How many tasks sleep.
    pub fn sleepers(&self) -> usize {
        self.lock().sleepers.len()
    }
}

/// A sleep on the virtual clock.
#[derive(Debug)]
pub struct VirtualSleep {
    clock: VirtualClock,
    due: Nanos,
    /// Its place among the sleepers, while it is one of them.
    order: Option<u64>,
}

impl VirtualSleep {
    fn leave(&mut self, time: &mut VirtualTime) {
        if let Some(order) = self.order.take() {
            time.sleepers
                .retain(|Reverse(sleeper)| sleeper.order != order);
        }
    }
}

/// An abandoned sleep must not be woken: the thread would park with nothing to wake it.
impl Drop for VirtualSleep {
    fn drop(&mut self) {
        let clock = self.clock.clone();
        self.leave(&mut clock.lock());
    }
}

impl Future for VirtualSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut time = clock.lock();
        if time.now >= self.due {
            // Taken out when it was woken, unless something else woke this task at the same time.
            if time
                .sleepers
                .peek()
                .is_some_and(|Reverse(next)| next.due <= time.now)
            {
                self.leave(&mut time);
            }
            self.order = None;
            return Poll::Ready(());
        }
        self.leave(&mut time);
        time.registered += 1;
        let sleeper = Sleeper {
            due: self.due,
            order: time.registered,
            waker: context.waker().clone(),
        };
        time.sleepers.push(Reverse(sleeper));
        self.order = Some(time.registered);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_jumps_in_order_and_takes_none() {
        let clock = VirtualClock::default();
        let order = Arc::new(Mutex::new(Vec::new()));
        let real = std::time::Instant::now();
        clock
            .block_on(async {
                let tasks: Vec<_> = [30_000u64, 10_000, 20_000]
                    .map(|s| {
                        let clock = clock.clone();
                        let order = order.clone();
                        tokio::task::spawn_local(async move {
                            clock.sleep_until(Nanos::from_secs(s)).await;
                            order.lock().unwrap().push((s, clock.now()));
                        })
                    })
                    .into();
                for task in tasks {
                    task.await.unwrap();
                }
            })
            .unwrap();
        let expected: Vec<_> = [10_000, 20_000, 30_000]
            .map(|s| (s, Nanos::from_secs(s)))
            .into();
        assert_eq!(*order.lock().unwrap(), expected);
        assert!(real.elapsed().as_secs() < 10_000);
    }

    #[test]
    fn a_sleep_that_was_given_up_does_not_stop_the_clock() {
        let clock = VirtualClock::default();
        for _ in 0..2 {
            let given_up = clock.sleep_until(clock.now() + Nanos::from_secs(1));
            let both = async {
                tokio::select! {
                    () = given_up => panic!("the other one is due first"),
                    () = clock.sleep_until(clock.now() + Nanos::from_millis(1)) => {}
                }
            };
            // The task of the first sleep ends with its runtime; the next runtime has another.
            clock.block_on(both).unwrap();
        }
        assert_eq!(clock.now(), Nanos::from_millis(2));
        assert_eq!(clock.sleepers(), 0);
    }
}
