//! Waiting by polling.

use std::time::Duration;

/// Polls up to `seconds`; returns whether it came true.
pub(crate) fn wait_until(seconds: u64, mut done: impl FnMut() -> bool) -> bool {
    const STEP: Duration = Duration::from_millis(20);
    for _ in 0..seconds * 50 {
        if done() {
            return true;
        }
        std::thread::sleep(STEP);
    }
    done()
}
