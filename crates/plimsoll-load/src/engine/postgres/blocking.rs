//! Asynchronous work for a caller that waits.

use std::future::Future;
use std::thread;

use crate::error::LoadError;

/// Runs asynchronous work to its end on a thread and runtime of its own, whatever the caller runs on.
pub(super) fn blocking<T, F, W>(work: F) -> Result<T, LoadError>
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

/// Runs statements on a connection of their own.
#[cfg(test)]
pub(crate) fn batch(conninfo: &str, sql: &str) -> Result<(), LoadError> {
    blocking(|| async {
        let client = super::connect::connect(conninfo).await?;
        client
            .batch_execute(sql)
            .await
            .map_err(|error| super::connect::server_error(sql, &error))
    })
}
