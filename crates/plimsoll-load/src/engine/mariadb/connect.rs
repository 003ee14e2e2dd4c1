//! Connections that are ready for statements, and what an error on the way means.

use std::time::Duration;

use plimsoll_plan::resolved::ServerKind;

use super::address::MariadbAddress;
use super::failure::{MariadbFailure, UNKNOWN_DATABASE, server_error};
use super::login::{self, LoginFailure, MariadbConnection};
use crate::error::LoadError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What all sessions have in common: concatenation as in standard SQL, errors instead of silently changed values.
const SETUP: &str =
    "SET SESSION sql_mode = 'PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";

const VERSION: &str = "SELECT version()";

/// Which of both a URL that can be read is of.
pub fn kind_of(conninfo: &str) -> ServerKind {
    ServerKind::of_url(conninfo).unwrap_or(ServerKind::Mariadb)
}

/// Opens a connection; needs a runtime. Refused when the server is the other of both: their SQL differs.
pub(super) async fn connect(conninfo: &str) -> Result<MariadbConnection, LoadError> {
    let address = MariadbAddress::parse(conninfo)?;
    let opened = tokio::time::timeout(CONNECT_TIMEOUT, open(&address)).await;
    let opened = opened.unwrap_or_else(|_| {
        let why = format!("no answer in {} s", CONNECT_TIMEOUT.as_secs());
        Err(LoginFailure::Server(MariadbFailure::unreadable(why)))
    });
    let (connection, version) = opened.map_err(|failure| explain(&address, &failure))?;
    let found = if version.contains("MariaDB") {
        ServerKind::Mariadb
    } else {
        ServerKind::Mysql
    };
    if found != address.kind {
        let title = address.kind.title();
        let url = found.example_url();
        return Err(LoadError::other(
            address.place(),
            format!("is version {version}, not a {title}\nWrite its URL as {url}."),
        ));
    }
    Ok(connection)
}

/// With the server's version.
async fn open(address: &MariadbAddress) -> Result<(MariadbConnection, String), LoginFailure> {
    let mut connection = login::open(address).await?;
    let answer = connection.wire.text(VERSION).await?;
    connection.wire.query(SETUP).await?;
    let version = answer.concat().into_iter().next();
    let version = version.map(|row| row.into_texts().collect());
    Ok((connection, version.unwrap_or_default()))
}

// The manual's "Server Error Message Reference".
const WRONG_PASSWORD: [u16; 2] = [1045, 1698];
const NOT_ALLOWED_FROM_HERE: u16 = 1130;
const TOO_MANY_CONNECTIONS: [u16; 2] = [1040, 1203];
const MUST_BE_ENCRYPTED: u16 = 3159;

/// An error of connecting, with the next step.
fn explain(address: &MariadbAddress, failure: &LoginFailure) -> LoadError {
    let what = address.place();
    let user = &address.user;
    let failure = match failure {
        LoginFailure::Server(failure) => failure,
        LoginFailure::NotEncrypted(why) => {
            let next = "Name the authority that signed the server's certificate with SSL_CERT_FILE, or put \
                        ssl-mode=required (any certificate) or ssl-mode=disabled into the URL.";
            return LoadError::Unreachable {
                what,
                why: format!("no encrypted connection: {why}"),
                next: next.into(),
            };
        }
        LoginFailure::UnknownMethod(method) => {
            return LoadError::Refused {
                what,
                why: format!("{user:?} logs in by {method:?}, which plimsoll cannot do"),
                next: "Connect as a user of caching_sha2_password or mysql_native_password.".into(),
            };
        }
    };
    let why = failure.text();
    match failure.code {
        Some(code) if WRONG_PASSWORD.contains(&code) => {
            let next = format!("Give the right password of {user:?} in MYSQL_PWD or in the URL.");
            LoadError::Refused { what, why, next }
        }
        Some(NOT_ALLOWED_FROM_HERE) => {
            let next = format!("Let {user:?} connect from this host (CREATE USER … @'host').");
            LoadError::Refused { what, why, next }
        }
        Some(MUST_BE_ENCRYPTED) => {
            let next = "Leave ssl-mode=disabled out of the URL.".into();
            LoadError::Refused { what, why, next }
        }
        Some(UNKNOWN_DATABASE) => {
            let next = "Create it, or leave the database out of the URL.".into();
            LoadError::Missing {
                what: format!("The database of {what}"),
                searched: why,
                next,
            }
        }
        Some(code) if TOO_MANY_CONNECTIONS.contains(&code) => {
            let next =
                "Raise max_connections of the server, or use fewer connections in the plan.".into();
            LoadError::TooManyConnections { what, why, next }
        }
        Some(_) => server_error(&what, failure),
        None => {
            let next = "Check host and port in the URL, that the server runs, and that it listens there (bind_address).";
            LoadError::Unreachable {
                what,
                why,
                next: next.into(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_does_not_run_is_unreachable() {
        for (url, place) in [
            ("mariadb://u:secret@127.0.0.1:1/db", "127.0.0.1:1"),
            (
                "mysql://u:secret@localhost?socket=/nonexistent",
                "/nonexistent",
            ),
        ] {
            let error = connect(url).await.err().unwrap();
            assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(place) && !text.contains("secret"), "{text}");
        }
    }
}
