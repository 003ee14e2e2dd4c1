//! Backups of servers: their files, or their data by a dump. An engine gives the commands.

use std::path::Path;

use plimsoll_plan::resolved::{BackupMethod, ManagedKind};

use super::ManagedServer;
use super::backup_programs::{BackupPrograms, Runner};
use super::own_backups::{RestoredDatabase, ServerBackups, ServerConnector};
use super::own_thread::on_own_thread;
use super::process::ServerContext;
use super::target::Target;
use crate::backup::program::version;
use crate::backup::{BackupControl, Taken, Timed, files};
use crate::clock::monotonic;
use crate::engine::servers::engine;
use crate::engine::sql::ServerClient;
use crate::engine::{mariadb, mysql, postgres};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;

const NEXT_WITHOUT_FILES: &str = "it needs the server's files\nTake a logical backup (method = \"logical\"), or let plimsoll run the server.";

fn programs(kind: ManagedKind) -> &'static dyn BackupPrograms {
    match kind {
        ManagedKind::Postgres => &postgres::PostgresBackups,
        ManagedKind::Mariadb => &mariadb::MariadbBackups,
        ManagedKind::Mysql => &mysql::MysqlBackups,
    }
}

impl ManagedServer {
    /// Takes a backup of the running server into `to`, a directory of plimsoll's own that is empty.
    /// See [`crate::system::Instance::back_up`].
    pub(crate) fn back_up(
        &self,
        method: BackupMethod,
        task: BackupControl<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        self.process().context.admit(to)?;
        let programs = programs(self.kind());
        let jobs = task.jobs.max(1);
        let job = match method {
            BackupMethod::Physical => {
                let taken = programs.copy_files(self, to, jobs)?.take(to, task);
                return taken.map_err(|error| match programs.wait_until_given_up(self) {
                    Some(writes) => still_written(&error, &writes, to),
                    None => error,
                });
            }
            BackupMethod::Logical => {
                let runner = Runner {
                    server: Some(self),
                    target: &self.target(),
                };
                programs.dump(&runner, to, jobs)?
            }
        };
        job.take(to, task)
    }

