//! Connections, and what an error on the way means.

use std::io;
use std::time::Duration;

use plimsoll_plan::resolved::{Credential, ServerKind};
use tiberius::error::Error;
use tiberius::{AuthMethod, Config};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use super::failure::{
    CANNOT_OPEN_DATABASE, LOGIN_FAILED, SqlserverFailure, TOO_MANY_CONNECTIONS, server_error,
};
use super::tls::TdsStream;
use crate::engine::server_url::ServerUrl;
use crate::engine::wire::tls::CertificateTrust;
use crate::error::LoadError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const PORT: u16 = 1433;

/// An error ends the batch and rolls its transaction back, whatever kind of error it is; names in double quotes.
const SETUP: &str =
    "SET XACT_ABORT ON; SET QUOTED_IDENTIFIER ON; SET ANSI_NULLS ON; SET NOCOUNT OFF";

pub(super) type Tds = tiberius::Client<Compat<TdsStream>>;

/// Where a URL leads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    host: String,
    port: u16,
    user: String,
    password: Credential,
    /// The login's own where there is none.
    database: Option<String>,
    /// `None`: not encrypted.
    trust: Option<CertificateTrust>,
}

/// Reads `mssql://user:password@host:port/database?encrypt=…&trustServerCertificate=…`, signs in a password being
/// percent-encoded. `SQLCMDPASSWORD` is taken when no password is given.
///
/// Connections are encrypted and the certificate is verified, unless that is refused.
fn parse(conninfo: &str) -> Result<Address, LoadError> {
    let url = ServerUrl::parse(conninfo, ServerKind::Sqlserver).map_err(wrong)?;
    let trust = trust(&url.options)?;
    if url.host.is_empty() {
        return Err(wrong("it has no host"));
    }
    Ok(Address {
        host: url.host,
        port: url.port.unwrap_or(PORT),
        user: url.user,
        password: url.password.unwrap_or_default(),
        database: url.database,
        trust,
    })
}

pub(super) fn check_url(conninfo: &str) -> Result<(), LoadError> {
    parse(conninfo).map(drop)
}

fn trust(options: &[(String, String)]) -> Result<Option<CertificateTrust>, LoadError> {
    let mut is_encrypted = true;
    let mut trust = CertificateTrust::SYSTEM;
    for (name, value) in options {
        match (name.as_str(), value.as_str()) {
            ("encrypt", "true") => is_encrypted = true,
            ("encrypt", "false") => is_encrypted = false,
            ("trustServerCertificate", "true") => trust = CertificateTrust::AnyCertificate,
            ("trustServerCertificate", "false") => trust = CertificateTrust::SYSTEM,
            _ => {
                return Err(wrong(
                    "it has an option that plimsoll does not know: only `encrypt` and \
                     `trustServerCertificate` are, true or false",
                ));
            }
        }
    }
    Ok(is_encrypted.then_some(trust))
}

fn wrong(why: &str) -> LoadError {
    let next = "Write it as mssql://user@host:1433/database, with %40 for an @ in a password.";
    LoadError::Unsupported {
        what: "use the SQL Server URL".into(),
        why: why.into(),
        next: next.into(),
    }
}

/// Opens a connection; needs a runtime.
pub(super) async fn connect(conninfo: &str) -> Result<Tds, LoadError> {
    let address = parse(conninfo)?;
    let opened = tokio::time::timeout(CONNECT_TIMEOUT, open(&address)).await;
    let opened = opened.unwrap_or_else(|_| {
        let seconds = CONNECT_TIMEOUT.as_secs();
        Err(ConnectRefusal::Unreachable(format!(
            "no answer in {seconds} s"
        )))
    });
    opened.map_err(|refusal| explain(&address, refusal))
}

/// Why no connection came about.
enum ConnectRefusal {
    Unreachable(String),
    NotEncrypted(String),
    Server(Error),
}

