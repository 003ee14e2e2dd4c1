//! Backups of a MySQL: its own clone plugin for its files, mysqldump and the client for its data.

use std::path::Path;

use super::dialect::DIALECT;
use crate::backup::program::version;
use crate::engine::mariadb::backup::{MariadbBackups, access, dump, restore_dump};
use crate::engine::mariadb::binaries;
use crate::engine::mariadb::client::MariadbClient;
use crate::engine::mariadb::failure::server_error;
use crate::engine::server::backup_programs::{
    BackupCommand, BackupPrograms, NEXT_OF_RESTORE, Runner,
};
use crate::engine::server::{ManagedServer, ServerContext};
use crate::error::LoadError;
use crate::scratch::wait_until;

/// The directory of a clone within a backup.
const CLONE: &str = "clone";
/// It is there already.
const PLUGIN_EXISTS: u16 = 1125;

pub struct MysqlBackups;

fn load_clone(conninfo: &str) -> Result<(), LoadError> {
    let mut client = MariadbClient::connect(conninfo)?;
    match client.query("INSTALL PLUGIN clone SONAME 'mysql_clone.so'") {
        Err(failure) if failure.code == Some(PLUGIN_EXISTS) => Ok(()),
        installed => {
            installed.map_err(|failure| server_error("loading the clone plugin", &failure))
        }
    }
}

fn is_cloning(client: &mut MariadbClient) -> bool {
    const INFO: usize = 7;
    let sessions = client.results("SHOW FULL PROCESSLIST").unwrap_or_default();
    let mut statements = sessions.iter().flatten().filter_map(|row| row.text(INFO));
    statements.any(|statement| statement.starts_with("CLONE "))
}

impl BackupPrograms for MysqlBackups {
    /// The server copies its files itself, into a directory that it makes.
    fn copy_files(
        &self,
        server: &ManagedServer,
        to: &Path,
        _: u32,
    ) -> Result<BackupCommand, LoadError> {
        load_clone(&server.conninfo())?;
        let program = binaries::client(Some(server.programs()), &["mysql"])?;
        let mut command = server.process().context.command_in(&program, to);
        access(&mut command, &server.conninfo())?;
        let place = DIALECT.literal(&to.join(CLONE).display().to_string());
        command.arg(format!("--execute=CLONE LOCAL DATA DIRECTORY = {place}"));
        Ok(BackupCommand {
            command,
            output: None,
            next: "If it names rights or plugins, take a logical backup: method = \"logical\".",
            jobs: 1,
        })
    }

    /// The server notices some time after the client has gone, and removes what it has written.
    fn wait_until_given_up(&self, server: &ManagedServer) -> Option<String> {
        const PATIENCE_SECONDS: u64 = 30;
        // A server that does not run writes nothing.
        let mut client = MariadbClient::connect(&server.conninfo()).ok()?;
        let has_ended = wait_until(PATIENCE_SECONDS, || !is_cloning(&mut client));
        (!has_ended).then(|| {
            format!("after {PATIENCE_SECONDS} s SHOW PROCESSLIST still shows the server's CLONE")
        })
    }

    /// The files move up out of the clone's directory. Again is no trouble: a backup can be restored more than once.
    fn prepare(
        &self,
        _: &ManagedServer,
        context: &ServerContext,
        from: &Path,
    ) -> Result<Option<BackupCommand>, LoadError> {
        let mut command = context.command_in(Path::new("/bin/sh"), from);
        let move_up = format!(
            "[ ! -d {CLONE} ] || {{ find {CLONE} -mindepth 1 -maxdepth 1 -exec mv -t . {{}} + && rmdir {CLONE}; }}"
        );
        command.current_dir(from).args(["-c", &move_up]);
        Ok(Some(BackupCommand {
            command,
            output: None,
            next: NEXT_OF_RESTORE,
            jobs: 1,
        }))
    }

    fn is_servers(&self, _: &Path) -> bool {
        true
    }

    fn restorer(&self, server: &ManagedServer) -> Result<String, LoadError> {
        Ok(version(&server.programs().server))
    }

    /// What a server without replication needs no word of is left out.
    fn dump(&self, runner: &Runner<'_>, to: &Path, _: u32) -> Result<BackupCommand, LoadError> {
        dump(&["mysqldump"], &["--set-gtid-purged=OFF"], runner, to)
    }

    fn before_dump(&self) -> Vec<String> {
        MariadbBackups.before_dump()
    }

    fn restore_dump(
        &self,
        runner: &Runner<'_>,
        from: &Path,
        _: u32,
    ) -> Result<BackupCommand, LoadError> {
        restore_dump(&["mysql"], runner, from)
    }

    fn after_dump(&self, schema: &str) -> Vec<String> {
        MariadbBackups.after_dump(schema)
    }
}
