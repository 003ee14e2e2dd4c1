//! Backups of every engine, in every way, against real servers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_plan::resolved::{
    BackupMethod, Home, ManagedKind, SystemKind, Tpcc, TxnMode, Workload,
};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use super::*;
use crate::backup::written;
use crate::engine::contract::{User, medium};
use crate::scratch::{Scratch, wait_until};
use crate::session::SessionError;
use crate::workload::Source;

/// A backup way and how many may work at it.
type Way = (BackupMethod, u32);

const PHYSICAL: Way = (BackupMethod::Physical, 2);
const LOGICAL: Way = (BackupMethod::Logical, 2);

fn workload() -> Workload {
    Workload::Tpcc(Tpcc {
        warehouses: 1,
        mode: TxnMode::Statements,
        home: Home::Fixed,
    })
}

fn server(engine: ManagedKind, settings: &[(&str, &str)]) -> SystemKind {
    let settings = settings
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    SystemKind::Managed {
        engine,
        settings,
        binaries: String::new(),
    }
}

/// A loaded system, and a place for backups of it. Fields are dropped in this order.
struct Loaded {
    instance: Instance,
    _scratch: Scratch,
    keeper: Scratch,
    media: [TempDir; 2],
}

impl Loaded {
    fn new(kind: &SystemKind) -> Self {
        let media = [medium(), medium()];
        let mut scratch = Scratch::create(media[0].path(), "system").unwrap();
        let keeper = Scratch::create(media[1].path(), "backup").unwrap();
        let instance = Instance::start(kind, Some(&mut scratch), None).unwrap();
        instance
            .load(&workload(), 3, &LoadControl::default())
            .unwrap();
        Self {
            instance,
            _scratch: scratch,
            keeper,
            media,
        }
    }

    /// Takes a backup by this program.
    fn back_up(&mut self, name: &str, way: Way, program: &str) {
        let to = self.keeper.dir(name).unwrap();
        self.take(&to, way, program);
    }

    fn take(&self, to: &Path, (method, jobs): Way, program: &str) {
        let taken = self
            .instance
            .back_up(method, jobs, to, &LoadControl::default())
            .unwrap();
        assert_eq!(taken.bytes, written(to));
        assert!(
            taken.bytes > 20_000_000 && taken.jobs >= 1 && taken.jobs <= jobs,
            "{taken:?}"
        );
        assert!(taken.program.starts_with(program), "{taken:?}");
    }

    /// Restores a backup, and runs `check` on the result.
    fn restore(&self, name: &str, (method, jobs): Way, check: impl FnOnce(&Instance)) {
        let from = self.keeper.path().join(name);
        let mut scratch = Scratch::create(self.media[0].path(), "restored").unwrap();
        let control = LoadControl::default();
        let restored = self
            .instance
            .restore(method, jobs, &from, &mut scratch, None, &control)
            .unwrap();
        assert!(restored.bytes > 20_000_000 && restored.began < restored.ended);
        assert!(restored.program.contains('.'), "{}", restored.program);
        assert!(
            place(&restored.instance)
                .unwrap()
                .starts_with(scratch.path()),
            "a second one"
        );
        check(&restored.instance);
        restored.instance.stop().unwrap();
        scratch.remove().unwrap();
    }
}

fn place(instance: &Instance) -> Option<PathBuf> {
    match &instance.0 {
        InstanceKind::Sqlite { path, .. } => Some(path.clone()),
        InstanceKind::Managed(server) => Some(server.process().data_dir().to_owned()),
        InstanceKind::Mock(_) | InstanceKind::Existing(_) | InstanceKind::DatabaseCopy(_) => None,
    }
}

fn assert_consistent(instance: &Instance) {
    let verdicts = instance.check(CheckedData::Tpcc).unwrap();
    assert!(
        verdicts.len() == 12 && verdicts.iter().all(|verdict| verdict.holds),
        "{verdicts:?}"
    );
}

/// Sets a flag at the end of a test's part, in whichever way that comes.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One user's transactions until `stop`, counted.
fn write(instance: &Instance, stop: &AtomicBool, done: &AtomicU64) {
    let mut user = User::of(instance.endpoint(), &workload());
    let mut source = Source::new(&workload(), 3, 1, 0);
    while !stop.load(Ordering::Relaxed) {
        match user.run(&source.next()) {
            Ok(_) => done.fetch_add(1, Ordering::Relaxed),
            Err(SessionError::Retry(_)) => 0,
            Err(error) => panic!("{error:?}"),
        };
    }
}

