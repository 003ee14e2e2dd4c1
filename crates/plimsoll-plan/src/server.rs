//! Database servers as a closed set, and what differs between them for a plan: names, URLs, settings that are plimsoll's.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EngineKind {
    Mock,
    Sqlite,
    Postgres,
    Mariadb,
    Mysql,
    Sqlserver,
}

impl EngineKind {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn has_procedures(self) -> bool {
        match self {
            Self::Mock | Self::Postgres | Self::Mariadb | Self::Mysql | Self::Sqlserver => true,
            Self::Sqlite => false,
        }
    }

    /// The server behind the engine, if it is one.
    pub fn server(self) -> Option<ServerKind> {
        ServerKind::ALL
            .into_iter()
            .find(|server| server.engine() == self)
    }
}

/// An engine that is a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    Postgres,
    Mariadb,
    Mysql,
    Sqlserver,
}

/// A server that plimsoll can start itself; the others are used where they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagedKind {
    Postgres,
    Mariadb,
    Mysql,
}

impl ManagedKind {
    pub fn server(self) -> ServerKind {
        match self {
            Self::Postgres => ServerKind::Postgres,
            Self::Mariadb => ServerKind::Mariadb,
            Self::Mysql => ServerKind::Mysql,
        }
    }

    pub fn title(self) -> &'static str {
        self.server().title()
    }

    /// A size as the server's settings have it. PostgreSQL's MB and MariaDB's M are MiB.
    pub fn size_setting(self, mebibytes: u64) -> String {
        match self {
            Self::Postgres => format!("{mebibytes}MB"),
            Self::Mariadb | Self::Mysql => format!("{mebibytes}M"),
        }
    }
}

impl ServerKind {
    pub const ALL: [Self; 4] = [Self::Postgres, Self::Mariadb, Self::Mysql, Self::Sqlserver];

    /// `None` where plimsoll starts none.
    pub fn managed(self) -> Option<ManagedKind> {
        match self {
            Self::Postgres => Some(ManagedKind::Postgres),
            Self::Mariadb => Some(ManagedKind::Mariadb),
            Self::Mysql => Some(ManagedKind::Mysql),
            Self::Sqlserver => None,
        }
    }

    /// Whether a server of the user's writes and reads backups itself, so that a plan can have them: no program of
    /// plimsoll's needs its files.
    pub fn writes_backups(self) -> bool {
        match self {
            Self::Postgres | Self::Mariadb | Self::Mysql => false,
            Self::Sqlserver => true,
        }
    }

    pub fn engine(self) -> EngineKind {
        match self {
            Self::Postgres => EngineKind::Postgres,
            Self::Mariadb => EngineKind::Mariadb,
            Self::Mysql => EngineKind::Mysql,
            Self::Sqlserver => EngineKind::Sqlserver,
        }
    }

