//! The contract: load, run, check, and everything that can go wrong on the way.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use plimsoll_plan::resolved::{Home, Tpcc, TxnMode, Workload};
use plimsoll_record::message::CheckDetail;
use plimsoll_record::message::check::{RowBound, RowRequirement};
use proptest::prelude::{any, prop};
use proptest::{prop_assert, prop_assert_eq, proptest};
use rusqlite::Connection;
use tempfile::TempDir;

use super::check::verdicts;
use super::load::loading_path;
use super::*;
use crate::clock::Clock;
use crate::engine::LoadControl;
use crate::engine::contract::contract_of_engines;
use crate::engine::{Session, WorkSession};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{SqlSession, TxnAccess};
use crate::workload::tpcc::input::{self, Line};
use crate::workload::tpcc::population::TpccPopulation;
use crate::workload::tpcc::rows::TpccTable;
use crate::workload::{Input, Source};

contract_of_engines!(contract::Engine::Sqlite);

const SEED: u64 = 42;
const TPCC: Tpcc = Tpcc {
    warehouses: 2,
    mode: TxnMode::Statements,
    home: Home::Roaming,
};

fn pragmas<const N: usize>(settings: [(&str, &str); N]) -> BTreeMap<String, String> {
    settings
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// A fresh database that was loaded after an earlier load had been killed. Never written to: tests copy it.
static LOADED: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tpcc.db");
    fs::write(loading_path(&path), "what a kill has left").unwrap();
    let control = LoadControl::default();
    load(&path, &TPCC, SEED, &pragmas([]), &control).unwrap();
    assert_eq!(control.done(), control.total());
    assert_eq!(files(&dir), ["tpcc.db"]);
    (dir, path)
});

fn files(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(super) fn copy() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy.db");
    fs::copy(&LOADED.1, &path).unwrap();
    (dir, path)
}

type TpccSession = WorkSession<SqliteSession>;

fn open(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
    writers: WriterQueue,
) -> Result<TpccSession, LoadError> {
    SqliteSession::open(path, pragmas, None, writers, &Workload::Tpcc(TPCC))
}

fn run(session: &mut TpccSession, input: &Input) -> Result<TxnEnd, SessionError> {
    Clock::real().block_on(session.run(input)).unwrap()
}

