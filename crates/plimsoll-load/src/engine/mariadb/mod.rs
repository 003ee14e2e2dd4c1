//! MariaDB: a server that plimsoll creates on a medium, or one that exists. A schema is a database there.
//!
//! Sessions and the client for all that is not measured log in and ask over the same wire: no driver encrypts as plimsoll's
//! other connections do, with the system's authorities, and lets go of a connection that it has opened.

pub(crate) mod address;
pub(crate) mod backup;
pub(crate) mod binaries;
pub(crate) mod client;
mod codec;
mod connect;
#[cfg(test)]
pub(super) mod contract;
mod dialect;
pub(crate) mod failure;
#[cfg(feature = "fuzzing")]
pub(super) mod fuzzing;
mod insight;
mod login;
mod managed;
mod option_file;
mod procedures;
mod protocol;
pub mod session;
mod statements;
#[cfg(test)]
mod tests;
mod tsv;

use super::servers::ServerEngine;
pub(crate) use backup::MariadbBackups;
pub(crate) use managed::MARIADB_SETUP;

use address::MariadbAddress;
pub(crate) use dialect::{BASE, DIALECT, USER_LIMIT};
pub use insight::MariadbInsight as Insight;
pub(crate) use managed::FamilySetup;
pub use session::MariadbSession as Session;

pub(crate) static ENGINE: ServerEngine = ServerEngine {
    dialect: &DIALECT,
    complete_password: MariadbAddress::completed,
    backups: None,
    #[cfg(test)]
    contract: &contract::CONTRACT,
};
