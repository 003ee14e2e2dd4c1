//! Facts of a PostgreSQL server for reports.

use plimsoll_model::plan::resolved::redact;
use plimsoll_model::units::Bytes;
use tokio_postgres::Error;

use super::blocking;
use super::connect::{connect, server_error};
use crate::engine::server::Facts;
use crate::error::LoadError;

/// The session's own settings (`client`, `session`) are not the server's.
const SETTINGS: &str = "SELECT name, current_setting(name) FROM pg_settings
    WHERE source NOT IN ('default', 'override', 'client', 'session')
       OR name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'data_checksums')
    ORDER BY name";

/// Asks the server. Passwords in settings (`primary_conninfo`) are replaced by `***`. Blocks the calling thread.
pub fn facts(conninfo: &str) -> Result<Facts, LoadError> {
    blocking(|| async {
        let client = connect(conninfo).await?;
        let error = |e: Error| server_error("asking the server about itself", &e);
        let about = "SELECT version(), pg_database_size(current_database())";
        let about = client.query_one(about, &[]).await.map_err(error)?;
        let size: i64 = about.try_get(1).map_err(error)?;
        let mut settings = Vec::new();
        for row in client.query(SETTINGS, &[]).await.map_err(error)? {
            let value: String = row.try_get(1).map_err(error)?;
            settings.push((row.try_get(0).map_err(error)?, redact(&value)));
        }
        Ok(Facts {
            version: about.try_get(0).map_err(error)?,
            settings,
            database_size: Bytes(size.unsigned_abs()),
        })
    })
}
