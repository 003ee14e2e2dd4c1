//! Backups of every engine, in every way, against real servers.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use plimsoll_model::lane::{LaneSpec, LoadShape};
use plimsoll_model::plan::resolved::{BackupMethod, Home, ServerKind, SystemKind, Tpcc, TxnMode, Workload};
use plimsoll_model::schedule::Timeline;
use plimsoll_model::units::Nanos;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use super::*;
use crate::backup::{RestoredBackup, written};
use crate::clock::{Clock, LaneClock};
use crate::engine::{AnySession, Opener};
use crate::scratch::{Scratch, wait_until};
use crate::session::{Session, SessionError};
use crate::workload::Source;

/// A backup way and how many may work at it.
type Way = (BackupMethod, u32);

const PHYSICAL: Way = (BackupMethod::Physical, 2);
const LOGICAL: Way = (BackupMethod::Logical, 2);

fn workload() -> Workload {
    Workload::Tpcc(Tpcc { warehouses: 1, mode: TxnMode::Statements, home: Home::Fixed })
}

fn server(engine: ServerKind) -> SystemKind {
    SystemKind::Managed { engine, settings: BTreeMap::new(), binaries: String::new() }
}

/// A medium that a server's user can reach.
fn medium() -> TempDir {
    let medium = tempfile::tempdir().unwrap();
    std::fs::set_permissions(medium.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    medium
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
        tick("started");
        instance.load(&workload(), 3, &LoadControl::default()).unwrap();
        tick("loaded");
        Self { instance, _scratch: scratch, keeper, media }
    }

    /// Takes a backup, restores it, and has `look` look at what that gave.
    fn there_and_back(&mut self, name: &str, (method, jobs): Way, look: impl FnOnce(&RestoredBackup)) -> String {
        let (to, control) = (self.keeper.dir(name).unwrap(), LoadControl::default());
        let taken = self.instance.back_up(method, jobs, &to, &control).unwrap();
        tick("backed up");
        assert_eq!(taken.bytes, written(&to));
        assert!(taken.bytes > 20_000_000 && taken.jobs >= 1 && taken.jobs <= jobs, "{taken:?}");
        self.restore(name, (method, jobs), look);
        taken.program
    }

    fn restore(&self, name: &str, (method, jobs): Way, look: impl FnOnce(&RestoredBackup)) {
        let from = self.keeper.path().join(name);
        let mut scratch = Scratch::create(self.media[0].path(), "restored").unwrap();
        tick("made");
        let control = LoadControl::default();
        let restored = self.instance.restore(method, jobs, &from, &mut scratch, None, &control).unwrap();
        tick("restored");
        assert!(restored.bytes > 20_000_000 && restored.began < restored.ended);
        assert!(restored.program.contains('.'), "{}", restored.program);
        assert!(place(&restored.instance).unwrap().starts_with(scratch.path()), "a second one");
        look(&restored);
        tick("looked");
        restored.instance.stop().unwrap();
        scratch.remove().unwrap();
        tick("removed");
    }
}

fn tick(what: &str) {
    use std::sync::OnceLock;
    static START: OnceLock<Clock> = OnceLock::new();
    eprintln!("{:>8} ms {what}", START.get_or_init(Clock::real).now().0 / 1_000_000);
}

fn place(instance: &Instance) -> Option<PathBuf> {
    match &instance.0 {
        Backing::Sqlite { path, .. } => Some(path.clone()),
        Backing::Managed(server) => Some(server.process().data_dir().to_owned()),
        Backing::Mock(_) | Backing::Existing(_) => None,
    }
}

fn assert_consistent(instance: &Instance) {
    let verdicts = instance.check(CheckedData::Tpcc).unwrap();
    assert!(verdicts.len() == 12 && verdicts.iter().all(|verdict| verdict.holds), "{verdicts:?}");
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
    let spec = LaneSpec {
        endpoint: instance.endpoint(),
        workload: workload(),
        load: LoadShape::closed(1),
        timeline: Timeline { warm: Nanos::ZERO, measure: Nanos::SECOND, cool: Nanos::SECOND },
        pacing: Default::default(),
        seed: 3,
        round: 1,
        max_retries: 0,
        power_cut: false,
    };
    let clock = Clock::real();
    let work = async {
        let mut session: AnySession = Opener::new(&spec, LaneClock::new(Clock::real())).open(0).await.unwrap();
        let mut source = Source::new(&spec.workload, spec.seed, 1, 0);
        while !stop.load(Ordering::Relaxed) {
            match session.run(&source.next()).await {
                Ok(_) => done.fetch_add(1, Ordering::Relaxed),
                Err(SessionError::Retry(_)) => 0,
                Err(error) => panic!("{error:?}"),
            };
        }
    };
    clock.block_on(work).unwrap();
}

/// What every engine's backup keeps: the data as they are, in a system of their own, more than once; and one state of
/// them while others write.
fn keeps_the_contract(kind: &SystemKind, ways: &[(Way, &str)]) {
    let mut system = Loaded::new(kind);
    let rows = system.instance.row_counts().unwrap();
    assert_eq!((rows["item"], rows["customer"]), (100_000, 30_000));
    for &(way, expected) in ways {
        let name = way.0.name();
        let program = system.there_and_back(name, way, |restored| {
            assert_eq!(restored.instance.row_counts().unwrap(), rows);
            assert_consistent(&restored.instance);
        });
        assert!(program.starts_with(expected), "{program}");
    }
    let (way, _) = ways[0];
    system.restore(way.0.name(), way, |restored| assert_eq!(restored.instance.row_counts().unwrap(), rows));
    under_load(&mut system, way);
    assert_consistent(&system.instance);
}

