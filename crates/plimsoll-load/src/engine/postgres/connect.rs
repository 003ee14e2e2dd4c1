//! Connections: Unix socket or TCP, with or without TLS, and what an error on the way means.

use std::os::unix::ffi::OsStrExt;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use rustls::ClientConfig;
use tokio_postgres::config::{ChannelBinding, Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Error, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{PostgresFailure, is_shutdown};
use crate::engine::wire::QuietSocket;
use crate::engine::wire::tls::{CertificateTrust, client_config};
use crate::error::LoadError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Parses a URL (`postgres://user@host/db`) or key/value string and fills in what libpq would take from the
/// environment: `PGPASSWORD` when no password is given.
///
/// The server's certificate is always verified against the system's roots, so `sslmode=verify-full` is what `require`
/// does here, and `prefer` falls back to no TLS when the certificate does not hold.
pub fn parse(conninfo: &str) -> Result<Config, LoadError> {
    let mut config: Config = driver_text(conninfo).parse().map_err(|error: Error| {
        // The parser's message may hold a piece of a password that was not quoted.
        let cause = std::error::Error::source(&error)
            .map(ToString::to_string)
            .unwrap_or_default();
        let safe = match unknown_option(&cause) {
            Some(name) => format!("unknown option {name}"),
            None if cause.starts_with("invalid value for option") => cause,
            None => "cannot be parsed".into(),
        };
        LoadError::other(
            "the PostgreSQL URL",
            format!("{safe}\nWrite it as postgres://user@host:5432/database"),
        )
    })?;
    if config.get_channel_binding() == ChannelBinding::Require {
        // The driver that logs a measured session in does not see the TLS below it.
        return Err(LoadError::other(
            "the PostgreSQL URL",
            "channel_binding=require is not possible\nUse sslmode=verify-full, which verifies the server's certificate and name.",
        ));
    }
    if config.get_password().is_none()
        && let Some(password) = std::env::var_os("PGPASSWORD")
    {
        config.password(password.as_bytes());
    }
    if config.get_application_name().is_none() {
        config.application_name("plimsoll");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    Ok(config)
}

/// The driver knows fewer words for TLS, and does the same for all of them.
fn driver_text(conninfo: &str) -> String {
    conninfo
        .replace("sslmode=verify-full", "sslmode=require")
        .replace("sslmode=verify-ca", "sslmode=require")
}

/// Whether it can be parsed and has no password of its own.
pub(crate) fn lacks_password(conninfo: &str) -> bool {
    let config: Result<Config, Error> = driver_text(conninfo).parse();
    config.is_ok_and(|config| config.get_password().is_none())
}

/// The option of libpq's that the parser does not know. Any other name may be a piece of a password.
fn unknown_option(cause: &str) -> Option<&'static str> {
    const OF_LIBPQ: [&str; 21] = [
        "client_encoding",
        "fallback_application_name",
        "gssdelegation",
        "gssencmode",
        "gsslib",
        "krbsrvname",
        "passfile",
        "replication",
        "require_auth",
        "requirepeer",
        "requiressl",
        "service",
        "sslcert",
        "sslcertmode",
        "sslcompression",
        "sslcrl",
        "sslcrldir",
        "sslkey",
        "sslpassword",
        "sslrootcert",
        "sslsni",
    ];
    let name = cause.strip_prefix("unknown option `")?.strip_suffix('`')?;
    OF_LIBPQ.into_iter().find(|known| *known == name)
}

/// The half of a connection that reads and writes.
type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Opens a connection; its driver is spawned on the current runtime and ends when the client is dropped.
pub async fn connect(conninfo: &str) -> Result<Client, LoadError> {
    let mut config = parse(conninfo)?;
    let opened = if !uses_tls(&config) {
        open(&config, NoTls).await
    } else {
        match open(&config, MakeRustlsConnect::new(tls_config()?)).await {
            Err(error) if config.get_ssl_mode() == SslMode::Prefer && is_tls(&error) => {
                config.ssl_mode(SslMode::Disable);
                open(&config, NoTls).await
            }
            done => done,
        }
    };
    let (client, driver) = opened.map_err(|e| explain(&config, &e))?;
    tokio::spawn(driver);
    Ok(client)
}

/// Connections over TCP are encrypted unless that is refused.
pub(super) fn uses_tls(config: &Config) -> bool {
    let remote = |host: &Host| matches!(host, Host::Tcp(_));
    config.get_hosts().iter().any(remote) && config.get_ssl_mode() != SslMode::Disable
}

async fn open<T>(config: &Config, tls: T) -> Result<(Client, Driver), Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    if let Some(socket) = quiet_socket(config) {
        let (client, connection) = config.connect_raw(socket, NoTls).await?;
        return Ok((client, Box::pin(connection.map(drop))));
    }
    let (client, connection) = config.connect(tls).await?;
    Ok((client, Box::pin(connection.map(drop))))
}

