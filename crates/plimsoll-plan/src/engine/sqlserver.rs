//! SQL Server, which plimsoll uses where it exists.

use super::info::{DataCost, EngineInfo, MB, ServerInfo};
use super::kind::{EngineKind, ServerKind};
use crate::units::{Bytes, Nanos};

pub(super) static INFO: EngineInfo = EngineInfo {
    has_procedures: true,
    // It is there already, and on no medium of the plan's.
    start: Nanos::ZERO,
    space: Bytes(0),
    warehouse: DataCost::micros(6_000_000, 1_500_000, Bytes(140 * MB)),
    row: DataCost::micros(5, 1, Bytes(280)),
    server: Some(&SERVER),
};

pub(super) static SERVER: ServerInfo = ServerInfo {
    kind: ServerKind::Sqlserver,
    engine: EngineKind::Sqlserver,
    managed: None,
    title: "SQL Server",
    schemes: &["mssql://", "sqlserver://"],
    example_url: "mssql://user@host:1433",
    // As sqlcmd takes it.
    password_variable: "SQLCMDPASSWORD",
    writes_backups: true,
    mebibytes: "MB",
    in_setting_names: "_.",
    is_own_setting: |_| false,
    is_command: |_| false,
    is_reserved_schema: |name| ["master", "model", "msdb", "tempdb"].contains(&name),
    schema_help: "1 to 63 lower-case letters, digits and `_`, and none of the server's own databases",
};
