//! What is counted, and that counting changes nothing.

use std::sync::atomic::Ordering::Relaxed;

use plimsoll_plan::resolved::{Script, Sysbench, Workload};
use plimsoll_record::{Sample, SubjectId};
use proptest::prelude::prop;
use proptest::{prop_assert, prop_assert_eq, proptest};
use tempfile::TempDir;

use super::*;
use crate::clock::Clock;
use crate::engine::contract::sysbench::SMALL;
use crate::engine::sqlite::{SqliteSession, sysbench};
use crate::engine::{LoadControl, Session, WorkSession};
use crate::probe::{Sampler, Watch};
use crate::workload::Source;

/// Of a page of 4 KiB.
const FRAME: u64 = 4096 + FRAME_HEADER;
const LOG_HEADER: u64 = 32;
/// In frames, as the hook reports it.
const LONGEST: u64 = i32::MAX as u64;
const INSERTS: Sysbench = Sysbench {
    script: Script::Insert,
    ..SMALL
};

fn pragmas(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
    settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// A loaded database and a session on it.
fn loaded(settings: &[(&str, &str)]) -> (TempDir, PathBuf, WorkSession<SqliteSession>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.db");
    let pragmas = pragmas(settings);
    let control = LoadControl::default();
    sysbench::load(&path, &INSERTS, 7, &pragmas, &control).unwrap();
    let writers = WriterQueue::default();
    let session =
        SqliteSession::open(&path, &pragmas, None, writers, &Workload::Sysbench(INSERTS)).unwrap();
    (dir, path, session)
}

fn run(session: &mut WorkSession<SqliteSession>, transactions: u32) {
    let mut source = Source::new(&Workload::Sysbench(INSERTS), 7, 0, 0);
    for _ in 0..transactions {
        let end = Clock::real().block_on(session.run(&source.next()));
        end.unwrap().unwrap();
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

fn of(reading: &Reading, metric: Metric) -> f64 {
    let found = reading.iter().find(|(own, _)| *own == metric);
    found.unwrap_or_else(|| panic!("{metric:?}: {reading:?}")).1
}

#[test]
fn bytes_in_the_log_are_those_of_its_file_until_it_begins_anew() {
    let (_dir, path, mut session) = loaded(&[("wal_autocheckpoint", "0")]);
    let insight = SqliteInsight::new(&path);
    let before = insight.read();
    run(&mut session, 30);
    let after = insight.read();
    let written = of(&after, Metric::DbLogBytes) - of(&before, Metric::DbLogBytes);
    assert!(written >= 30.0 * FRAME as f64, "{written}");
    assert_eq!(written as u64, length(&insight.log) - LOG_HEADER);
    assert_eq!(of(&after, Metric::DbLogSize) as u64, length(&insight.log));
    assert_eq!(of(&after, Metric::DbCheckpointAge), written);
    assert_eq!(of(&after, Metric::DbCheckpoints), 0.0, "they are off");
    assert_eq!(of(&after, Metric::DbSize) as u64, length(&path));
}

fn sample(sampler: &mut Sampler, second: u64) -> BTreeMap<Metric, f64> {
    let samples: Vec<(SubjectId, Metric, Sample)> =
        sampler.sample(Nanos::from_secs(second), Nanos::ZERO);
    let values = samples
        .into_iter()
        .map(|(_, metric, sample)| (metric, f64::from(sample.value)));
    values.collect()
}

#[test]
fn a_load_reports_a_growing_log_and_checkpoints() {
    let (_dir, path, mut session) = loaded(&[("wal_autocheckpoint", "100")]);
    let mut sampler = Sampler::new();
    sampler.watch(SubjectId(4), Watch::EmbeddedData { path });
    run(&mut session, 10);
    let first = sample(&mut sampler, 1);
    run(&mut session, 15);
    let second = sample(&mut sampler, 2);
    let grown = second[&Metric::DbLogSize] - first[&Metric::DbLogSize];
    assert!(grown >= 15.0 * FRAME as f64, "{grown}");
    assert!(
        (second[&Metric::DbLogBytes] - grown).abs() < 1.0,
        "{second:?}"
    );
    run(&mut session, 300);
    let third = sample(&mut sampler, 3);
    assert!(third[&Metric::DbCheckpoints] >= 2.0, "{third:?}");
    assert!(third[&Metric::DbCheckpointTime] > 0.0, "{third:?}");
    let frames = third[&Metric::DbCheckpointFrames];
    assert!(frames >= 200.0, "{third:?}");
    let left = third[&Metric::DbCheckpointAge] / FRAME as f64;
    assert!(left < 120.0, "{third:?}");
    assert!(
        third[&Metric::DbLogSize] < 130.0 * FRAME as f64,
        "{third:?}"
    );
    assert_eq!(third[&Metric::DbLockWaiters], 0.0);
}

#[test]
fn a_database_without_a_log_has_only_its_size() {
    let (_dir, path, mut session) = loaded(&[("journal_mode", "DELETE")]);
    run(&mut session, 3);
    let size = (Metric::DbSize, length(&path) as f64);
    assert_eq!(SqliteInsight::new(&path).read(), [size]);
}

/// A database of its own beside others, for comparison with SQLite's own hook.
fn empty(dir: &TempDir, name: &str) -> (PathBuf, Connection) {
    let path = dir.path().join(name);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 20;
             CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT) STRICT",
        )
        .unwrap();
    (path, connection)
}

#[test]
fn checkpoints_are_made_where_sqlites_own_hook_makes_them() {
    let dir = tempfile::tempdir().unwrap();
    let (own_path, own) = empty(&dir, "own.db");
    let (path, mut counted) = empty(&dir, "counted.db");
    count(&mut counted, &path, &WriterQueue::default()).unwrap();
    let insert = "INSERT INTO t (v) VALUES (?1)";
    for i in 0..200 {
        let text = "x".repeat(i * 37 % 9000);
        for connection in [&own, &counted] {
            connection.execute(insert, [&text]).unwrap();
        }
        let lengths = |path: &Path| (length(path), length(&beside(path, "-wal")));
        assert_eq!(lengths(&own_path), lengths(&path), "after {i}");
    }
    assert!(LogCounters::of(&path).checkpoints.load(Relaxed) > 5);
}

/// A reader keeps its snapshot, so that the log grows on; what the reader needs is not moved again and again.
#[test]
fn a_checkpoint_that_moves_nothing_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut writer) = empty(&dir, "held.db");
    let counters = LogCounters::of(&path);
    count(&mut writer, &path, &WriterQueue::default()).unwrap();
    let reader = Connection::open(&path).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM t")
        .unwrap();
    let insert = "INSERT INTO t (v) VALUES (zeroblob(1) || 'x')";
    for _ in 0..100 {
        writer.execute(insert, []).unwrap();
    }
    let made = counters.checkpoints.load(Relaxed);
    assert!(made <= 1, "{made}");
    assert!(counters.age.load(Relaxed) >= 90 * FRAME);
    reader.execute_batch("COMMIT").unwrap();
    writer.execute(insert, []).unwrap();
    assert_eq!(counters.checkpoints.load(Relaxed), made + 1);
    assert_eq!(counters.age.load(Relaxed), 0);
}

