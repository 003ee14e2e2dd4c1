//! The wall clock of the emulator: CLOCK_MONOTONIC, which all processes of a machine share. Nothing else in this crate
//! reads a clock or sleeps.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use plimsoll_plan::units::Nanos;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

pub fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn timespec(at: Nanos) -> Timespec {
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

/// Until CLOCK_MONOTONIC shows a whole second, or until this thread is unparked.
pub fn park_until_next_second() {
    let left = Nanos(Nanos::SECOND.0 - now().0 % Nanos::SECOND.0);
    std::thread::park_timeout(left.into());
}

/// Lets timers of this thread end when they are due instead of up to 50 µs later (prctl(2), PR_SET_TIMERSLACK).
pub fn be_punctual() {
    // Refused on no kernel that has FUSE; without it the calibration shows a worse timer.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// A sleep until an absolute time that another thread can end. clock_nanosleep(2) cannot be ended so, which is why this
/// waits on a futex.
#[derive(Debug, Default)]
pub struct Alarm {
    word: AtomicU32,
    asleep: AtomicBool,
}

impl Alarm {
    /// To be taken before reading whatever decides how long to sleep.
    pub fn ticket(&self) -> u32 {
        self.word.load(Ordering::SeqCst)
    }

    /// Whether a ring came after the ticket was taken.
    pub fn rang_since(&self, ticket: u32) -> bool {
        self.word.load(Ordering::Relaxed) != ticket
    }

    /// Costs a system call only when a thread sleeps.
    pub fn ring(&self) {
        self.word.fetch_add(1, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) {
            let _ = futex::wake(&self.word, futex::Flags::PRIVATE, 1);
        }
    }

    /// Sleeps until `due` or a ring since the ticket; for ever without a time. May end early.
    pub fn sleep_until(&self, ticket: u32, due: Option<Nanos>) {
        self.asleep.store(true, Ordering::SeqCst);
        let due = due.map(timespec);
        let any = NonZeroU32::MAX;
        // Every error means: check again.
        let _ = futex::wait_bitset(&self.word, futex::Flags::PRIVATE, ticket, due.as_ref(), any);
        self.asleep.store(false, Ordering::SeqCst);
    }
}

/// CPU time that a thread of this process has had and waited for, both summed (`/proc/PID/schedstat`, kernel
/// documentation `scheduler/sched-stats`): what it could not have been idle in.
pub fn busy(thread: i32) -> Option<Nanos> {
    parse_schedstat(&std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?)
}

fn parse_schedstat(text: &str) -> Option<Nanos> {
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let ran = numbers.next()?.ok()?;
    let waited = numbers.next()?.ok()?;
    Some(Nanos(ran.checked_add(waited)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ring_after_the_ticket_ends_the_sleep() {
        let alarm = Alarm::default();
        let ticket = alarm.ticket();
        alarm.ring();
        assert!(alarm.rang_since(ticket));
        alarm.sleep_until(ticket, None);
        let (ticket, due) = (alarm.ticket(), now() + Nanos::from_millis(2));
        while now() < due {
            alarm.sleep_until(ticket, Some(due));
        }
        assert!(!alarm.rang_since(ticket));
    }

    #[test]
    fn a_ring_from_another_thread_wakes() {
        let alarm = Alarm::default();
        let ticket = alarm.ticket();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pause(Nanos::from_millis(5));
                alarm.ring();
            });
            while !alarm.rang_since(ticket) {
                alarm.sleep_until(ticket, None);
            }
        });
        assert!(alarm.rang_since(ticket));
    }

    #[test]
    fn the_time_a_thread_was_busy() {
        assert_eq!(parse_schedstat("120 30 7\n"), Some(Nanos(150)));
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        assert!(busy(thread).is_some());
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse_schedstat(&text);
        }
    }
}
