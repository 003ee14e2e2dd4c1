//! Connections in fibers: none waits while it holds a mutex of SQLite, for which others of its thread would wait forever, and
//! what they write is what they would have written without the VFS.
//!
//! Mutexes are counted by SQLite's own table of them, which has to be set before SQLite is used at all: hence a process of its
//! own.

use std::cell::Cell;
use std::ffi::c_int;
use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Once, OnceLock};

use plimsoll_drive::catalog;
use plimsoll_drive::model::Setup;
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_plan::units::Bytes;
use plimsoll_virtual::calendar::VirtualClock;
use plimsoll_virtual::costs::CpuCosts;
use plimsoll_virtual::drive::VirtualDrive;
use plimsoll_virtual::fiber::Fiber;
use plimsoll_virtual::machine::VirtualMachine;
use plimsoll_virtual::vfs::VirtualMount;
use proptest::prelude::*;
use rusqlite::{Connection, OpenFlags, ffi};

const CAPACITY: Bytes = Bytes(1 << 30);

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static ENTERED: Cell<u64> = const { Cell::new(0) };
    static WAITS: Cell<u64> = const { Cell::new(0) };
}

static OWN: OnceLock<ffi::sqlite3_mutex_methods> = OnceLock::new();

fn own() -> &'static ffi::sqlite3_mutex_methods {
    OWN.get().expect("SQLite's own mutexes")
}

fn entered() {
    HELD.set(HELD.get() + 1);
    ENTERED.set(ENTERED.get() + 1);
}

unsafe extern "C" fn enter(mutex: *mut ffi::sqlite3_mutex) {
    // SAFETY: as SQLite gave it to its own method.
    unsafe { own().xMutexEnter.unwrap()(mutex) }
    entered();
}

unsafe extern "C" fn try_enter(mutex: *mut ffi::sqlite3_mutex) -> c_int {
    // SAFETY: as above.
    let code = unsafe { own().xMutexTry.unwrap()(mutex) };
    if code == ffi::SQLITE_OK {
        entered();
    }
    code
}

unsafe extern "C" fn leave(mutex: *mut ffi::sqlite3_mutex) {
    HELD.set(HELD.get() - 1);
    // SAFETY: as above.
    unsafe { own().xMutexLeave.unwrap()(mutex) }
}

/// Has SQLite use mutexes that are counted.
fn count_mutexes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: nobody uses SQLite yet (c3ref/config.html); the table lives as long as the process.
        unsafe {
            let mut methods: ffi::sqlite3_mutex_methods = std::mem::zeroed();
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
            assert_eq!(ffi::sqlite3_shutdown(), ffi::SQLITE_OK);
            let get = ffi::sqlite3_config(ffi::SQLITE_CONFIG_GETMUTEX, &raw mut methods);
            assert_eq!(get, ffi::SQLITE_OK);
            assert!(OWN.set(methods).is_ok());
            methods.xMutexEnter = Some(enter);
            methods.xMutexTry = Some(try_enter);
            methods.xMutexLeave = Some(leave);
            let set = ffi::sqlite3_config(ffi::SQLITE_CONFIG_MUTEX, &raw mut methods);
            assert_eq!(set, ffi::SQLITE_OK);
        }
    });
}

/// Fails where it waits with a mutex.
async fn without_mutexes<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let polled = work.as_mut().poll(context);
        assert_eq!(HELD.get(), 0, "a fiber waits and holds a mutex");
        WAITS.set(WAITS.get() + u64::from(polled.is_pending()));
        polled
    })
    .await
}

struct Machine {
    clock: VirtualClock,
    machine: Arc<VirtualMachine>,
    mount: VirtualMount,
}

impl Machine {
    fn new() -> Self {
        count_mutexes();
        let clock = VirtualClock::default();
        let machine = VirtualMachine::new(clock.clone(), 2, CpuCosts::REFERENCE);
        let entry = catalog::find("aws-gp3").unwrap();
        let spec = catalog::load(entry.name, entry.text).unwrap();
        let setup = Setup {
            capacity: CAPACITY,
            fill: 1.0,
            seed: 1,
            ignores_flush: false,
        };
        let model = StorageModel::new(&spec, &setup);
        let drive = Arc::new(VirtualDrive::new(clock.clone(), model));
        let memory = Some(Bytes(1 << 20));
        let mount = VirtualMount::new(machine.clone(), drive, CAPACITY, memory, 1).unwrap();
        Self {
            clock,
            machine,
            mount,
        }
    }

    /// Runs statements of each connection beside those of the others.
    fn run(&self, path: &Path, journal: &'static str, connections: &[Vec<Change>]) {
        let local = tokio::task::LocalSet::new();
        let work = async {
            let tasks: Vec<_> = connections
                .iter()
                .map(|changes| {
                    let (path, vfs) = (path.to_owned(), self.mount.name().to_owned());
                    let changes = changes.clone();
                    let program = move |()| {
                        let connection = open(&path, Some(&vfs), journal);
                        changes.iter().for_each(|change| change.make(&connection));
                    };
                    let mut fiber = Fiber::new(self.machine.clone(), program).unwrap();
                    local.spawn_local(async move { without_mutexes(fiber.run(())).await })
                })
                .collect();
            local.await;
            for task in tasks {
                task.await.unwrap();
            }
        };
        self.clock.block_on(work).unwrap();
    }
}

