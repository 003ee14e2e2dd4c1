//! MariaDB: a server that plimsoll creates on a medium, or one that exists. A schema is a database there.
//!
//! Everything that is not measured goes through the driver, which blocks its caller. A session logs in and prepares its
//! statements with the driver as well; then its requests go over a wire of its own.

pub(crate) mod backup;
pub(crate) mod binaries;
mod client;
mod codec;
pub mod connect;
mod dialect;
mod failure;
mod insight;
mod managed;
mod protocol;
pub mod session;
mod statements;
mod sysbench;
#[cfg(test)]
mod tests;
mod tsv;

pub(crate) use backup::MariadbBackups;
pub(crate) use dialect::{BASE, DIALECT};
pub use insight::MariadbInsight;
pub(crate) use managed::{FamilySetup, MARIADB_SETUP};
pub use session::MariadbSession;
