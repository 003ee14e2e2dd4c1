//! Backups of a MariaDB: its files by mariadb-backup, or its data by mariadb-dump and the client.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use mysql::prelude::Queryable;
use plimsoll_plan::resolved::BackupMethod;

use super::DIALECT;
use super::binaries::{self, Programs};
use super::connect::{connect, parse, server_error};
use super::managed::ManagedMariadb;
use crate::backup::program::{Program, version};
use crate::backup::{Taken, Task, Timed, files};
use crate::clock::monotonic;
use crate::engine::server::{MANAGED_SCHEMA, ServerContext, command_in};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::{Scratch, io_error};

/// Names of the programs, the old ones after the new ones.
const BACKUP: [&str; 2] = ["mariadb-backup", "mariabackup"];
const DUMP: [&str; 2] = ["mariadb-dump", "mysqldump"];
const CLIENT: [&str; 2] = ["mariadb", "mysql"];

/// A dump is one file.
const DUMP_FILE: &str = "dump.sql";

const NEXT_OF_BACKUP: &str = "If it names versions, install the mariadb-backup of the server's version, or take a logical backup.";
const NEXT_OF_DUMP: &str =
    "If it names rights, connect as a user who may read the schema and show its routines.";
const NEXT_OF_RESTORE: &str =
    "Read its message about the backup; where that was damaged, check its medium.";

impl ManagedMariadb {
    /// Takes a backup of the running server into `to`, a directory of plimsoll's own that is empty.
    pub(crate) fn back_up(
        &self,
        method: BackupMethod,
        task: Task<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        self.process().context.admit(to)?;
        match method {
            BackupMethod::Physical => self.files_backup(task, to),
            BackupMethod::Logical => {
                let program = binaries::client(Some(&self.programs), &DUMP)?;
                let command = self.process().context.command(&program);
                dump_by(command, &self.conninfo(), MANAGED_SCHEMA, task, to)
            }
        }
    }

    /// The server's files, and with them the log that was written meanwhile, which makes them one state when the backup
    /// is prepared. mariadb-backup 10.11 leaves all of it to the kernel to write: what is not flushed is no backup.
    fn files_backup(&self, task: Task<'_>, to: &Path) -> Result<Taken, LoadError> {
        let (program, jobs) = (
            binaries::client(Some(&self.programs), &BACKUP)?,
            task.jobs.max(1),
        );
        let opts = parse(&self.conninfo())?;
        let mut command = self.process().context.command(&program);
        command.current_dir(to);
        // Names the server's files, and must come first.
        command.arg(format!("--defaults-file={}", self.config.display()));
        command.args(["--backup", "--user=root", &format!("--parallel={jobs}")]);
        command.arg(format!("--target-dir={}", to.display()));
        command.arg(format!(
            "--socket={}",
            opts.get_socket().unwrap_or_default()
        ));
        Program {
            command,
            output: None,
            place: to,
            next: NEXT_OF_BACKUP,
        }
        .run(task.control)?;
        Ok(Taken {
            bytes: files::flush(to, task.control)?,
            program: version(&program),
            jobs,
        })
    }

