//! Time as a parameter: the real clock and the virtual one.
//!
//! `Instant::now` and `sleep` appear in this file and nowhere else in plimsoll's load and execution.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use plimsoll_plan::units::Nanos;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// How late the runtime's timer may be: it counts in milliseconds, and so does the wait below it.
const COARSE_TIMER: Nanos = Nanos::from_millis(3);

/// Waits for a kernel timer.
async fn kernel_timer(left: Nanos) -> std::io::Result<()> {
    let timer = timerfd_create(
        TimerfdClockId::Monotonic,
        TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
    )?;
    let never = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let it_value = Timespec {
        tv_sec: (left.0 / 1_000_000_000) as i64,
        tv_nsec: (left.0 % 1_000_000_000) as i64,
    };
    timerfd_settime(
        &timer,
        TimerfdTimerFlags::empty(),
        &Itimerspec {
            it_interval: never,
            it_value,
        },
    )?;
    // Readable means expired; the descriptor is closed without reading the count.
    #[expect(
        deprecated,
        reason = "unsound for types whose descriptor changes, which that of an OwnedFd does not"
    )]
    let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
    timer.readable().await.map(drop)
}

/// What CLOCK_MONOTONIC shows.
pub fn monotonic() -> Nanos {
    let shows = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Nanos(shows.tv_sec.unsigned_abs() * 1_000_000_000 + shows.tv_nsec.unsigned_abs())
}

/// A clock that counts from the start of the run. Cheap to clone; all clones show the same time.
#[derive(Debug, Clone)]
pub enum Clock {
    Real(Instant),
    Virtual(VirtualClock),
}

impl Clock {
    /// A real clock that shows zero now.
    pub fn real() -> Self {
        Self::Real(Instant::now())
    }

    /// The time of the run at which CLOCK_MONOTONIC, which all processes of a machine share, showed this.
    pub fn of_monotonic(&self, then: Nanos) -> Nanos {
        self.now().saturating_sub(monotonic().saturating_sub(then))
    }

    pub fn now(&self) -> Nanos {
        match self {
            Self::Real(start) => start.elapsed().into(),
            Self::Virtual(clock) => clock.lock().now,
        }
    }

    /// Ends at `due` at the earliest; at once when that has passed.
    pub async fn sleep_until(&self, due: Nanos) {
        match self {
            Self::Real(start) => {
                let due = *start + due.into();
                tokio::time::sleep_until(due.into()).await;
            }
            Self::Virtual(clock) => {
                VirtualSleep {
                    clock: clock.clone(),
                    due,
                    order: None,
                }
                .await
            }
        }
    }

    /// As [`Self::sleep_until`], and not more than some ten microseconds later: the runtime's own timer rounds up to
    /// milliseconds, so the end is left to a timer of the kernel's (timerfd_create(2)).
    pub async fn sleep_exactly_until(&self, due: Nanos) {
        if let Self::Virtual(_) = self {
            return self.sleep_until(due).await;
        }
        let coarse = due.saturating_sub(COARSE_TIMER);
        if self.now() < coarse {
            self.sleep_until(coarse).await;
        }
        // Without a timer of its own (too many open files) the sleep is only less exact.
        let left = due.saturating_sub(self.now());
        if left > Nanos::ZERO && kernel_timer(left).await.is_err() {
            self.sleep_until(due).await;
        }
    }

    pub async fn sleep(&self, time: Nanos) {
        self.sleep_until(self.now() + time).await;
    }

    /// For threads without a runtime (the sampling thread). The virtual clock has no such threads.
    pub fn block_until(&self, due: Nanos) {
        if let Self::Real(_) = self {
            std::thread::sleep(due.saturating_sub(self.now()).into());
        }
    }

    /// Runs a future to its end on this thread. Under the virtual clock, time jumps to the next sleeper whenever
    /// every task waits.
    pub fn block_on<F: Future>(&self, future: F) -> std::io::Result<F::Output> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        match self {
            Self::Real(_) => {
                builder.enable_all();
            }
            Self::Virtual(clock) => {
                let clock = clock.clone();
                builder.on_thread_park(move || clock.advance());
            }
        }
        let runtime = builder.build()?;
        Ok(tokio::task::LocalSet::new().block_on(&runtime, future))
    }
}

/// The date, as databases store it: microseconds since 1970-01-01 UTC. Not for measuring.
pub fn unix_micros() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_micros() as i64)
}

/// A clock that shows zero when its lane starts, and until then.
#[derive(Debug, Clone)]
pub struct LaneClock {
    clock: Clock,
    origin: Arc<OnceLock<Nanos>>,
}

impl LaneClock {
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            origin: Arc::default(),
        }
    }

    /// Makes now the zero and returns it on the clock below. Later calls change nothing.
    pub fn start(&self) -> Nanos {
        *self.origin.get_or_init(|| self.clock.now())
    }

    /// Waits until `at` on the clock below, which becomes the zero; at once when that has passed.
    pub async fn start_at(&self, at: Nanos) {
        self.clock.sleep_exactly_until(at).await;
        // Only the first start counts.
        let _ = self.origin.set(at);
    }

    fn origin(&self) -> Nanos {
        self.origin
            .get()
            .copied()
            .unwrap_or_else(|| self.clock.now())
    }

    pub fn now(&self) -> Nanos {
        self.clock.now().saturating_sub(self.origin())
    }

    pub async fn sleep_until(&self, due: Nanos) {
        self.clock.sleep_until(self.origin() + due).await;
    }

    pub async fn sleep_exactly_until(&self, due: Nanos) {
        self.clock.sleep_exactly_until(self.origin() + due).await;
    }

    /// The clock below, for work that is not tied to the lane's start.
    pub fn base(&self) -> &Clock {
        &self.clock
    }
}

/// Simulated time: stands still while any task can run, then jumps to the earliest sleeper.
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

    fn advance(&self) {
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
}

struct VirtualSleep {
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

    /// Never early is a promise; how late depends on the machine and is not asserted.
    #[test]
    fn the_real_clock_never_wakes_early() {
        let clock = Clock::real();
        clock
            .block_on(async {
                for us in [0, 1, 700, 2_999, 3_500, 9_001] {
                    let due = clock.now() + Nanos::from_micros(us);
                    clock.sleep_exactly_until(due).await;
                    assert!(clock.now() >= due, "{us}");
                }
            })
            .unwrap();
    }

    #[test]
    fn virtual_time_jumps_in_order_and_takes_none() {
        let clock = Clock::Virtual(VirtualClock::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let real = Instant::now();
        clock
            .block_on(async {
                let tasks: Vec<_> = [30_000u64, 10_000, 20_000]
                    .map(|s| {
                        let clock = clock.clone();
                        let order = order.clone();
                        tokio::task::spawn_local(async move {
                            clock.sleep(Nanos::from_secs(s)).await;
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
        let clock = Clock::Virtual(VirtualClock::default());
        for _ in 0..2 {
            let given_up = clock.sleep(Nanos::from_secs(1));
            let both = async {
                tokio::select! {
                    () = given_up => panic!("the other one is due first"),
                    () = clock.sleep(Nanos::from_millis(1)) => {}
                }
            };
            // The task of the first sleep ends with its runtime; the next runtime has another.
            clock.block_on(both).unwrap();
        }
        assert_eq!(clock.now(), Nanos::from_millis(2));
        let Clock::Virtual(clock) = clock else {
            unreachable!()
        };
        assert_eq!(clock.lock().sleepers.len(), 0);
    }
}
