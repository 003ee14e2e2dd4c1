//! Work on a thread of its own.

use std::thread;

/// Clients must not be used by a thread that drives a runtime, as a caller's may.
pub(super) fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