    /// What it is called in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
            Self::Sqlserver => "SQL Server",
        }
    }

    /// Beginnings of its URLs.
    pub fn schemes(self) -> &'static [&'static str] {
        match self {
            Self::Postgres => &["postgres://", "postgresql://"],
            Self::Mariadb => &["mariadb://"],
            Self::Mysql => &["mysql://"],
            Self::Sqlserver => &["mssql://", "sqlserver://"],
        }
    }

    /// Example of a URL.
    pub fn example_url(self) -> &'static str {
        match self {
            Self::Postgres => "postgres://user@host:5432/database",
            Self::Mariadb => "mariadb://user@host:3306",
            Self::Mysql => "mysql://user@host:3306",
            Self::Sqlserver => "mssql://user@host:1433",
        }
    }

    /// The server that a URL is of, by its scheme.
    pub fn of_url(url: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|server| server.rest_of(url).is_some())
    }

    /// What follows the scheme, if the URL is of this server.
    pub fn rest_of(self, url: &str) -> Option<&str> {
        self.schemes()
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
    }

    /// The environment variable that holds the password when the URL has none.
    pub fn password_variable(self) -> &'static str {
        match self {
            Self::Postgres => "PGPASSWORD",
            Self::Mariadb | Self::Mysql => "MYSQL_PWD",
            // As sqlcmd takes it.
            Self::Sqlserver => "SQLCMDPASSWORD",
        }
    }

    /// Whether plimsoll decides this setting itself on a server that it starts.
    pub fn is_own_setting(self, name: &str) -> bool {
        let name = name.to_ascii_lowercase().replace('-', "_");
        match self {
            Self::Postgres => OWN_POSTGRES_SETTINGS.contains(&name.as_str()),
            Self::Mariadb => is_own_mariadb_setting(&name),
            Self::Mysql => is_own_mariadb_setting(&name) || OWN_MYSQL_SETTINGS.contains(&&*name),
            Self::Sqlserver => false,
        }
    }

    /// Why a server that plimsoll starts does not get this value.
    pub fn setting_fault(self, name: &str, value: &str) -> Option<SettingFault> {
        let is_command = self == Self::Postgres && name.to_ascii_lowercase().ends_with("_command");
        // Servers only read the files of a certificate.
        let is_certificate = name.to_ascii_lowercase().starts_with("ssl");
        match is_command {
            true => (!HARMLESS_COMMANDS.contains(&value)).then_some(SettingFault::StartsProgram),
            false => (!is_certificate && leads_out(value)).then_some(SettingFault::LeadsOut),
        }
    }

    /// Whether the name may be that of a setting at all.
    pub fn is_setting_name(self, name: &str) -> bool {
        let more = match self {
            Self::Postgres | Self::Sqlserver => "_.",
            Self::Mariadb | Self::Mysql => "_-.",
        };
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    }

    /// Names that a schema of plimsoll's cannot have because the server has them.
    pub fn is_reserved_schema(self, name: &str) -> bool {
        match self {
            Self::Postgres => name.starts_with("pg_") || name == "public",
            Self::Mariadb | Self::Mysql => {
                ["mysql", "sys", "information_schema", "performance_schema"].contains(&name)
            }
            Self::Sqlserver => ["master", "model", "msdb", "tempdb"].contains(&name),
        }
    }
}

/// What is wrong with the value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingFault {
    /// The server would write, replace or remove files elsewhere.
    LeadsOut,
    StartsProgram,
}

impl SettingFault {
    pub fn why(self) -> &'static str {
        match self {
            Self::LeadsOut => "the value leads out of the server's directory",
            Self::StartsProgram => "the value starts a program",
        }
    }

    pub fn help(self) -> &'static str {
        match self {
            Self::LeadsOut => {
                "give a name in the server's directory, without `/` before it, `..` or `~`"
            }
            Self::StartsProgram => "remove it, or use `true`, which does nothing",
        }
    }
}

/// Commands that archive nothing and remove nothing.
const HARMLESS_COMMANDS: [&str; 4] = ["", "true", "/bin/true", "/usr/bin/true"];

/// Whether a path in a value, or in a list of them, is not one below the directory in which the server works.
fn leads_out(value: &str) -> bool {
    let is_separator = |c: char| !c.is_alphanumeric() && !"/._-+".contains(c);
    let mut paths = value.split(is_separator);
    // MariaDB takes ~ for a home directory.
    value.contains('~')
        || paths.any(|path| path.starts_with('/') || path.split('/').any(|part| part == ".."))
}

/// PostgreSQL settings that a plan cannot set on a server that plimsoll manages: without them plimsoll could not reach,
/// watch or remove it, or the server would not be apart from all others.
const OWN_POSTGRES_SETTINGS: [&str; 17] = [
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "include",
    "include_dir",
    "include_if_exists",
    "lc_messages",
    "listen_addresses",
    "log_destination",
    "log_line_prefix",
    "logging_collector",
    "port",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];

/// The same for MariaDB, without the prefixes of [`is_own_mariadb_setting`]: `networking` is skip-networking.
const OWN_MARIADB_SETTINGS: [&str; 33] = [
    "aria_log_dir_path",
    "basedir",
    "bind_address",
    "bootstrap",
    "character_sets_dir",
    "chroot",
    "console",
    "daemonize",
    "datadir",
    "extra_port",
    "gdb",
    "grant_tables",
    "help",
    "init_file",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_tmpdir",
    "innodb_undo_directory",
    "language",
    "lc_messages",
    "lc_messages_dir",
    "local_infile",
    "log_basename",
    "log_error",
    "networking",
    "pid_file",
    "plugin_dir",
    "port",
    "socket",
    "syslog",
    "tmpdir",
    "user",
    "version",
];

