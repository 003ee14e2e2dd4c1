//! What is known of an engine.

use super::kind::{EngineKind, ManagedKind, ServerKind};
use crate::units::{Bytes, Nanos};

/// An engine, for a plan.
pub struct EngineInfo {
    pub has_procedures: bool,
    /// How long a system takes to start, and the space that it takes without data. Estimates.
    pub start: Nanos,
    pub space: Bytes,
    /// One warehouse of TPC-C, and one row of sysbench's tables.
    pub warehouse: DataCost,
    pub row: DataCost,
    pub server: Option<&'static ServerInfo>,
}

/// What a unit of data takes. Estimates.
#[derive(Debug, Default, Clone, Copy)]
pub struct DataCost {
    pub load: Nanos,
    pub check: Nanos,
    /// With indexes.
    pub space: Bytes,
}

impl DataCost {
    pub(super) const fn micros(load: u64, check: u64, space: Bytes) -> Self {
        Self {
            load: Nanos::from_micros(load),
            check: Nanos::from_micros(check),
            space,
        }
    }
}

/// A server, for a plan.
pub struct ServerInfo {
    pub kind: ServerKind,
    pub engine: EngineKind,
    /// `None` where plimsoll starts none.
    pub managed: Option<ManagedKind>,
    /// What it is called in sentences.
    pub title: &'static str,
    /// Beginnings of its URLs.
    pub schemes: &'static [&'static str],
    pub example_url: &'static str,
    /// The environment variable that holds the password when the URL has none.
    pub password_variable: &'static str,
    /// Whether a server of the user's writes and reads backups itself, so that a plan can have them: no program of
    /// plimsoll's needs its files.
    pub writes_backups: bool,
    /// What stands for MiB behind a size in its settings.
    pub mebibytes: &'static str,
    /// What names of settings have beside letters and digits.
    pub in_setting_names: &'static str,
    /// Whether plimsoll decides this setting itself on a server that it starts. Names are in lower case, with `_`.
    pub is_own_setting: fn(&str) -> bool,
    /// Whether the value of a setting is a command. Names are in lower case.
    pub is_command: fn(&str) -> bool,
    /// Whether the server has a schema of this name itself, so that plimsoll cannot create one.
    pub is_reserved_schema: fn(&str) -> bool,
    /// Help for a name that is refused.
    pub schema_help: &'static str,
}

/// Decimal megabytes.
pub(super) const MB: u64 = 1_000_000;
