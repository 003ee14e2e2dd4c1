//! A drive does not wait for a processor because a database has it.
//!
//! The thread that answers stays in the ordinary class, with the highest niceness and a short slice. In a real-time class it
//! would answer on time, but everything between it and the program would be late: the loop device's worker and the
//! kernel's completion thread wait for the processor on which it polls for the next due time.

/// setpriority(2).
const HIGHEST_PRIORITY: i32 = -20;
/// The shortest that the kernel takes, 0.1 ms.
const SLICE_NS: u64 = 100_000;

/// Puts this thread before the threads of other programs. `false`: refused, as to other users than root, whose drives
/// answer late on a busy machine; that is reported.
pub fn go_first() -> bool {
    plimsoll_sched::set_ordinary(HIGHEST_PRIORITY, SLICE_NS).is_ok()
}
