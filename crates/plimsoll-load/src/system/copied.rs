//! Equal systems: one is loaded, the others begin with copies of its files.

use super::{Instance, InstanceKind};
use crate::engine::LoadControl;
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;
use crate::scratch::copy::put_back;

impl Instance {
    /// Whether the system has files that can be copied.
    pub fn has_files(&self) -> bool {
        self.data_dir().is_some()
    }

    /// Starts a second system like this one, with a copy of its data, which is on its medium when this returns. A server
    /// stands still meanwhile; no other session may use it.
    pub fn copied(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        control: &LoadControl,
    ) -> Result<Self, LoadError> {
        match &self.0 {
            InstanceKind::Sqlite { path, pragmas } => {
                let from = self.files()?;
                let to = scratch.dir("sqlite")?;
                put_back(from.as_path().into(), to.as_path().into(), &|| {
                    control.check()
                })?;
                let name = path.file_name().unwrap_or_default();
                Ok(Self(InstanceKind::Sqlite {
                    path: to.join(name),
                    pragmas: pragmas.clone(),
                }))
            }
            InstanceKind::Managed(server) => {
                server.process().end()?;
                let copy = server.copied(scratch, cgroup, control);
                // It has to come back, whatever became of the copy.
                let again = server.restart(&|| control.is_cancelled());
                let copy = Self(InstanceKind::Managed(Box::new(copy?)));
                again.map(|()| copy)
            }
            InstanceKind::Mock(_) | InstanceKind::Existing(_) | InstanceKind::DatabaseCopy(_) => {
                Err(LoadError::other("the system", "has no files of plimsoll's"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plimsoll_plan::resolved::{Home, ManagedKind, SystemKind, Tpcc, TxnMode, Workload};

    use super::*;
    use crate::engine::{CheckedData, Loaded};

    fn copies(kind: &SystemKind) {
        let medium = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(medium.path(), open).unwrap();
        let logs = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(logs.path(), open).unwrap();
        let [mut one, mut two] = ["one", "two"].map(|name| {
            let log = Scratch::create(logs.path(), name).unwrap();
            let own = Scratch::create(medium.path(), name).unwrap();
            own.with_log(log)
        });
        let workload = Workload::Tpcc(Tpcc {
            warehouses: 1,
            mode: TxnMode::Statements,
            home: Home::Fixed,
        });
        let control = LoadControl::default();
        let first = Instance::start(kind, Some(&mut one), None).unwrap();
        assert_eq!(first.load(&workload, 5, &control).unwrap(), Loaded::Fresh);
        let second = first.copied(&mut two, None, &control).unwrap();
        assert_eq!(second.load(&workload, 5, &control).unwrap(), Loaded::Reused);
        assert_eq!(second.row_counts().unwrap(), first.row_counts().unwrap());
        for instance in [&first, &second] {
            assert!(
                instance
                    .check(CheckedData::Tpcc)
                    .unwrap()
                    .iter()
                    .all(|verdict| verdict.holds)
            );
        }
        // Each for itself.
        first.stop().unwrap();
        if let SystemKind::Managed { engine, .. } = kind {
            let log = format!(".plimsoll/two/{}-log", engine.server().engine().name());
            let has_files = std::fs::read_dir(logs.path().join(log))
                .unwrap()
                .next()
                .is_some();
            assert!(has_files, "the log is where it was put");
        }
        assert!(!second.row_counts().unwrap().is_empty());
        second.stop().unwrap();
    }

    fn server(engine: ManagedKind, unsynced: (&str, &str)) -> SystemKind {
        SystemKind::Managed {
            engine,
            settings: BTreeMap::from([(unsynced.0.to_owned(), unsynced.1.to_owned())]),
            binaries: String::new(),
        }
    }

    #[test]
    fn of_sqlite_hold_the_same_data() {
        copies(&SystemKind::Sqlite {
            settings: BTreeMap::new(),
        });
    }

    #[test]
    fn of_postgres_hold_the_same_data() {
        copies(&server(ManagedKind::Postgres, ("fsync", "off")));
    }

    #[cfg(feature = "test-mysql")]
    #[test]
    fn of_mysql_hold_the_same_data() {
        copies(&server(
            ManagedKind::Mysql,
            ("innodb_flush_log_at_trx_commit", "0"),
        ));
    }

    #[test]
    fn of_mariadb_hold_the_same_data() {
        copies(&server(
            ManagedKind::Mariadb,
            ("innodb_flush_log_at_trx_commit", "0"),
        ));
    }
}
