//! What all SQL engines do in the same way: who may use a schema, loading, checking, describing.
//!
//! An engine gives a [`Dialect`] (data) and a [`ServerClient`] (a connection). Nothing here is measured: clients block
//! their caller and give values as text. Sessions, which are measured, are each engine's own.

pub(crate) mod bulk;
pub(crate) mod check;
mod client;
mod dialect;
pub(crate) mod error;
pub(crate) mod facts;
pub(crate) mod guard;
pub(crate) mod load;
mod sysbench;
mod tpcc;

pub(crate) use client::{ServerClient, SqlClient, TextRow};
pub(crate) use dialect::{Dialect, Scripts};
pub(crate) use tpcc::FINISHED;
