//! Connections for everything that is not measured: Unix socket or TCP, with or without TLS.

use tokio_postgres::Client;

pub use super::explain::server_error;
use super::stream::{DrivenClient, FIRST_ANSWER, Login};
use crate::engine::sql::ClientRoute;
use crate::error::LoadError;

/// A connection whose driver is spawned on the current runtime and ends when the client is dropped.
pub(super) struct Connected {
    pub client: Client,
    pub route: ClientRoute,
}

/// Opens a connection.
pub async fn connect(conninfo: &str) -> Result<Client, LoadError> {
    Ok(connect_to(conninfo).await?.client)
}

pub(super) async fn connect_to(conninfo: &str) -> Result<Connected, LoadError> {
    let DrivenClient {
        client,
        driver,
        route,
    } = Login::open(conninfo, FIRST_ANSWER).await?.into_client();
    tokio::spawn(driver);
    Ok(Connected { client, route })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_does_not_run_is_unreachable() {
        let error = connect("postgres://u:secret@127.0.0.1:1/db")
            .await
            .unwrap_err();
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
        assert!(
            error.to_string().contains("127.0.0.1:1") && !error.to_string().contains("secret"),
            "{error}"
        );
        let error = connect("host=/nonexistent user=u").await.unwrap_err();
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
    }
}
