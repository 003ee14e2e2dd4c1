//! Where a URL leads, and whether the way is encrypted.

use std::path::PathBuf;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use plimsoll_plan::resolved::{Credential, ServerKind};

use super::option_file::ClientOptions;
use crate::engine::client_environment::{ClientEnvironment, PROCESS, PasswordFile};
use crate::engine::server_url::ServerUrl;
use crate::engine::wire::tls::{Authorities, CertificateTrust};
use crate::error::LoadError;
use crate::passwd::user_name;

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
    pub password_file: PasswordFile,
}

/// Of connections over TCP, as the `--ssl-mode` of MySQL's clients has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Encryption {
    Never,
    /// Where the server can, whatever its certificate: it says nothing about who the server is.
    WherePossible,
    Always(CertificateTrust),
}

impl Encryption {
    /// That of `ssl-mode`, and of `ssl-ca`, which alone asks for verification, as MySQL's clients have it. Where no file names
    /// authorities, those of the system are asked for a certificate of the server's name.
    fn from_options(mode: Option<&str>, authorities: Option<&str>) -> Option<Self> {
        let verified = |checks_name: bool| {
            Self::Always(CertificateTrust::Verified {
                checks_name: checks_name || authorities.is_none(),
                authorities: authorities
                    .map_or(Authorities::System, |path| Authorities::File(path.into())),
            })
        };
        let mode = mode.map(str::to_ascii_lowercase);
        Some(match (mode.as_deref(), authorities) {
            (Some("disabled"), _) => Self::Never,
            (None, None) | (Some("preferred"), _) => Self::WherePossible,
            (Some("required"), _) => Self::Always(CertificateTrust::AnyCertificate),
            (Some("verify_ca"), _) | (None, Some(_)) => verified(false),
            (Some("verify_identity"), _) => verified(true),
            (Some(_), _) => return None,
        })
    }

    /// The value of `ssl-mode` that means it.
    pub const fn mode(&self) -> &'static str {
        match self {
            Self::Never => "DISABLED",
            Self::WherePossible => "PREFERRED",
            Self::Always(CertificateTrust::AnyCertificate) => "REQUIRED",
            Self::Always(CertificateTrust::Verified { checks_name, .. }) => match checks_name {
                true => "VERIFY_IDENTITY",
                false => "VERIFY_CA",
            },
        }
    }

    /// The file of its authorities.
    pub fn authorities(&self) -> Option<&std::path::Path> {
        match self {
            Self::Always(CertificateTrust::Verified {
                authorities: Authorities::File(path),
                ..
            }) => Some(path),
            _ => None,
        }
    }
}

/// Options of a URL.
const OPTIONS: [&str; 4] = ["socket", "ssl-mode", "ssl-ca", NO_DEFAULTS];
/// As clients have it: nothing comes from the environment. So a server of plimsoll's own is reached.
const NO_DEFAULTS: &str = "no-defaults";

impl MariadbAddress {
    /// Reads `mariadb://user:password@host:port/database?socket=path&ssl-mode=…&ssl-ca=path`, or `mysql://…`. `MYSQL_PWD` is
    /// taken when no password is given, and `~/.my.cnf` for all that is still missing.
    pub fn parse(conninfo: &str) -> Result<Self, LoadError> {
        Self::parse_in(conninfo, &PROCESS)
    }

    fn parse_in(conninfo: &str, environment: &ClientEnvironment<'_>) -> Result<Self, LoadError> {
        let kind = ServerKind::of_url(conninfo)
            .filter(|kind| matches!(kind, ServerKind::Mariadb | ServerKind::Mysql));
        let kind = kind.ok_or_else(|| wrong("it does not begin with mariadb:// or mysql://"))?;
        let nothing = |_: &str| None;
        let without = ClientEnvironment::new(&nothing);
        let mut url = ServerUrl::parse_in(conninfo, kind, &without).map_err(wrong)?;
        let names = url.options.iter().map(|(name, _)| name.as_str());
        if names.into_iter().any(|name| !OPTIONS.contains(&name)) {
            return Err(wrong(
                "it has an option that plimsoll does not know: those are `socket`, `ssl-mode`, `ssl-ca` and `no-defaults`",
            ));
        }
        let has_defaults = url.options.iter().all(|(name, _)| name != NO_DEFAULTS);
        let environment = if has_defaults { environment } else { &without };
        if url.password.is_none() {
            let password = environment.password(kind.password_variable());
            url.password = password.map_err(wrong)?.map(Credential::from);
        }
        let file = ClientOptions::read(kind, environment);
        Self::from_parts(kind, url, &file)
    }

