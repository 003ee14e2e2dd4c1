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

pub(crate) use backup::MariadbBackups;
pub(crate) use dialect::{BASE, DIALECT, USER_LIMIT};
pub use insight::MariadbInsight;
pub(crate) use managed::{FamilySetup, MARIADB_SETUP};
pub use session::MariadbSession;
