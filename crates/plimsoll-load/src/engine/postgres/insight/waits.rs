//! Wait events as states.
//!
//! Source: PostgreSQL manual, chapter "Monitoring Database Activity", tables "Wait Event Types" and "Wait Events of Type
//! …" (28.4 to 28.12 in version 15, 27.4 to 27.13 in 17). Version 17 writes `WalSync` where older ones write `WALSync`;
//! up to 12, names of LWLocks end in `Lock` or are written `wal_insert`.

use plimsoll_record::WaitState;
use plimsoll_record::WaitState::{Client, Cpu, DataRead, DataWrite, Idle, Latch, Lock, Log, Other};

/// Stands for the event of a session whose state this user may not see.
pub(super) const HIDDEN: &str = "(hidden)";

/// Type of the wait event, beginning of its name, state. The first line that fits holds; names are compared without
/// regard to case and underscores, and an empty one fits all.
const STATES: [(&str, &str, WaitState); 37] = [
    // Waiting for the log's own locks is waiting for others who write it.
    ("LWLock", "wal", Log),
    // Up to 13; later an IPC event.
    ("LWLock", "bufferio", DataRead),
    ("LWLock", "", Latch),
    ("BufferPin", "", Latch),
    // Making a table longer is not a lock of a transaction's.
    ("Lock", "extend", Latch),
    ("Lock", "", Lock),
    ("IO", "wal", Log),
    ("IO", "datafileread", DataRead),
    ("IO", "datafileprefetch", DataRead),
    ("IO", "datafile", DataWrite),
    // Files of sorts and hashes that do not fit into memory.
    ("IO", "buffileread", DataRead),
    ("IO", "buffile", DataWrite),
    ("IO", "slruread", DataRead),
    ("IO", "slru", DataWrite),
    ("IO", "relationmapread", DataRead),
    ("IO", "relationmap", DataWrite),
    // Version 18: reads that were begun before they were needed.
    ("IO", "aio", DataRead),
    ("IO", "", Other),
    // Another session reads or writes the page that is needed.
    ("IPC", "bufferio", DataRead),
    ("IPC", "procarraygroupupdate", Latch),
    ("IPC", "xactgroupupdate", Latch),
    ("IPC", "cloggroupupdate", Latch),
    // The standby confirms the log.
    ("IPC", "syncrep", Log),
    ("IPC", "checkpoint", DataWrite),
    ("IPC", "safesnapshot", Lock),
    ("IPC", "", Other),
    ("Timeout", "commitdelay", Log),
    ("Timeout", "spindelay", Latch),
    ("Timeout", "", Other),
    ("Client", "clientread", Client),
    ("Client", "clientwrite", Client),
    ("Client", "gssopenserver", Client),
    ("Client", "sslopenserver", Client),
    ("Client", "", Other),
    ("Activity", "", Other),
    ("Extension", "", Other),
    ("InjectionPoint", "", Other),
];

/// State and event of a session, from the columns of `pg_stat_activity`.
pub(super) fn classify<'a>(
    state: Option<&str>,
    kind: Option<&str>,
    event: Option<&'a str>,
) -> (WaitState, &'a str) {
    let named = event.unwrap_or_default();
    match state {
        None => (Other, HIDDEN),
        // plimsoll's own name, see the query.
        Some("starting") => (Other, named),
        Some("idle") => (Idle, named),
        Some("idle in transaction" | "idle in transaction (aborted)") => (Client, named),
        // With track_activities off it is unknown whether a session that does not wait is at work.
        Some("disabled") if kind.is_none() => (Other, named),
        // active, fastpath function call
        Some(_) => (kind.map_or(Cpu, |kind| of_event(kind, named)), named),
    }
}

fn of_event(kind: &str, event: &str) -> WaitState {
    let plain: String = event
        .chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    STATES
        .iter()
        .find(|(of, begins, _)| *of == kind && plain.starts_with(begins))
        .map_or(Other, |(_, _, state)| *state)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_session_that_has_just_begun_is_not_hidden() {
        assert_eq!(classify(Some("starting"), None, None), (Other, ""));
        assert_eq!(classify(None, None, None), (Other, HIDDEN));
    }

    /// As servers of versions 10 to 18 name them.
    #[test]
    fn events_are_put_into_their_states() {
        let active = |kind, event| classify(Some("active"), Some(kind), Some(event)).0;
        for (state, kind, events) in [
            (
                Log,
                "LWLock",
                &[
                    "WALWrite",
                    "WALInsert",
                    "WALBufMapping",
                    "WALWriteLock",
                    "wal_insert",
                ][..],
            ),
            (
                Log,
                "IO",
                &[
                    "WALSync",
                    "WALWrite",
                    "WalSync",
                    "WalWrite",
                    "WALInitWrite",
                    "WALSyncMethodAssign",
                ],
            ),
            (Log, "IPC", &["SyncRep"]),
            (Log, "Timeout", &["CommitDelay"]),
            (
                DataRead,
                "IO",
                &[
                    "DataFileRead",
                    "DataFilePrefetch",
                    "BufFileRead",
                    "SLRURead",
                    "AioIoCompletion",
                ],
            ),
            (DataRead, "IPC", &["BufferIO", "BufferIo"]),
            (DataRead, "LWLock", &["BufferIO", "buffer_io"]),
            (
                DataWrite,
                "IO",
                &[
                    "DataFileWrite",
                    "DataFileExtend",
                    "DataFileFlush",
                    "DataFileSync",
                    "BufFileWrite",
                ],
            ),
            (
                Lock,
                "Lock",
                &[
                    "transactionid",
                    "tuple",
                    "relation",
                    "virtualxid",
                    "advisory",
                ],
            ),
            (Latch, "Lock", &["extend"]),
            (
                Latch,
                "LWLock",
                &[
                    "BufferContent",
                    "buffer_content",
                    "ProcArray",
                    "XidGen",
                    "LockManager",
                    "XactSLRU",
                ],
            ),
            (Latch, "BufferPin", &["BufferPin"]),
            (
                Latch,
                "IPC",
                &[
                    "ProcArrayGroupUpdate",
                    "ProcarrayGroupUpdate",
                    "XactGroupUpdate",
                    "ClogGroupUpdate",
                ],
            ),
            (Latch, "Timeout", &["SpinDelay"]),
            (Client, "Client", &["ClientRead", "ClientWrite"]),
            (Other, "IO", &["ControlFileSyncUpdate"]),
            (Other, "Extension", &["Extension"]),
            (Other, "IPC", &["ExecuteGather", "HashBuildHashInner"]),
            (Other, "of a later version", &["Something"]),
        ] {
            for event in events {
                assert_eq!(active(kind, event), state, "{kind}: {event}");
            }
        }
    }

    #[test]
    fn a_wait_for_the_client_is_classified_by_the_session_state() {
        let read = (Some("Client"), Some("ClientRead"));
        assert_eq!(classify(Some("idle"), read.0, read.1), (Idle, "ClientRead"));
        assert_eq!(
            classify(Some("idle in transaction"), read.0, read.1),
            (Client, "ClientRead")
        );
        assert_eq!(
            classify(Some("idle in transaction (aborted)"), read.0, read.1),
            (Client, "ClientRead")
        );
        assert_eq!(classify(Some("active"), None, None), (Cpu, ""));
        assert_eq!(classify(None, None, None), (Other, HIDDEN));
        assert_eq!(classify(Some("disabled"), None, None), (Other, ""));
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(state in "[a-z]{0,5}", kind in ".*", event in ".*") {
            let _ = classify(Some(&state), Some(&kind), Some(&event));
        }
    }
}
