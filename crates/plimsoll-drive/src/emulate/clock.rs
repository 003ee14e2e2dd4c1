//! The wall clock of the emulator: CLOCK_MONOTONIC, which all processes of a machine share. Nothing else in this crate
//! reads a clock or sleeps.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_plan::units::Nanos;
use rustix::time::{ClockId, Timespec, clock_gettime};

pub fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

pub fn timespec(at: Nanos) -> Timespec {
    Timespec {
        tv_sec: (at.0 / 1_000_000_000) as i64,
        tv_nsec: (at.0 % 1_000_000_000) as i64,
    }
}

pub fn pause(time: Nanos) {
    std::thread::sleep(time.into());
}

/// Polls until it comes true or the time is over; `true`: it came true.
pub fn wait_until(limit: Nanos, mut done: impl FnMut() -> bool) -> bool {
    const STEP: Nanos = Nanos::from_millis(10);
    let end = now() + limit;
    while !done() {
        if now() >= end {
            return false;
        }
        pause(STEP);
    }
    true
}

/// How long a thread sleeps that watches whether its process runs.
const TICK: Nanos = Nanos::from_millis(10);
/// A thread that has to wait for its core wakes so late now and then.
const USUAL: Nanos = Nanos::from_millis(20);

/// Until CLOCK_MONOTONIC shows a whole second, or `ends`. Returns for how long this process did not run although it should
/// have: a stop, a CPU quota, or other work on all cores.
pub fn wait_for_next_second(ends: &AtomicBool) -> Nanos {
    let next = Nanos((now().0 / Nanos::SECOND.0 + 1) * Nanos::SECOND.0);
    let mut stopped = Nanos::ZERO;
    while now() < next && !ends.load(Ordering::SeqCst) {
        let due = next.min(now() + TICK);
        std::thread::park_timeout(due.saturating_sub(now()).into());
        let late = now().saturating_sub(due);
        if late > USUAL {
            stopped += late;
        }
    }
    stopped
}

/// Lets timers of this thread end when they are due instead of up to 50 µs later (prctl(2), PR_SET_TIMERSLACK).
pub fn be_punctual() {
    // Refused on no kernel that has FUSE; without it the calibration shows a worse timer.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}
