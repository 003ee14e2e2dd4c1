//! MySQL: as MariaDB, but for what is here.

use super::info::{DataCost, EngineInfo, MB, ServerInfo};
use super::kind::{EngineKind, ManagedKind, ServerKind};
use super::mariadb;
use crate::units::{Bytes, Nanos};

pub(super) static INFO: EngineInfo = EngineInfo {
    has_procedures: true,
    start: Nanos::from_millis(8_000),
    // As MariaDB, with 100 MB of redo log (innodb_redo_log_capacity) and a binary log, which grows.
    space: Bytes(900 * MB),
    warehouse: DataCost::micros(6_000_000, 1_500_000, Bytes(140 * MB)),
    row: DataCost::micros(5, 1, Bytes(280)),
    server: Some(&SERVER),
};

pub(super) static SERVER: ServerInfo = ServerInfo {
    kind: ServerKind::Mysql,
    engine: EngineKind::Mysql,
    managed: Some(ManagedKind::Mysql),
    title: "MySQL",
    schemes: &["mysql://"],
    example_url: "mysql://user@host:3306",
    is_own_setting: |name| mariadb::is_own_setting(name) || OWN_SETTINGS.contains(&name),
    ..mariadb::SERVER
};

/// Settings of plimsoll's that MySQL has beside those of MariaDB.
const OWN_SETTINGS: [&str; 5] = [
    "admin_address",
    "admin_port",
    "mysqlx",
    "secure_file_priv",
    "innodb_redo_log_archive_dirs",
];
