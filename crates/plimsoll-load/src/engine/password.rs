//! Passwords that a URL leaves to the environment, for machines that have another environment.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use plimsoll_plan::resolved::{Credential, ServerKind};
use plimsoll_record::lane::Endpoint;
use url::Url;

use super::postgres::connect::lacks_password;

/// The endpoint with this process's password where it has none of its own. For sending only: it must not be stored.
pub fn with_password_of_environment(endpoint: Endpoint) -> Endpoint {
    let Endpoint::Server {
        engine,
        conninfo,
        schema,
    } = endpoint
    else {
        return endpoint;
    };
    let conninfo = match std::env::var(engine.password_variable()) {
        Ok(password) => with_password(engine, conninfo, &password),
        Err(_) => conninfo,
    };
    Endpoint::Server {
        engine,
        conninfo,
        schema,
    }
}

/// What cannot be parsed stays as it is: the connection's error explains it.
fn with_password(engine: ServerKind, conninfo: Credential, password: &str) -> Credential {
    match engine {
        ServerKind::Postgres => with_postgres_password(conninfo, password),
        ServerKind::Mariadb | ServerKind::Mysql | ServerKind::Sqlserver => {
            with_url_password(engine, &conninfo, password).map_or(conninfo, Credential::from)
        }
    }
}

/// As a parameter: the part before the host may name several hosts or none, which is no URL to other parsers.
fn with_postgres_password(conninfo: Credential, password: &str) -> Credential {
    if !lacks_password(&conninfo) {
        return conninfo;
    }
    if ServerKind::Postgres.rest_of(&conninfo).is_some() {
        let sign = if conninfo.contains('?') { '&' } else { '?' };
        let password = utf8_percent_encode(password, NON_ALPHANUMERIC);
        format!("{}{sign}password={password}", &*conninfo).into()
    } else {
        let password = password.replace('\\', r"\\").replace('\'', r"\'");
        format!("{} password='{password}'", &*conninfo).into()
    }
}

fn with_url_password(engine: ServerKind, conninfo: &str, password: &str) -> Option<String> {
    let rest = engine.rest_of(conninfo)?;
    let mut url = Url::parse(&format!("server://{rest}")).ok()?;
    if url.password().is_some() {
        return None;
    }
    let password = utf8_percent_encode(password, NON_ALPHANUMERIC).to_string();
    url.set_password(Some(&password)).ok()?;
    let scheme = conninfo.strip_suffix(rest)?;
    let with_password = url.as_str().strip_prefix("server://")?;
    Some(format!("{scheme}{with_password}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::postgres;
    use crate::engine::server_url::ServerUrl;

    fn of_postgres(conninfo: &str) -> Option<Vec<u8>> {
        let config = postgres::connect::parse(conninfo).unwrap();
        config.get_password().map(<[u8]>::to_vec)
    }

    proptest! {
        #[test]
        fn any_password_arrives_as_it_is(password in "\\PC{1,20}") {
            for text in [
                "postgres://u@h1:5432,h2:5433/db?sslmode=verify-full", "postgres://h", "postgresql://u@%2Frun%2Fpg/db",
                "host=/run/pg user=u", "host=h dbname=db",
            ] {
                let with = with_password(ServerKind::Postgres, text.into(), &password);
                prop_assert_eq!(of_postgres(&with), Some(password.clone().into_bytes()), "{}", text);
            }
            for (kind, text) in [
                (ServerKind::Mysql, "mysql://u@[::1]:3307/db?socket=/a%20b"), (ServerKind::Mariadb, "mariadb://h"),
                (ServerKind::Sqlserver, "mssql://sa@h:1433?encrypt=false"),
            ] {
                let with = with_password(kind, text.into(), &password);
                let expected = ServerUrl { password: Some(password.clone().into()), ..ServerUrl::parse(text, kind).unwrap() };
                prop_assert_eq!(ServerUrl::parse(&with, kind), Ok(expected), "{}", text);
            }
        }
    }

    #[test]
    fn a_password_of_the_url_stays() {
        for (kind, text) in [
            (ServerKind::Postgres, "postgres://u:own@h/db"),
            (ServerKind::Postgres, "host=h password=own"),
            (ServerKind::Postgres, "postgres://h?password=own"),
            (ServerKind::Mariadb, "mariadb://u:own@h/db"),
            (ServerKind::Sqlserver, "mssql://u:own@h"),
        ] {
            assert_eq!(&*with_password(kind, text.into(), "other"), text);
        }
    }
}
