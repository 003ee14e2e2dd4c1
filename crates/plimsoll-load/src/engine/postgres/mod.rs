//! PostgreSQL: a server that plimsoll creates on a medium, or one that exists.
//!
//! A [`PostgresSession`] is asynchronous, many of them on one current-thread runtime; everything else blocks its caller.

use std::future::Future;
use std::thread;

use crate::error::LoadError;

mod backup;
pub mod binaries;
mod client;
pub mod codec;
pub mod connect;
mod copy;
mod dialect;
mod insight;
mod managed;
pub mod session;
mod socket;
mod sysbench;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use backup::Backups;
pub(crate) use dialect::DIALECT;
pub use insight::Insight;
pub(crate) use managed::Setup;
pub use session::PostgresSession;
pub use template::template;

/// Runs asynchronous work to its end on a thread and runtime of its own, whatever the caller runs on.
fn blocking<T, F, W>(work: F) -> Result<T, LoadError>
where
    T: Send,
    F: FnOnce() -> W + Send,
    W: Future<Output = Result<T, LoadError>>,
{
    let on_thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| LoadError::other("starting a runtime", e))?;
        runtime.block_on(work())
    };
    thread::scope(|scope| scope.spawn(on_thread).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Carries out statements on a connection of their own.
#[cfg(test)]
pub(crate) fn batch(conninfo: &str, sql: &str) -> Result<(), LoadError> {
    blocking(|| async {
        let client = connect::connect(conninfo).await?;
        client
            .batch_execute(sql)
            .await
            .map_err(|error| connect::server_error(sql, &error))
    })
}
