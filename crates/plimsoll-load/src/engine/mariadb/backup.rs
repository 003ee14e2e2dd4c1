//! Programs for backups of a MariaDB: mariadb-backup for its files, mariadb-dump and the client for its data.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use plimsoll_plan::resolved::ServerKind;

use super::address::{Encryption, MariadbAddress};
use super::managed::config;
use super::{DIALECT, binaries};
use crate::backup::program::version;
use crate::engine::server::backup_programs::{
    BackupCommand, BackupPrograms, NEXT_OF_RESTORE, Runner,
};
use crate::engine::server::{MANAGED_SCHEMA, ManagedServer, ServerContext};
use crate::error::LoadError;
use crate::scratch::io_error;

/// Names of the programs, the old ones after the new ones.
const BACKUP: [&str; 2] = ["mariadb-backup", "mariabackup"];
const DUMP: [&str; 2] = ["mariadb-dump", "mysqldump"];
const CLIENT: [&str; 2] = ["mariadb", "mysql"];

/// A dump is one file.
const DUMP_FILE: &str = "dump.sql";

const NEXT_OF_BACKUP: &str = "If it names versions, install the mariadb-backup of the server's version, or take a logical backup.";
const NEXT_OF_DUMP: &str =
    "If it names rights, connect as a user who may read the schema and show its routines.";

pub struct MariadbBackups;

impl BackupPrograms for MariadbBackups {
    /// mariadb-backup 10.11 leaves all of it to the kernel to write: what is not flushed is no backup.
    fn copy_files(
        &self,
        server: &ManagedServer,
        to: &Path,
        jobs: u32,
    ) -> Result<BackupCommand, LoadError> {
        let context = &server.process().context;
        let program = binaries::client(Some(server.programs()), &BACKUP)?;
        let address = MariadbAddress::parse(&server.conninfo())?;
        let socket = address.socket.unwrap_or_default();
        let mut command = context.command_in(&program, to);
        // Names the server's files, and must come first.
        command.arg(format!("--defaults-file={}", config(context).display()));
        command.args(["--backup", "--user=root", &format!("--parallel={jobs}")]);
        command.arg(format!("--target-dir={}", to.display()));
        command.arg(format!("--socket={}", socket.display()));
        Ok(BackupCommand {
            command,
            output: None,
            next: NEXT_OF_BACKUP,
            jobs,
        })
    }

    /// Applies the log to the files. Again is no trouble: a backup can be restored more than once.
    fn prepare(
        &self,
        server: &ManagedServer,
        context: &ServerContext,
        from: &Path,
    ) -> Result<Option<BackupCommand>, LoadError> {
        let program = binaries::client(Some(server.programs()), &BACKUP)?;
        let mut command = context.command_in(&program, from);
        // What it needs to know about the server is in the backup.
        command.args(["--no-defaults", "--prepare"]);
        command.arg(format!("--target-dir={}", from.display()));
        Ok(Some(BackupCommand {
            command,
            output: None,
            next: NEXT_OF_RESTORE,
            jobs: 1,
        }))
    }

    fn is_servers(&self, path: &Path) -> bool {
        is_servers(path)
    }

    fn restorer(&self, server: &ManagedServer) -> Result<String, LoadError> {
        let program = binaries::client(Some(server.programs()), &BACKUP)?;
        Ok(version(&program))
    }

    fn dump(&self, runner: &Runner<'_>, to: &Path, _: u32) -> Result<BackupCommand, LoadError> {
        dump(&DUMP, &[], runner, to)
    }

    fn before_dump(&self) -> Vec<String> {
        let schema = DIALECT.identifier(MANAGED_SCHEMA);
        vec![format!("CREATE DATABASE {schema}")]
    }

    fn restore_dump(
        &self,
        runner: &Runner<'_>,
        from: &Path,
        _: u32,
    ) -> Result<BackupCommand, LoadError> {
        restore_dump(&CLIENT, runner, from)
    }