/// What MySQL has beside those of MariaDB.
const OWN_MYSQL_SETTINGS: [&str; 5] = [
    "admin_address",
    "admin_port",
    "mysqlx",
    "secure_file_priv",
    "innodb_redo_log_archive_dirs",
];

/// A server takes the beginning of an option's name for the whole when it is unambiguous, and some prefixes that change
/// how the option is read (its manual, "mariadbd Options").
fn is_own_mariadb_setting(name: &str) -> bool {
    let mut bare = name;
    while let Some(rest) = ["loose_", "skip_", "disable_", "enable_", "maximum_"]
        .iter()
        .find_map(|prefix| bare.strip_prefix(prefix))
    {
        bare = rest;
    }
    // Galera's settings load libraries and start programs.
    bare.starts_with("wsrep")
        || (!bare.is_empty() && OWN_MARIADB_SETTINGS.iter().any(|own| own.starts_with(bare)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_its_server() {
        let server = |url| ServerKind::of_url(url);
        assert_eq!(server("postgresql://u@h/d"), Some(ServerKind::Postgres));
        assert_eq!(server("mysql://u@h"), Some(ServerKind::Mysql));
        assert_eq!(server("oracle://u@h"), None);
        for kind in ServerKind::ALL {
            assert_eq!(server(kind.example_url()), Some(kind));
            assert_eq!(kind.engine().server(), Some(kind));
        }
    }

    #[test]
    fn values_stay_in_the_directory_of_the_server() {
        let fault = ServerKind::Mariadb;
        for value in [
            "/home/me/notes",
            "../../notes",
            "a/../../notes",
            "~/notes",
            "~me/notes",
            " /notes",
            "ibtmp1:12M;/home/me/notes:12M",
            "a,/notes",
            "FILE:/notes",
            "/",
            "..",
        ] {
            let found = fault.setting_fault("innodb_temp_data_file_path", value);
            assert_eq!(found, Some(SettingFault::LeadsOut), "{value}");
        }
        for value in [
            "binlog",
            "logs/binlog",
            "ibdata1:12M:autoextend",
            "Europe/Berlin",
            "0.5",
            "1..2",
            "STRICT_TRANS_TABLES,NO_ZERO_DATE",
            "",
        ] {
            assert_eq!(fault.setting_fault("log_bin", value), None, "{value}");
        }
        for kind in [ServerKind::Mariadb, ServerKind::Postgres] {
            assert_eq!(kind.setting_fault("ssl_cert", "/etc/ssl/a.pem"), None);
        }
    }

    #[test]
    fn settings_start_no_programs() {
        let fault = |value| ServerKind::Postgres.setting_fault("Archive_Command", value);
        assert_eq!(fault("cp %p x"), Some(SettingFault::StartsProgram));
        assert_eq!((fault("/bin/true"), fault("")), (None, None));
        for name in ["wsrep_notify_cmd", "loose-wsrep-provider"] {
            assert!(ServerKind::Mariadb.is_own_setting(name), "{name}");
        }
    }

    #[test]
    fn own_settings_are_known_however_they_are_written() {
        for name in [
            "datadir",
            "PORT",
            "skip-networking",
            "skip_networking",
            "loose-skip-networking",
            "log-err",
            "pid-f",
        ] {
            assert!(ServerKind::Mariadb.is_own_setting(name), "{name}");
        }
        for name in [
            "innodb_buffer_pool_size",
            "innodb-flush-method",
            "log_bin",
            "skip-name-resolve",
            "skip_",
        ] {
            assert!(!ServerKind::Mariadb.is_own_setting(name), "{name}");
        }
        assert!(
            ServerKind::Postgres.is_own_setting("Port")
                && !ServerKind::Postgres.is_own_setting("work_mem")
        );
        assert!(
            ServerKind::Mariadb.is_setting_name("sync-binlog")
                && !ServerKind::Postgres.is_setting_name("sync-x")
        );
    }
}
