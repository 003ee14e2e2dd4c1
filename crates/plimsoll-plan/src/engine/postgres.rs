//! PostgreSQL.

use super::info::{DataCost, EngineInfo, MB, ServerInfo};
use super::kind::{EngineKind, ManagedKind, ServerKind};
use crate::units::{Bytes, Nanos};

pub(super) static INFO: EngineInfo = EngineInfo {
    has_procedures: true,
    start: Nanos::from_millis(4_000),
    // An empty cluster takes 40 MB, and the WAL up to max_wal_size, exceeded for a while under load.
    space: Bytes(1_200 * MB),
    warehouse: DataCost::micros(4_000_000, 500_000, Bytes(110 * MB)),
    row: DataCost::micros(5, 1, Bytes(280)),
    server: Some(&SERVER),
};

pub(super) static SERVER: ServerInfo = ServerInfo {
    kind: ServerKind::Postgres,
    engine: EngineKind::Postgres,
    managed: Some(ManagedKind::Postgres),
    title: "PostgreSQL",
    schemes: &["postgres://", "postgresql://"],
    example_url: "postgres://user@host:5432/database",
    password_variable: "PGPASSWORD",
    writes_backups: false,
    mebibytes: "MB",
    in_setting_names: "_.",
    is_own_setting: |name| OWN_SETTINGS.contains(&name),
    is_command: |name| name.ends_with("_command"),
    is_reserved_schema: |name| name.starts_with("pg_") || name == "public",
    schema_help: "1 to 63 lower-case letters, digits and `_`, not `public` and not starting with `pg_`",
};

/// Settings that a plan cannot set on a server that plimsoll manages: without them plimsoll could not reach,
/// watch or remove it, or the server would not be apart from all others.
const OWN_SETTINGS: [&str; 17] = [
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