/// The local server's socket, if it answers; whatever stands in the way is for the driver to explain.
fn quiet_socket(config: &Config) -> Option<QuietSocket> {
    let [Host::Unix(directory)] = config.get_hosts() else {
        return None;
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    QuietSocket::connect(&directory.join(format!(".s.PGSQL.{port}"))).ok()
}

pub(super) fn tls_config() -> Result<ClientConfig, LoadError> {
    client_config(CertificateTrust::SystemRoots, rustls::ALL_VERSIONS)
}

fn is_tls(error: &Error) -> bool {
    error.as_db_error().is_none() && error.to_string().contains("TLS")
}

/// Where the configuration leads, without the password: `database "x" at host:5432`.
fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "(no host given)".into(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("PostgreSQL at {host}:{port}")
}

/// An error of connecting, with the next step.
pub(super) fn explain(config: &Config, error: &Error) -> LoadError {
    let what = place(config);
    let failure = PostgresFailure::from(error);
    let why = failure.text.clone();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let Some(code) = &failure.code else {
        if why.contains("password missing") || why.contains("authentication") {
            let next = "Set PGPASSWORD in the environment, or give the password in the URL.".into();
            return LoadError::Refused { what, why, next };
        }
        return unreachable(config, why, is_tls(error));
    };
    if *code == SqlState::INVALID_PASSWORD {
        let next = format!("Give the right password of {user:?} in PGPASSWORD or in the URL.");
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
        let next =
            "Raise max_connections of the server, or use fewer connections in the plan.".into();
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
        "Name the authority that signed the server's certificate with SSL_CERT_FILE, or use sslmode=disable."
    } else {
        "Check host and port in the URL, that the server runs, and that it listens there (listen_addresses)."
    };
    LoadError::Unreachable {
        what: place(config),
        why,
        next: next.into(),
    }
}

/// An error of a statement, with the next step where there is one.
pub fn server_error(what: &str, error: &Error) -> LoadError {
    PostgresFailure::from(error).classify().at(what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_ways_of_tls_are_understood() {
        for (mode, expected) in [
            ("disable", SslMode::Disable),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
            ("verify-full", SslMode::Require),
        ] {
            let config = parse(&format!("postgres://u@h/db?sslmode={mode}")).unwrap();
            assert_eq!(config.get_ssl_mode(), expected, "{mode}");
        }
        tls_config().unwrap();
    }

    #[test]
    fn a_wrong_url_does_not_show_its_password() {
        for url in [
            "host=h port=x password=secret",
            "host=h password=sec ret",
            "postgres://u:secret@h:port/db",
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(!error.contains("sec") && !error.contains("ret"), "{error}");
        }
    }

    #[test]
    fn channel_binding_is_refused_before_anything_is_loaded() {
        let url = "postgres://u@h/db?channel_binding=";
        let error = parse(&format!("{url}require")).unwrap_err().to_string();
        assert!(error.contains("sslmode=verify-full"), "{error}");
        assert!(parse(&format!("{url}prefer")).is_ok());
    }

    #[test]
    fn an_unknown_option_is_named_when_it_is_one() {
        for url in ["postgres://u@h/db?sslrootcert=/x", "host=h sslrootcert=/x"] {
            let error = parse(url).unwrap_err().to_string();
            assert!(error.contains("unknown option sslrootcert"), "{error}");
        }
        let error = parse("host=h password=my secret=x")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cannot be parsed") && !error.contains("secret"),
            "{error}"
        );
    }

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

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse(&text);
        }
    }
}