fn numbers(connection: &Connection, sql: &str) -> Vec<i64> {
    connection
        .query_row(sql, [], |row| {
            (0..row.as_ref().column_count())
                .map(|i| row.get(i))
                .collect()
        })
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn failures(verdicts: &[crate::engine::ConditionResult]) -> Vec<&CheckDetail> {
    verdicts
        .iter()
        .filter(|v| !v.holds)
        .map(|v| &v.detail)
        .collect()
}

#[test]
fn a_loaded_database_holds_the_population() {
    let connection = Connection::open(&LOADED.1).unwrap();
    let population = TpccPopulation {
        warehouses: 2,
        seed: SEED,
    };
    for &table in TpccTable::ALL {
        let expected: u64 = population
            .chunks()
            .iter()
            .filter(|c| c.table == table)
            .map(|c| c.rows())
            .sum();
        let found = numbers(
            &connection,
            &format!("SELECT count(*) FROM {}", table.name()),
        );
        assert_eq!(found, [expected as i64], "{table:?}");
        let columns: Vec<String> = connection
            .prepare(&format!("SELECT * FROM {}", table.name()))
            .unwrap()
            .column_names()
            .map(str::to_owned)
            .collect();
        assert_eq!(columns, table.columns(), "{table:?}");
    }
    assert!(is_loaded(&LOADED.1, &TPCC, SEED).unwrap());
    assert!(!is_loaded(&LOADED.1, &TPCC, SEED + 1).unwrap());
    assert!(
        !is_loaded(
            &LOADED.1,
            &Tpcc {
                warehouses: 3,
                ..TPCC
            },
            SEED
        )
        .unwrap()
    );
    assert!(!is_loaded(&LOADED.1.with_extension("none"), &TPCC, SEED).unwrap());
}

/// Versions before 2 drew states and letters in another way.
#[test]
fn a_population_of_an_older_version_is_not_reused() {
    let (_dir, path) = copy();
    Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE plimsoll_load SET format = 1")
        .unwrap();
    assert!(!is_loaded(&path, &TPCC, SEED).unwrap());
}

#[test]
fn all_conditions_hold_after_a_mixed_load_of_many_users() {
    let (_dir, path) = copy();
    let writers = WriterQueue::default();
    let users: Vec<_> = (0..6)
        .map(|user| {
            let path = path.clone();
            let writers = writers.clone();
            std::thread::spawn(move || {
                let unsynced = pragmas([("synchronous", "off")]);
                let mut session = open(&path, &unsynced, writers).unwrap();
                let mut source = Source::new(&Workload::Tpcc(TPCC), SEED, 0, user);
                let mut ends = [[0u32; 2]; 5];
                for _ in 0..200 {
                    let input = source.next();
                    let end = run(&mut session, &input).unwrap();
                    ends[input.txn()][usize::from(end == TxnEnd::RolledBack)] += 1;
                }
                assert!(session.take_round_trips() > 2_000 && session.take_round_trips() == 0);
                ends
            })
        })
        .collect();
    let mut ends = [[0; 2]; 5];
    for user in users {
        for (sum, one) in ends.iter_mut().zip(user.join().unwrap()) {
            *sum = [sum[0] + one[0], sum[1] + one[1]];
        }
    }
    assert_eq!(
        ends.map(|[committed, back]| committed + back),
        [540, 516, 48, 48, 48]
    );
    assert!(
        ends[0][1] > 0 && ends[1..].iter().all(|[_, back]| *back == 0),
        "{ends:?}"
    );
    let verdicts = check(&path).unwrap();
    assert_eq!((verdicts.len(), failures(&verdicts)), (12, vec![]));
    // The client's counts and the database's agree.
    let connection = Connection::open(&path).unwrap();
    let committed = numbers(&connection, "SELECT sum(d_next_o_id - 3001) FROM district")[0];
    assert_eq!(committed, i64::from(ends[0][0]));
    let paid = numbers(&connection, "SELECT count(*) - 60000 FROM history")[0];
    assert_eq!(paid, i64::from(ends[1][0]));
    let delivered = numbers(&connection, "SELECT sum(c_delivery_cnt) FROM customer")[0];
    assert_eq!(delivered, 480);
    let remote = numbers(&connection, "SELECT sum(s_remote_cnt) FROM stock")[0];
    assert!((25..100).contains(&remote), "{remote}");
    every_condition_can_fail(&path);
}

/// What is broken, which conditions fail then, and the place that the first of them names.
const BROKEN: &[(&str, &[u32], &str)] = &[
    (
        "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2",
        &[1, 8],
        "w_id=2: ",
    ),
    (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 2 AND d_id = 3",
        &[2],
        "w_id=2, d_id=3: ",
    ),
    (
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 4 AND no_o_id = 2900",
        &[3, 5, 11],
        "w_id=1, d_id=4: ",
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 1 AND o_d_id = 5 AND o_id = 17",
        &[4, 6],
        "w_id=1, d_id=5: ",
    ),
    (
        "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 6 AND o_id = 100",
        &[5, 7],
        "w_id=1, d_id=6, o_id=100: carrier null ≠ not in NEW-ORDER",
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + o_id * 2 - 35 WHERE o_w_id = 1 AND o_d_id = 5 AND o_id IN (17, 18)",
        &[6],
        "w_id=1, d_id=5, o_id=17: ",
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 2 AND ol_d_id = 7 AND ol_o_id = 1 AND ol_number = 2",
        &[7],
        "w_id=2, d_id=7, o_id=1, number=2: ",
    ),
    (
        "UPDATE warehouse SET w_ytd = w_ytd + 100 WHERE w_id = 1;
         UPDATE district SET d_ytd = d_ytd + 100 WHERE d_w_id = 1 AND d_id = 1",
        &[8, 9],
        "w_id=1: ",
    ),
    (
        "UPDATE district SET d_ytd = d_ytd + (d_id * 2 - 19) WHERE d_w_id = 1 AND d_id IN (9, 10)",
        &[9],
        "w_id=1, d_id=10: ",
    ),
    (
        "UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1
         WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 42",
        &[10],
        "w_id=1, d_id=1, c_id=42: ",
    ),
    (
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 42",
        &[11],
        "w_id=1, d_id=8: ",
    ),
    (
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 42",
        &[12],
        "w_id=1, d_id=1, c_id=42: ",
    ),
];

/// Breaks a few rows so that certain conditions fail, and only these, and names the place.
fn every_condition_can_fail(path: &std::path::Path) {
    let connection = Connection::open(path).unwrap();
    for (sql, clauses, key) in BROKEN {
        connection.execute_batch("BEGIN").unwrap();
        connection.execute_batch(sql).unwrap();
        let verdicts = verdicts(&connection, path).unwrap();
        connection.execute_batch("ROLLBACK").unwrap();
        let failed: Vec<_> = verdicts.iter().filter(|v| !v.holds).collect();
        let expected: Vec<_> = clauses.iter().map(|n| format!("3.3.2.{n}")).collect();
        assert_eq!(
            failed.iter().map(|v| v.clause).collect::<Vec<_>>(),
            expected,
            "{sql}"
        );
        let CheckDetail::Fails {
            key: found,
            left,
            right,
            ..
        } = &failed[0].detail
        else {
            panic!("{:?}", failed[0]);
        };
        let place = format!("{found}: {left} ≠ {right}");
        assert!(place.starts_with(key), "{place}");
    }
    connection
        .execute_batch("UPDATE warehouse SET w_ytd = 12345 WHERE w_id = 2")
        .unwrap();
    let detail = check(path).unwrap().swap_remove(0).detail;
    let sum = numbers(
        &connection,
        "SELECT sum(d_ytd) FROM district WHERE d_w_id = 2",
    )[0];
    let whole = sum / 100;
    let cents = sum % 100;
    let expected = CheckDetail::Fails {
        key: "w_id=2".to_owned(),
        left: "123.45".to_owned(),
        right: format!("{whole}.{cents:02}"),
        violations: 1,
        rows: 2,
        table: "warehouse".to_owned(),
    };
    assert_eq!(detail, expected);
}

#[test]
fn emptied_tables_and_half_a_load_do_not_pass() {
    let (_dir, path) = copy();
    let connection = Connection::open(&path).unwrap();
    for &table in TpccTable::ALL {
        connection
            .execute_batch(&format!("BEGIN; DELETE FROM {}", table.name()))
            .unwrap();
        let verdicts = verdicts(&connection, &path).unwrap();
        connection.execute_batch("ROLLBACK").unwrap();
        let failed = failures(&verdicts);
        if table == TpccTable::NewOrder {
            assert_eq!(failed.len(), 2, "{failed:?}");
        } else {
            assert_eq!(failed.len(), 12, "{failed:?}");
            let CheckDetail::RowsMissing { tables, .. } = failed[0] else {
                panic!("{failed:?}");
            };
            assert_eq!(
                (tables[0].table.as_str(), tables[0].rows),
                (table.name(), 0)
            );
        }
    }
    connection
        .execute_batch("DELETE FROM stock WHERE s_w_id = 2 AND s_i_id = 17")
        .unwrap();
    let missing = CheckDetail::RowsMissing {
        warehouses: 2,
        tables: vec![RowRequirement {
            table: "stock".to_owned(),
            rows: 199_999,
            bound: RowBound::Exactly,
            expected: 200_000,
        }],
    };
    assert_eq!(failures(&check(&path).unwrap())[0], &missing);
    connection
        .execute_batch("DELETE FROM plimsoll_load")
        .unwrap();
    assert!(matches!(check(&path), Err(LoadError::Missing { .. })));
}

fn order(lines: &[(i32, i32, i32)]) -> Input {
    let lines = lines
        .iter()
        .map(|&(item, supply_warehouse, quantity)| Line {
            item,
            supply_warehouse,
            quantity,
        });
    let order = input::NewOrder {
        warehouse: 1,
        district: 2,
        customer: 3,
        lines: lines.collect(),
    };
    Input::Tpcc(input::TpccInput::NewOrder(order))
}

const STATE: &str = "SELECT (SELECT sum(d_next_o_id) FROM district), (SELECT count(*) FROM orders),
    (SELECT count(*) FROM new_order), (SELECT count(*) FROM order_line), (SELECT sum(s_ytd) FROM stock),
    (SELECT sum(s_quantity) FROM stock), (SELECT sum(s_order_cnt) FROM stock)";

#[test]
fn a_district_without_new_orders_is_skipped_by_a_delivery() {
    let (_dir, path) = copy();
    let connection = Connection::open(&path).unwrap();
    let mut session = open(&path, &pragmas([]), WriterQueue::default()).unwrap();
    connection
        .execute_batch("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 9")
        .unwrap();
    let delivery = Input::Tpcc(input::TpccInput::Delivery(input::Delivery {
        warehouse: 1,
        carrier: 7,
    }));
    assert_eq!(run(&mut session, &delivery), Ok(TxnEnd::Committed));
    let left = "SELECT count(*), min(no_o_id) FROM new_order WHERE no_w_id = 1";
    assert_eq!(numbers(&connection, left), [9 * 899, 2102]);
}

#[test]
fn an_interrupted_load_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tpcc.db");
    let control = LoadControl::default();
    control.cancel();
    assert!(matches!(
        load(&path, &TPCC, SEED, &pragmas([]), &control),
        Err(LoadError::Cancelled)
    ));
    assert!(control.done() < control.total());
    let full = load(
        &path,
        &TPCC,
        SEED,
        &pragmas([("max_page_count", "1000")]),
        &LoadControl::default(),
    );
    assert!(matches!(full, Err(LoadError::DiskFull { .. })), "{full:?}");
    assert_eq!(files(&dir), Vec::<String>::new());
}

