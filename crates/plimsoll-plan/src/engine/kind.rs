//! Engines by name.

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

/// Hands all engines to a macro: their kinds, and the files that describe them.
macro_rules! for_each_engine {
    ($with:ident) => {
        $with! {
            embedded: Mock in mock, Sqlite in sqlite;
            servers: Postgres in postgres, Mariadb in mariadb, Mysql in mysql, Sqlserver in sqlserver;
        }
    };
}
pub(super) use for_each_engine;

macro_rules! kinds {
    (
        embedded: $($Embedded:ident in $embedded:ident),+;
        servers: $($Server:ident in $server:ident),+;
    ) => {
        plan_words! {
            pub enum EngineKind { $($Embedded,)+ $($Server,)+ }
        }

        /// An engine that is a server.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ServerKind { $($Server,)+ }

        impl ServerKind {
            pub const ALL: [Self; [$(ServerKind::$Server),+].len()] = [$(Self::$Server),+];
        }
    };
}
for_each_engine!(kinds);

/// A server that plimsoll can start itself; the others are used where they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagedKind {
    Postgres,
    Mariadb,
    Mysql,
}