    fn from_parts(
        kind: ServerKind,
        url: ServerUrl,
        file: &ClientOptions,
    ) -> Result<Self, LoadError> {
        let option = |name: &str| {
            let own = url.options.iter().find(|(own, _)| own == name);
            own.map(|(_, value)| value.as_str())
        };
        let encryption = match option("ssl-mode").or(option("ssl-ca")) {
            Some(_) => Encryption::from_options(
                option("ssl-mode"),
                option("ssl-ca").or(file.get("ssl-ca")),
            ),
            None => encryption_of_file(file),
        };
        let encryption = encryption.ok_or_else(|| {
            wrong(
                "its ssl-mode is none of disabled, preferred, required, verify_ca and verify_identity",
            )
        })?;
        let file_port = file.get("port").map(str::parse).transpose();
        let file_port = file_port.map_err(|_| wrong("the port in ~/.my.cnf is no number"))?;
        let has_host = !url.host.is_empty();
        let host = [&url.host, file.get("host").unwrap_or("localhost")];
        let socket = option("socket").or(file.get("socket").filter(|_| !has_host));
        let socket = socket.map(PathBuf::from);
        let (password, password_file) = match (url.password, file.get("password")) {
            (Some(password), _) => (password, PasswordFile::Without),
            (None, Some(password)) => (
                password.into(),
                file.read
                    .clone()
                    .map_or(PasswordFile::Without, PasswordFile::Used),
            ),
            (None, None) => (Credential::default(), PasswordFile::Without),
        };
        let ignored = file.ignored.clone().filter(|_| password.is_empty());
        Ok(Self {
            kind,
            host: host[usize::from(!has_host)].to_owned(),
            port: url.port.or(file_port).unwrap_or(PORT),
            socket,
            user: match (url.user.is_empty(), file.get("user")) {
                (false, _) => url.user,
                (true, Some(user)) => user.to_owned(),
                (true, None) => user_name(rustix::process::geteuid().as_raw()),
            },
            password,
            database: url.database,
            encryption,
            password_file: match ignored {
                Some((path, why)) => PasswordFile::Ignored(path, why),
                None => password_file,
            },
        })
    }