async fn open(address: &Address) -> Result<Tds, ConnectRefusal> {
    let unreachable = |error: io::Error| ConnectRefusal::Unreachable(error.to_string());
    let socket = TcpStream::connect((address.host.as_str(), address.port))
        .await
        .map_err(unreachable)?;
    socket.set_nodelay(true).map_err(unreachable)?;
    let stream = match address.trust.clone() {
        None => TdsStream::Plain(socket),
        Some(trust) => TdsStream::encrypted(socket, &address.host, trust)
            .await
            .map_err(|error| ConnectRefusal::NotEncrypted(error.to_string()))?,
    };
    let mut client = Tds::connect(config(address), stream.compat_write())
        .await
        .map_err(ConnectRefusal::Server)?;
    let set_up = client.simple_query(SETUP).await;
    let done = set_up.map_err(ConnectRefusal::Server)?.into_results().await;
    done.map_err(ConnectRefusal::Server)?;
    Ok(client)
}

fn config(address: &Address) -> Config {
    let mut config = Config::new();
    config.host(&address.host);
    config.port(address.port);
    config.application_name("plimsoll");
    config.authentication(AuthMethod::sql_server(&address.user, &*address.password));
    // A load's statement takes as long as it takes.
    config.command_timeout(None);
    if let Some(database) = &address.database {
        config.database(database);
    }
    config
}

/// With the next step, and without the password.
fn explain(address: &Address, refusal: ConnectRefusal) -> LoadError {
    let Address {
        host, port, user, ..
    } = address;
    let what = format!("SQL Server at {host}:{port}");
    let error = match refusal {
        ConnectRefusal::Unreachable(why) => {
            let next =
                "Check host and port in the URL, that the server runs, and that it listens on TCP.";
            return LoadError::Unreachable {
                what,
                why,
                next: next.into(),
            };
        }
        ConnectRefusal::NotEncrypted(why) => {
            let next = "Name the authority that signed the server's certificate with SSL_CERT_FILE, or put \
                        trustServerCertificate=true or encrypt=false into the URL.";
            return LoadError::Unreachable {
                what,
                why: format!("no encrypted connection: {why}"),
                next: next.into(),
            };
        }
        ConnectRefusal::Server(error) => error,
    };
    let why = SqlserverFailure::from(&error).text;
    match error.code() {
        Some(LOGIN_FAILED) => LoadError::Refused {
            what,
            why,
            next: format!("Give the right password of {user:?} in SQLCMDPASSWORD or in the URL."),
        },
        Some(CANNOT_OPEN_DATABASE) => LoadError::Missing {
            what: format!("The database of {what}"),
            searched: why,
            next: "Name another one in the URL, or none: plimsoll makes its own.".into(),
        },
        Some(TOO_MANY_CONNECTIONS) => LoadError::TooManyConnections {
            what,
            why,
            next: "Raise the server's `user connections`, or use fewer connections in the plan."
                .into(),
        },
        Some(_) => server_error(&what, &error),
        None => LoadError::Unreachable {
            what,
            why,
            next: "Check host and port in the URL, and that a SQL Server listens there; where it must be encrypted, \
                   leave encrypt=false out."
                .into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_url_names_server_user_and_encryption() {
        let address = parse("sqlserver://u:p%40ss@h:1434/db?trustServerCertificate=true").unwrap();
        let expected = Address {
            host: "h".into(),
            port: 1434,
            user: "u".into(),
            password: "p@ss".into(),
            database: Some("db".into()),
            trust: Some(CertificateTrust::AnyCertificate),
        };
        assert_eq!(address, expected);
        let address = parse("mssql://u:p@h").unwrap();
        assert_eq!((address.port, address.database), (PORT, None));
        assert_eq!(address.trust, Some(CertificateTrust::SYSTEM));
        assert_eq!(parse("mssql://u@h?encrypt=false").unwrap().trust, None);
    }

    #[test]
    fn a_wrong_url_does_not_show_its_password() {
        for url in [
            "mssql://u:secret@h:port/db",
            "mssql://u:secret@h/db?x=secret",
            "mssql://u:secret@h?encrypt=secret",
            "postgres://u:secret@h",
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(
                !error.contains("secret") && error.contains("Write it as"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn a_server_that_does_not_run_is_unreachable() {
        let refused = connect("mssql://u:secret@127.0.0.1:1/db").await;
        let Err(error) = refused else {
            panic!("nobody is there")
        };
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
        assert!(
            error.to_string().contains("127.0.0.1:1") && !error.to_string().contains("secret"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse(&text);
            let _ = parse(&format!("mssql://{text}"));
        }
    }
}
