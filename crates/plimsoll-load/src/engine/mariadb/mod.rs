//! MariaDB: a server that plimsoll creates on a medium, or one that exists. A schema is a database there.
//!
//! Everything here blocks its caller; a [`MariadbSession`] has a thread of its own.

mod backup;
pub mod binaries;
mod client;
pub mod connect;
mod dialect;
mod insight;
pub mod managed;
pub mod session;
mod statements;
mod sysbench;
#[cfg(test)]
mod tests;
mod tsv;

pub(crate) use backup::{dump, restore_elsewhere};
pub(crate) use dialect::DIALECT;
pub use insight::Insight;
pub use managed::ManagedMariadb;
pub use session::MariadbSession;
