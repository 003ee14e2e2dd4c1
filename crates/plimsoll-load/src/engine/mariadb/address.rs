//! Where a URL leads, and whether the way is encrypted.

use std::path::PathBuf;

use plimsoll_plan::resolved::{Credential, ServerKind};

use crate::engine::server_url::ServerUrl;
use crate::engine::wire::tls::CertificateTrust;
use crate::error::LoadError;

const PORT: u16 = 3306;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MariadbAddress {
    pub kind: ServerKind,
    pub host: String,
    pub port: u16,
    /// Instead of host and port.
    pub socket: Option<PathBuf>,
    pub user: String,
    pub password: Credential,
    pub database: Option<String>,
    pub encryption: Encryption,
}

/// Of connections over TCP, as the `--ssl-mode` of MySQL's clients has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    Never,
    /// Where the server can, whatever its certificate: it says nothing about who the server is.
    WherePossible,
    Always(CertificateTrust),
}

impl Encryption {
    /// Values of `ssl-mode`. An authority's signature without the server's name proves little: both are verified.
    fn of(mode: &str) -> Option<Self> {
        Some(match mode.to_ascii_lowercase().as_str() {
            "disabled" => Self::Never,
            "preferred" => Self::WherePossible,
            "required" => Self::Always(CertificateTrust::AnyCertificate),
            "verify_ca" | "verify_identity" => Self::Always(CertificateTrust::SystemRoots),
            _ => return None,
        })
    }
}

impl MariadbAddress {
    /// Reads `mariadb://user:password@host:port/database?socket=path&ssl-mode=…`, or `mysql://…`. `MYSQL_PWD` is taken when
    /// no password is given.
    pub fn parse(conninfo: &str) -> Result<Self, LoadError> {
        let kind = ServerKind::of_url(conninfo)
            .filter(|kind| matches!(kind, ServerKind::Mariadb | ServerKind::Mysql));
        let kind = kind.ok_or_else(|| wrong("it does not begin with mariadb:// or mysql://"))?;
        let url = ServerUrl::parse(conninfo, kind).map_err(wrong)?;
        let mut address = Self {
            kind,
            host: url.host,
            port: url.port.unwrap_or(PORT),
            socket: None,
            user: url.user,
            password: url.password.unwrap_or_default(),
            database: url.database,
            encryption: Encryption::WherePossible,
        };
        for (name, value) in url.options {
            match (name.as_str(), Encryption::of(&value)) {
                ("socket", _) => address.socket = Some(value.into()),
                ("ssl-mode", Some(encryption)) => address.encryption = encryption,
                ("ssl-mode", None) => {
                    return Err(wrong(
                        "its ssl-mode is none of disabled, preferred, required, verify_ca and verify_identity",
                    ));
                }
                _ => {
                    return Err(wrong(
                        "it has an option that plimsoll does not know: only `socket` and `ssl-mode` are",
                    ));
                }
            }
        }
        Ok(address)
    }

    /// For messages: without the password.
    pub fn place(&self) -> String {
        let title = self.kind.title();
        match &self.socket {
            Some(socket) => format!("{title} at {}", socket.display()),
            None => format!("{title} at {}:{}", self.host, self.port),
        }
    }
}

fn wrong(why: &str) -> LoadError {
    let next = "Write it as mariadb://user@host:3306/database, with %40 for an @ in a password.";
    LoadError::other("the URL", format!("{why}\n{next}"))
}

/// A path as a URL's option holds it.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_url_names_server_user_and_encryption() {
        let address = MariadbAddress::parse("mysql://u:p%40ss@h:3307/db").unwrap();
        let expected = MariadbAddress {
            kind: ServerKind::Mysql,
            host: "h".into(),
            port: 3307,
            socket: None,
            user: "u".into(),
            password: "p@ss".into(),
            database: Some("db".into()),
            encryption: Encryption::WherePossible,
        };
        assert_eq!(address, expected);
        assert_eq!(address.place(), "MySQL at h:3307");
        let address = MariadbAddress::parse("mariadb://u@h?ssl-mode=REQUIRED").unwrap();
        let required = Encryption::Always(CertificateTrust::AnyCertificate);
        assert_eq!((address.port, address.encryption), (3306, required));
        let address = MariadbAddress::parse("mariadb://u@h?ssl-mode=verify_identity").unwrap();
        let verified = Encryption::Always(CertificateTrust::SystemRoots);
        assert_eq!(address.encryption, verified);
    }

    #[test]
    fn a_wrong_url_does_not_show_its_password() {
        for url in [
            "mariadb://u:secret@h:port/db",
            "mysql://u:secret@h/db?x=secret",
            "mysql://u:secret@h/db?ssl-mode=secret",
            "postgres://u:secret@h",
            "mssql://u:secret@h",
            "u:secret@h",
        ] {
            let error = MariadbAddress::parse(url).unwrap_err().to_string();
            assert!(
                !error.contains("secret") && error.contains("Write it as"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_path_can_be_a_socket(path in "/.*") {
            let url = format!("mariadb://root@localhost?socket={}", encoded(&path));
            prop_assert_eq!(MariadbAddress::parse(&url).unwrap().socket, Some(path.into()));
        }

        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = MariadbAddress::parse(&text);
            let _ = MariadbAddress::parse(&format!("mariadb://{text}"));
        }
    }
}
