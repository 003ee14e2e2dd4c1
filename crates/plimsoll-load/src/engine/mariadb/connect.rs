//! Connections that are ready for statements, and what an error on the way means.

use std::time::Duration;

use plimsoll_plan::resolved::ServerKind;

use super::address::MariadbAddress;
use super::failure::{MariadbFailure, UNKNOWN_DATABASE, server_error};
use super::login::{self, LoginFailure, MariadbConnection};
use crate::engine::client_environment::IgnoredFile;
use crate::error::LoadError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What all sessions have in common: concatenation as in standard SQL, errors instead of silently changed values, and
/// waits that are no shorter than the servers' defaults, whatever is set for others.
const SETUP: &str = "SET SESSION sql_mode = 'PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', \
     wait_timeout = GREATEST(@@wait_timeout, 28800), \
     innodb_lock_wait_timeout = GREATEST(@@innodb_lock_wait_timeout, 50), \
     lock_wait_timeout = GREATEST(@@lock_wait_timeout, 86400)";

/// Of MariaDB. Those for idle transactions came with 10.3.
const MARIADB_LIMITS: &str = "SET SESSION max_statement_time = 0 /*M!100300 , idle_transaction_timeout = 0, \
     idle_write_transaction_timeout = 0, idle_readonly_transaction_timeout = 0 */";
const MYSQL_LIMITS: &str = "SET SESSION max_execution_time = 0";

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
    let version = answer.concat().into_iter().next();
    let version: String = version.map_or(String::new(), |row| row.into_texts().collect());
    connection.wire.query(SETUP).await?;
    let limits = match version.contains("MariaDB") {
        true => MARIADB_LIMITS,
        false => MYSQL_LIMITS,
    };
    connection.wire.query(limits).await?;
    Ok((connection, version))
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
            let next = "Name the authority that signed the server's certificate (ssl-ca=FILE), or put \
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
            if let Some(IgnoredFile { why: ignored, next }) = address.password_file.ignored() {
                let why = format!("{why}; {ignored}");
                return LoadError::Refused { what, why, next };
            }
            let file = address.password_file.place();
            let next =
                format!("Give the right password of {user:?} in {file}MYSQL_PWD or the URL.");
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
            let next = "Raise max_connections of the server, or use fewer users.".into();
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