    /// Makes a second server of the backup in `from`.
    pub(crate) fn restore(
        &self,
        method: BackupMethod,
        task: Task<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(Self, Timed), LoadError> {
        files::forget_cached(from)?;
        match method {
            BackupMethod::Physical => {
                let (mut bytes, mut began) = (0, monotonic());
                let fill = |context: &ServerContext| {
                    began = monotonic();
                    prepare(&self.programs, context, task, from)?;
                    bytes = files::copy(from, &context.data, &is_servers, task)?;
                    Ok(())
                };
                let server =
                    self.start_second(scratch, cgroup, fill, &|| task.control.is_cancelled())?;
                let ended = monotonic();
                let program = version(&binaries::client(Some(&self.programs), &BACKUP)?);
                Ok((
                    server,
                    Timed {
                        program,
                        bytes,
                        began,
                        ended,
                    },
                ))
            }
            BackupMethod::Logical => {
                let server = self.start_empty(scratch, cgroup)?;
                let restored = server.restore_dump(true, task, from);
                let timed = restored.map_err(|error| server.process().explain(error))?;
                Ok((server, timed))
            }
        }
    }

    /// `as_server`: as the server's user, who has taken the dump.
    fn restore_dump(
        &self,
        as_server: bool,
        task: Task<'_>,
        from: &Path,
    ) -> Result<Timed, LoadError> {
        let program = binaries::client(Some(&self.programs), &CLIENT)?;
        let schema = DIALECT.identifier(MANAGED_SCHEMA);
        let made = connect(&self.conninfo())?.query_drop(format!("CREATE DATABASE {schema}"));
        made.map_err(|error| server_error("restoring", &error))?;
        let mut command = if as_server {
            self.process().context.command(&program)
        } else {
            command_in(&program, from)
        };
        let dump = from.join(DUMP_FILE);
        let began = monotonic();
        command
            .current_dir(from)
            .stdin(File::open(&dump).map_err(|error| io_error(&dump, &error))?);
        access(&mut command, &self.conninfo())?;
        command.arg(format!("--database={MANAGED_SCHEMA}"));
        let place = self.process().data_dir();
        Program {
            command,
            output: None,
            place,
            next: NEXT_OF_RESTORE,
        }
        .run(task.control)?;
        let ended = monotonic();
        Ok(Timed {
            program: version(&program),
            bytes: crate::backup::written(from),
            began,
            ended,
        })
    }
}

/// Applies the log to the files, in place. Again is no trouble: a backup can be restored more than once.
fn prepare(
    programs: &Programs,
    context: &ServerContext,
    task: Task<'_>,
    from: &Path,
) -> Result<(), LoadError> {
    let program = binaries::client(Some(programs), &BACKUP)?;
    let mut command = context.command(&program);
    // What it needs to know about the server is in the backup.
    command
        .current_dir(from)
        .args(["--no-defaults", "--prepare"])
        .arg(format!("--target-dir={}", from.display()));
    Program {
        command,
        output: None,
        place: from,
        next: NEXT_OF_RESTORE,
    }
    .run(task.control)
}

/// Whether a file of a backup is the server's, and not mariadb-backup's own account.
fn is_servers(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name != "backup-my.cnf"
        && !name.starts_with("xtrabackup_")
        && !name.starts_with("mariadb_backup_")
}

/// Takes a logical backup of the schema on any server, as this user.
pub(crate) fn dump(
    conninfo: &str,
    schema: &str,
    task: Task<'_>,
    to: &Path,
) -> Result<Taken, LoadError> {
    let program = binaries::client(None, &DUMP)?;
    dump_by(command_in(&program, to), conninfo, schema, task, to)
}

/// Makes a server of plimsoll's own of a dump of any server.
pub(crate) fn restore_elsewhere(
    task: Task<'_>,
    from: &Path,
    scratch: &mut Scratch,
    cgroup: Option<CgroupLimits>,
) -> Result<(ManagedMariadb, Timed), LoadError> {
    files::forget_cached(from)?;
    let server = ManagedMariadb::start(scratch, &BTreeMap::new(), "", cgroup)?;
    let timed = server
        .restore_dump(false, task, from)
        .map_err(|error| server.process().explain(error))?;
    Ok((server, timed))
}

/// Of one snapshot, by one connection: mariadb-dump has no more.
fn dump_by(
    mut command: Command,
    conninfo: &str,
    schema: &str,
    task: Task<'_>,
    to: &Path,
) -> Result<Taken, LoadError> {
    let program = Path::new(command.get_program()).to_owned();
    let file = to.join(DUMP_FILE);
    let output = File::create_new(&file).map_err(|error| io_error(&file, &error))?;
    command.current_dir(to);
    access(&mut command, conninfo)?;
    command
        .args([
            "--single-transaction",
            "--quick",
            "--routines",
            "--no-tablespaces",
            "--",
        ])
        .arg(schema);
    Program {
        command,
        output: Some(output),
        place: to,
        next: NEXT_OF_DUMP,
    }
    .run(task.control)?;
    Ok(Taken {
        bytes: files::flush(to, task.control)?,
        program: version(&program),
        jobs: 1,
    })
}

/// How to connect, as plimsoll's own connections do, and nothing that is set for other servers. The password
/// is in the environment: command lines can be read by everybody.
fn access(command: &mut Command, conninfo: &str) -> Result<(), LoadError> {
    let opts = parse(conninfo)?;
    command.args(["--no-defaults", "--skip-ssl"]);
    match opts.get_socket() {
        Some(socket) => command.args(["--protocol=socket", &format!("--socket={socket}")]),
        None => command.args([
            "--protocol=tcp",
            &format!("--host={}", opts.get_ip_or_hostname()),
            &format!("--port={}", opts.get_tcp_port()),
        ]),
    };
    if let Some(user) = opts.get_user() {
        command.arg(format!("--user={user}"));
    }
    if let Some(password) = opts.get_pass() {
        command.env("MYSQL_PWD", password);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_not_on_the_command_line() {
        let mut command = Command::new("mariadb-dump");
        access(&mut command, "mariadb://u:p%40ss@h:3307/d").unwrap();
        let args: Vec<_> = command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            args,
            [
                "--no-defaults",
                "--skip-ssl",
                "--protocol=tcp",
                "--host=h",
                "--port=3307",
                "--user=u"
            ]
        );
        assert!(
            command
                .get_envs()
                .any(|(name, value)| name == "MYSQL_PWD" && value.is_some_and(|v| v == "p@ss"))
        );
        let mut command = Command::new("mariadb");
        access(&mut command, "mariadb://root@localhost?socket=/a%20b/s").unwrap();
        assert!(
            command.get_args().any(|arg| arg == "--socket=/a b/s")
                && command.get_envs().next().is_none()
        );
    }

    #[test]
    fn only_the_servers_files_are_restored() {
        for own in [
            "xtrabackup_info",
            "xtrabackup_checkpoints",
            "backup-my.cnf",
            "mariadb_backup_info",
        ] {
            assert!(!is_servers(Path::new(own)), "{own}");
        }
        for servers in ["ibdata1", "mysql/xtrabackup_x.ibd", "plimsoll/db.opt"] {
            assert!(is_servers(Path::new(servers)), "{servers}");
        }
    }
}
