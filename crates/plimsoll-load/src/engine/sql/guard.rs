//! Who may use a schema: one plimsoll that loads it, or any number that measure or check it.
//!
//! A lock of the server shows it, which is released when its connection ends, in whichever way that comes.

pub(crate) use super::dialect::Use;
use plimsoll_plan::units::Nanos;

use super::{Dialect, SqlClient};
use crate::clock::Clock;
use crate::error::LoadError;
use crate::scratch::wait_until;

/// The server notices a connection's end some milliseconds after its client has gone on.
const PATIENCE_SECONDS: u64 = 5;

/// Holds the schema for that use until the connection ends. Tries again for five seconds, without queueing on the
/// server: whoever queued for the exclusive lock would keep a running measurement from opening sessions anew.
pub(crate) fn take(
    client: &mut dyn SqlClient,
    dialect: &Dialect,
    schema: &str,
    purpose: Use,
) -> Result<(), LoadError> {
    let mut tried = Ok(false);
    wait_until(PATIENCE_SECONDS, || {
        tried = (dialect.try_lock)(client, schema, purpose);
        !matches!(tried, Ok(false))
    });
    if tried? {
        Ok(())
    } else {
        Err(in_use(schema, purpose))
    }
}

/// The same patience, for a connection that must not block its thread.
pub(crate) struct LockPatience(Clock);

impl LockPatience {
    pub fn new() -> Self {
        Self(Clock::real())
    }

    /// Until the lock can be tried again. An error when it has been tried for long enough.
    pub async fn wait(&self, schema: &str, purpose: Use) -> Result<(), LoadError> {
        const STEP: Nanos = Nanos::from_millis(100);
        if self.0.now() >= Nanos::from_secs(PATIENCE_SECONDS) {
            return Err(in_use(schema, purpose));
        }
        self.0.sleep(STEP).await;
        Ok(())
    }
}

/// Gives a loaded schema back before the connection ends, so that sessions can follow at once.
pub(super) fn release(
    client: &mut dyn SqlClient,
    dialect: &Dialect,
    schema: &str,
) -> Result<(), LoadError> {
    client.execute(&what(schema), &dialect.of_schema(dialect.unlock, schema))
}

pub(crate) fn what(schema: &str) -> String {
    format!("schema {schema}")
}

fn in_use(schema: &str, purpose: Use) -> LoadError {
    let who = match purpose {
        Use::Load => "another plimsoll is loading, measuring or checking it",
        Use::Keep => "another plimsoll is loading it",
    };
    LoadError::other(
        what(schema),
        format!(
            "{who}\nWait for it, or name another schema (in the plan, or bench --schema NAME)."
        ),
    )
}