    /// Makes a second server of the backup in `from`. See [`crate::system::Instance::restore`].
    pub(crate) fn restore(
        &self,
        method: BackupMethod,
        task: BackupControl<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(Self, Timed), LoadError> {
        files::forget_cached(from)?;
        match method {
            BackupMethod::Physical => self.restore_files(task, from, scratch, cgroup),
            BackupMethod::Logical => {
                let server = self.start_empty(scratch, cgroup)?;
                // The server's user has taken the dump.
                let timed =
                    server.restore_dump(Some(&server), &self.target().schema, task, from)?;
                Ok((server, timed))
            }
        }
    }

    fn restore_files(
        &self,
        task: BackupControl<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(Self, Timed), LoadError> {
        let programs = programs(self.kind());
        let mut bytes = 0;
        let mut began = monotonic();
        let mut fill = |context: &ServerContext| {
            began = monotonic();
            if let Some(job) = programs.prepare(self, context, from)? {
                job.run(from, task)?;
            }
            let wanted = |path: &Path| programs.is_servers(path);
            bytes = files::copy(from, &context.data, &wanted, task)?;
            Ok(())
        };
        let server = self.start_second(scratch, cgroup, &mut fill, task.control)?;
        let ended = monotonic();
        let timed = Timed {
            program: programs.restorer(self)?,
            bytes,
            began,
            ended,
        };
        Ok((server, timed))
    }

    /// Puts a dump into this server, which is empty.
    fn restore_dump(
        &self,
        runs_it: Option<&Self>,
        schema: &str,
        task: BackupControl<'_>,
        from: &Path,
    ) -> Result<Timed, LoadError> {
        let restored = self.try_restore_dump(runs_it, schema, task, from);
        restored.map_err(|error| self.process().explain(error))
    }

    fn try_restore_dump(
        &self,
        runs_it: Option<&Self>,
        schema: &str,
        task: BackupControl<'_>,
        from: &Path,
    ) -> Result<Timed, LoadError> {
        let programs = programs(self.kind());
        let target = self.target();
        target.execute_all("before restoring", &programs.before_dump())?;
        let runner = Runner {
            server: runs_it,
            target: &target,
        };
        let job = programs.restore_dump(&runner, from, task.jobs.max(1))?;
        let program = Path::new(job.command.get_program()).to_owned();
        let began = monotonic();
        job.run(self.process().data_dir(), task)?;
        let ended = monotonic();
        target.execute_all("after restoring", &programs.after_dump(schema))?;
        Ok(Timed {
            program: version(&program),
            bytes: crate::backup::written(from),
            began,
            ended,
        })
    }
}

/// The error of a copy that was given up, and that the server goes on writing.
fn still_written(error: &LoadError, writes: &str, to: &Path) -> LoadError {
    let why = format!(
        "{}; {writes}\nWait until it has ended, then remove {}.",
        error.reason(),
        to.display()
    );
    LoadError::other("copying the server's files", why)
}

/// What backs up a server of the user's. A closed set.
enum ExistingBackups {
    /// Programs on this machine, which dump its data.
    Programs(ManagedKind),
    /// The server itself, which writes the files of a database.
    Server(&'static dyn ServerBackups),
}

/// What a backup of an existing server was restored as.
pub(crate) enum RestoredServer {
    Managed(Box<ManagedServer>),
    /// A database beside the one that was backed up.
    Database(DatabaseCopy),
}

impl ServerConnector for Target {
    fn connect(&self) -> Result<Box<dyn ServerClient>, LoadError> {
        Self::connect(self)
    }
}

impl Target {
    fn backups(&self) -> Result<ExistingBackups, LoadError> {
        match engine(self.engine).backups {
            Some(backups) => Ok(ExistingBackups::Server(backups)),
            None => {
                let kind = self.engine.managed();
                kind.map(ExistingBackups::Programs).ok_or_else(|| {
                    LoadError::other(
                        format!("a backup of {}", self.engine.title()),
                        "plimsoll has none for it",
                    )
                })
            }
        }
    }

    /// A backup of the schema on a server of the user's, as this user.
    pub(crate) fn back_up(
        &self,
        method: BackupMethod,
        task: BackupControl<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        match (self.backups()?, method) {
            (ExistingBackups::Programs(kind), BackupMethod::Logical) => {
                let runner = Runner {
                    server: None,
                    target: self,
                };
                let job = programs(kind).dump(&runner, to, task.jobs.max(1))?;
                job.take(to, task)
            }
            (ExistingBackups::Programs(_), BackupMethod::Physical) => Err(LoadError::other(
                "a physical backup of an existing server",
                NEXT_WITHOUT_FILES,
            )),
            (ExistingBackups::Server(backups), BackupMethod::Physical) => {
                on_own_thread(|| backups.back_up(self, &self.schema, task, to))
            }
            (ExistingBackups::Server(backups), BackupMethod::Logical) => Err(LoadError::other(
                format!("a logical backup of {}", self.engine.title()),
                format!(
                    "plimsoll has its {}, which copies pages; leave `method` out",
                    backups.statement()
                ),
            )),
        }
    }

    /// Makes a server of plimsoll's own of such a backup, or a database of plimsoll's own on the same server, with its
    /// files in `scratch`.
    pub(crate) fn restore(
        &self,
        task: BackupControl<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(RestoredServer, Timed), LoadError> {
        match self.backups()? {
            ExistingBackups::Programs(kind) => {
                files::forget_cached(from)?;
                let server = ManagedServer::start(kind, scratch, &Default::default(), "", cgroup)?;
                let timed = server.restore_dump(None, &self.schema, task, from)?;
                Ok((RestoredServer::Managed(Box::new(server)), timed))
            }
            ExistingBackups::Server(backups) => {
                let dir = scratch.dir(self.engine.engine().name())?;
                let (database, timed) =
                    on_own_thread(|| backups.restore(self, &self.schema, task, from, &dir))?;
                let copy = DatabaseCopy::new(self, database);
                Ok((RestoredServer::Database(copy), timed))
            }
        }
    }

    fn execute_all(&self, doing: &str, statements: &[String]) -> Result<(), LoadError> {
        if statements.is_empty() {
            return Ok(());
        }
        on_own_thread(|| {
            let mut client = self.connect()?;
            let mut statements = statements.iter();
            statements.try_for_each(|sql| client.execute(doing, sql))
        })
    }
}

/// A database on a server of the user's that plimsoll has restored. Dropped on the server when this is dropped.
pub(crate) struct DatabaseCopy {
    target: Target,
    database: Option<Box<dyn RestoredDatabase>>,
}

impl DatabaseCopy {
    /// On this server.
    pub fn new(server: &Target, database: Box<dyn RestoredDatabase>) -> Self {
        Self {
            target: Target {
                schema: database.name().to_owned(),
                ..server.clone()
            },
            database: Some(database),
        }
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Drops it on the server.
    pub fn end(mut self) -> Result<(), LoadError> {
        self.remove()
    }

    fn remove(&mut self) -> Result<(), LoadError> {
        let Some(database) = self.database.take() else {
            return Ok(());
        };
        on_own_thread(|| database.remove(&self.target))
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        // Whoever can report an error calls `end`.
        let _ = self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_still_written_is_part_of_the_error() {
        let error = still_written(&LoadError::Cancelled, "it writes", Path::new("/b/files"));
        assert_eq!(
            error.to_string(),
            "copying the server's files: stopped by the user; it writes\nWait until it has ended, then remove /b/files."
        );
    }
}
