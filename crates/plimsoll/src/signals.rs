//! Ctrl-C: the first closes the phase and keeps everything measured, the second stops at once. And panics in the
//! emulator's process.

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_record::lane::LaneControl;
use tokio::sync::watch;

use crate::terminal::note;

/// Whether a signal closes what is under way, instead of ending the process.
static IS_INTERRUPTIBLE: AtomicBool = AtomicBool::new(false);

pub fn is_interruptible() -> bool {
    IS_INTERRUPTIBLE.load(Ordering::Relaxed)
}

/// From now on a panic in any thread ends the process. A drive of which one thread is gone would hang whoever uses it;
/// without the process they get errors, and the parent takes down what is left.
pub fn abort_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        note!("{panic}\nThis is a fault in plimsoll; report it.");
        std::process::abort();
    }));
}

/// What the user wants by now. Clones see the same.
#[derive(Debug, Clone)]
pub struct Interrupt(watch::Sender<LaneControl>);

impl Default for Interrupt {
    fn default() -> Self {
        Self(watch::channel(LaneControl::Run).0)
    }
}

impl Interrupt {
    /// Orders that come from elsewhere.
    pub fn of(order: watch::Sender<LaneControl>) -> Self {
        Self(order)
    }

    /// Listens to SIGINT, SIGTERM and SIGHUP from now on, on a thread of its own.
    pub fn listen() -> std::io::Result<Self> {
        IS_INTERRUPTIBLE.store(true, Ordering::Relaxed);
        let interrupt = Self::default();
        let listener = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::Builder::new()
            .name("plimsoll-signals".into())
            .spawn(move || runtime.block_on(listener.signals()))?;
        Ok(interrupt)
    }

    async fn signals(self) {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let Ok([mut interrupt, mut terminate, mut hangup]) = kinds
            .map(signal)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map(|signals| {
                <[_; 3]>::try_from(signals)
                    .unwrap_or_else(|_| unreachable!("three kinds give three signals"))
            })
        else {
            return;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            self.escalate();
        }
    }

    /// One more Ctrl-C.
    pub fn escalate(&self) {
        self.0.send_modify(|order| {
            *order = if *order == LaneControl::Run {
                LaneControl::Close
            } else {
                LaneControl::Stop
            };
        });
    }

    pub fn order(&self) -> LaneControl {
        *self.0.borrow()
    }

    pub fn is_wanted(&self) -> bool {
        self.order() != LaneControl::Run
    }

    pub fn subscribe(&self) -> watch::Receiver<LaneControl> {
        self.0.subscribe()
    }
}
