//! Facts of a MariaDB server for reports.

use mysql::Error;
use mysql::prelude::Queryable;
use plimsoll_model::plan::resolved::redact;
use plimsoll_model::units::Bytes;

use super::connect::{connect, server_error};
use crate::engine::server::Facts;
use crate::error::LoadError;

/// Those that are set, and those that decide whether a commit is durable and how the drive is used, whatever
/// they are. Paths are left out.
const SETTINGS: &str =
    "SELECT LOWER(VARIABLE_NAME), COALESCE(GLOBAL_VALUE, '') FROM information_schema.SYSTEM_VARIABLES
    WHERE VARIABLE_SCOPE <> 'SESSION ONLY'
      AND (GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'SQL') OR VARIABLE_NAME IN (
        'innodb_buffer_pool_size', 'innodb_doublewrite', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method',
        'innodb_io_capacity', 'innodb_log_file_size', 'innodb_page_size', 'log_bin', 'sync_binlog', 'tx_isolation',
        'transaction_isolation'))
      AND VARIABLE_NAME NOT IN ('datadir', 'socket', 'pid_file', 'tmpdir', 'lc_messages', 'log_warnings')
    ORDER BY 1";

/// As the server counts it, which is an estimate for InnoDB's tables.
const SIZE: &str = "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED) FROM information_schema.TABLES";

/// Asks the server. Passwords in settings are replaced by `***`.
pub fn facts(conninfo: &str) -> Result<Facts, LoadError> {
    let mut conn = connect(conninfo)?;
    let error = |e: Error| server_error("asking the server about itself", &e);
    let about: Option<(String, String)> = conn
        .query_first("SELECT version(), @@version_comment")
        .map_err(error)?;
    let (version, comment) = about.unwrap_or_default();
    let settings: Vec<(String, String)> = conn.query(SETTINGS).map_err(error)?;
    let size: Option<u64> = conn.query_first(SIZE).map_err(error)?;
    Ok(Facts {
        version: format!("MariaDB {version}, {comment}"),
        settings: settings
            .into_iter()
            .map(|(name, value)| (name, redact(&value)))
            .collect(),
        database_size: Bytes(size.unwrap_or_default()),
    })
}