/// What every engine's backup keeps: one state of the data while others write, in a system of their own, as often as it is
/// restored; and a failure is reported, and harms nothing.
fn keeps_the_contract(system: &mut Loaded, ways: &[(Way, &str)]) {
    let rows = system.instance.row_counts().unwrap();
    assert_eq!((rows["item"], rows["customer"]), (100_000, 30_000));
    let (first, program) = ways[0];
    under_load(system, first, program);
    let (last, program) = ways[ways.len() - 1];
    let rows = system.instance.row_counts().unwrap();
    let commits = system.instance.commit_counts().unwrap();
    system.back_up("quiet", last, program);
    system.restore("quiet", last, |restored| {
        assert_eq!(restored.row_counts().unwrap(), rows);
        assert_eq!(restored.commit_counts().unwrap(), commits);
        assert_eq!(settings(restored), settings(&system.instance));
    });
    for (way, _) in ways {
        no_room(system, *way);
        cancelled(system, *way);
    }
    assert_eq!(
        system.instance.row_counts().unwrap(),
        rows,
        "nothing of that has harmed it"
    );
    for (way, _) in ways {
        server_dies(system, *way);
    }
}

fn settings(instance: &Instance) -> Vec<(String, String)> {
    let own = [
        "setting.config_file",
        "setting.data_directory",
        "setting.hba_file",
        "setting.unix_socket_directories",
    ];
    let own =
        |name: &str| own.contains(&name) || name == "database_size" || name.ends_with("ident_file");
    instance
        .facts()
        .unwrap()
        .into_iter()
        .filter(|(name, _)| !own(name))
        .collect()
}

fn under_load(system: &mut Loaded, way: Way, program: &str) {
    let stop = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    let before = system.instance.row_counts().unwrap();
    let to = system.keeper.dir("loaded").unwrap();
    let instance = &system.instance;
    thread::scope(|scope| {
        let _at_end = AtEnd(&stop);
        scope.spawn(|| write(instance, &stop, &done));
        assert!(wait_until(60, || done.load(Ordering::Relaxed) >= 20));
        system.take(&to, way, program);
        let then = done.load(Ordering::Relaxed);
        assert!(
            wait_until(60, || done.load(Ordering::Relaxed) >= then + 20),
            "writers go on"
        );
    });
    let after = system.instance.row_counts().unwrap();
    let mut first = BTreeMap::new();
    system.restore("loaded", way, |restored| {
        first = restored.row_counts().unwrap();
        for table in ["orders", "order_line", "history"] {
            assert!(
                (before[table]..=after[table]).contains(&first[table]),
                "{table}: {before:?} {first:?} {after:?}"
            );
        }
        assert!(before["order_line"] < after["order_line"]);
        assert_consistent(restored);
    });
    system.restore("loaded", way, |restored| {
        assert_eq!(restored.row_counts().unwrap(), first, "again")
    });
}

#[test]
fn postgres_keeps_the_contract() {
    let settings = [("fsync", "off"), ("work_mem", "5MB")];
    let mut system = Loaded::new(&server(ManagedKind::Postgres, &settings));
    existing(&mut system);
    keeps_the_contract(
        &mut system,
        &[(PHYSICAL, "pg_basebackup 1"), (LOGICAL, "pg_dump 1")],
    );
}

#[test]
fn mariadb_keeps_the_contract() {
    let settings = [
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_buffer_pool_size", "256M"),
    ];
    let mut system = Loaded::new(&server(ManagedKind::Mariadb, &settings));
    keeps_the_contract(
        &mut system,
        &[(PHYSICAL, "mariadb-backup 1"), (LOGICAL, "mariadb-dump 1")],
    );
}

#[cfg(feature = "test-mysql")]
#[test]
fn mysql_keeps_the_contract() {
    let settings = [
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_buffer_pool_size", "256M"),
    ];
    let mut system = Loaded::new(&server(ManagedKind::Mysql, &settings));
    keeps_the_contract(&mut system, &[(PHYSICAL, "mysql"), (LOGICAL, "mysqldump")]);
}

#[test]
fn sqlite_keeps_the_contract() {
    let mut system = Loaded::new(&SystemKind::Sqlite {
        settings: BTreeMap::new(),
    });
    keeps_the_contract(&mut system, &[(PHYSICAL, "SQLite backup API 3")]);
    let to = system.keeper.dir("dump").unwrap();
    let error = system
        .instance
        .back_up(BackupMethod::Logical, 1, &to, &LoadControl::default())
        .unwrap_err();
    assert!(error.to_string().contains("leave `method` out"), "{error}");
}

