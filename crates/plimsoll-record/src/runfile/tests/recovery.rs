//! Files whose writer was killed, and what lies beside them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::super::open::{RunFileSource, open_run_file};
use super::super::recovery::{PrivateCopy, beside};
use super::super::{read, read_head};
use super::*;

/// A file as SQLite leaves it when it is killed while it writes pages: half changed, with the journal that undoes it.
fn half_written(dir: &TempDir) -> PathBuf {
    half_written_of(dir, SCHEMA_VERSION)
}

fn half_written_of(dir: &TempDir, schema: i32) -> PathBuf {
    let (whole, path) = (dir.path().join("whole"), dir.path().join("a.plimsoll"));
    let record = fixture::single_point();
    RunFile::create_closed(&whole, &record).unwrap();
    let db = Connection::open(&whole).unwrap();
    db.pragma_update(None, "user_version", schema).unwrap();
    db.execute_batch(
        "PRAGMA cache_size = 1; BEGIN; UPDATE run SET title = 'half'; UPDATE tick SET in_flight = 7;
         UPDATE window SET response = zeroblob(9000); UPDATE metric SET source = 'x'",
    )
    .unwrap();
    for suffix in ["", "-journal"] {
        fs::copy(beside(&whole, suffix), beside(&path, suffix)).unwrap();
    }
    assert_ne!(fs::read(&whole).unwrap().len(), 0);
    drop(db);
    path
}

fn expect_whole(record: &Record) {
    let whole = fixture::single_point();
    assert_eq!(record.run.title, whole.run.title);
    assert_eq!(record.windows.len(), whole.windows.len());
    assert!(matches!(record.integrity, Integrity::Intact { .. }));
}

#[test]
fn what_was_half_written_is_undone() {
    let dir = tempfile::tempdir().unwrap();
    let path = half_written(&dir);
    assert!(beside(&path, "-journal").metadata().unwrap().len() > 0);
    expect_whole(&read(&path).unwrap());
    assert!(!beside(&path, "-journal").exists());
}

/// The plimsoll that reads it undoes it.
#[test]
fn a_file_of_another_schema_is_refused_as_it_is() {
    for schema in [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1] {
        let dir = tempfile::tempdir().unwrap();
        let path = half_written_of(&dir, schema);
        let content = || ["", "-journal"].map(|suffix| fs::read(beside(&path, suffix)).unwrap());
        let before = content();
        let refused = read(&path).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("it has schema {schema}")),
            "{refused}"
        );
        assert!(content() == before, "schema {schema}");
    }
}

#[test]
fn where_nothing_can_be_written_it_is_undone_in_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let path = half_written(&dir);
    let before = fs::read(&path).unwrap();
    let mut source = RunFileSource::find(&path).unwrap();
    source.use_copy().unwrap();
    let copy = source.file().to_owned();
    let mode = copy.metadata().unwrap().permissions().mode();
    assert_eq!((copy == path, mode & 0o77), (false, 0));
    let title: String = source
        .connect()
        .unwrap()
        .query_row("SELECT title FROM run", [], |row| row.get(0))
        .unwrap();
    assert_eq!(title, fixture::single_point().run.title);
    drop(source);
    assert!(!copy.exists() && beside(&path, "-journal").exists());
    assert_eq!(fs::read(&path).unwrap(), before);

    // An ordinary user cannot write here; root can.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let record = read(&path);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    expect_whole(&record.unwrap());
}

/// As on a medium that is mounted read-only.
#[test]
fn a_log_without_its_index_is_read_in_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let (path, killed) = (dir.path().join("a.plimsoll"), dir.path().join("b.plimsoll"));
    let record = fixture::single_point();
    let file = write(&record, &path);
    for suffix in ["", "-wal"] {
        fs::copy(beside(&path, suffix), beside(&killed, suffix)).unwrap();
    }
    drop(file);
    let mut source = RunFileSource::find(&killed).unwrap();
    source.use_copy().unwrap();
    let points: usize = source
        .connect()
        .unwrap()
        .query_row("SELECT count(*) FROM point", [], |row| row.get(0))
        .unwrap();
    assert_eq!(points, record.points.len());
    assert!(
        !beside(&killed, "-shm").exists(),
        "nothing was written beside it"
    );
}

/// SQLite deletes the file that a journal names as the one of a transaction over several databases.
#[test]
fn a_journal_that_names_a_file_is_refused_and_the_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = half_written(&dir);
    let victim = dir.path().join("victim");
    fs::write(&victim, "").unwrap();
    let name = victim.to_str().unwrap().as_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut journal = fs::read(beside(&path, "-journal")).unwrap();
    journal.extend([&[0xff; 4], name].concat());
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(beside(&path, "-journal"), journal).unwrap();
    let refused = read_head(&path).unwrap_err().to_string();
    assert!(refused.contains("names another file"), "{refused}");
    assert!(victim.exists());
}

#[test]
fn what_is_no_file_is_neither_followed_nor_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    RunFile::create_closed(&path, &fixture::single_point()).unwrap();
    let pipe = |path: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    for suffix in ["-journal", "-wal", "-shm"] {
        let beside = beside(&path, suffix);
        pipe(&beside);
        let refused = read_head(&path).unwrap_err().to_string();
        assert!(refused.contains("is no file"), "{refused}");
        fs::remove_file(&beside).unwrap();
        symlink("/dev/zero", &beside).unwrap();
        read_head(&path).unwrap_err();
        fs::remove_file(&beside).unwrap();
    }
    let other = dir.path().join("b.plimsoll");
    pipe(&other);
    let refused = read_head(&other).unwrap_err().to_string();
    assert!(refused.contains("it is no file"), "{refused}");
    read_head(Path::new("/dev/zero")).unwrap_err();
    read_head(dir.path()).unwrap_err();
    read_head(&path).unwrap();
}

#[test]
fn what_another_run_left_is_neither_deleted_nor_adopted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let create = || RunFile::create(&path, &record.run, "", &record.plan).map(drop);
    for suffix in ["-journal", "-wal", "-shm"] {
        fs::write(beside(&path, suffix), "theirs").unwrap();
        for created in [create(), RunFile::create_closed(&path, &record)] {
            let refused = created.unwrap_err();
            assert!(
                matches!(refused, RunFileError::Leftover { .. }),
                "{refused}"
            );
        }
        assert_eq!(fs::read(beside(&path, suffix)).unwrap(), b"theirs");
        fs::remove_file(beside(&path, suffix)).unwrap();
    }
    symlink(dir.path().join("nowhere"), &path).unwrap();
    assert!(matches!(create().unwrap_err(), RunFileError::Exists { .. }));
    assert!(!dir.path().join("nowhere").exists());
    fs::remove_file(&path).unwrap();
    create().unwrap();
    assert!(matches!(create().unwrap_err(), RunFileError::Exists { .. }));
    open_run_file(&path).unwrap();
}

#[test]
fn closing_a_run_file_makes_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = write(&record, &path);
    file.close(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    assert!(super::super::writer::fold_wal_in(&file.db));
    // In this mode no journal is a file (sqlite.org/pragma.html#pragma_journal_mode).
    let mode = file
        .db
        .pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    assert_eq!(mode.unwrap(), "memory");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(fs::read(&path).unwrap()[18..20], [1, 1]);
}

#[test]
fn nobody_else_can_enter_the_directory_of_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    write(&fixture::single_point(), &path);
    let copy = PrivateCopy::create(&path).unwrap();
    let about = fs::metadata(copy.file.parent().unwrap()).unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o700);
}
