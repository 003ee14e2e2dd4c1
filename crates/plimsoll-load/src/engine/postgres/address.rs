//! Where a URL leads and how: what libpq would take from the environment is filled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use plimsoll_plan::resolved::{Credential, ServerKind};
use tokio_postgres::config::{ChannelBinding, Host, SslMode};
use tokio_postgres::{Config, Error};

use super::passfile::{self, PasswordOwner};
use super::service;
use crate::engine::client_environment::{ClientEnvironment, PROCESS, PasswordFile};
use crate::engine::wire::tls::{Authorities, CertificateTrust};
use crate::error::LoadError;
use crate::passwd::user_name;

pub(super) const PORT: u16 = 5432;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Folders of sockets that are a host's where none is named, and `localhost` in password files.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Variables that stand for a parameter which nothing else gives.
const VARIABLES: [(&str, &str); 7] = [
    ("PGHOST", "host"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGDATABASE", "dbname"),
    ("PGPASSWORD", "password"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
];

/// Options that the driver does not know, or not all values of.
const OWN_OPTIONS: [&str; 5] = [
    "passfile",
    "service",
    "servicefile",
    "sslmode",
    "sslrootcert",
];

/// What a connection needs to know.
#[derive(Debug)]
pub struct PostgresAddress {
    pub config: Config,
    /// What a certificate must be, where there is TLS.
    pub(crate) trust: CertificateTrust,
    pub(crate) password_file: PasswordFile,
    /// All of it as one text.
    completed: Credential,
}

/// Reads a URL (`postgres://user@host/db`), or the key/value string of a server of plimsoll's own.
pub fn parse(conninfo: &str) -> Result<PostgresAddress, LoadError> {
    parse_in(conninfo, &PROCESS)
}

fn parse_in(
    conninfo: &str,
    environment: &ClientEnvironment<'_>,
) -> Result<PostgresAddress, LoadError> {
    let mut conninfo = Conninfo::read(conninfo)?;
    conninfo.add_missing(environment)?;
    let encryption = conninfo.encryption(environment)?;
    let password_file = conninfo.add_password(environment)?;
    let mut config = conninfo.config()?;
    config.ssl_mode(encryption.mode);
    if config.get_ports().contains(&0) {
        return Err(unusable("its port is none from 1 to 65535".into()));
    }
    if config.get_channel_binding() == ChannelBinding::Require {
        // The driver that logs a measured session in does not see the TLS below it.
        return Err(LoadError::Unsupported {
            what: WHAT.into(),
            why: "channel_binding=require is not possible".into(),
            next: "Use sslmode=verify-full, which verifies the server's certificate and name."
                .into(),
        });
    }
    if config.get_application_name().is_none() {
        config.application_name("plimsoll");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    Ok(PostgresAddress {
        config,
        trust: encryption.trust,
        password_file,
        completed: conninfo.completed(),
    })
}

/// The text with all that this environment adds, for a process with another one; `None` where it cannot be used.
pub(crate) fn completed(conninfo: &str, environment: &ClientEnvironment<'_>) -> Option<Credential> {
    let address = parse_in(conninfo, environment).ok()?;
    Some(address.completed)
}

const WHAT: &str = "use the PostgreSQL URL";

fn unusable(why: String) -> LoadError {
    LoadError::Unsupported {
        what: WHAT.into(),
        why,
        next: "Write it as postgres://user@host:5432/database?sslmode=require".into(),
    }
}

/// When a connection is encrypted, and what the server must prove then.
struct TlsPolicy {
    mode: SslMode,
    trust: CertificateTrust,
}

/// A connection string in two parts.
struct Conninfo {
    is_url: bool,
    /// What the driver reads.
    text: Credential,
    own: BTreeMap<&'static str, String>,
}

impl Conninfo {
    fn read(conninfo: &str) -> Result<Self, LoadError> {
        let own = BTreeMap::new();
        let is_url = ServerKind::Postgres.rest_of(conninfo).is_some();
        if !is_url {
            return Ok(Self {
                is_url,
                text: conninfo.into(),
                own,
            });
        }
        // As the driver reads it: what is before the first @ may hold any sign.
        let host = conninfo.find('@').unwrap_or_default();
        let query = conninfo[host..].find('?').map(|at| host + at);
        let (text, options) = conninfo.split_at(query.unwrap_or(conninfo.len()));
        let mut read = Self {
            is_url,
            text: format!("{text}?").into(),
            own,
        };
        let options = options.trim_start_matches('?').split('&');
        for option in options.filter(|option| !option.is_empty()) {
            let (name, value) = option
                .split_once('=')
                .ok_or_else(|| unusable("one of its options has no value".into()))?;
            let value = percent_decode_str(value).decode_utf8();
            let value = value.map_err(|_| unusable("one of its values is not UTF-8".into()))?;
            read.add(name, &value);
        }
        Ok(read)
    }

    fn add(&mut self, name: &str, value: &str) {
        if let Some(own) = OWN_OPTIONS.into_iter().find(|own| *own == name) {
            self.own.insert(own, value.to_owned());
        } else {
            self.append(name, value);
        }
    }

    fn append(&mut self, name: &str, value: &str) {
        self.text = if self.is_url {
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            format!("{}&{name}={value}", &*self.text).replacen("?&", "?", 1)
        } else {
            let value = value.replace('\\', r"\\").replace('\'', r"\'");
            format!("{} {name}='{value}'", &*self.text)
        }
        .into();
    }

    fn config(&self) -> Result<Config, LoadError> {
        self.text.parse().map_err(|error: Error| {
            // The parser's message may hold a piece of a password that was not quoted.
            let cause = std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default();
            unusable(match cause.strip_prefix("unknown option `") {
                Some(rest) => unknown_option(rest.trim_end_matches('`')),
                None if cause.starts_with("invalid value for option") => cause,
                None => "it cannot be parsed".into(),
            })
        })
    }

    /// What a service and the environment give, and libpq's defaults. A server of plimsoll's own needs none of it.
    fn add_missing(&mut self, environment: &ClientEnvironment<'_>) -> Result<(), LoadError> {
        let mut given: Vec<(String, String)> = Vec::new();
        if self.is_url {
            let service = self.own.get("service").cloned();
            if let Some(service) = service.or_else(|| environment.variable("PGSERVICE")) {
                let file = self.own.get("servicefile").map(String::as_str);
                given = service::parameters(&service, file, environment).map_err(unusable)?;
            }
        }
        for (variable, name) in VARIABLES {
            if self.is_url || name == "password" {
                let value = environment.variable(variable);
                given.extend(value.map(|value| (name.to_owned(), value)));
            }
        }
        for (name, value) in given {
            if self.lacks(&name)? {
                self.add(&name, &value);
            }
        }
        if self.is_url && self.lacks("user")? {
            let user = user_name(rustix::process::geteuid().as_raw());
            self.append("user", &user);
        }
        if self.is_url && self.lacks("host")? {
            let port = self.config()?.get_ports().first().copied().unwrap_or(PORT);
            let socket = format!(".s.PGSQL.{port}");
            let mut folders = SOCKET_FOLDERS.into_iter();
            let folder = folders.find(|folder| Path::new(folder).join(&socket).exists());
            self.append("host", folder.unwrap_or("localhost"));
        }
        Ok(())
    }

    fn lacks(&self, name: &str) -> Result<bool, LoadError> {
        let config = self.config()?;
        Ok(match name {
            "host" => config.get_hosts().is_empty() && config.get_hostaddrs().is_empty(),
            "hostaddr" => config.get_hosts().is_empty() && config.get_hostaddrs().is_empty(),
            "port" => config.get_ports().is_empty(),
            "user" => config.get_user().is_none(),
            "dbname" => config.get_dbname().is_none(),
            "password" => config.get_password().is_none(),
            name if OWN_OPTIONS.contains(&name) => !self.own.contains_key(name),
            name => !self.text.contains(&format!("{name}=")),
        })
    }

    /// That of a password file, where nothing else gives one.
    fn add_password(
        &mut self,
        environment: &ClientEnvironment<'_>,
    ) -> Result<PasswordFile, LoadError> {
        if !self.is_url || !self.lacks("password")? {
            return Ok(PasswordFile::Without);
        }
        let named = self.own.get("passfile").map(PathBuf::from);
        let named = named.or_else(|| environment.variable("PGPASSFILE").map(PathBuf::from));
        let Some(path) = named.or_else(|| environment.in_home(".pgpass")) else {
            return Ok(PasswordFile::Without);
        };
        let config = self.config()?;
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(folder))
                if SOCKET_FOLDERS.iter().any(|own| folder == Path::new(own)) =>
            {
                "localhost".into()
            }
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => config
                .get_hostaddrs()
                .first()
                .map(ToString::to_string)
                .unwrap_or_default(),
        };
        let user = config.get_user().unwrap_or_default();
        let owner = PasswordOwner {
            host: &host,
            port: config.get_ports().first().copied().unwrap_or(PORT),
            database: config.get_dbname().unwrap_or(user),
            user,
        };
        let (password, file) = passfile::read(path, &owner);
        if let Some(password) = password {
            self.append("password", &password);
        }
        Ok(file)
    }

    /// As libpq reads `sslmode` and `sslrootcert`, with two differences: `prefer` takes any certificate, and where no file
    /// names authorities, `verify-ca` and `verify-full` ask those of the system for a certificate of the server's name.
    fn encryption(&self, environment: &ClientEnvironment<'_>) -> Result<TlsPolicy, LoadError> {
        if !self.is_url {
            return Ok(TlsPolicy {
                mode: self.config()?.get_ssl_mode(),
                trust: CertificateTrust::AnyCertificate,
            });
        }
        let authorities = match self.own.get("sslrootcert").map(String::as_str) {
            Some("system") => Some(Authorities::System),
            Some(path) => Some(Authorities::File(path.into())),
            None => {
                let users = environment.in_home(".postgresql/root.crt");
                users.filter(|path| path.exists()).map(Authorities::File)
            }
        };
        let is_system = authorities == Some(Authorities::System);
        let unset = if is_system { "verify-full" } else { "prefer" };
        let mode = self.own.get("sslmode").map_or(unset, String::as_str);
        if is_system && mode != "verify-full" {
            return Err(unusable(
                "sslrootcert=system needs sslmode=verify-full".into(),
            ));
        }
        let verified = |checks_name| CertificateTrust::Verified {
            checks_name: checks_name || authorities.is_none(),
            authorities: authorities.clone().unwrap_or(Authorities::System),
        };
        let (mode, trust) = match mode {
            "disable" => (SslMode::Disable, CertificateTrust::AnyCertificate),
            "prefer" => (SslMode::Prefer, CertificateTrust::AnyCertificate),
            "require" => match &authorities {
                Some(Authorities::File(path)) if path.exists() => {
                    (SslMode::Require, verified(false))
                }
                _ => (SslMode::Require, CertificateTrust::AnyCertificate),
            },
            "verify-ca" => (SslMode::Require, verified(false)),
            "verify-full" => (SslMode::Require, verified(true)),
            _ => {
                return Err(unusable(
                    "its sslmode is none of disable, prefer, require, verify-ca and verify-full"
                        .into(),
                ));
            }
        };
        Ok(TlsPolicy { mode, trust })
    }

    fn completed(mut self) -> Credential {
        for (name, value) in std::mem::take(&mut self.own) {
            if name.starts_with("ssl") {
                self.append(name, &value);
            }
        }
        self.text
    }
}

/// Why an option is refused. Its name is shown where it is one of libpq's: any other may be a piece of a password.
fn unknown_option(name: &str) -> String {
    const OF_LIBPQ: [&str; 17] = [
        "client_encoding",
        "fallback_application_name",
        "gssdelegation",
        "gssencmode",
        "gsslib",
        "krbsrvname",
        "replication",
        "require_auth",
        "requirepeer",
        "requiressl",
        "sslcert",
        "sslcertmode",
        "sslcompression",
        "sslcrl",
        "sslkey",
        "sslpassword",
        "sslsni",
    ];
    match OF_LIBPQ.into_iter().find(|known| *known == name) {
        Some(known) => format!("plimsoll does not have its option {known}"),
        None => "it has an option that plimsoll and libpq do not have".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    fn in_environment(url: &str, variables: &[(&str, &str)]) -> Result<PostgresAddress, LoadError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        parse_in(url, &ClientEnvironment::new(&variable))
    }

    fn password(address: &PostgresAddress) -> Option<String> {
        let password = address.config.get_password()?;
        Some(String::from_utf8(password.to_vec()).unwrap())
    }

    /// A home directory with these files, of which only the user has permissions.
    fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        home
    }

    #[test]
    fn tls_is_what_libpq_makes_of_it() {
        let any = CertificateTrust::AnyCertificate;
        let file = |checks_name| CertificateTrust::Verified {
            authorities: Authorities::File("/dev/null".into()),
            checks_name,
        };
        for (options, mode, trust) in [
            ("", SslMode::Prefer, any.clone()),
            ("sslmode=disable", SslMode::Disable, any.clone()),
            ("sslmode=prefer", SslMode::Prefer, any.clone()),
            ("sslmode=require", SslMode::Require, any.clone()),
            (
                "sslmode=require&sslrootcert=/missing",
                SslMode::Require,
                any,
            ),
            (
                "sslmode=require&sslrootcert=/dev/null",
                SslMode::Require,
                file(false),
            ),
            (
                "sslmode=verify-ca&sslrootcert=%2Fdev/null",
                SslMode::Require,
                file(false),
            ),
            (
                "sslrootcert=/dev/null&sslmode=verify-full",
                SslMode::Require,
                file(true),
            ),
            (
                "sslmode=verify-full",
                SslMode::Require,
                CertificateTrust::SYSTEM,
            ),
            (
                "sslmode=verify-ca",
                SslMode::Require,
                CertificateTrust::SYSTEM,
            ),
            (
                "sslrootcert=system",
                SslMode::Require,
                CertificateTrust::SYSTEM,
            ),
        ] {
            let address = in_environment(&format!("postgres://u@h/d?{options}"), &[]).unwrap();
            assert_eq!(address.config.get_ssl_mode(), mode, "{options}");
            assert_eq!(address.trust, trust, "{options}");
        }
        let home = home(&[(".postgresql/root.crt", "")]);
        let variables = [
            ("HOME", home.path().to_str().unwrap()),
            ("PGSSLMODE", "require"),
        ];
        let address = in_environment("postgres://u@h/d", &variables).unwrap();
        let users = Authorities::File(home.path().join(".postgresql/root.crt"));
        let expected = CertificateTrust::Verified {
            authorities: users,
            checks_name: false,
        };
        assert_eq!(address.trust, expected);
    }

    #[test]
    fn what_is_missing_comes_from_service_variables_and_password_file() {
        let home = home(&[
            (
                ".pg_service.conf",
                "[shop]\nhost=h2\nport=5433\ndbname=shop\nuser=anna\nsslmode=disable\n",
            ),
            (".pgpass", "h2:5433:shop:anna:p&?ss\n*:*:*:*:other\n"),
        ]);
        let variables = [
            ("HOME", home.path().to_str().unwrap()),
            ("PGUSER", "nobody"),
        ];
        let address = in_environment("postgres:///?service=shop", &variables).unwrap();
        let config = &address.config;
        assert_eq!(config.get_hosts(), [Host::Tcp("h2".into())]);
        assert_eq!(
            (config.get_ports(), config.get_dbname()),
            (&[5433][..], Some("shop"))
        );
        assert_eq!(
            (config.get_user(), config.get_ssl_mode()),
            (Some("anna"), SslMode::Disable)
        );
        assert_eq!(password(&address).as_deref(), Some("p&?ss"));

        // A process without any of it gets the same.
        let again = in_environment(&address.completed, &[]).unwrap();
        assert_eq!(again.config, *config);

        let by_variable = [
            &variables[..],
            &[("PGSERVICE", "shop"), ("PGPASSWORD", "pw")],
        ]
        .concat();
        let address = in_environment("postgres://u@h/d", &by_variable).unwrap();
        assert_eq!(address.config.get_user(), Some("u"));
        assert_eq!(address.config.get_hosts(), [Host::Tcp("h".into())]);
        assert_eq!(password(&address).as_deref(), Some("pw"));
        let address = in_environment("postgres://u@h/d", &variables).unwrap();
        assert_eq!(password(&address).as_deref(), Some("other"));
        let missing = in_environment("postgres:///?service=none", &variables).unwrap_err();
        assert!(
            missing.to_string().contains("\"none\" is not defined"),
            "{missing}"
        );
        // A server of plimsoll's own is reached by what its text says.
        let own = in_environment("host=/run/x user=plimsoll", &by_variable).unwrap();
        assert_eq!(
            (own.config.get_user(), own.config.get_dbname()),
            (Some("plimsoll"), None)
        );
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_its_secrets() {
        for (url, why) in [
            (
                "postgres://u:secret@h:port/db",
                "invalid value for option `port`",
            ),
            ("postgres://u@h:65536/db", "invalid value for option `port`"),
            ("postgres://u@h:0/db", "its port is none from 1 to 65535"),
            ("postgres://u@h/db?sslcert=/x", "its option sslcert"),
            (
                "postgres://u@h/db?secret=secret",
                "an option that plimsoll and libpq do not have",
            ),
            ("postgres://u@h/db?secret", "has no value"),
            ("postgres://u@h/db?sslmode=secret", "its sslmode is none of"),
            (
                "postgres://u@h/db?sslmode=require&sslrootcert=system",
                "needs sslmode=verify-full",
            ),
            (
                "postgres://u@h/db?channel_binding=require",
                "channel_binding=require",
            ),
            ("host=h port=x password=secret", "invalid value"),
            ("host=h password=sec ret", "cannot be parsed"),
            ("host=h password=my secret=x", "do not have"),
        ] {
            let error = in_environment(url, &[]).unwrap_err().to_string();
            assert!(
                error.contains(why) && error.lines().count() == 3,
                "{url}: {error}"
            );
            assert!(
                !error.contains("secret") && !error.contains("ret\n"),
                "{error}"
            );
        }
        let url = "postgres://u:a?b@h/db?channel_binding=prefer";
        assert_eq!(
            password(&in_environment(url, &[]).unwrap()).as_deref(),
            Some("a?b")
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = in_environment(&text, &[]);
            let _ = in_environment(&format!("postgres://{text}"), &[("PGSERVICE", "x")]);
        }
    }
}
