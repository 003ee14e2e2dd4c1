//! What all SQL engines do in the same way: who may use a schema, loading, checking, describing.
//!
//! Nothing here is measured: clients block their caller and give values as text. Sessions, which are measured, are each
//! engine's own.
//!
//! A new server is a folder beside this one: `dialect.rs` with a [`Dialect`] (data), `client.rs` with a [`ServerClient`],
//! `connect.rs` with its URL and what its errors mean ([`error::ErrorKind`]), `session.rs`, and its tables and procedures
//! in `sql/`. Where plimsoll runs it itself, `managed.rs` and `backup.rs` give a `ServerSetup` and `BackupPrograms`. Its
//! tests are `contract_of_managed_servers!`, or `contract_of_servers!` where it does not.

pub(crate) mod bulk;
pub(crate) mod check;
pub(crate) mod clean;
mod client;
mod data_set;
mod dialect;
pub(crate) mod error;
pub(crate) mod facts;
pub(crate) mod guard;
pub(crate) mod load;
mod marker;
mod ownership;
pub(crate) mod part;
pub(crate) mod route;
mod sysbench;
mod tpcc;
mod version;

pub(crate) use client::{ClientRoute, ServerClient, SqlClient, TextRow};
pub(crate) use dialect::{Boolean, CatalogTypes, Dialect, STANDARD_BOOLEAN, Scripts};
pub(crate) use version::OldestServer;