    fn after_dump(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Of one snapshot, by one connection: the programs have no more. `own` is what others of the family do not know.
pub(crate) fn dump(
    names: &[&str],
    own: &[&str],
    runner: &Runner<'_>,
    to: &Path,
) -> Result<BackupCommand, LoadError> {
    let program = binaries::client(runner.programs(), names)?;
    let file = to.join(DUMP_FILE);
    let output = File::create_new(&file).map_err(|error| io_error(&file, &error))?;
    let mut command = runner.command(&program, to);
    access(&mut command, &runner.target.conninfo)?;
    command.args(["--single-transaction", "--quick", "--routines"]);
    command.args(own);
    command.args(["--no-tablespaces", "--", &runner.target.schema]);
    Ok(BackupCommand {
        command,
        output: Some(output),
        next: NEXT_OF_DUMP,
        jobs: 1,
    })
}

pub(crate) fn restore_dump(
    names: &[&str],
    runner: &Runner<'_>,
    from: &Path,
) -> Result<BackupCommand, LoadError> {
    let program = binaries::client(runner.programs(), names)?;
    let dump = from.join(DUMP_FILE);
    let input = File::open(&dump).map_err(|error| io_error(&dump, &error))?;
    let mut command = runner.command(&program, from);
    command.stdin(input);
    access(&mut command, &runner.target.conninfo)?;
    command.arg(format!("--database={MANAGED_SCHEMA}"));
    Ok(BackupCommand {
        command,
        output: None,
        next: NEXT_OF_RESTORE,
        jobs: 1,
    })
}

/// Whether a file of a backup is the server's, and not mariadb-backup's own account.
fn is_servers(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name != "backup-my.cnf"
        && !name.starts_with("xtrabackup_")
        && !name.starts_with("mariadb_backup_")
}

/// How to connect, as plimsoll's own connections do, and nothing that is set for other servers. The password
/// is in the environment: command lines can be read by everybody.
pub(crate) fn access(command: &mut Command, conninfo: &str) -> Result<(), LoadError> {
    let address = MariadbAddress::parse(conninfo)?;
    command.arg("--no-defaults");
    command.args(encryption_args(&address));
    match &address.socket {
        Some(socket) => {
            let socket = format!("--socket={}", socket.display());
            command.args(["--protocol=socket", &socket])
        }
        None => command.args([
            "--protocol=tcp",
            &format!("--host={}", address.host),
            &format!("--port={}", address.port),
        ]),
    };
    if !address.user.is_empty() {
        command.arg(format!("--user={}", address.user));
    }
    if !address.password.is_empty() {
        command.env("MYSQL_PWD", &*address.password);
    }
    Ok(())
}

/// Encrypted where the URL asks for it. Without, passwords for MySQL are sent encrypted for the server's key.
fn encryption_args(address: &MariadbAddress) -> Vec<String> {
    let encryption = &address.encryption;
    let is_mysql = address.kind == ServerKind::Mysql;
    let mode = match encryption {
        Encryption::Never | Encryption::WherePossible if is_mysql => {
            return ["--ssl-mode=DISABLED", "--get-server-public-key"]
                .map(str::to_owned)
                .into();
        }
        Encryption::Never | Encryption::WherePossible => return vec!["--skip-ssl".into()],
        Encryption::Always(_) => encryption.mode(),
    };
    let mut args = match (is_mysql, mode) {
        (true, mode) => vec![format!("--ssl-mode={mode}")],
        (false, "VERIFY_IDENTITY") => vec!["--ssl-verify-server-cert".into()],
        (false, _) => vec!["--ssl".into(), "--skip-ssl-verify-server-cert".into()],
    };
    let authorities = encryption.authorities();
    args.extend(authorities.map(|path| format!("--ssl-ca={}", path.display())));
    args
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
        let args = |url| encryption_args(&MariadbAddress::parse(url).unwrap());
        let expected = ["--ssl", "--skip-ssl-verify-server-cert", "--ssl-ca=/ca"];
        assert_eq!(
            args("mariadb://u@h?ssl-mode=verify_ca&ssl-ca=/ca"),
            expected
        );
        let expected = ["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca=/ca"];
        assert_eq!(
            args("mysql://u@h?ssl-mode=verify_identity&ssl-ca=/ca"),
            expected
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
