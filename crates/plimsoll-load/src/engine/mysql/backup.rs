//! Programs for backups of a MySQL: mysqldump and the client. Of its files there is none.

use std::path::Path;

use crate::backup::program::version;
use crate::engine::mariadb::backup::{MariadbBackups, dump, restore_dump};
use crate::engine::server::backup_programs::{BackupCommand, BackupPrograms, Runner};
use crate::engine::server::{ManagedServer, ServerContext};
use crate::error::LoadError;

pub struct MysqlBackups;

impl BackupPrograms for MysqlBackups {
    fn copy_files(&self, _: &ManagedServer, _: &Path, _: u32) -> Result<BackupCommand, LoadError> {
        Err(LoadError::Unsupported {
            what: "a backup of MySQL's files".into(),
            why: "plimsoll does not use its clone plugin yet".into(),
            next: "Take a logical backup: method = \"logical\" in the plan.".into(),
        })
    }

    fn prepare(
        &self,
        _: &ManagedServer,
        _: &ServerContext,
        _: &Path,
    ) -> Result<Option<BackupCommand>, LoadError> {
        Ok(None)
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
