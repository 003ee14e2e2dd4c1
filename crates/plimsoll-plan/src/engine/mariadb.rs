//! MariaDB.

use super::info::{DataCost, EngineInfo, MB, ServerInfo};
use super::kind::{EngineKind, ManagedKind, ServerKind};
use crate::units::{Bytes, Nanos};

pub(super) static INFO: EngineInfo = EngineInfo {
    has_procedures: true,
    start: Nanos::from_millis(8_000),
    // System tables, redo log (96 MiB), undo and temporary tablespaces.
    space: Bytes(600 * MB),
    warehouse: DataCost::micros(6_000_000, 1_500_000, Bytes(140 * MB)),
    row: DataCost::micros(5, 1, Bytes(280)),
    server: Some(&SERVER),
};

pub(super) static SERVER: ServerInfo = ServerInfo {
    kind: ServerKind::Mariadb,
    engine: EngineKind::Mariadb,
    managed: Some(ManagedKind::Mariadb),
    title: "MariaDB",
    schemes: &["mariadb://"],
    example_url: "mariadb://user@host:3306",
    password_variable: "MYSQL_PWD",
    writes_backups: false,
    mebibytes: "M",
    in_setting_names: "_-.",
    is_own_setting,
    is_command: |_| false,
    is_reserved_schema: |name| {
        ["mysql", "sys", "information_schema", "performance_schema"].contains(&name)
    },
    schema_help: "1 to 63 lower-case letters, digits and `_`, and none of the server's own databases",
};

/// Settings that a plan cannot set on a server that plimsoll manages, without the prefixes of [`is_own_setting`]:
/// `networking` is skip-networking.
const OWN_SETTINGS: [&str; 33] = [
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

/// A server takes the beginning of an option's name for the whole when it is unambiguous, and some prefixes that change
/// how the option is read (its manual, "mariadbd Options").
pub(super) fn is_own_setting(name: &str) -> bool {
    let mut bare = name;
    while let Some(rest) = ["loose_", "skip_", "disable_", "enable_", "maximum_"]
        .iter()
        .find_map(|prefix| bare.strip_prefix(prefix))
    {
        bare = rest;
    }
    // Galera's settings load libraries and start programs.
    bare.starts_with("wsrep")
        || (!bare.is_empty() && OWN_SETTINGS.iter().any(|setting| setting.starts_with(bare)))
}