#[test]
fn a_file_of_the_users_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text.db");
    fs::write(&text, "dear diary, ".repeat(100)).unwrap();
    let other = dir.path().join("other.db");
    let owner = Connection::open(&other).unwrap();
    owner
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE mine (a)")
        .unwrap();
    drop(owner);
    for path in [text, other] {
        let before = fs::read(&path).unwrap();
        assert!(matches!(
            is_loaded(&path, &TPCC, SEED),
            Err(LoadError::Foreign { .. })
        ));
        let refused = load(&path, &TPCC, SEED, &pragmas([]), &LoadControl::default());
        assert!(
            matches!(refused, Err(LoadError::Foreign { .. })),
            "{refused:?}"
        );
        assert!(matches!(check(&path), Err(LoadError::Missing { .. })));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    assert_eq!(files(&dir), ["other.db", "text.db"]);
    assert!(matches!(
        check(&dir.path().join("tpcc.db")),
        Err(LoadError::Missing { .. })
    ));
    let missing = dir.path().join("none/tpcc.db");
    assert!(matches!(check(&missing), Err(LoadError::Missing { .. })));
    let nowhere = load(&missing, &TPCC, SEED, &pragmas([]), &LoadControl::default());
    assert!(
        matches!(nowhere, Err(LoadError::Missing { .. })),
        "{nowhere:?}"
    );
}

