//! URLs of servers: `scheme://user:password@host:port/database?option=value`, signs other than letters and digits being
//! percent-encoded.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use plimsoll_plan::resolved::{Credential, ServerKind};
use url::{ParseError, Url};

use super::client_environment::{ClientEnvironment, PROCESS};

/// What a URL holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    /// Name or address; an address of IPv6 without its brackets. Empty where there is none.
    pub host: String,
    pub port: Option<u16>,
    pub user: String,
    /// That of the environment where the URL has none.
    pub password: Option<Credential>,
    pub database: Option<String>,
    pub options: Vec<(String, String)>,
}

impl ServerUrl {
    /// Reads the URL of a server of that kind. Errors do not quote it: a piece of it may be one of the password.
    pub fn parse(conninfo: &str, kind: ServerKind) -> Result<Self, &'static str> {
        Self::parse_in(conninfo, kind, &PROCESS)
    }

    pub fn parse_in(
        conninfo: &str,
        kind: ServerKind,
        environment: &ClientEnvironment<'_>,
    ) -> Result<Self, &'static str> {
        const UNREADABLE: &str = "it cannot be parsed";
        const WRONG_PORT: &str = "its port is none from 1 to 65535";
        let rest = kind.rest_of(conninfo).ok_or(UNREADABLE)?;
        let url = Url::parse(&format!("server://{rest}")).map_err(|error| match error {
            ParseError::InvalidPort => WRONG_PORT,
            _ => UNREADABLE,
        })?;
        if url.port() == Some(0) {
            return Err(WRONG_PORT);
        }
        let host = url.host_str().unwrap_or_default();
        let password = match url.password() {
            Some(password) => Some(decoded(password)),
            None => environment.password(kind.password_variable())?,
        };
        let database = decoded(url.path().trim_matches('/'));
        let pairs = url.query().unwrap_or_default().split('&');
        Ok(Self {
            host: decoded(host.trim_matches(['[', ']'])),
            port: url.port(),
            user: decoded(url.username()),
            password: password.map(Credential::from),
            database: Some(database).filter(|name| !name.is_empty()),
            options: pairs.filter(|pair| !pair.is_empty()).map(option).collect(),
        })
    }
}

/// The URL with this password, unless it has one; what cannot be parsed stays as it is.
pub(crate) fn with_password(
    kind: ServerKind,
    conninfo: &str,
    password: &str,
) -> Option<Credential> {
    let rest = kind.rest_of(conninfo)?;
    let mut url = Url::parse(&format!("server://{rest}")).ok()?;
    if url.password().is_some() {
        return None;
    }
    let password = utf8_percent_encode(password, NON_ALPHANUMERIC).to_string();
    url.set_password(Some(&password)).ok()?;
    let scheme = conninfo.strip_suffix(rest)?;
    let with_password = url.as_str().strip_prefix("server://")?;
    Some(format!("{scheme}{with_password}").into())
}

fn option(pair: &str) -> (String, String) {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    (decoded(name), decoded(value))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_parts_are_read() {
        let url = "mysql://u:p%40s+s@[::1]:3307/db?socket=/a%20b+c&flag";
        let expected = ServerUrl {
            host: "::1".into(),
            port: Some(3307),
            user: "u".into(),
            password: Some("p@s+s".into()),
            database: Some("db".into()),
            options: vec![
                ("socket".into(), "/a b+c".into()),
                ("flag".into(), String::new()),
            ],
        };
        assert_eq!(ServerUrl::parse(url, ServerKind::Mysql), Ok(expected));
        assert!(ServerUrl::parse(url, ServerKind::Mariadb).is_err());
        for port in ["0", "65536", "x"] {
            let wrong = ServerUrl::parse(&format!("mysql://h:{port}/db"), ServerKind::Mysql);
            assert_eq!(wrong, Err("its port is none from 1 to 65535"), "{port}");
        }
        let short = ServerUrl::parse("mysql://h", ServerKind::Mysql).unwrap();
        assert_eq!(
            (short.port, short.database, short.user),
            (None, None, String::new())
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = ServerUrl::parse(&text, ServerKind::Mysql);
            let _ = ServerUrl::parse(&format!("mysql://{text}"), ServerKind::Mysql);
        }
    }
}
