//! Which pooler is before a server.

use super::address::completed;
use super::blocking::blocking;
use super::connect::{connect, server_error};
use crate::engine::client_environment::PROCESS;

/// Which pooler it is that takes connections for this server. PgBouncer has a console by the name of a database, and opens
/// it or says that this user is not allowed.
pub(super) fn pooler_name(conninfo: &str) -> Option<&'static str> {
    let completed = completed(conninfo, &PROCESS)?;
    let console = format!("{}&dbname=pgbouncer", &*completed).replacen("?&", "?", 1);
    let asked = blocking(|| async move {
        let client = connect(&console).await?;
        let version = client.simple_query("SHOW VERSION").await;
        version
            .map(drop)
            .map_err(|error| server_error("SHOW VERSION", &error))
    });
    let is_its = match asked {
        Ok(()) => true,
        Err(error) => error.to_string().contains("not allowed"),
    };
    is_its.then_some("PgBouncer")
}
