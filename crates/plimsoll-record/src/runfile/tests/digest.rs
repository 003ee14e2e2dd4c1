use std::path::Path;

use crate::fixture;
use crate::{Integrity, Record, RunStatus};
use plimsoll_plan::RecordedPlan;

use super::super::{RunFile, RunFileError, read, require_intact};

/// Places at which one bit is flipped.
const FLIPS: u64 = 240;

/// `None` where reading ends with an error, or finds that the file has changed.
fn undamaged(path: &Path) -> Option<Record> {
    let changed = |integrity: &Integrity| {
        matches!(integrity, Integrity::Changed { .. } | Integrity::NoDigest)
    };
    read(path).ok().filter(|record| !changed(&record.integrity))
}

fn finished(path: &Path) {
    let record = fixture::single_point();
    super::write(&record, path)
        .finish(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
}

#[test]
fn each_flipped_bit_is_noticed_or_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (path, damaged) = (dir.path().join("a.plimsoll"), dir.path().join("b.plimsoll"));
    finished(&path);
    let whole = undamaged(&path).expect("a whole file is read");
    let bytes = std::fs::read(&path).unwrap();
    let mut silent = Vec::new();
    for flip in 0..FLIPS {
        let place = (super::size::hash(16, flip) * bytes.len() as f64 * 8.0) as usize;
        let mut bytes = bytes.clone();
        bytes[place / 8] ^= 1 << (place % 8);
        std::fs::write(&damaged, &bytes).unwrap();
        if undamaged(&damaged).is_some_and(|record| record != whole) {
            silent.push(place);
        }
    }
    assert_eq!(silent, [0; 0], "bits that changed the record in silence");
}

fn read_intact(path: &Path) -> Result<Record, RunFileError> {
    require_intact(path, read(path)?)
}

fn state(path: &Path) -> Integrity {
    read(path).unwrap().integrity
}

#[test]
fn a_closed_file_knows_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    finished(&path);
    let Integrity::Intact { digest } = state(&path) else {
        panic!("{:?}", state(&path))
    };
    assert_eq!(digest.len(), 64);
    // Opened for writing, without a change of content: SQLite changes its header.
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA journal_mode = DELETE")
        .unwrap();
    assert_eq!(
        state(&path),
        Integrity::Intact {
            digest: digest.clone()
        }
    );
    db.execute_batch("UPDATE run SET title = 'another'")
        .unwrap();
    assert!(matches!(state(&path), Integrity::Changed { digest: stored, .. } if stored == digest));
    assert!(
        matches!(read_intact(&path), Err(RunFileError::Changed { .. })),
        "nothing is concluded from it"
    );
    db.execute_batch("DELETE FROM digest").unwrap();
    assert_eq!(state(&path), Integrity::NoDigest);
}

#[test]
fn a_file_that_was_never_closed_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    drop(
        RunFile::create(
            &path,
            &fixture::single_point().run,
            "",
            &RecordedPlan::Imported,
        )
        .unwrap(),
    );
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE run SET status = 'unfinished'")
        .unwrap();
    assert_eq!(state(&path), Integrity::Open);
}

#[test]
fn a_run_that_was_killed_before_its_digest_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("a.plimsoll"), dir.path().join("b.plimsoll"));
    let record = fixture::single_point();
    let file = super::write(&record, &path);
    file.close(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    std::fs::copy(&path, &copy).unwrap();
    drop(file);
    for (path, wal) in [(&path, "a.plimsoll-wal"), (&copy, "b.plimsoll-wal")] {
        assert!(!dir.path().join(wal).exists());
        assert_eq!(state(path), Integrity::Open);
        read_intact(path).unwrap();
    }
}

#[test]
fn a_removed_digest_is_not_another_digest() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    finished(&path);
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("DELETE FROM digest")
        .unwrap();
    let refused = read_intact(&path).unwrap_err();
    assert!(
        matches!(refused, RunFileError::NoDigest { .. }),
        "{refused:?}"
    );
    let text = refused.to_string();
    assert!(
        text.contains("has no digest") && !text.contains("does not match"),
        "{text}"
    );
}

#[test]
fn the_digest_holds_with_the_wal_beside_the_file_and_folded_in() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = super::write(&record, &path);
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM run").unwrap();
    file.finish(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    let beside = state(&path);
    assert!(matches!(beside, Integrity::Intact { .. }), "{beside:?}");
    reader
        .execute_batch("COMMIT; PRAGMA journal_mode = DELETE")
        .unwrap();
    assert!(!dir.path().join("a.plimsoll-wal").exists());
    assert_eq!(state(&path), beside);
}
