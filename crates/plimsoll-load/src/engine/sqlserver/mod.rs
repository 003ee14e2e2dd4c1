//! SQL Server: one that exists. A schema is a database there.
//!
//! Requests go through tiberius: procedures as remote calls, statements by `sp_executesql`, whose plans the server keeps
//! by their text. Sessions are asynchronous, many of them on one current-thread runtime; everything else blocks its
//! caller.

mod backup;
mod bulk;
mod client;
mod connect;
#[cfg(test)]
mod contract;
mod dialect;
mod failure;
mod insight;
mod procedures;
mod session;
mod statements;
#[cfg(all(test, feature = "test-sqlserver"))]
mod tests;
mod tls;
mod values;

use plimsoll_plan::resolved::ServerKind;

use super::server_url::with_password;
use super::servers::ServerEngine;

pub(crate) use dialect::DIALECT;
pub use insight::SqlserverInsight as Insight;
pub use session::SqlserverSession as Session;

pub(crate) static ENGINE: ServerEngine = ServerEngine {
    dialect: &DIALECT,
    complete_password: |conninfo, environment| {
        let kind = ServerKind::Sqlserver;
        let password = environment.variable(kind.password_variable())?;
        with_password(kind, conninfo, &password)
    },
    backups: Some(&backup::SqlserverBackups),
    #[cfg(test)]
    contract: &contract::CONTRACT,
};
