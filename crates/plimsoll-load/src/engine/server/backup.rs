//! Backups of servers: one arm per engine.

use std::path::Path;

use plimsoll_plan::resolved::{BackupMethod, ServerKind};

use super::{ManagedServer, Target};
use crate::backup::{Taken, Task, Timed};
use crate::engine::{mariadb, postgres};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;

impl ManagedServer {
    /// See [`crate::system::Instance::back_up`].
    pub(crate) fn back_up(
        &self,
        method: BackupMethod,
        task: Task<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        match self {
            Self::Postgres(server) => server.back_up(method, task, to),
            Self::Mariadb(server) => server.back_up(method, task, to),
        }
    }

    /// See [`crate::system::Instance::restore`].
    pub(crate) fn restore(
        &self,
        method: BackupMethod,
        task: Task<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(Self, Timed), LoadError> {
        match self {
            Self::Postgres(server) => {
                let restored = server.restore(method, task, from, scratch, cgroup);
                restored.map(|(server, timed)| (Self::Postgres(server), timed))
            }
            Self::Mariadb(server) => {
                let restored = server.restore(method, task, from, scratch, cgroup);
                restored.map(|(server, timed)| (Self::Mariadb(server), timed))
            }
        }
    }
}

impl Target {
    /// A logical backup of the schema.
    pub(crate) fn dump(&self, task: Task<'_>, to: &Path) -> Result<Taken, LoadError> {
        match self.engine {
            ServerKind::Postgres => postgres::dump(&self.conninfo, &self.schema, task, to),
            ServerKind::Mariadb => mariadb::dump(&self.conninfo, &self.schema, task, to),
        }
    }

    /// Makes a server of plimsoll's own of such a backup.
    pub(crate) fn restore_elsewhere(
        &self,
        task: Task<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(ManagedServer, Timed), LoadError> {
        match self.engine {
            ServerKind::Postgres => {
                let restored =
                    postgres::restore_elsewhere(&self.schema, task, from, scratch, cgroup);
                restored.map(|(server, timed)| (ManagedServer::Postgres(server), timed))
            }
            ServerKind::Mariadb => {
                let restored = mariadb::restore_elsewhere(task, from, scratch, cgroup);
                restored.map(|(server, timed)| (ManagedServer::Mariadb(server), timed))
            }
        }
    }
}