    /// As a URL that needs no environment.
    pub fn completed(conninfo: &str, environment: &ClientEnvironment<'_>) -> Option<Credential> {
        let address = Self::parse_in(conninfo, environment).ok()?;
        let scheme = address.kind.engine().name();
        let (user, password) = (
            percent_encoded(&address.user),
            percent_encoded(&address.password),
        );
        let host = match address.host.contains(':') {
            true => format!("[{}]", address.host),
            false => address.host.clone(),
        };
        let database = percent_encoded(address.database.as_deref().unwrap_or_default());
        let mode = address.encryption.mode();
        let mut url = format!(
            "{scheme}://{user}:{password}@{host}:{}/{database}?ssl-mode={mode}",
            address.port
        );
        for (name, path) in [
            ("ssl-ca", address.encryption.authorities()),
            ("socket", address.socket.as_deref()),
        ] {
            if let Some(path) = path {
                url.push_str(&format!("&{name}={}", encoded(path.to_str()?)));
            }
        }
        Some(url.into())
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

/// `ssl-mode` is MySQL's word, the others are MariaDB's.
fn encryption_of_file(file: &ClientOptions) -> Option<Encryption> {
    let is_on = |name: &str| {
        file.get(name)
            .is_some_and(|value| !matches!(value, "0" | "OFF" | "off" | "FALSE" | "false"))
    };
    let mode = match file.get("ssl-mode") {
        Some(mode) => Some(mode),
        None if is_on("skip-ssl") => Some("disabled"),
        None if is_on("ssl-verify-server-cert") => Some("verify_identity"),
        None => None,
    };
    Encryption::from_options(mode, file.get("ssl-ca"))
}

fn wrong(why: &str) -> LoadError {
    let next = "Write it as mariadb://user@host:3306/database, with %40 for an @ in a password.";
    LoadError::Unsupported {
        what: "use the URL".into(),
        why: why.into(),
        next: next.into(),
    }
}

/// Any text as each part of a URL can hold it.
fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
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
            password_file: PasswordFile::Without,
        };
        assert_eq!(address, expected);
        assert_eq!(address.place(), "MySQL at h:3307");
        let verified = |authorities, checks_name| {
            Encryption::Always(CertificateTrust::Verified {
                authorities,
                checks_name,
            })
        };
        let file = || Authorities::File("/ca.pem".into());
        for (options, expected) in [
            ("ssl-mode=DISABLED", Encryption::Never),
            (
                "ssl-mode=REQUIRED",
                Encryption::Always(CertificateTrust::AnyCertificate),
            ),
            (
                "ssl-mode=VERIFY_CA",
                Encryption::Always(CertificateTrust::SYSTEM),
            ),
            (
                "ssl-mode=verify_identity",
                Encryption::Always(CertificateTrust::SYSTEM),
            ),
            ("ssl-ca=/ca.pem", verified(file(), false)),
            (
                "ssl-ca=%2Fca.pem&ssl-mode=VERIFY_CA",
                verified(file(), false),
            ),
            (
                "ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem",
                verified(file(), true),
            ),
            (
                "ssl-mode=REQUIRED&ssl-ca=/ca.pem",
                Encryption::Always(CertificateTrust::AnyCertificate),
            ),
        ] {
            let address = MariadbAddress::parse(&format!("mariadb://u@h?{options}")).unwrap();
            assert_eq!(
                (address.port, address.encryption),
                (3306, expected),
                "{options}"
            );
        }
    }

    #[test]
    fn what_is_missing_comes_from_the_option_file() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".my.cnf");
        let text = "[client]\nuser=anna\npassword='p@ss'\nhost=h2\nport=3307\nssl-ca=/ca.pem\n";
        std::fs::write(&path, text).unwrap();
        let directory = home.path().to_str().unwrap().to_owned();
        let variable = |name: &str| (name == "HOME").then(|| directory.clone());
        let environment = ClientEnvironment::new(&variable);
        let parse = |url| MariadbAddress::parse_in(url, &environment).unwrap();
        let address = parse("mysql:///shop");
        assert_eq!((address.host.as_str(), address.port), ("h2", 3307));
        assert_eq!(
            (address.user.as_str(), &*address.password),
            ("anna", "p@ss")
        );
        assert_eq!(address.encryption.mode(), "VERIFY_CA");
        assert_eq!(address.password_file, PasswordFile::Used(path.clone()));
        let completed = MariadbAddress::completed("mysql:///shop", &environment).unwrap();
        let again = MariadbAddress {
            password_file: PasswordFile::Without,
            ..address
        };
        let none = |_: &str| None;
        let without = ClientEnvironment::new(&none);
        assert_eq!(
            MariadbAddress::parse_in(&completed, &without).unwrap(),
            again
        );
        let address = parse("mysql://u:own@h:1/shop?ssl-mode=required");
        assert_eq!((address.user.as_str(), &*address.password), ("u", "own"));
        assert_eq!(
            (address.host.as_str(), address.encryption.mode()),
            ("h", "REQUIRED")
        );
        // A server of plimsoll's own.
        let own = parse("mariadb://root@localhost?no-defaults=1&socket=/s");
        assert_eq!((own.port, &*own.password), (3306, ""));

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o646)).unwrap();
        let address = parse("mysql://u@h/shop");
        assert_eq!(&*address.password, "");
        assert!(address.password_file.ignored().is_some());
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
