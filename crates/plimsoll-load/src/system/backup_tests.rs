//! Backups of every engine, in every way, against real servers.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use plimsoll_model::plan::resolved::{BackupMethod, Home, ServerKind, SystemKind, Tpcc, TxnMode, Workload};
use tempfile::TempDir;

use super::*;
use crate::backup::written;
use crate::scratch::Scratch;

fn workload() -> Workload {
    Workload::Tpcc(Tpcc { warehouses: 1, mode: TxnMode::Procedures, home: Home::Fixed })
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

/// A loaded system. Fields are dropped in this order.
struct Loaded {
    instance: Instance,
    _scratch: Scratch,
    medium: TempDir,
}

fn loaded(kind: &SystemKind) -> Loaded {
    let medium = medium();
    let mut scratch = Scratch::create(medium.path(), "system").unwrap();
    let instance = Instance::start(kind, Some(&mut scratch), None).unwrap();
    instance.load(&workload(), 3, &LoadControl::default()).unwrap();
    Loaded { instance, _scratch: scratch, medium }
}

fn place(instance: &Instance) -> PathBuf {
    match &instance.0 {
        Backing::Sqlite { path, .. } => path.clone(),
        Backing::Managed(server) => server.process().data_dir().to_owned(),
        Backing::Mock(_) | Backing::Existing(_) => panic!("it has no place"),
    }
}

/// What every engine's backup keeps: the data as they were, in a system of their own, more than once.
fn keeps_the_contract(kind: &SystemKind, methods: &[(BackupMethod, u32, &str)]) {
    let system = loaded(kind);
    let (instance, control) = (&system.instance, LoadControl::default());
    let rows = instance.row_counts().unwrap();
    assert_eq!((rows["item"], rows["customer"]), (100_000, 30_000));
    let backups = medium();
    let mut keeper = Scratch::create(backups.path(), "backup").unwrap();
    for &(method, jobs, program) in methods {
        let to = keeper.dir(&format!("{method:?}")).unwrap();
        let taken = instance.back_up(method, jobs, &to, &control).unwrap();
        assert_eq!(taken.bytes, written(&to));
        assert!(taken.bytes > 20_000_000, "{taken:?}");
        assert!(taken.program.starts_with(program) && taken.program.contains('.'), "{taken:?}");
        for round in 0..2 {
            let mut scratch = Scratch::create(system.medium.path(), &format!("restored-{round}")).unwrap();
            let restored = instance.restore(method, jobs, &to, &mut scratch, None, &control).unwrap();
            assert!(restored.bytes > 20_000_000 && restored.began < restored.ended);
            assert!(restored.program.contains('.'), "{}", restored.program);
            assert_ne!(place(&restored.instance), place(instance), "a second one");
            assert_eq!(restored.instance.row_counts().unwrap(), rows);
            let verdicts = restored.instance.check(CheckedData::Tpcc).unwrap();
            assert!(verdicts.len() == 12 && verdicts.iter().all(|verdict| verdict.holds), "{verdicts:?}");
            restored.instance.stop().unwrap();
            scratch.remove().unwrap();
        }
    }
    assert_eq!(instance.row_counts().unwrap(), rows, "the first one is as it was");
}

#[test]
fn postgres_keeps_the_contract() {
    let ways = [(BackupMethod::Physical, 2, "pg_basebackup 1"), (BackupMethod::Logical, 2, "pg_dump 1")];
    keeps_the_contract(&server(ServerKind::Postgres), &ways);
}

#[test]
fn mariadb_keeps_the_contract() {
    let ways = [(BackupMethod::Physical, 2, "mariadb-backup 1"), (BackupMethod::Logical, 1, "mariadb-dump 1")];
    keeps_the_contract(&server(ServerKind::Mariadb), &ways);
}

#[test]
fn sqlite_keeps_the_contract() {
    let kind = SystemKind::Sqlite { settings: BTreeMap::new() };
    keeps_the_contract(&kind, &[(BackupMethod::Physical, 1, "SQLite backup API 3")]);
}
