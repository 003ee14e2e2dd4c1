//! A system under test while it is in use: started, loaded, checked, stopped. One arm per kind of system; everything
//! else about an engine is in its own folder.
//!
//! All functions block their caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll_plan::load::MockScript;
use plimsoll_plan::resolved::{SystemKind, Workload};
use plimsoll_record::lane::Endpoint;
use plimsoll_record::receipt::CommitCounts;

use crate::engine::server::{
    CreatedTables, DatabaseCopy, IfOther, LogTail, ManagedServer, ServerFacts, ServerRoute, Target,
};
use crate::engine::sql::clean;
use crate::engine::{CheckedData, ConditionResult, LoadControl, Loaded, sqlite};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::probe::Watch;
use crate::scratch::Scratch;

mod backup;
#[cfg(test)]
mod backup_tests;
mod copied;
mod reset;
#[cfg(test)]
mod reset_tests;

pub use backup::RestoredBackup;
pub use reset::{InitialState, Restored};

/// A system that runs, or can be reached.
pub struct Instance(InstanceKind);

enum InstanceKind {
    Mock(MockScript),
    Sqlite {
        path: PathBuf,
        pragmas: BTreeMap<String, String>,
    },
    Managed(Box<ManagedServer>),
    Existing(Target),
    /// A database on an existing server that plimsoll restored there, and drops.
    DatabaseCopy(DatabaseCopy),
}

impl Instance {
    /// Starts the system in `scratch`, which systems that keep their data on a medium need; an existing one is left as
    /// it is. `cgroup` limits a server of plimsoll's own, and nothing else.
    pub fn start(
        kind: &SystemKind,
        scratch: Option<&mut Scratch>,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        let place = || {
            scratch
                .ok_or_else(|| LoadError::other("the system", "needs a medium to keep its data on"))
        };
        Ok(Self(match kind {
            SystemKind::Mock(script) => InstanceKind::Mock(script.clone()),
            SystemKind::Sqlite { settings } => InstanceKind::Sqlite {
                path: place()?.dir("sqlite")?.join("tpcc.db"),
                pragmas: settings.clone(),
            },
            SystemKind::Managed {
                engine,
                settings,
                binaries,
            } => InstanceKind::Managed(Box::new(ManagedServer::start(
                *engine,
                place()?,
                settings,
                binaries,
                cgroup,
            )?)),
            SystemKind::Existing {
                engine,
                url,
                schema,
                change_tables,
            } => InstanceKind::Existing(Target {
                engine: *engine,
                conninfo: url.reveal().into(),
                schema: schema.clone(),
                changes_tables: *change_tables,
            }),
        }))
    }

    /// A SQLite file that exists; nothing is written to it.
    pub fn existing_sqlite(path: &Path) -> Result<Self, LoadError> {
        if !path.is_file() {
            return Err(LoadError::Missing {
                what: format!("the database {}", path.display()),
                searched: "there is no such file".into(),
                next: "Name a SQLite file, or a postgres:// or mariadb:// URL.".into(),
            });
        }
        Ok(Self(InstanceKind::Sqlite {
            path: path.into(),
            pragmas: BTreeMap::new(),
        }))
    }

    pub fn endpoint(&self) -> Endpoint {
        match &self.0 {
            InstanceKind::Mock(script) => Endpoint::Mock(script.clone()),
            InstanceKind::Sqlite { path, pragmas } => Endpoint::Sqlite {
                path: path.display().to_string(),
                pragmas: pragmas.clone(),
                vfs: None,
            },
            InstanceKind::Managed(server) => endpoint(server.target()),
            InstanceKind::Existing(target) => endpoint(target.clone()),
            InstanceKind::DatabaseCopy(copy) => endpoint(copy.target().clone()),
        }
    }

    /// Loads the workload's data set unless the system holds it.
    pub fn load(
        &self,
        workload: &Workload,
        seed: u64,
        control: &LoadControl,
    ) -> Result<Loaded, LoadError> {
        match &self.0 {
            InstanceKind::Mock(_) => Ok(Loaded::Reused),
            InstanceKind::Sqlite { path, pragmas } => match workload {
                Workload::Tpcc(tpcc) if sqlite::is_loaded(path, tpcc, seed)? => Ok(Loaded::Reused),
                Workload::Tpcc(tpcc) => {
                    sqlite::load(path, tpcc, seed, pragmas, control).map(|()| Loaded::Fresh)
                }
                Workload::Sysbench(sysbench) => {
                    sqlite::sysbench::load(path, sysbench, seed, pragmas, control)
                }
            },
            InstanceKind::Managed(server) => {
                let loaded = server
                    .target()
                    .load(workload, seed, IfOther::Replace, control);
                loaded.map_err(|error| server.process().explain(error))
            }
            InstanceKind::Existing(target) => target.load(workload, seed, IfOther::Refuse, control),
            InstanceKind::DatabaseCopy(copy) => {
                copy.target().load(workload, seed, IfOther::Refuse, control)
            }
        }
    }

