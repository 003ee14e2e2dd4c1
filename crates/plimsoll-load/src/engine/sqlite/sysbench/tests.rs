//! Every script on a database file of its own.

use std::path::PathBuf;

use plimsoll_plan::resolved::{Distribution, Script, Workload};
use tempfile::TempDir;

use super::*;
use crate::clock::Clock;
use crate::engine::Session;
use crate::engine::contract::TPCC;
use crate::engine::contract::sysbench::SMALL;
use crate::engine::sqlite::{SqliteSession, WriterQueue};
use crate::session::SessionError;
use crate::workload::Source;

fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.db");
    (dir, path)
}

fn load_small(path: &Path, sysbench: &Sysbench) -> Loaded {
    let control = LoadControl::default();
    load(path, sysbench, 7, &BTreeMap::new(), &control).unwrap()
}

#[test]
fn a_data_set_of_another_distribution_is_loaded_anew() {
    let (_dir, path) = place();
    assert_eq!(load_small(&path, &SMALL), Loaded::Fresh);
    let zipfian = Sysbench {
        distribution: Distribution::Zipfian,
        ..SMALL
    };
    assert_eq!(
        load_small(&path, &zipfian),
        Loaded::Fresh,
        "k is drawn as ids are"
    );
}

#[test]
fn data_of_the_other_workload_are_replaced_and_other_files_refused() {
    use plimsoll_plan::resolved::{Home, Tpcc, TxnMode};
    let (_dir, path) = place();
    load_small(&path, &SMALL);
    let tpcc = Tpcc {
        warehouses: 1,
        mode: TxnMode::Statements,
        home: Home::Fixed,
    };
    assert!(!crate::engine::sqlite::is_loaded(&path, &tpcc, 7).unwrap());
    let cancelled = LoadControl::default();
    cancelled.cancel();
    let error =
        crate::engine::sqlite::load(&path, &tpcc, 7, &BTreeMap::new(), &cancelled).unwrap_err();
    assert!(
        matches!(error, LoadError::Cancelled) && !path.exists(),
        "{error}"
    );
    std::fs::write(&path, "the user's").unwrap();
    let error = load(&path, &SMALL, 7, &BTreeMap::new(), &LoadControl::default()).unwrap_err();
    assert!(matches!(error, LoadError::Foreign { .. }), "{error}");
}

#[test]
fn a_full_disk_is_no_failure_like_others() {
    let (_dir, path) = place();
    let sysbench = Sysbench {
        script: Script::Insert,
        ..SMALL
    };
    load_small(&path, &sysbench);
    let pages: u32 = Database::open(&path)
        .unwrap()
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let limit = BTreeMap::from([("max_page_count".to_owned(), (pages + 2).to_string())]);
    let workload = Workload::Sysbench(sysbench);
    let session = SqliteSession::open(&path, &limit, None, WriterQueue::default(), &workload);
    let mut session = session.unwrap();
    let mut source = Source::new(&workload, 7, 0, 0);
    let ended = (0..10_000).find_map(|_| {
        Clock::real()
            .block_on(session.run(&source.next()))
            .unwrap()
            .err()
    });
    let Some(SessionError::DiskFull { place, why }) = ended else {
        panic!("{ended:?}")
    };
    assert!(
        place.ends_with("data.db") && why.contains("full"),
        "{place}: {why}"
    );
}

#[test]
fn a_session_carries_out_its_own_workload_only() {
    let (_dir, path) = place();
    load_small(&path, &SMALL);
    let tpcc = Workload::Tpcc(TPCC);
    let writers = WriterQueue::default();
    let session = SqliteSession::open(&path, &BTreeMap::new(), None, writers, &tpcc);
    let mut session = session.unwrap();
    let input = Source::new(&Workload::Sysbench(SMALL), 7, 0, 0).next();
    let refused = Clock::real().block_on(session.run(&input)).unwrap();
    assert_eq!(refused, Err(SessionError::other_work()));
}
