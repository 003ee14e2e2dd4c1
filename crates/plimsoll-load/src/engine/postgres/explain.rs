//! What an error on the way to a server means, and what to do next.

use std::time::Duration;

use rustls::ClientConfig;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error};

use super::address::{PORT, PostgresAddress};
use super::failure::{PostgresFailure, is_shutdown};
use crate::engine::client_environment::IgnoredFile;
use crate::engine::wire::tls::client_config;
use crate::error::LoadError;

/// Whether pg_hba.conf has no line for this way of connecting.
pub(super) fn is_unwanted(error: &Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

pub(super) fn tls_config(address: &PostgresAddress) -> Result<ClientConfig, LoadError> {
    client_config(&address.trust, rustls::ALL_VERSIONS)
}

/// Where the configuration leads, without the password: `database "x" at host:5432`.
fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "(no host given)".into(),
    };
    let port = config.get_ports().first().copied().unwrap_or(PORT);
    format!("PostgreSQL at {host}:{port}")
}

/// An error of connecting, with the next step.
pub(super) fn explain(address: &PostgresAddress, error: &Error) -> LoadError {
    explain_failure(address, PostgresFailure::from(error))
}

/// An error of connecting without TLS after it failed with TLS.
pub(super) fn explain_both(address: &PostgresAddress, error: &Error, tls: &str) -> LoadError {
    let mut failure = PostgresFailure::from(error);
    failure.text = both_reasons(&failure.text, tls);
    explain_failure(address, failure)
}

/// Why there is a connection neither without TLS nor with it.
pub(super) fn both_reasons(plain: &str, tls: &str) -> String {
    format!("without TLS: {plain}; with TLS: {tls}")
}

fn explain_failure(address: &PostgresAddress, failure: PostgresFailure) -> LoadError {
    let config = &address.config;
    let what = place(config);
    let why = failure.text.clone();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let Some(code) = &failure.code else {
        if why.contains("password missing") || why.contains("authentication") {
            return match address.password_file.ignored() {
                Some(IgnoredFile { why, next }) => LoadError::Refused { what, why, next },
                None => {
                    let next = "Set PGPASSWORD in the environment, or put the password into ~/.pgpass or the URL.";
                    LoadError::Refused {
                        what,
                        why,
                        next: next.into(),
                    }
                }
            };
        }
        return unreachable(config, why, false);
    };
    if *code == SqlState::INVALID_PASSWORD {
        let file = address.password_file.place();
        let next = format!("Give the right password of {user:?} in {file}PGPASSWORD or the URL.");
        return LoadError::Refused { what, why, next };
    }
    if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
        let next = format!("Check the user {user:?} and what pg_hba.conf allows from here.");
        return LoadError::Refused { what, why, next };
    }
    if *code == SqlState::INVALID_CATALOG_NAME {
        let next = format!("Create it (createdb {database}), or name another one in the URL.");
        return LoadError::Missing {
            what: format!("Database {database:?} of {what}"),
            searched: why,
            next,
        };
    }
    if *code == SqlState::TOO_MANY_CONNECTIONS {
        let next = "Raise max_connections of the server, or use fewer users.".into();
        return LoadError::TooManyConnections { what, why, next };
    }
    if *code == SqlState::CANNOT_CONNECT_NOW {
        let next = "Try again when the server has started, or read its log.".into();
        return LoadError::Unreachable { what, why, next };
    }
    if is_shutdown(code) {
        return failure.classify().at(&what);
    }
    LoadError::Other { what, why }
}

/// No connection, or no TLS over it.
pub(super) fn unreachable(config: &Config, why: String, is_tls: bool) -> LoadError {
    let next = if is_tls {
        "Name the authority that signed the server's certificate (sslrootcert=FILE), or use sslmode=require, which takes any."
    } else {
        "Check host and port in the URL, that the server runs, and that it listens there (listen_addresses)."
    };
    LoadError::Unreachable {
        what: place(config),
        why,
        next: next.into(),
    }
}

/// Logins are taken, and statements not answered.
pub(super) fn unanswered(config: &Config, waited: Duration) -> LoadError {
    LoadError::TooManyConnections {
        what: place(config),
        why: format!(
            "a login was taken, and its first statement not answered in {} s",
            waited.as_secs()
        ),
        next: "If it is a connection pooler: give it more connections to its server (PgBouncer: default_pool_size), use \
               fewer users, or give the URL of the server itself."
            .into(),
    }
}

/// An error of a statement, with the next step where there is one.
pub fn server_error(what: &str, error: &Error) -> LoadError {
    PostgresFailure::from(error).classify().at(what)
}
