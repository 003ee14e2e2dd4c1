//! What an engine gives so that plimsoll can back up its server.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use super::ManagedServer;
use super::command::command_in;
use super::process::ServerContext;
use super::setup::Programs;
use super::target::Target;
use crate::backup::program::{Program, version};
use crate::backup::{BackupControl, Taken, files};
use crate::error::LoadError;

/// A program that takes or restores a backup.
pub(crate) struct BackupCommand {
    pub command: Command,
    /// Where its standard output goes when that is the backup.
    pub output: Option<File>,
    /// What to do when it fails.
    pub next: &'static str,
    /// How many connections, threads or processes of it work at the same time.
    pub jobs: u32,
}

/// A program runs as the server's user with the server's own programs, or as this user with any.
pub(crate) struct Runner<'a> {
    pub server: Option<&'a ManagedServer>,
    pub target: &'a Target,
}

impl Runner<'_> {
    pub fn programs(&self) -> Option<&Programs> {
        self.server.map(ManagedServer::programs)
    }

    pub fn command(&self, program: &Path, dir: &Path) -> Command {
        match self.server {
            Some(server) => server.process().context.command_in(program, dir),
            None => command_in(program, dir),
        }
    }
}

pub(crate) const NEXT_OF_RESTORE: &str =
    "Read its message about the backup; where that was damaged, check its medium.";

/// A kind of server's programs for backups.
pub(crate) trait BackupPrograms: Sync {
    /// Copies the running server's files, and the log that is written meanwhile, which makes them one state.
    fn copy_files(
        &self,
        server: &ManagedServer,
        to: &Path,
        jobs: u32,
    ) -> Result<BackupCommand, LoadError>;
    /// Waits until nothing writes any more of a copy that was given up: the program has ended, and the server may not have.
    /// `None`: it has. Otherwise what still writes, and how it can be seen.
    fn wait_until_given_up(&self, _: &ManagedServer) -> Option<String> {
        None
    }
    /// Makes copied files ready to be a data directory, in place, where that is to be done.
    fn prepare(
        &self,
        server: &ManagedServer,
        context: &ServerContext,
        from: &Path,
    ) -> Result<Option<BackupCommand>, LoadError>;
    /// Whether a file of a copy is the server's, and not the program's own account.
    fn is_servers(&self, path: &Path) -> bool;
    /// What restores copied files, with its version.
    fn restorer(&self, server: &ManagedServer) -> Result<String, LoadError>;
    fn dump(&self, runner: &Runner<'_>, to: &Path, jobs: u32) -> Result<BackupCommand, LoadError>;
    /// Statements before a dump is put into an empty server.
    fn before_dump(&self) -> Vec<String>;
    fn restore_dump(
        &self,
        runner: &Runner<'_>,
        from: &Path,
        jobs: u32,
    ) -> Result<BackupCommand, LoadError>;
    /// Statements after a dump of this schema was restored.
    fn after_dump(&self, schema: &str) -> Vec<String>;
}

impl BackupCommand {
    /// Runs it to its end. `place` is the directory that it writes to.
    pub(super) fn run(self, place: &Path, task: BackupControl<'_>) -> Result<(), LoadError> {
        let program = Program {
            command: self.command,
            output: self.output,
            place,
            next: self.next,
        };
        program.run(task.control)
    }

    /// Takes a backup, which is on its medium when this returns.
    pub(super) fn take(self, to: &Path, task: BackupControl<'_>) -> Result<Taken, LoadError> {
        let program = Path::new(self.command.get_program()).to_owned();
        let jobs = self.jobs;
        self.run(to, task)?;
        Ok(Taken {
            bytes: files::flush(to, task.control)?,
            program: version(&program),
            jobs,
        })
    }
}
