//! Backups of systems: one arm per kind.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_plan::resolved::BackupMethod;
use plimsoll_plan::units::Nanos;

use super::{Instance, InstanceKind};
use crate::backup::{BackupControl, Taken, Timed};
use crate::engine::LoadControl;
use crate::engine::server::{ManagedServer, RestoredServer};
use crate::engine::sqlite;
use crate::engine::sqlite::TimedFiles;
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;

/// A system made of a backup: it runs, and can be verified.
pub struct RestoredBackup {
    pub instance: Instance,
    /// What restored it, with its version.
    pub program: String,
    /// Lengths of the backup's files that were read.
    pub bytes: u64,
    /// By CLOCK_MONOTONIC ([`crate::clock::Clock::of_monotonic`] puts it on a run's clock): when the first of the backup
    /// was read. A server that a dump is restored into was made before.
    pub began: Nanos,
    /// When the system could be used.
    pub ended: Nanos,
}

impl RestoredBackup {
    fn of(instance: Instance, timed: Timed) -> Self {
        let Timed {
            program,
            bytes,
            began,
            ended,
        } = timed;
        Self {
            instance,
            program,
            bytes,
            began,
            ended,
        }
    }
}

impl Instance {
    /// Takes a backup of the running system into `to`, an empty directory of plimsoll's own on the backup medium; on
    /// root's behalf it becomes the server's user's. `jobs` may work at the same time, where the program can do that. It
    /// is on its medium when this returns. When it fails, or `control` cancels, what is in `to` is no backup, and the
    /// caller removes it; nothing writes there any more.
    pub fn back_up(
        &self,
        method: BackupMethod,
        jobs: u32,
        to: &Path,
        control: &LoadControl,
    ) -> Result<Taken, LoadError> {
        let task = BackupControl { jobs, control };
        match &self.0 {
            InstanceKind::Mock(_) => Err(no_data()),
            InstanceKind::Sqlite { path, pragmas } => match method {
                BackupMethod::Physical => sqlite::back_up(path, pragmas, task, to, None),
                BackupMethod::Logical => Err(only_physical()),
            },
            InstanceKind::Managed(server) => server
                .back_up(method, task, to)
                .map_err(|error| server.process().explain(error)),
            InstanceKind::Existing(target) => target.back_up(method, task, to),
            InstanceKind::DatabaseCopy(copy) => copy.target().back_up(method, task, to),
        }
    }

    /// Restores the backup in `from`, which this system gave, as a second one in `scratch`, a directory on the data
    /// medium that no other system lives in. `cgroup` limits its server. An existing server's backup is restored as a
    /// server of plimsoll's own, or as a database beside the one that was backed up.
    pub fn restore(
        &self,
        method: BackupMethod,
        jobs: u32,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        control: &LoadControl,
    ) -> Result<RestoredBackup, LoadError> {
        // Before a server is made for it.
        control.check()?;
        let task = BackupControl { jobs, control };
        let (backing, timed) = match &self.0 {
            InstanceKind::Mock(_) => return Err(no_data()),
            InstanceKind::Sqlite { pragmas, .. } => {
                let (path, timed) = sqlite::restore(task, from, &scratch.dir("sqlite")?, None)?;
                (
                    InstanceKind::Sqlite {
                        path,
                        pragmas: pragmas.clone(),
                    },
                    timed,
                )
            }
            InstanceKind::Managed(server) => {
                managed(server.restore(method, task, from, scratch, cgroup)?)
            }
            InstanceKind::Existing(target) => {
                existing(target.restore(task, from, scratch, cgroup)?)
            }
            InstanceKind::DatabaseCopy(copy) => {
                existing(copy.target().restore(task, from, scratch, cgroup)?)
            }
        };
        Ok(RestoredBackup::of(Self(backing), timed))
    }

    /// As [`Self::back_up`], in virtual time: SQLite alone lives there.
    pub async fn back_up_simulated(
        &self,
        to: &Path,
        control: &LoadControl,
        files: &TimedFiles,
    ) -> Result<Taken, LoadError> {
        let InstanceKind::Sqlite { path, pragmas } = &self.0 else {
            return Err(no_data());
        };
        sqlite::back_up_simulated(path, pragmas, control, to, files).await
    }

    /// As [`Self::restore`], in virtual time: times are those of its clock.
    pub async fn restore_simulated(
        &self,
        from: &Path,
        scratch: &mut Scratch,
        control: &LoadControl,
        files: &TimedFiles,
    ) -> Result<RestoredBackup, LoadError> {
        let InstanceKind::Sqlite { pragmas, .. } = &self.0 else {
            return Err(no_data());
        };
        let to = scratch.dir("sqlite")?;
        let (path, timed) = sqlite::restore_simulated(control, from, &to, files).await?;
        let pragmas = pragmas.clone();
        let instance = Self(InstanceKind::Sqlite { path, pragmas });
        Ok(RestoredBackup::of(instance, timed))
    }

    /// How many rows each table of the data set has. Equal for a system and what was restored of its backup if no session has
    /// written since that was begun.
    pub fn row_counts(&self) -> Result<BTreeMap<String, u64>, LoadError> {
        match &self.0 {
            InstanceKind::Mock(_) => Ok(BTreeMap::new()),
            InstanceKind::Sqlite { path, .. } => sqlite::row_counts(path),
            InstanceKind::Managed(server) => server
                .target()
                .row_counts()
                .map_err(|e| server.process().explain(e)),
            InstanceKind::Existing(target) => target.row_counts(),
            InstanceKind::DatabaseCopy(copy) => copy.target().row_counts(),
        }
    }
}

fn managed((server, timed): (ManagedServer, Timed)) -> (InstanceKind, Timed) {
    (InstanceKind::Managed(Box::new(server)), timed)
}

fn existing((server, timed): (RestoredServer, Timed)) -> (InstanceKind, Timed) {
    match server {
        RestoredServer::Managed(server) => (InstanceKind::Managed(server), timed),
        RestoredServer::Database(copy) => (InstanceKind::DatabaseCopy(copy), timed),
    }
}

fn no_data() -> LoadError {
    LoadError::other(
        "a backup of a mock",
        "it has no data; name a system that has",
    )
}

fn only_physical() -> LoadError {
    let why = "plimsoll has its backup API, which copies pages; leave `method` out";
    LoadError::other("a logical backup of SQLite", why)
}
