//! An emulator's life in its own process: set up, obey, report every second, take down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;

use super::clock;
use super::emulation::{Emulation, WatchedEmulation, no_power_switch};
use super::error::EmulatorError;
use super::protocol::{Command, Message, MessageSender, MountSpec};
use crate::member_changes::loses_data;

/// What the emulator's main thread is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub enum EmulatorOrder {
    Do(Command),
    /// Take everything down and end.
    Stop,
}

/// A server that is this busy, in thousandths of a second, cannot be trusted with arrival times.
const SATURATED: u64 = 950;

/// Sets a drive up and keeps it until [`EmulatorOrder::Stop`], or until the sender of orders is gone. All that happens is sent,
/// the failure too.
pub fn serve(
    spec: &MountSpec,
    orders: &Receiver<EmulatorOrder>,
    send: &MessageSender,
) -> Result<(), EmulatorError> {
    // Programs' rights are theirs to limit, not the caller's shell's.
    rustix::process::umask(rustix::fs::Mode::empty());
    let served = Emulation::start(spec, send).and_then(|(emulation, ready)| {
        // The account begins before the first request.
        emulation.watch().engine.end_second();
        send(Message::Ready(ready));
        keep(emulation, orders, send)
    });
    if let Err(EmulatorError { why, next, no_fuse }) = served.clone() {
        send(Message::Failed { why, next, no_fuse });
    }
    served
}

fn keep(
    mut emulation: Emulation,
    orders: &Receiver<EmulatorOrder>,
    send: &MessageSender,
) -> Result<(), EmulatorError> {
    let ends = Arc::new(AtomicBool::new(false));
    let account = {
        let watch = emulation.watch();
        let send = Arc::clone(send);
        let ends = Arc::clone(&ends);
        let thread = std::thread::Builder::new().name("drive-account".into());
        thread
            .spawn(move || report_seconds(watch, &send, &ends))
            .map_err(|error| {
                EmulatorError::new(
                    format!("a thread could not be started: {error}"),
                    "Raise the limit on threads.",
                )
            })?
    };
    let obeyed = obey(&mut emulation, orders, send);
    ends.store(true, Ordering::SeqCst);
    account.thread().unpark();
    for error in emulation.stop() {
        send(Message::Warning(EventKind::Teardown { error }));
    }
    // It panics only when sending does.
    let _ = account.join();
    obeyed
}

fn obey(
    emulation: &mut Emulation,
    orders: &Receiver<EmulatorOrder>,
    send: &MessageSender,
) -> Result<(), EmulatorError> {
    loop {
        match orders.recv_timeout(std::time::Duration::from_secs(1)) {
            Ok(EmulatorOrder::Do(Command::Timing(on))) => emulation.set_timing(on),
            Ok(EmulatorOrder::Do(Command::PowerOff | Command::PowerOn))
                if !emulation.has_power_switch() =>
            {
                let EmulatorError { why, next, .. } = no_power_switch();
                send(Message::Refused { why, next });
            }
            Ok(EmulatorOrder::Do(Command::Member(change))) => {
                match emulation.watch().engine.change_member(change) {
                    Some(event) => {
                        let data_lost = loses_data(&event);
                        send(Message::Warning(event));
                        send(Message::MemberChanged { data_lost });
                    }
                    None => send(Message::Refused {
                        why: format!(
                            "this cannot happen to the drive now: {}",
                            change.keys().join(", ")
                        ),
                        next: "Members are counted from 0; only one that failed is replaced, one after the other; only a cluster, or an array behind one, has a network.".into(),
                    }),
                }
            }
            Ok(EmulatorOrder::Do(Command::PowerOff)) => {
                send(Message::PowerIsOff(emulation.power_off()?))
            }
            Ok(EmulatorOrder::Do(Command::PowerOn)) => {
                emulation.power_on()?;
                send(Message::PowerIsOn);
            }
            Ok(EmulatorOrder::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if emulation.is_alive() => {}
            Err(RecvTimeoutError::Timeout) => {
                return Err(EmulatorError::new(
                    "the FUSE connection was broken from outside (aborted, or unmounted by force)",
                    "Start the drive again; its data is gone.",
                ));
            }
        }
    }
}

fn report_seconds(watch: WatchedEmulation, send: &MessageSender, ends: &AtomicBool) {
    let mut full_reported = false;
    let mut server = ServerLoad {
        busy: watch.engine.busy(),
        was_timed: false,
    };
    while !ends.load(Ordering::SeqCst) {
        let stopped = clock::wait_for_next_second(ends);
        let second = watch.engine.end_second();
        let length = second.to.saturating_sub(second.from);
        // In every second in which it is so: the evaluation of a span of time counts those that lie in it.
        let is_timed = watch.engine.is_timed();
        if stopped > MOST_STOPPED && server.was_timed && is_timed {
            let stopped_ms = stopped.as_millis_f64();
            send(Message::Warning(EventKind::EmulatorStopped { stopped_ms }));
        }
        if let Some(share) = server.saturated(watch.engine.busy(), is_timed, length) {
            send(Message::Warning(EventKind::Saturated {
                busy_percent: 100.0 * share,
            }));
        }
        send(Message::Second(Box::new(second)));
        for event in watch.engine.rebuild_events() {
            send(Message::Warning(event));
        }
        if !full_reported && watch.full.load(Ordering::Relaxed) {
            full_reported = true;
            send(Message::Warning(EventKind::BackingFull {
                limit_bytes: watch.limit.0,
            }));
        }
    }
}

/// A second in which the emulator did not run for longer is reported: requests wait before they are read, which their
/// lateness does not show.
const MOST_STOPPED: Nanos = Nanos::from_millis(100);

/// The thread that reads and answers requests, second by second.
struct ServerLoad {
    busy: Nanos,
    was_timed: bool,
}

impl ServerLoad {
    /// Ends a second: the share of it that it was busy for, if that was too much. A second in which the drive
    /// answered as fast as possible for a while does not count: then it is as busy as it can be.
    fn saturated(&mut self, busy: Nanos, is_timed: bool, length: Nanos) -> Option<f64> {
        let before = std::mem::replace(&mut self.busy, busy);
        let was_timed = std::mem::replace(&mut self.was_timed, is_timed);
        let worked = busy.saturating_sub(before);
        let counts = was_timed && is_timed && is_saturated(worked, length);
        counts.then(|| worked.as_secs_f64() / length.as_secs_f64())
    }
}

fn is_saturated(worked: Nanos, length: Nanos) -> bool {
    length >= Nanos::from_millis(500)
        && u128::from(worked.0) * 1000 > u128::from(length.0) * u128::from(SATURATED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_for_more_than_95_percent() {
        let ms = Nanos::from_millis;
        assert!(!is_saturated(ms(950), Nanos::SECOND));
        assert!(is_saturated(ms(951), Nanos::SECOND));
        assert!(!is_saturated(ms(10), ms(10)), "too short to count");
    }

    #[test]
    fn every_saturated_second_with_timing_is_reported() {
        let mut server = ServerLoad {
            busy: Nanos::ZERO,
            was_timed: false,
        };
        let mut second = |busy_ms, is_timed| {
            server
                .saturated(Nanos::from_millis(busy_ms), is_timed, Nanos::SECOND)
                .is_some()
        };
        let seconds = [
            (960, false),
            (1930, true),
            (2900, true),
            (3870, true),
            (4000, true),
            (4970, true),
            (5940, false),
        ];
        let reported = seconds.map(|(busy, is_timed)| second(busy, is_timed));
        assert_eq!(reported, [false, false, true, true, false, true, false]);
    }
}