#[test]
fn settings_are_applied_shown_and_never_ignored() {
    let (_dir, path) = copy();
    let settings = pragmas([
        ("cache_size", "-8000"),
        ("wal_autocheckpoint", "5000"),
        ("cell_size_check", "1"),
    ]);
    let facts: BTreeMap<_, _> = facts(&path, &settings).unwrap().into_iter().collect();
    let shown = [
        "journal_mode",
        "synchronous",
        "page_size",
        "cache_size",
        "wal_autocheckpoint",
        "cell_size_check",
    ];
    assert_eq!(
        shown.map(|name| facts[name].as_str()),
        ["wal", "FULL", "4096", "-8000", "5000", "1"]
    );
    let set =
        |name: &str, value: &str| open(&path, &pragmas([(name, value)]), WriterQueue::default());
    for (name, value, reason) in [
        ("cash_size", "1", "no such PRAGMA"),
        (
            "synchronous",
            "FULLL",
            "setting synchronous = FULLL: is no value of synchronous. Choose one of OFF, NORMAL",
        ),
        ("synchronous", "4", "Choose one of"),
        ("journal_mode", "WALL", "Choose one of DELETE, "),
        (
            "locking_mode",
            "EXCLUDED",
            "Choose one of NORMAL, EXCLUSIVE",
        ),
        ("temp_store", "RAM", "Choose one of DEFAULT, FILE, MEMORY"),
        ("page_size", "8192", "SQLite keeps page_size = 4096"),
        ("cache_size", "1e3", "is no number"),
    ] {
        let error = set(name, value).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    for (name, value) in [
        ("synchronous", "extra"),
        ("synchronous", "1"),
        ("temp_store", "memory"),
        ("mmap_size", "4096"),
    ] {
        set(name, value).unwrap();
    }
    // A database in memory has no log: plimsoll's own settings are held to the same.
    let memory = Connection::open_in_memory().unwrap();
    let error = super::connection::apply(&memory, &path, &pragmas([("journal_mode", "WAL")]))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("SQLite keeps journal_mode = memory"),
        "{error}"
    );
}

#[test]
fn a_check_leaves_the_database_as_it_is() {
    for mode in ["DELETE", "WAL"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a b?c#d%20.db");
        fs::copy(&LOADED.1, &path).unwrap();
        Connection::open(&path)
            .unwrap()
            .execute_batch(&format!("PRAGMA journal_mode = {mode}"))
            .unwrap();
        let before = fs::read(&path).unwrap();
        assert_eq!(failures(&check(&path).unwrap()), Vec::<&CheckDetail>::new());
        assert!(
            fs::read(&path).unwrap() == before,
            "{mode}: not a byte differs"
        );
        assert_eq!(files(&dir), ["a b?c#d%20.db"], "{mode}");
    }
}