    /// Whether an existing server takes a connection.
    pub fn check_answer(&self) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => target.check_answer(),
            InstanceKind::Mock(_)
            | InstanceKind::Sqlite { .. }
            | InstanceKind::Managed(_)
            | InstanceKind::DatabaseCopy(_) => Ok(()),
        }
    }

    /// Refuses the URL of an existing server that none can be reached by; connects to nothing.
    pub fn check_url(&self) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => target.check_url(),
            _ => Ok(()),
        }
    }

    /// How an existing server is reached.
    pub fn route(&self) -> Result<ServerRoute, LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => target.route(),
            _ => Ok(ServerRoute::default()),
        }
    }

    /// Refuses so many users of an existing server if it has no connections for them.
    pub fn check_connections(&self, users: u32, pooler: Option<&str>) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => target.check_connections(users, pooler),
            _ => Ok(()),
        }
    }

    /// Refuses an existing server that cannot be measured with this workload, and writes nothing there.
    pub fn check_usable(&self, workload: &Workload, seed: u64) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => target.check_usable(workload, seed),
            InstanceKind::Mock(_)
            | InstanceKind::Sqlite { .. }
            | InstanceKind::Managed(_)
            | InstanceKind::DatabaseCopy(_) => Ok(()),
        }
    }

    /// The tables that plimsoll made in an existing server's schema; of every other system none.
    pub fn created_tables(&self) -> Result<CreatedTables, LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => clean::list(target),
            _ => Ok(CreatedTables::default()),
        }
    }

    /// Removes these tables and their procedures; returns what they were.
    pub fn remove_created(&self) -> Result<CreatedTables, LoadError> {
        match &self.0 {
            InstanceKind::Existing(target) => clean::clean(target),
            _ => Ok(CreatedTables::default()),
        }
    }

    /// The verdicts on all consistency conditions of the workload's data set; none for a mock.
    pub fn check(&self, data: CheckedData<'_>) -> Result<Vec<ConditionResult>, LoadError> {
        match &self.0 {
            InstanceKind::Mock(_) => Ok(Vec::new()),
            InstanceKind::Sqlite { path, .. } => match data {
                CheckedData::Tpcc => sqlite::check(path),
                CheckedData::Sysbench(sysbench) => sqlite::sysbench::check(path, sysbench),
            },
            InstanceKind::Managed(server) => server
                .target()
                .check(data)
                .map_err(|error| server.process().explain(error)),
            InstanceKind::Existing(target) => target.check(data),
            InstanceKind::DatabaseCopy(copy) => copy.target().check(data),
        }
    }

    /// What is known about the system: its version, and the settings that matter.
    pub fn facts(&self) -> Result<Vec<(String, String)>, LoadError> {
        match &self.0 {
            InstanceKind::Mock(_) => Ok(Vec::new()),
            InstanceKind::Sqlite { path, pragmas } => sqlite::facts(path, pragmas),
            InstanceKind::Managed(server) => server
                .target()
                .facts()
                .map(named)
                .map_err(|error| server.process().explain(error)),
            InstanceKind::Existing(target) => target.facts().map(named),
            InstanceKind::DatabaseCopy(copy) => copy.target().facts().map(named),
        }
    }

    /// What limits the system, with the process that is to be in it; `None` where nothing does.
    pub fn limits(&self) -> Option<(&CgroupLimits, u32)> {
        let InstanceKind::Managed(server) = &self.0 else {
            return None;
        };
        server
            .process()
            .limits()
            .map(|cgroup| (cgroup, server.process().pid()))
    }

    /// How the system's own processes and files can be watched from here.
    pub fn watch(&self) -> Option<Watch> {
        match &self.0 {
            InstanceKind::Mock(_) | InstanceKind::Existing(_) | InstanceKind::DatabaseCopy(_) => {
                None
            }
            InstanceKind::Sqlite { path, .. } => Some(Watch::EmbeddedData { path: path.clone() }),
            InstanceKind::Managed(server) => {
                let process = server.process();
                Some(Watch::Processes {
                    pid: process.pid(),
                    data: Some(process.data_dir().to_owned()),
                })
            }
        }
    }

    /// What a server of plimsoll's own writes into its log from now on.
    pub fn log_tail(&self) -> Option<LogTail> {
        match &self.0 {
            InstanceKind::Managed(server) => Some(LogTail::new(server.process().log())),
            InstanceKind::Mock(_)
            | InstanceKind::Sqlite { .. }
            | InstanceKind::Existing(_)
            | InstanceKind::DatabaseCopy(_) => None,
        }
    }

    /// Why a server of plimsoll's own is no longer there.
    pub fn died(&self) -> Option<LoadError> {
        match &self.0 {
            InstanceKind::Managed(server) => server.process().died(),
            InstanceKind::Mock(_)
            | InstanceKind::Sqlite { .. }
            | InstanceKind::Existing(_)
            | InstanceKind::DatabaseCopy(_) => None,
        }
    }

    /// Ends the processes of a server of plimsoll's own as a power failure does. An embedded database ends with its
    /// sessions.
    pub fn crash(&self) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Managed(server) => server.process().crash(),
            InstanceKind::Mock(_)
            | InstanceKind::Sqlite { .. }
            | InstanceKind::Existing(_)
            | InstanceKind::DatabaseCopy(_) => Ok(()),
        }
    }

    /// Brings the database up again after a crash; returns when it has recovered and can be used.
    pub fn recover(&self, control: &LoadControl) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Managed(server) => server.restart(&|| control.is_cancelled()),
            InstanceKind::Sqlite { path, pragmas } => sqlite::recover(path, pragmas),
            InstanceKind::Mock(_) | InstanceKind::Existing(_) | InstanceKind::DatabaseCopy(_) => {
                Ok(())
            }
        }
    }

    /// What the workload's transactions have left in the database, by place.
    pub fn commit_counts(&self) -> Result<CommitCounts, LoadError> {
        match &self.0 {
            InstanceKind::Mock(_) => Ok(CommitCounts::default()),
            InstanceKind::Sqlite { path, pragmas } => sqlite::commit_counts(path, pragmas),
            InstanceKind::Managed(server) => server
                .target()
                .commit_counts()
                .map_err(|error| server.process().explain(error)),
            InstanceKind::Existing(target) => target.commit_counts(),
            InstanceKind::DatabaseCopy(copy) => copy.target().commit_counts(),
        }
    }

    /// New-Orders since the workload's data set was loaded; `None` where they cannot be counted.
    pub fn orders_added(&self, workload: &Workload) -> Result<Option<u64>, LoadError> {
        if !matches!(workload, Workload::Tpcc(_)) {
            return Ok(None);
        }
        match &self.0 {
            InstanceKind::Mock(_) => Ok(None),
            InstanceKind::Sqlite { path, pragmas } => sqlite::orders_added(path, pragmas).map(Some),
            InstanceKind::Managed(server) => server
                .target()
                .orders_added()
                .map(Some)
                .map_err(|error| server.process().explain(error)),
            InstanceKind::Existing(target) => target.orders_added().map(Some),
            InstanceKind::DatabaseCopy(copy) => copy.target().orders_added().map(Some),
        }
    }

    /// Whether the system holds data at all.
    pub fn has_data(&self) -> bool {
        !matches!(self.0, InstanceKind::Mock(_))
    }

    /// Whether it was there before the run.
    pub fn is_existing(&self) -> bool {
        matches!(self.0, InstanceKind::Existing(_))
    }

    /// Stops a server of plimsoll's own, and drops a database that it restored; anything else is left as it is.
    pub fn stop(self) -> Result<(), LoadError> {
        match self.0 {
            InstanceKind::Managed(server) => server.process().end(),
            InstanceKind::DatabaseCopy(copy) => copy.end(),
            InstanceKind::Mock(_) | InstanceKind::Sqlite { .. } | InstanceKind::Existing(_) => {
                Ok(())
            }
        }
    }
}