/// A server of the user's, with data in a schema of another name: dumped, and restored as one of plimsoll's.
fn existing(system: &mut Loaded) {
    let InstanceKind::Managed(server) = &system.instance.0 else {
        panic!("no server")
    };
    let Target {
        engine, conninfo, ..
    } = server.target();
    let sql = "CREATE SCHEMA \"of others\"; CREATE TABLE \"of others\".\"A b\" AS SELECT generate_series(1, 1000) AS n";
    crate::engine::postgres::batch(&conninfo, sql).unwrap();
    let target = Target {
        engine,
        conninfo,
        schema: "of others".into(),
        changes_tables: false,
    };
    let theirs = Instance(InstanceKind::Existing(target));
    let control = LoadControl::default();
    let to = system.keeper.dir("existing").unwrap();
    let error = theirs
        .back_up(BackupMethod::Physical, 1, &to, &control)
        .unwrap_err()
        .to_string();
    assert!(error.contains("Take a logical backup"), "{error}");
    let taken = theirs
        .back_up(BackupMethod::Logical, 1, &to, &control)
        .unwrap();
    assert!(
        taken.program.starts_with("pg_dump 1") && taken.bytes == written(&to),
        "{taken:?}"
    );
    let mut scratch = Scratch::create(system.media[0].path(), "of-others").unwrap();
    let restored = theirs
        .restore(BackupMethod::Logical, 2, &to, &mut scratch, None, &control)
        .unwrap();
    let expected = BTreeMap::from([("A b".to_owned(), 1000)]);
    assert_eq!(restored.instance.row_counts().unwrap(), expected);
    assert_eq!(theirs.row_counts().unwrap(), expected);
    restored.instance.stop().unwrap();
    scratch.remove().unwrap();
}

/// A small file system that is taken down with the test.
struct Small(PathBuf);

impl Drop for Small {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// Each of these is reported, and harms nothing: no room, the user's stop, the server's end.
fn no_room(system: &mut Loaded, (method, jobs): Way) {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a file system to fill. A program's message about a full one is tested with the programs.
        return;
    }
    let to = system
        .keeper
        .dir(&format!("small-{}", method.name()))
        .unwrap();
    mount(
        "none",
        &to,
        "tmpfs",
        MountFlags::empty(),
        Some(c"size=8m,mode=755"),
    )
    .unwrap();
    let _small = Small(to.clone());
    let error = system
        .instance
        .back_up(method, jobs, &to, &LoadControl::default())
        .unwrap_err();
    assert!(
        matches!(&error, LoadError::DiskFull { .. }),
        "{method:?} {error:?}"
    );
    let message = error.to_string();
    assert!(
        message.contains(&to.display().to_string()) && message.contains("Free space there"),
        "{message}"
    );
}

/// Until something of a backup is there, or `over`. Polls more often than [`wait_until`]: so little data is soon saved.
fn until_begun(to: &Path, over: &AtomicBool) {
    for _ in 0..60_000 {
        if written(to) > 0 || over.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// How often a backup is made until one has not ended before it is known to have begun.
const TRIES: u32 = 5;

fn cancelled(system: &mut Loaded, (method, jobs): Way) {
    let to = system
        .keeper
        .dir(&format!("cancelled-{}", method.name()))
        .unwrap();
    let mut tries = 0;
    let (control, result) = loop {
        tries += 1;
        let control = LoadControl::default();
        let over = AtomicBool::new(false);
        let result = thread::scope(|scope| {
            let _at_end = AtEnd(&over);
            scope.spawn(|| {
                until_begun(&to, &over);
                control.cancel();
            });
            system.instance.back_up(method, jobs, &to, &control)
        });
        if result.is_err() || tries == TRIES {
            break (control, result);
        }
        std::fs::remove_dir_all(&to).unwrap();
        std::fs::create_dir(&to).unwrap();
    };
    assert!(
        matches!(result, Err(LoadError::Cancelled)),
        "{method:?} {result:?}"
    );
    // Whatever wrote there is gone: what is removed stays so.
    std::fs::remove_dir_all(&to).unwrap();
    let mut scratch = Scratch::create(system.media[0].path(), "unused").unwrap();
    let restored = system
        .instance
        .restore(method, jobs, &to, &mut scratch, None, &control);
    assert!(
        matches!(restored, Err(LoadError::Cancelled)),
        "{method:?} {:?}",
        restored.err()
    );
}

/// In the middle of the first backup; the second one finds it dead.
fn server_dies(system: &mut Loaded, (method, jobs): Way) {
    let InstanceKind::Managed(server) = &system.instance.0 else {
        return;
    };
    let dead = server.process().died().is_some();
    let mut tries = 0;
    let result = loop {
        tries += 1;
        let to = system
            .keeper
            .dir(&format!("died-{}-{tries}", method.name()))
            .unwrap();
        let over = AtomicBool::new(dead);
        let result = thread::scope(|scope| {
            let _at_end = AtEnd(&over);
            scope.spawn(|| {
                until_begun(&to, &over);
                server.process().crash().unwrap();
            });
            system
                .instance
                .back_up(method, jobs, &to, &LoadControl::default())
        });
        // One that has been dead all the time gives nothing, however often it is asked.
        if result.is_err() || dead || tries == TRIES {
            break result;
        }
        server.restart(&|| false).unwrap();
    };
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("its log: ") && error.contains("its output: "),
        "{error}"
    );
}
