//! PostgreSQL: a server that plimsoll creates on a medium, or one that exists.
//!
//! A [`PostgresSession`] is asynchronous, many of them on one current-thread runtime; everything else blocks its caller.

pub mod address;
mod backup;
pub mod binaries;
mod blocking;
mod client;
pub mod codec;
pub mod connect;
#[cfg(test)]
mod contract;
mod copy;
mod dialect;
mod explain;
mod failure;
#[cfg(feature = "fuzzing")]
pub(super) mod fuzzing;
mod insight;
mod managed;
mod passfile;
mod pooler;
mod procedures;
mod protocol;
mod service;
pub mod session;
mod stream;
mod template;
#[cfg(test)]
mod tests;

use super::servers::ServerEngine;
pub(crate) use backup::PostgresBackups;
#[cfg(test)]
pub(crate) use blocking::batch;
pub(crate) use dialect::DIALECT;
pub use insight::PostgresInsight as Insight;
pub(crate) use managed::PostgresSetup;
pub use session::PostgresSession as Session;
pub use template::template;

pub(crate) static ENGINE: ServerEngine = ServerEngine {
    dialect: &DIALECT,
    complete_password: address::completed,
    backups: None,
    #[cfg(test)]
    contract: &contract::CONTRACT,
};
