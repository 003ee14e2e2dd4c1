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
use crate::engine::{mariadb, mysql, postgres};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;

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
                if taken.is_err() {
                    programs.wait_until_given_up(self);
                }
                return taken;
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

impl Target {
    /// A logical backup of the schema on any server, as this user.
    pub(crate) fn dump(&self, task: BackupControl<'_>, to: &Path) -> Result<Taken, LoadError> {
        let runner = Runner {
            server: None,
            target: self,
        };
        let job = programs(self.managed()?).dump(&runner, to, task.jobs.max(1))?;
        job.take(to, task)
    }

    /// Makes a server of plimsoll's own of such a backup.
    pub(crate) fn restore_elsewhere(
        &self,
        task: BackupControl<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(ManagedServer, Timed), LoadError> {
        files::forget_cached(from)?;
        let server =
            ManagedServer::start(self.managed()?, scratch, &Default::default(), "", cgroup)?;
        let timed = server.restore_dump(None, &self.schema, task, from)?;
        Ok((server, timed))
    }

    /// What plimsoll can start to restore a dump, and whose programs make one.
    fn managed(&self) -> Result<ManagedKind, LoadError> {
        let managed = self.engine.managed();
        managed.ok_or_else(|| {
            let what = format!("a logical backup of {}", self.engine.title());
            LoadError::other(what, "plimsoll has no program for it")
        })
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