fn endpoint(target: Target) -> Endpoint {
    let Target {
        engine,
        conninfo,
        schema,
        changes_tables: _,
    } = target;
    Endpoint::Server {
        engine,
        conninfo,
        schema,
    }
}

/// Server facts under the names that the record has for them.
fn named(facts: ServerFacts) -> Vec<(String, String)> {
    let ServerFacts {
        version,
        settings,
        database_size,
    } = facts;
    let settings = settings
        .into_iter()
        .map(|(name, value)| (format!("setting.{name}"), value));
    [
        ("version".to_owned(), version),
        ("database_size".into(), database_size.to_string()),
    ]
    .into_iter()
    .chain(settings)
    .collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::resolved::ManagedKind;

    use super::*;

    #[test]
    fn a_dead_server_is_explained_by_its_log() {
        let medium = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(medium.path(), open).unwrap();
        let mut scratch = Scratch::create(medium.path(), "dead").unwrap();
        let engine = ManagedKind::Postgres;
        let settings = BTreeMap::new();
        let kind = SystemKind::Managed {
            engine,
            settings,
            binaries: String::new(),
        };
        let instance = Instance::start(&kind, Some(&mut scratch), None).unwrap();
        let Some(Watch::Processes { pid, .. }) = instance.watch() else {
            panic!("a server is watched")
        };
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        for error in [
            instance.check(CheckedData::Tpcc).unwrap_err(),
            instance.facts().unwrap_err(),
        ] {
            assert!(error.to_string().contains("its log: "), "{error}");
        }
    }
}