#[test]
fn failures_are_distinguished_and_leave_no_trace() {
    let (_dir, path) = copy();
    let connection = Connection::open(&path).unwrap();
    let before = numbers(&connection, STATE);
    let good = order(&[(8, 2, 10), (7, 1, 9), (7, 2, 1), (9, 1, 5), (10, 1, 6)]);
    let writers = WriterQueue::default();
    let open_with = |settings| open(&path, &settings, writers.clone()).unwrap();

    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = run(&mut open_with(pragmas([("busy_timeout", "10")])), &good);
    assert!(matches!(busy, Err(SessionError::Retry(_))), "{busy:?}");
    connection.execute_batch("ROLLBACK").unwrap();

    let read_only = run(&mut open_with(pragmas([("query_only", "1")])), &good);
    assert!(
        matches!(&read_only, Err(SessionError::Failed(why)) if why.contains("cannot be written")),
        "{read_only:?}"
    );
    assert_eq!(numbers(&connection, STATE), before);

    // The page count cannot grow: sooner or later an order finds no room.
    let mut full = open_with(pragmas([("max_page_count", "1")]));
    let mut ends = (0..2_000).map(|_| run(&mut full, &good));
    let error = ends.find_map(Result::err);
    assert!(
        matches!(&error, Some(SessionError::DiskFull { .. })),
        "{error:?}"
    );
    let missing = Input::Tpcc(input::TpccInput::StockLevel(input::StockLevel {
        warehouse: 9,
        district: 1,
        threshold: 10,
    }));
    let absent = run(&mut open_with(pragmas([])), &missing);
    assert!(
        matches!(&absent, Err(SessionError::Failed(why)) if why.contains("not loaded for this plan")),
        "{absent:?}"
    );
    // The turn to write has been passed on each time, and no half of an order is left.
    assert_eq!(
        run(&mut open_with(pragmas([])), &good),
        Ok(TxnEnd::Committed)
    );
    assert_eq!(failures(&check(&path).unwrap()), Vec::<&CheckDetail>::new());
}

#[test]
fn a_session_never_waits_for_itself() {
    let (_dir, path) = copy();
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut session = open(&path, &pragmas([]), WriterQueue::default()).unwrap();
        let twice = async {
            session.connection.begin(TxnAccess::Write).await.unwrap();
            session.connection.begin(TxnAccess::Write).await
        };
        done.send(Clock::real().block_on(twice).unwrap()).unwrap();
    });
    let second = ended
        .recv_timeout(std::time::Duration::from_secs(60))
        .expect("it does not park for ever");
    assert!(matches!(second, Err(SessionError::Failed(_))), "{second:?}");
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(24))]

    /// Damage of any kind is an error or a failed condition, never a panic.
    #[test]
    fn rubbish_never_panics(
        head in prop::collection::vec(any::<u8>(), 0..200),
        at in 0usize..200_000,
        length in 0usize..400_000,
        own in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rubbish.db");
        let mut bytes = vec![0; length];
        if own {
            std::io::Read::read_exact(&mut fs::File::open(&LOADED.1).unwrap(), &mut bytes).unwrap();
        }
        if let Some(damaged) = bytes.get_mut(at..at + head.len()) {
            damaged.copy_from_slice(&head);
        }
        fs::write(&path, &bytes).unwrap();
        let loaded = is_loaded(&path, &TPCC, SEED);
        let checked = check(&path);
        if !own {
            prop_assert!(matches!(loaded, Err(LoadError::Foreign { .. })), "{loaded:?}");
            prop_assert!(matches!(checked, Err(LoadError::Missing { .. })), "{checked:?}");
            prop_assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }
}

/// Locks of the whole process on a file go when it closes any descriptor of that file.
#[test]
fn sessions_that_open_leave_the_locks_of_others_alone() {
    use std::os::unix::fs::MetadataExt;
    let (_dir, path) = copy();
    let locks = || {
        let own = format!(" {} ", std::process::id());
        let file = format!(":{} ", fs::metadata(&path).unwrap().ino());
        let all = fs::read_to_string("/proc/locks").unwrap();
        let is_ours = |line: &&str| line.contains(&own) && line.contains(&file);
        all.lines().filter(is_ours).count()
    };
    let open_one = || open(&path, &pragmas([]), WriterQueue::default()).unwrap();
    let mut first = open_one();
    assert_eq!(
        run(&mut first, &order(&[(8, 2, 10)])),
        Ok(TxnEnd::Committed)
    );
    assert!(
        locks() > 0,
        "a session on a log is known to other processes"
    );
    let _second = open_one();
    assert!(locks() > 0);
}
