//! Engines by name.

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

plan_words! {
    pub enum EngineKind {
        Mock,
        Sqlite,
        Postgres,
        Mariadb,
        Mysql,
        Sqlserver,
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
