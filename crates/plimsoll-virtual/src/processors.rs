//! Processors of a machine: first come, first served, a quantum at a time.

use plimsoll_plan::units::Nanos;
use tokio::sync::Semaphore;

use crate::calendar::VirtualClock;

/// How long a program keeps a processor while others wait for one. Assumed: about the base slice of Linux' scheduler on eight
/// processors (`sysctl_sched_base_slice`).
const QUANTUM: Nanos = Nanos::from_millis(3);

/// So many equal processors.
#[derive(Debug)]
pub struct Processors {
    clock: VirtualClock,
    free: Semaphore,
}

impl Processors {
    /// At least one.
    pub fn new(clock: VirtualClock, count: u32) -> Self {
        let free = Semaphore::new(count.max(1) as usize);
        Self { clock, free }
    }

    /// Waits for a processor as long as others keep it, then for so much of its time.
    pub async fn work(&self, work: Nanos) {
        let mut left = work;
        while left > Nanos::ZERO {
            // An error would be a semaphore that was closed, which this one never is.
            let Ok(_own) = self.free.acquire().await else {
                return;
            };
            let slice = left.min(QUANTUM);
            self.clock.sleep_until(self.clock.now() + slice).await;
            left = left - slice;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// When programs that come at the same time are done.
    fn ends(cpus: u32, works_ms: &[u64]) -> Vec<u64> {
        let clock = VirtualClock::default();
        let processors = Rc::new(Processors::new(clock.clone(), cpus));
        let ends = Rc::new(RefCell::new(vec![0; works_ms.len()]));
        let all = async {
            let tasks: Vec<_> = works_ms
                .iter()
                .enumerate()
                .map(|(i, ms)| {
                    let (processors, ends, clock) =
                        (processors.clone(), ends.clone(), clock.clone());
                    let work = Nanos::from_millis(*ms);
                    tokio::task::spawn_local(async move {
                        processors.work(work).await;
                        ends.borrow_mut()[i] = clock.now().0 / 1_000_000;
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        };
        clock.block_on(all).unwrap();
        ends.take()
    }

    #[test]
    fn a_processor_works_on_one_at_a_time() {
        assert_eq!(ends(1, &[2, 2, 2]), [2, 4, 6]);
        assert_eq!(ends(2, &[2, 2, 2]), [2, 2, 4]);
        assert_eq!(ends(4, &[2, 2, 2]), [2, 2, 2]);
    }

    #[test]
    fn a_long_burst_gives_way_after_its_quantum() {
        assert_eq!(ends(1, &[9, 1]), [10, 4]);
        // With nobody waiting it goes on.
        assert_eq!(ends(1, &[9]), [9]);
    }

    #[test]
    fn no_work_takes_no_time_and_needs_no_processor() {
        assert_eq!(ends(1, &[5, 0]), [5, 0]);
    }
}
