//! Waits as the server names them.
//!
//! Source: the manual's "sys.dm_os_wait_stats", types of waits.

use plimsoll_record::WaitState;
use plimsoll_record::WaitState::{Client, Cpu, DataRead, DataWrite, Idle, Latch, Lock, Log, Other};

/// Beginning of the type's name, state. The first line that fits holds.
const TYPES: [(&str, WaitState); 20] = [
    // A page on its way between the file and memory. Mostly read; one that is written is waited for in the same way.
    ("PAGEIOLATCH_", DataRead),
    ("WRITELOG", Log),
    ("LOGBUFFER", Log),
    ("LOGMGR", Log),
    ("HADR_SYNC_COMMIT", Log),
    ("LOG_RATE_GOVERNOR", Log),
    ("LCK_M_", Lock),
    ("PAGELATCH_", Latch),
    ("LATCH_", Latch),
    ("SPINLOCK", Latch),
    ("ASYNC_NETWORK_IO", Client),
    ("SOS_SCHEDULER_YIELD", Cpu),
    // Files beside the pages of data: sorts, growth, backups.
    ("IO_COMPLETION", DataRead),
    ("ASYNC_IO_COMPLETION", DataWrite),
    ("WRITE_COMPLETION", DataWrite),
    ("PREEMPTIVE_OS_WRITEFILE", DataWrite),
    ("PREEMPTIVE_OS_FLUSHFILEBUFFERS", DataWrite),
    ("PREEMPTIVE_OS_FILEOPS", DataWrite),
    ("EXCHANGE", Cpu),
    ("CXPACKET", Cpu),
];

/// Of a request; it waits for nothing where the type is empty.
pub(super) fn of_type(wait: &str) -> WaitState {
    if wait.is_empty() {
        return Cpu;
    }
    let found = TYPES.iter().find(|(begins, _)| wait.starts_with(begins));
    found.map_or(Other, |(_, state)| *state)
}

/// Of a session without a request.
pub(super) fn between_requests(in_transaction: bool) -> WaitState {
    if in_transaction { Client } else { Idle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_put_into_their_states() {
        for (wait, state) in [
            ("", Cpu),
            ("PAGEIOLATCH_SH", DataRead),
            ("PAGELATCH_EX", Latch),
            ("LATCH_SH", Latch),
            ("LCK_M_X", Lock),
            ("WRITELOG", Log),
            ("WRITE_COMPLETION", DataWrite),
            ("ASYNC_NETWORK_IO", Client),
            ("RESOURCE_SEMAPHORE", Other),
        ] {
            assert_eq!(of_type(wait), state, "{wait}");
        }
    }
}