fn open(path: &Path, vfs: Option<&str>, journal: &str) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs),
        None => Connection::open_with_flags(path, flags),
    };
    let connection = connection.unwrap();
    connection
        .busy_timeout(std::time::Duration::from_secs(600))
        .unwrap();
    // Few pages, so that they are written before their transaction ends.
    let settings = format!(
        "PRAGMA journal_mode = {journal}; PRAGMA cache_size = 10; PRAGMA temp_store = FILE"
    );
    connection.execute_batch(&settings).unwrap();
    let table = "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, text BLOB)";
    connection.execute_batch(table).unwrap();
    connection
}

/// Of one connection's own rows, so that the order of connections decides nothing.
#[derive(Debug, Clone, Copy)]
enum Change {
    Insert { first: i64, rows: i64, bytes: usize },
    Update { first: i64, bytes: usize },
    Delete { first: i64, rows: i64 },
    Undone { first: i64, bytes: usize },
    Sort,
    Checkpoint,
    Vacuum,
}

impl Change {
    fn of(connection: i64) -> impl Strategy<Value = Self> {
        let first = (0..200_i64).prop_map(move |row| connection * 1_000 + row);
        let bytes = 0..9_000_usize;
        prop_oneof![
            4 => (first.clone(), 1..40_i64, bytes.clone())
                .prop_map(|(first, rows, bytes)| Self::Insert { first, rows, bytes }),
            2 => (first.clone(), bytes.clone()).prop_map(|(first, bytes)| Self::Update { first, bytes }),
            2 => (first.clone(), 1..40_i64).prop_map(|(first, rows)| Self::Delete { first, rows }),
            1 => (first, bytes).prop_map(|(first, bytes)| Self::Undone { first, bytes }),
            1 => Just(Self::Sort),
            1 => Just(Self::Checkpoint),
            1 => Just(Self::Vacuum),
        ]
    }

    fn make(self, connection: &Connection) {
        let text = match self {
            Self::Insert { first, rows, bytes } => format!(
                "BEGIN IMMEDIATE; WITH RECURSIVE s(id) AS (VALUES({first}) UNION ALL SELECT id + 1 FROM s WHERE id < {}) \
                 INSERT OR REPLACE INTO item SELECT id, zeroblob({bytes}) FROM s; COMMIT",
                first + rows
            ),
            Self::Update { first, bytes } => format!(
                "BEGIN IMMEDIATE; UPDATE item SET text = zeroblob({bytes}) WHERE id BETWEEN {first} AND {}; COMMIT",
                first + 9
            ),
            Self::Delete { first, rows } => format!(
                "BEGIN IMMEDIATE; DELETE FROM item WHERE id BETWEEN {first} AND {}; COMMIT",
                first + rows
            ),
            Self::Undone { first, bytes } => format!(
                "BEGIN IMMEDIATE; UPDATE item SET text = zeroblob({bytes}) WHERE id >= {first}; ROLLBACK"
            ),
            Self::Sort => {
                "SELECT count(*) FROM (SELECT hex(text) FROM item ORDER BY 1 LIMIT 1000)".to_owned()
            }
            Self::Checkpoint => "PRAGMA wal_checkpoint(PASSIVE)".to_owned(),
            Self::Vacuum => "VACUUM".to_owned(),
        };
        connection
            .execute_batch(&text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

type Row = (i64, usize);

fn rows(path: &Path) -> Vec<Row> {
    let connection = Connection::open(path).unwrap();
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    let mut statement = connection
        .prepare("SELECT id, length(text) FROM item ORDER BY id")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

fn changes() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let of = |connection| prop::collection::vec(Change::of(connection), 1..8);
    (of(0), of(1), of(2)).prop_map(|(a, b, c)| vec![a, b, c])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn connections_beside_each_other_write_what_they_write_alone(
        changes in changes(),
        journal in prop::sample::select(vec!["wal", "delete", "truncate", "persist"]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (timed, plain) = (dir.path().join("timed.db"), dir.path().join("plain.db"));
        let machine = Machine::new();
        let before = (ENTERED.get(), WAITS.get());
        machine.run(&timed, journal, &changes);
        let [entered, waits] = [ENTERED.get() - before.0, WAITS.get() - before.1];
        prop_assert!(entered > 0 && waits > 0, "{entered} mutexes and {waits} waits");
        let connection = open(&plain, None, journal);
        for change in changes.iter().flatten() {
            change.make(&connection);
        }
        drop(connection);
        let (timed, plain) = (rows(&timed), rows(&plain));
        prop_assert!(timed == plain, "{} rows instead of {}", timed.len(), plain.len());
    }
}
