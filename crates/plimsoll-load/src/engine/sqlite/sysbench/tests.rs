//! Every script on a database file of its own.

use std::path::PathBuf;

use plimsoll_plan::resolved::{Distribution, Script, Workload};
use tempfile::TempDir;

use super::*;
use crate::clock::Clock;
use crate::session::{Session, TxnEnd};
use crate::workload::Source;

const SMALL: Sysbench = Sysbench {
    script: Script::ReadWrite,
    tables: 2,
    rows: 500,
    distribution: Distribution::Uniform,
    point_selects: 10,
    range_size: 100,
};

fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.db");
    (dir, path)
}

fn load_small(path: &Path, sysbench: &Sysbench) -> Loaded {
    let control = LoadControl::default();
    load(path, sysbench, 7, &BTreeMap::new(), &control).unwrap()
}

fn assert_holds(path: &Path, sysbench: &Sysbench) {
    let verdicts = check(path, sysbench).unwrap();
    assert!(
        verdicts.len() == 3 && verdicts.iter().all(|verdict| verdict.holds),
        "{verdicts:#?}"
    );
}

/// A thread for each user, as the runner has it.
fn work(path: &Path, sysbench: &Sysbench, users: u32, transactions: u32) {
    let writers = WriterQueue::default();
    std::thread::scope(|scope| {
        for user in 0..users {
            let writers = writers.clone();
            scope.spawn(move || {
                let session =
                    SqliteSession::open_sysbench(path, &BTreeMap::new(), writers, sysbench);
                let (mut session, workload) = (session.unwrap(), Workload::Sysbench(*sysbench));
                let mut source = Source::new(&workload, 7, 0, user);
                for _ in 0..transactions {
                    let end = Clock::real().block_on(session.run(&source.next())).unwrap();
                    assert_eq!(end, Ok(TxnEnd::Committed), "{:?}", sysbench.script);
                }
            });
        }
    });
}

#[test]
fn every_script_leaves_what_it_can_leave() {
    let (_dir, path) = place();
    for script in Script::ALL {
        let sysbench = Sysbench { script, ..SMALL };
        load_small(&path, &sysbench);
        work(&path, &sysbench, 3, 30);
        assert_holds(&path, &sysbench);
        let rows = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
        let rows: i64 = Database::open(&path)
            .unwrap()
            .query_row(rows, [], |row| row.get(0))
            .unwrap();
        match script {
            Script::Insert => assert_eq!(rows, 1_090),
            Script::Delete => assert!((910..1_000).contains(&rows), "{rows}"),
            _ => assert_eq!(rows, 1_000),
        }
    }
}

#[test]
fn a_data_set_is_used_again_while_its_rows_are_all_there() {
    let (_dir, path) = place();
    let load = |script| load_small(&path, &Sysbench { script, ..SMALL });
    assert_eq!(load(Script::ReadWrite), Loaded::Fresh);
    assert_eq!(load(Script::UpdateIndex), Loaded::Reused);
    assert_eq!(load(Script::Delete), Loaded::Reused);
    assert_eq!(load(Script::Delete), Loaded::Fresh, "rows were deleted");
    assert_eq!(load(Script::ReadOnly), Loaded::Fresh);
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
fn a_wrong_table_is_found() {
    let (_dir, path) = place();
    load_small(&path, &SMALL);
    let failing = |sql: &str| {
        Database::open(&path).unwrap().execute_batch(sql).unwrap();
        let verdicts = check(&path, &SMALL).unwrap();
        verdicts
            .iter()
            .filter(|verdict| !verdict.holds)
            .map(|verdict| verdict.clause)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        failing("UPDATE sbtest2 SET pad = 'cut' WHERE id = 5"),
        ["values"]
    );
    assert_eq!(failing("DELETE FROM sbtest2 WHERE id = 5"), ["rows", "ids"]);
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
    let session = SqliteSession::open_sysbench(&path, &limit, WriterQueue::default(), &sysbench);
    let (mut session, mut source) = (
        session.unwrap(),
        Source::new(&Workload::Sysbench(sysbench), 7, 0, 0),
    );
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
    let mut session = SqliteSession::open(&path, &BTreeMap::new(), WriterQueue::default()).unwrap();
    let input = Source::new(&Workload::Sysbench(SMALL), 7, 0, 0).next();
    let refused = Clock::real().block_on(session.run(&input)).unwrap();
    assert_eq!(refused, Err(SessionError::other_work()));
}
