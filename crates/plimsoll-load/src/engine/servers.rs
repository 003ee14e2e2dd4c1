//! The servers as a closed set. A server is a line here and a folder of its own, which has its `ENGINE`, `Session` and
//! `Insight`.

use plimsoll_plan::resolved::{Credential, ServerKind};

use super::client_environment::ClientEnvironment;
#[cfg(test)]
use super::contract::server_sql::ContractSql;
use super::server::own_backups::ServerBackups;
use super::sql::Dialect;

/// Hands all servers to a macro: their kinds, and their folders.
macro_rules! for_each_server {
    ($with:ident) => {
        $with! {
            Postgres in postgres,
            Mariadb in mariadb,
            Mysql in mysql,
            Sqlserver in sqlserver,
        }
    };
}
pub(super) use for_each_server;

/// What differs between servers.
pub(crate) struct ServerEngine {
    pub dialect: &'static Dialect,
    /// The URL with the password that the environment has for it; `None` where it stays as it is.
    pub complete_password: fn(&str, &ClientEnvironment<'_>) -> Option<Credential>,
    /// Of a server that writes and reads backups itself; others have programs for it.
    pub backups: Option<&'static dyn ServerBackups>,
    #[cfg(test)]
    pub contract: &'static ContractSql,
}

macro_rules! engine_of_kind {
    ($($Kind:ident in $folder:ident,)+) => {
        pub(crate) fn engine(kind: ServerKind) -> &'static ServerEngine {
            match kind {
                $(ServerKind::$Kind => &super::$folder::ENGINE,)+
            }
        }
    };
}
for_each_server!(engine_of_kind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_programs_for_its_backups_or_writes_them_itself() {
        for kind in ServerKind::ALL {
            assert_eq!(engine(kind).backups.is_some(), kind.writes_backups());
            assert_eq!(kind.writes_backups(), kind.managed().is_none());
        }
    }
}
