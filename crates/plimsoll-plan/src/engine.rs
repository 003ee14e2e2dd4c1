//! Engines as a closed set, and what differs between them for a plan: names, URLs, settings that are plimsoll's, what they
//! take. Each is described once, in a file of its own.

mod info;
mod kind;
mod mariadb;
mod mock;
mod mysql;
mod postgres;
mod sqlite;
mod sqlserver;

pub use info::{DataCost, EngineInfo, ServerInfo};
pub use kind::{EngineKind, ManagedKind, ServerKind};

macro_rules! descriptions {
    (
        embedded: $($Embedded:ident in $embedded:ident),+;
        servers: $($Server:ident in $server:ident),+;
    ) => {
        impl EngineKind {
            pub fn info(self) -> &'static EngineInfo {
                match self {
                    $(Self::$Embedded => &$embedded::INFO,)+
                    $(Self::$Server => &$server::INFO,)+
                }
            }
        }

        impl ServerKind {
            pub fn info(self) -> &'static ServerInfo {
                match self {
                    $(Self::$Server => &$server::SERVER,)+
                }
            }
        }
    };
}
kind::for_each_engine!(descriptions);

impl EngineKind {
    pub fn has_procedures(self) -> bool {
        self.info().has_procedures
    }

    /// The server behind the engine, if it is one.
    pub fn server(self) -> Option<ServerKind> {
        self.info().server.map(|server| server.kind)
    }
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

    /// A size as the server's settings have it.
    pub fn size_setting(self, mebibytes: u64) -> String {
        format!("{mebibytes}{}", self.server().info().mebibytes)
    }
}

impl ServerKind {
    pub fn managed(self) -> Option<ManagedKind> {
        self.info().managed
    }

    pub fn writes_backups(self) -> bool {
        self.info().writes_backups
    }

    pub fn engine(self) -> EngineKind {
        self.info().engine
    }

    pub fn title(self) -> &'static str {
        self.info().title
    }

    pub fn schemes(self) -> &'static [&'static str] {
        self.info().schemes
    }

    pub fn example_url(self) -> &'static str {
        self.info().example_url
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

    pub fn password_variable(self) -> &'static str {
        self.info().password_variable
    }

    /// Whether plimsoll decides this setting itself on a server that it starts.
    pub fn is_own_setting(self, name: &str) -> bool {
        (self.info().is_own_setting)(&name.to_ascii_lowercase().replace('-', "_"))
    }

    /// Why a server that plimsoll starts does not get this value.
    pub fn setting_fault(self, name: &str, value: &str) -> Option<SettingFault> {
        let name = name.to_ascii_lowercase();
        // Servers only read the files of a certificate.
        let is_certificate = name.starts_with("ssl");
        match (self.info().is_command)(&name) {
            true => (!HARMLESS_COMMANDS.contains(&value)).then_some(SettingFault::StartsProgram),
            false => (!is_certificate && leads_out(value)).then_some(SettingFault::LeadsOut),
        }
    }

    /// Whether the name may be that of a setting at all.
    pub fn is_setting_name(self, name: &str) -> bool {
        let more = self.info().in_setting_names;
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    }

    /// Whether the server has a schema of this name itself.
    pub fn is_reserved_schema(self, name: &str) -> bool {
        (self.info().is_reserved_schema)(name)
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