#[test]
fn sessions_and_probes_of_one_file_share_its_counters_as_long_as_there_are_any() {
    let path = Path::new("/nowhere/shared.db");
    let counters = LogCounters::of(path);
    counters.committed(3, 10);
    assert_eq!(LogCounters::of(path).written_bytes.load(Relaxed), 30);
    let other = LogCounters::of(Path::new("/nowhere/other.db"));
    assert_eq!(other.written_bytes.load(Relaxed), 0);
    drop(counters);
    assert_eq!(LogCounters::of(path).written_bytes.load(Relaxed), 0);
}

#[test]
fn waiting_writers_are_reported() {
    let counters = LogCounters::default();
    let writers = WriterQueue::default();
    counters.set_writers(writers.clone());
    let turn = writers.wait();
    let waits = std::thread::spawn(move || drop(writers.wait()));
    while counters.waiting_writers() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(of(&counters.read().to_vec(), Metric::DbLockWaiters), 1.0);
    drop(turn);
    waits.join().unwrap();
    assert_eq!(counters.waiting_writers(), 0);
}

proptest! {
    /// Whatever lengths SQLite reports, what is counted only grows, and no more is moved than was written.
    #[test]
    fn counters_hold_whatever_comes(commits in prop::collection::vec((0..=LONGEST, 0..=LONGEST), 0..50)) {
        let counters = LogCounters::default();
        let mut written = 0;
        for (frames, moved) in commits {
            counters.committed(frames, FRAME);
            let now = counters.written_bytes.load(Relaxed);
            prop_assert!(now >= written);
            written = now;
            // A log that has not begun anew loses nothing of what was moved.
            let moved = moved.max(counters.moved.load(Relaxed)).min(frames);
            counters.checkpointed(moved, FRAME);
            prop_assert_eq!(counters.age.load(Relaxed), frames.saturating_sub(counters.moved.load(Relaxed)) * FRAME);
            prop_assert!(counters.moved_frames.load(Relaxed) * FRAME <= written);
        }
    }
}
