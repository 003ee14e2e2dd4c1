//! MariaDB: a server that plimsoll creates on a medium, or one that exists. A schema is a database there.
//!
//! Everything here blocks its caller; a [`MariadbSession`] has a thread of its own.

mod backup;
mod binaries;
mod client;
pub mod connect;
mod dialect;
mod insight;
mod managed;
pub mod session;
mod statements;
mod sysbench;
#[cfg(test)]
mod tests;
mod tsv;

pub(crate) use backup::MariadbBackups;
pub(crate) use dialect::DIALECT;
pub use insight::MariadbInsight;
pub(crate) use managed::MariadbSetup;
pub use session::MariadbSession;
