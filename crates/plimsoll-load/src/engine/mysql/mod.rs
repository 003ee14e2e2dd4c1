//! MySQL: a server that plimsoll creates on a medium, or one that exists. It speaks MariaDB's protocol, so that connections,
//! sessions and statistics are those of [`super::mariadb`]; here is what differs.

mod backup;
mod binaries;
mod dialect;
mod managed;
#[cfg(all(test, feature = "test-mysql"))]
mod tests;

#[cfg(test)]
use super::mariadb;
use super::mariadb::address::MariadbAddress;
use super::servers::ServerEngine;
pub(crate) use backup::MysqlBackups;
pub(crate) use managed::MYSQL_SETUP;

pub use super::mariadb::{Insight, Session};

pub(crate) static ENGINE: ServerEngine = ServerEngine {
    dialect: &dialect::DIALECT,
    complete_password: MariadbAddress::completed,
    backups: None,
    #[cfg(test)]
    contract: &mariadb::contract::CONTRACT,
};
