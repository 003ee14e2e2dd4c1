//! Servers of any engine: one of plimsoll's own, or one that exists. One arm per engine; what they share is here.
//!
//! All functions block their caller.

use std::collections::BTreeMap;

use plimsoll_model::plan::resolved::{ServerKind, Workload};
use plimsoll_model::receipt::CommitCounts;
use plimsoll_model::units::Bytes;

use super::{CheckedData, ConditionResult, LoadControl, Loaded, mariadb, postgres};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;
use crate::scratch::copy::put_back;
use crate::workload::tpcc::population::Population;

mod backup;
mod log;
mod process;
pub(crate) mod sysbench;
mod unprivileged;

pub use log::LogTail;
pub(crate) use log::is_disk_full;
pub use process::ServerProcess;
pub(crate) use process::{
    RECOVERY_SECONDS, START_SECONDS, ServerContext, command_in, remove_left, write_durably,
};
#[cfg(test)]
pub(crate) use unprivileged::unprivileged;

/// The schema on a server of plimsoll's own.
pub const MANAGED_SCHEMA: &str = "plimsoll";

/// What a load of TPC-C's tables finds in its schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TpccSchemaState {
    Nothing,
    Same,
    /// Something else that plimsoll loaded, described.
    Other(String),
    Unfinished,
}

/// What becomes of a finished load of another population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfOther {
    /// On a server of plimsoll's own.
    Replace,
    /// On a server of the user's, who may want to keep it.
    Refuse,
}

/// Version, settings and size of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Number and build, as the server reports it.
    pub version: String,
    /// `name`, `value with unit`, sorted by name: all that are not at their default, and those that decide whether a
    /// commit is durable, whatever they are.
    pub settings: Vec<(String, String)>,
    /// The data's files as the server counts them.
    pub database_size: Bytes,
}

/// A running server of plimsoll's own.
#[derive(Debug)]
pub enum ManagedServer {
    Postgres(postgres::ManagedPostgres),
    Mariadb(mariadb::ManagedMariadb),
}

impl ManagedServer {
    /// Creates a server's data in `scratch` and starts it. The server checks `settings`; `binaries` is the folder
    /// of its programs, empty to search for them.
    pub fn start(
        kind: ServerKind,
        scratch: &mut Scratch,
        settings: &BTreeMap<String, String>,
        binaries: &str,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        match kind {
            ServerKind::Postgres => {
                postgres::ManagedPostgres::start(scratch, settings, binaries, cgroup)
                    .map(Self::Postgres)
            }
            ServerKind::Mariadb => {
                mariadb::ManagedMariadb::start(scratch, settings, binaries, cgroup)
                    .map(Self::Mariadb)
            }
        }
    }

    pub fn process(&self) -> &ServerProcess {
        match self {
            Self::Postgres(server) => server.process(),
            Self::Mariadb(server) => server.process(),
        }
    }

    /// How to connect. Holds no secret: the socket's directory is what protects the server.
    pub fn target(&self) -> Target {
        let (engine, conninfo) = match self {
            Self::Postgres(server) => (ServerKind::Postgres, server.conninfo()),
            Self::Mariadb(server) => (ServerKind::Mariadb, server.conninfo()),
        };
        Target {
            engine,
            conninfo,
            schema: MANAGED_SCHEMA.into(),
        }
    }

    /// A second server like this one, which has been stopped, with a copy of its data.
    pub(crate) fn twin(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        control: &LoadControl,
    ) -> Result<Self, LoadError> {
        let from = self.process().data_dir();
        let fill =
            |context: &ServerContext| put_back(from, &context.data, &|| control.check()).map(drop);
        let cancelled = || control.is_cancelled();
        match self {
            Self::Postgres(server) => server
                .start_second(scratch, cgroup, fill, &cancelled)
                .map(Self::Postgres),
            Self::Mariadb(server) => server
                .start_second(scratch, cgroup, fill, &cancelled)
                .map(Self::Mariadb),
        }
    }

