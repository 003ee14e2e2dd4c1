//! What SQLite does under load: its log (WAL) and its checkpoints, which the sessions themselves count.
//!
//! SQLite calls a hook after each commit to the log (c3ref/wal_hook.html). Its own hook starts a checkpoint when the log is
//! long enough; the one here does the same, and counts.
//!
//! What other processes could read is worth less. The sequence number in the log's header is a connection's own
//! (`Wal.nCkpt`), so two connections write the same one. The index (`-shm`) must not be opened as a file: closing it
//! releases the locks that SQLite holds for this process (howtocorrupt.html, §2.2). Hits and misses of the page cache
//! (`sqlite3_db_status`) have no safe function in rusqlite.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_virtual::fiber;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;

use super::connection::{beside, read};
use super::queue::WriterQueue;
use crate::clock::monotonic;
use crate::engine::readings::Reading;

/// Of each frame of the log before its page (fileformat2.html, §4.1).
const FRAME_HEADER: u64 = 24;
/// A counter of nanoseconds over this, per second, is a share in percent.
const NANOS_PER_PERCENT: f64 = 1e7;

/// What all sessions on one database file count. Writers take turns, so only one session at a time adds to it.
#[derive(Debug, Default)]
pub(super) struct LogCounters {
    /// Length of the log after the last commit.
    frames: AtomicU64,
    /// How many of these are in the database file.
    moved: AtomicU64,
    /// Bytes that are not in the database file yet.
    age: AtomicU64,
    /// Since the start, as those below.
    written_bytes: AtomicU64,
    checkpoints: AtomicU64,
    moved_frames: AtomicU64,
    checkpoint_nanos: AtomicU64,
    writers: Mutex<WriterQueue>,
}

/// By the database's path, as long as a session or a probe uses them.
static ALL: Mutex<BTreeMap<PathBuf, Weak<LogCounters>>> = Mutex::new(BTreeMap::new());

impl LogCounters {
    /// The same for all sessions and probes on this file.
    pub fn of(path: &Path) -> Arc<Self> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, counters| counters.strong_count() > 0);
        if let Some(counters) = all.get(path).and_then(Weak::upgrade) {
            return counters;
        }
        let counters = Arc::new(Self::default());
        all.insert(path.to_owned(), Arc::downgrade(&counters));
        counters
    }

    fn set_writers(&self, writers: WriterQueue) {
        *self.writers.lock().unwrap_or_else(PoisonError::into_inner) = writers;
    }

    fn waiting_writers(&self) -> usize {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.waiting()
    }

    /// After a commit, which left the log `frames` long. A log that is no longer than before began anew.
    fn committed(&self, frames: u64, frame_bytes: u64) {
        let before = self.frames.swap(frames, Ordering::Relaxed);
        let added = if frames > before {
            frames - before
        } else {
            self.moved.store(0, Ordering::Relaxed);
            frames
        };
        self.written_bytes
            .fetch_add(added * frame_bytes, Ordering::Relaxed);
        self.set_age(frames, frame_bytes);
    }

    /// After a checkpoint, which left `moved` frames of the log in the database file.
    fn checkpointed(&self, moved: u64, frame_bytes: u64) {
        let before = self.moved.swap(moved, Ordering::Relaxed);
        if moved > before {
            self.checkpoints.fetch_add(1, Ordering::Relaxed);
            self.moved_frames
                .fetch_add(moved - before, Ordering::Relaxed);
        }
        self.set_age(self.frames.load(Ordering::Relaxed), frame_bytes);
    }

    fn set_age(&self, frames: u64, frame_bytes: u64) {
        let moved = self.moved.load(Ordering::Relaxed);
        self.age.store(
            frames.saturating_sub(moved) * frame_bytes,
            Ordering::Relaxed,
        );
    }

    fn spent(&self, time: Nanos) {
        self.checkpoint_nanos.fetch_add(time.0, Ordering::Relaxed);
    }

    fn read(&self) -> [(Metric, f64); 6] {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        [
            (Metric::DbLogBytes, of(&self.written_bytes)),
            (Metric::DbCheckpoints, of(&self.checkpoints)),
            (
                Metric::DbCheckpointTime,
                of(&self.checkpoint_nanos) / NANOS_PER_PERCENT,
            ),
            (Metric::DbCheckpointFrames, of(&self.moved_frames)),
            (Metric::DbCheckpointAge, of(&self.age)),
            (Metric::DbLockWaiters, self.waiting_writers() as f64),
        ]
    }
}

/// Takes the place of SQLite's own hook.
struct LogHook {
    counters: Arc<LogCounters>,
    frame_bytes: u64,
    /// Frames; 0 for never.
    checkpoint_at: u64,
}

impl LogHook {
    fn committed(&self, log: &mut Wal, frames: u64) {
        self.counters.committed(frames, self.frame_bytes);
        if self.checkpoint_at == 0 || frames < self.checkpoint_at {
            return;
        }
        let now = || fiber::now().unwrap_or_else(monotonic);
        let began = now();
        // Like SQLite's own hook: the transaction is committed, whatever becomes of the checkpoint.
        if let Ok((_, moved)) = log.checkpoint_v2(CheckpointMode::PASSIVE) {
            let moved = u64::try_from(moved).unwrap_or(0);
            self.counters.checkpointed(moved, self.frame_bytes);
        }
        self.counters.spent(now().saturating_sub(began));
    }
}

/// Counts what is committed over this connection, which must have its settings already: the hook takes the place of
/// `PRAGMA wal_autocheckpoint`.
pub(super) fn count(
    connection: &mut Connection,
    path: &Path,
    writers: &WriterQueue,
) -> rusqlite::Result<()> {
    let number = |name| -> rusqlite::Result<u64> {
        let text = read(connection, name)?;
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
    };
    let hook = LogHook {
        counters: LogCounters::of(path),
        frame_bytes: number("page_size")? + FRAME_HEADER,
        checkpoint_at: number("wal_autocheckpoint")?,
    };
    hook.counters.set_writers(writers.clone());
    connection.wal_hook(Some(move |log: &mut Wal, frames| {
        hook.committed(log, u64::try_from(frames).unwrap_or(0));
        Ok(())
    }))
}

/// Reads what the sessions on a database have counted, and the lengths of its files.
#[derive(Debug)]
pub(crate) struct SqliteInsight {
    path: PathBuf,
    log: PathBuf,
    counters: Arc<LogCounters>,
}

impl SqliteInsight {
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            log: beside(path, "-wal"),
            counters: LogCounters::of(path),
        }
    }

    /// Without a log there is nothing to report of it: the database has another journal mode, or no session.
    pub fn read(&self) -> Reading {
        let length = |path: &Path| fs::metadata(path).map(|file| file.len() as f64);
        let mut reading = Vec::with_capacity(8);
        reading.extend(length(&self.path).map(|bytes| (Metric::DbSize, bytes)));
        if let Ok(bytes) = length(&self.log) {
            reading.push((Metric::DbLogSize, bytes));
            reading.extend(self.counters.read());
        }
        reading
    }
}

#[cfg(test)]
#[path = "insight_tests.rs"]
mod tests;
