//! SQL Server: one that exists. A schema is a database there.
//!
//! Requests go through tiberius: procedures as remote calls, statements by `sp_executesql`, whose plans the server keeps
//! by their text. Sessions are asynchronous, many of them on one current-thread runtime; everything else blocks its
//! caller.

mod backup;
mod bulk;
mod client;
mod connect;
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

pub(crate) use backup::{OwnDatabase, RestoredDatabase, ServerConnector, back_up};
pub(crate) use dialect::DIALECT;
pub use insight::SqlserverInsight;
pub use session::SqlserverSession;
