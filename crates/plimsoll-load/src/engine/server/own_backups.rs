//! Backups that a server writes and reads itself.

use std::path::Path;

use crate::backup::{BackupControl, Taken, Timed};
use crate::engine::sql::ServerClient;
use crate::error::LoadError;

/// Where connections to one server come from.
pub(crate) trait ServerConnector: Sync {
    fn connect(&self) -> Result<Box<dyn ServerClient>, LoadError>;
}

/// A server that writes the files of a database, and restores it as another database of its own.
pub(crate) trait ServerBackups: Sync {
    /// Its statement, for messages.
    fn statement(&self) -> &'static str;
    /// Takes a backup of the database into `to`.
    fn back_up(
        &self,
        server: &dyn ServerConnector,
        schema: &str,
        task: BackupControl<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError>;
    /// Restores the backup in `from` with its files in `dir`. A failure leaves no database.
    fn restore(
        &self,
        server: &dyn ServerConnector,
        schema: &str,
        task: BackupControl<'_>,
        from: &Path,
        dir: &Path,
    ) -> Result<(Box<dyn RestoredDatabase>, Timed), LoadError>;
}

/// A database that plimsoll has restored, and drops.
pub(crate) trait RestoredDatabase: Send + Sync {
    fn name(&self) -> &str;
    /// Drops it with its files; an error where it is left.
    fn remove(&self, server: &dyn ServerConnector) -> Result<(), LoadError>;
}
