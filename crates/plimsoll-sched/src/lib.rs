//! A short time slice for a thread of the ordinary class (sched_setattr(2)), for which no library has a safe function.
//!
//! Since Linux 6.12 an ordinary thread may ask for a slice of its own, in `sched_runtime`. A thread with a shorter slice
//! than the running one preempts it on waking up, as a real-time thread would, but it does not starve the kernel's own
//! threads while it polls (kernel documentation, `scheduler/sched-eevdf`).

use std::io;

/// `struct sched_attr` of `include/uapi/linux/sched/types.h`, version 1.
#[repr(C)]
#[derive(Debug, Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

/// `SCHED_OTHER` of sched(7).
const ORDINARY: u32 = 0;

/// Sets niceness (setpriority(2), −20 to 19) and slice (0.1 to 100 ms) of the calling thread; the kernel takes the
/// nearest in these ranges. Older kernels ignore the slice. Users other than root are refused with EPERM or EACCES when the niceness is
/// below the thread's own.
pub fn set_ordinary(nice: i32, slice_ns: u64) -> io::Result<()> {
    let attributes = SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        policy: ORDINARY,
        nice,
        runtime: slice_ns,
        ..SchedAttr::default()
    };
    // SAFETY: the kernel only reads the structure, and no more than its `size`; thread 0 is the caller.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn niceness() -> String {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit_once(')').unwrap().1;
        after_name.split_whitespace().nth(16).unwrap().to_owned()
    }

    fn niceness_after(nice: i32) -> String {
        let nicer = std::thread::spawn(move || {
            set_ordinary(nice, 100_000).unwrap();
            niceness()
        });
        nicer.join().unwrap()
    }

    #[test]
    fn a_thread_may_become_nicer_and_only_itself() {
        let before = niceness();
        assert_eq!(niceness_after(18), "18");
        assert_eq!(niceness(), before);
    }

    #[test]
    fn a_niceness_beyond_the_range_is_the_nearest_in_it() {
        assert_eq!(niceness_after(99), "19");
    }
}
