//! Backups of servers: their files, or their data by a dump. An engine gives the commands.

use std::path::Path;

use plimsoll_plan::resolved::{BackupMethod, ManagedKind};

use super::ManagedServer;
use super::backup_programs::{BackupPrograms, Runner};
use super::own_thread::on_own_thread;
use super::process::ServerContext;
use super::target::Target;
use crate::backup::program::version;
use crate::backup::{BackupControl, Taken, Timed, files};
use crate::clock::monotonic;
use crate::engine::sql::ServerClient;
use crate::engine::sqlserver::{OwnDatabase, RestoredDatabase, ServerConnector};
use crate::engine::{mariadb, mysql, postgres, sqlserver};
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
    Server,
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
    fn backups(&self) -> ExistingBackups {
        match self.engine.managed() {
            Some(kind) => ExistingBackups::Programs(kind),
            None => ExistingBackups::Server,
        }
    }

    /// A backup of the schema on a server of the user's, as this user.
    pub(crate) fn back_up(
        &self,
        method: BackupMethod,
        task: BackupControl<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        match (self.backups(), method) {
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
            (ExistingBackups::Server, BackupMethod::Physical) => {
                on_own_thread(|| sqlserver::back_up(self, &self.schema, task, to))
            }
            (ExistingBackups::Server, BackupMethod::Logical) => Err(LoadError::other(
                format!("a logical backup of {}", self.engine.title()),
                "plimsoll has its BACKUP DATABASE, which copies pages; leave `method` out",
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
        match self.backups() {
            ExistingBackups::Programs(kind) => {
                files::forget_cached(from)?;
                let server = ManagedServer::start(kind, scratch, &Default::default(), "", cgroup)?;
                let timed = server.restore_dump(None, &self.schema, task, from)?;
                Ok((RestoredServer::Managed(Box::new(server)), timed))
            }
            ExistingBackups::Server => {
                let dir = scratch.dir(self.engine.engine().name())?;
                let RestoredDatabase { database, timed } =
                    on_own_thread(|| OwnDatabase::restore(self, &self.schema, task, from, &dir))?;
                let copy = DatabaseCopy {
                    target: Self {
                        schema: database.name.clone(),
                        ..self.clone()
                    },
                    database: Some(database),
                };
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
    database: Option<OwnDatabase>,
}

impl DatabaseCopy {
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
    use plimsoll_plan::resolved::ServerKind;

    use super::*;
    use crate::control::LoadControl;

    fn unreachable() -> Target {
        Target {
            engine: ServerKind::Sqlserver,
            conninfo: "mssql://u@127.0.0.1:1?encrypt=false".into(),
            schema: "tpcc_restored_1".into(),
            changes_tables: false,
        }
    }

    #[test]
    fn a_copy_that_cannot_be_dropped_is_an_error_with_the_statement() {
        let copy = DatabaseCopy {
            target: unreachable(),
            database: Some(OwnDatabase::of_tests("tpcc_restored_1")),
        };
        let message = copy.end().unwrap_err().to_string();
        assert!(
            message.ends_with("\nDrop it: DROP DATABASE [tpcc_restored_1]."),
            "{message}"
        );
    }

    #[test]
    fn what_is_still_written_is_part_of_the_error() {
        let error = still_written(&LoadError::Cancelled, "it writes", Path::new("/b/files"));
        assert_eq!(
            error.to_string(),
            "copying the server's files: stopped by the user; it writes\nWait until it has ended, then remove /b/files."
        );
    }

    #[test]
    fn sql_server_has_physical_backups_only() {
        let control = LoadControl::default();
        let task = BackupControl {
            jobs: 1,
            control: &control,
        };
        let back_up = |method| unreachable().back_up(method, task, Path::new("/nowhere"));
        let message = back_up(BackupMethod::Logical).unwrap_err().to_string();
        assert!(message.contains("leave `method` out"), "{message}");
        let error = back_up(BackupMethod::Physical).unwrap_err();
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
    }
}