fn under_load(system: &mut Loaded, way: Way) {
    let (to, control) = (system.keeper.dir("loaded").unwrap(), LoadControl::default());
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let instance = &system.instance;
    let before = instance.row_counts().unwrap();
    thread::scope(|scope| {
        let _at_end = AtEnd(&stop);
        scope.spawn(|| write(instance, &stop, &done));
        assert!(wait_until(60, || done.load(Ordering::Relaxed) >= 20));
        instance.back_up(way.0, way.1, &to, &control).unwrap();
        let then = done.load(Ordering::Relaxed);
        assert!(wait_until(60, || done.load(Ordering::Relaxed) >= then + 20), "writers go on");
    });
    let after = instance.row_counts().unwrap();
    system.restore("loaded", way, |restored| {
        let found = restored.instance.row_counts().unwrap();
        for table in ["orders", "order_line", "history"] {
            assert!((before[table]..=after[table]).contains(&found[table]), "{table}: {before:?} {found:?} {after:?}");
        }
        assert!(before["order_line"] < after["order_line"]);
        assert_consistent(&restored.instance);
    });
}

#[test]
fn postgres_keeps_the_contract() {
    keeps_the_contract(&server(ServerKind::Postgres), &[(PHYSICAL, "pg_basebackup 1"), (LOGICAL, "pg_dump 1")]);
}

#[test]
fn mariadb_keeps_the_contract() {
    keeps_the_contract(&server(ServerKind::Mariadb), &[(PHYSICAL, "mariadb-backup 1"), (LOGICAL, "mariadb-dump 1")]);
}

#[test]
fn sqlite_keeps_the_contract() {
    keeps_the_contract(&SystemKind::Sqlite { settings: BTreeMap::new() }, &[(PHYSICAL, "SQLite backup API 3")]);
}

/// A small file system that is taken down with the test.
struct Small(PathBuf);

impl Drop for Small {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// What goes wrong, and how it is told: no room, the user's stop, the server's end. None of it harms the system.
fn fails_well(kind: &SystemKind, ways: &[Way]) {
    let mut system = Loaded::new(kind);
    no_room(&mut system, ways);
    cancelled(&mut system, ways);
    assert_consistent(&system.instance);
    server_dies(&mut system, ways);
}

fn no_room(system: &mut Loaded, ways: &[Way]) {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a file system to fill. What a program says of a full one is tested with the programs.
        return;
    }
    for &(method, jobs) in ways {
        let to = system.keeper.dir(&format!("small-{}", method.name())).unwrap();
        mount("none", &to, "tmpfs", MountFlags::empty(), Some(c"size=8m,mode=755")).unwrap();
        let _small = Small(to.clone());
        let error = system.instance.back_up(method, jobs, &to, &LoadControl::default()).unwrap_err();
        assert!(matches!(&error, LoadError::DiskFull { .. }), "{method:?} {error:?}");
        let said = error.to_string();
        assert!(said.contains(&to.display().to_string()) && said.contains("Free space there"), "{said}");
    }
}

fn cancelled(system: &mut Loaded, ways: &[Way]) {
    for &(method, jobs) in ways {
        let to = system.keeper.dir(&format!("cancelled-{}", method.name())).unwrap();
        let (control, over) = (LoadControl::default(), AtomicBool::new(false));
        let result = thread::scope(|scope| {
            let _at_end = AtEnd(&over);
            scope.spawn(|| {
                wait_until(60, || written(&to) > 0 || over.load(Ordering::Relaxed));
                control.cancel();
            });
            system.instance.back_up(method, jobs, &to, &control)
        });
        assert!(matches!(result, Err(LoadError::Cancelled)), "{method:?} {result:?}");
        // Whatever wrote there is gone: what is removed stays so.
        std::fs::remove_dir_all(&to).unwrap();
        let mut scratch = Scratch::create(system.media[0].path(), "unused").unwrap();
        let restored = system.instance.restore(method, jobs, &to, &mut scratch, None, &control);
        assert!(matches!(restored, Err(LoadError::Cancelled)), "{method:?} {:?}", restored.err());
    }
}

fn server_dies(system: &mut Loaded, ways: &[Way]) {
    let Backing::Managed(server) = &system.instance.0 else { return };
    server.process().crash().unwrap();
    for &(method, jobs) in ways {
        let to = system.keeper.dir(&format!("died-{}", method.name())).unwrap();
        let error = system.instance.back_up(method, jobs, &to, &LoadControl::default()).unwrap_err().to_string();
        assert!(error.contains("its log ends with"), "{error}");
    }
}

#[test]
fn postgres_fails_well() {
    fails_well(&server(ServerKind::Postgres), &[PHYSICAL, LOGICAL]);
}

#[test]
fn mariadb_fails_well() {
    fails_well(&server(ServerKind::Mariadb), &[PHYSICAL, LOGICAL]);
}

#[test]
fn sqlite_fails_well() {
    fails_well(&SystemKind::Sqlite { settings: BTreeMap::new() }, &[PHYSICAL]);
}
