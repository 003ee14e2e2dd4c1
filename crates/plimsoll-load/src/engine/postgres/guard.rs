//! Who may use a schema: one plimsoll that loads it, or any number that measure or check it.
//!
//! An advisory lock shows it, which the server releases when its connection ends, in whichever way that comes.

use plimsoll_model::units::Nanos;
use tokio_postgres::{Client, Error};

use super::connect::server_error;
use crate::clock::Clock;
use crate::error::LoadError;

/// What a connection is about to do with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Load,
    /// Measuring or checking: needs the tables to stay.
    Keep,
}

/// The server notices a connection's end some milliseconds after its client has gone on.
const PATIENCE: Nanos = Nanos::from_secs(5);
const STEP: Nanos = Nanos::from_millis(100);

/// Holds the schema for that use until the connection ends. Tries again for five seconds, without queueing on the
/// server: whoever queued for the exclusive lock would keep a running measurement from opening sessions anew.
pub async fn take(client: &Client, schema: &str, purpose: Use) -> Result<(), LoadError> {
    let (suffix, who) = match purpose {
        Use::Load => ("", "another plimsoll is loading, measuring or checking it"),
        Use::Keep => ("_shared", "another plimsoll is loading it"),
    };
    let what = || format!("schema {schema}");
    let error = |e: Error| server_error(&what(), &e);
    let lock = format!("SELECT pg_try_advisory_lock{suffix}(hashtext('plimsoll'), hashtext($1))");
    let clock = Clock::real();
    loop {
        if client
            .query_one(&lock, &[&schema])
            .await
            .map_err(error)?
            .try_get(0)
            .map_err(error)?
        {
            return Ok(());
        }
        if clock.now() >= PATIENCE {
            return Err(LoadError::other(
                what(),
                format!("{who}\nWait for it, or name another schema in the plan."),
            ));
        }
        clock.sleep(STEP).await;
    }
}

/// Gives a loaded schema back before the connection ends, so that sessions can follow at once.
pub async fn release(client: &Client, schema: &str) -> Result<(), LoadError> {
    let unlock = "SELECT pg_advisory_unlock(hashtext('plimsoll'), hashtext($1))";
    let done = client.query_one(unlock, &[&schema]).await;
    done.map(drop)
        .map_err(|e| server_error(&format!("schema {schema}"), &e))
}
