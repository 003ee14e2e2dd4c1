//! A drive does not wait for a processor because a database has it.
//!
//! A niceness is weighed within a session or control group only (sched(7), "The autogroup feature"), so that a database in
//! another one takes its full share, and an emulator at the highest priority answers milliseconds late. Real-time threads
//! go before all of them. The kernel keeps a twentieth of each second for the others (`sched_rt_runtime_us`).

use std::process::{Command, Stdio};

/// setpriority(2).
const HIGHEST_PRIORITY: i32 = -20;
/// `SCHED_RR` of sched(7).
const ROUND_ROBIN: u32 = 2;

/// Puts this thread, and those that it starts from here on, before the threads of other programs. Refused to other users than
/// root, whose drives answer late on a busy machine; that is reported.
pub fn go_first() {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    // The lowest of the real-time priorities: below what the kernel has of its own. chrt(1) is a part of util-linux.
    let mut chrt = Command::new("chrt");
    chrt.args(["--rr", "--pid", "1", &thread])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !chrt.status().is_ok_and(|status| status.success()) {
        let _ = rustix::process::setpriority_process(None, HIGHEST_PRIORITY);
    }
}

/// Whether this thread goes before those of other programs, as the kernel has it.
pub fn is_real_time() -> bool {
    std::fs::read_to_string("/proc/thread-self/stat")
        .is_ok_and(|stat| policy(&stat) == Some(ROUND_ROBIN))
}

/// Field 41 of proc_pid_stat(5). The second, a name in parentheses, may hold spaces.
fn policy(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(38)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_field_41() {
        let fields: Vec<String> = (3..=52).map(|n| n.to_string()).collect();
        assert_eq!(policy(&format!("17 (a) b) {}", fields.join(" "))), Some(41));
        assert_eq!(policy("17 (a"), None);
    }

    #[test]
    fn threads_started_afterwards_inherit_it_and_no_other_does() {
        let own = std::thread::spawn(|| {
            go_first();
            (
                is_real_time(),
                std::thread::spawn(is_real_time).join().unwrap(),
            )
        });
        let (own, inherited) = own.join().unwrap();
        assert_eq!(own, inherited);
        assert!(!is_real_time());
        let allowed = Command::new("chrt")
            .args(["--rr", "1", "true"])
            .status()
            .is_ok_and(|status| status.success());
        assert_eq!(own, allowed);
    }
}
