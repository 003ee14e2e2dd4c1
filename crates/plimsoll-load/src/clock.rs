//! Time as a parameter: the real clock and the virtual one.
//!
//! `Instant::now` and `sleep` appear in this file and nowhere else in plimsoll's load and execution.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use plimsoll_plan::units::Nanos;
pub use plimsoll_virtual::calendar::VirtualClock;
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
            Self::Virtual(clock) => clock.now(),
        }
    }

    /// Ends at `due` at the earliest; at once when that has passed.
    pub async fn sleep_until(&self, due: Nanos) {
        match self {
            Self::Real(start) => {
                let due = *start + due.into();
                tokio::time::sleep_until(due.into()).await;
            }
            Self::Virtual(clock) => clock.sleep_until(due).await,
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
        match self {
            Self::Real(_) => {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                Ok(tokio::task::LocalSet::new().block_on(&runtime, future))
            }
            Self::Virtual(clock) => clock.block_on(future),
        }
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
}