    /// Whether it can make a database of another one.
    pub fn has_templates(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    pub fn template(&self, task: TemplateTask) -> Result<(), LoadError> {
        match self {
            Self::Postgres(server) => postgres::template(&server.conninfo(), task),
            Self::Mariadb(_) => Err(LoadError::other(
                "MariaDB",
                "makes no database of another one",
            )),
        }
    }

    /// Starts the server again after a crash, on the data that are there. It recovers before it is ready. That may take
    /// long on a slow drive, and ends early only when `cancelled`.
    pub fn restart(&self, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        match self {
            Self::Postgres(server) => server.restart(cancelled),
            Self::Mariadb(server) => server.restart(cancelled),
        }
    }
}

/// What to do with a database's template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateTask {
    /// Make it of the database.
    Keep,
    /// Make the database of it.
    Restore,
}

/// The workload's tables on a server.
#[derive(Clone)]
pub struct Target {
    pub engine: ServerKind,
    /// May hold a password.
    pub conninfo: String,
    pub schema: String,
}

impl Target {
    /// Loads the workload's data set unless the schema holds it.
    pub fn load(
        &self,
        workload: &Workload,
        seed: u64,
        if_other: IfOther,
        control: &LoadControl,
    ) -> Result<Loaded, LoadError> {
        let Self {
            engine,
            conninfo,
            schema,
        } = self;
        match (engine, workload) {
            (ServerKind::Postgres, Workload::Tpcc(tpcc)) => {
                let population = Population {
                    warehouses: tpcc.warehouses,
                    seed,
                };
                postgres::load(conninfo, schema, population, if_other, control)
            }
            (ServerKind::Postgres, Workload::Sysbench(sysbench)) => {
                postgres::sysbench::load(conninfo, schema, sysbench, seed, if_other, control)
            }
            (ServerKind::Mariadb, Workload::Tpcc(tpcc)) => {
                let population = Population {
                    warehouses: tpcc.warehouses,
                    seed,
                };
                mariadb::load(conninfo, schema, population, if_other, control)
            }
            (ServerKind::Mariadb, Workload::Sysbench(sysbench)) => {
                mariadb::sysbench::load(conninfo, schema, sysbench, seed, if_other, control)
            }
        }
    }

    /// Makes the next load begin anew although its data are there.
    pub fn forget(&self) -> Result<(), LoadError> {
        match self.engine {
            ServerKind::Postgres => postgres::forget(&self.conninfo, &self.schema),
            ServerKind::Mariadb => mariadb::forget(&self.conninfo, &self.schema),
        }
    }

    /// The verdicts on all consistency conditions, in their order. No other session should write meanwhile.
    pub fn check(&self, data: CheckedData<'_>) -> Result<Vec<ConditionResult>, LoadError> {
        let Self {
            engine,
            conninfo,
            schema,
        } = self;
        match (engine, data) {
            (ServerKind::Postgres, CheckedData::Tpcc) => postgres::check(conninfo, schema),
            (ServerKind::Postgres, CheckedData::Sysbench(sysbench)) => {
                postgres::sysbench::check(conninfo, schema, sysbench)
            }
            (ServerKind::Mariadb, CheckedData::Tpcc) => mariadb::check(conninfo, schema),
            (ServerKind::Mariadb, CheckedData::Sysbench(sysbench)) => {
                mariadb::sysbench::check(conninfo, schema, sysbench)
            }
        }
    }

    /// What the workload's transactions have left in the database, by place.
    pub fn books(&self) -> Result<CommitCounts, LoadError> {
        match self.engine {
            ServerKind::Postgres => postgres::books(&self.conninfo, &self.schema),
            ServerKind::Mariadb => mariadb::books(&self.conninfo, &self.schema),
        }
    }

    pub fn orders_added(&self) -> Result<u64, LoadError> {
        match self.engine {
            ServerKind::Postgres => postgres::orders_added(&self.conninfo, &self.schema),
            ServerKind::Mariadb => mariadb::orders_added(&self.conninfo, &self.schema),
        }
    }

    pub fn facts(&self) -> Result<Facts, LoadError> {
        match self.engine {
            ServerKind::Postgres => postgres::facts(&self.conninfo),
            ServerKind::Mariadb => mariadb::facts(&self.conninfo),
        }
    }
}
