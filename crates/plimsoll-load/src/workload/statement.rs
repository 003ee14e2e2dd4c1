//! What the client-side transactions (`mode = "statements"`) need of a connection.
//!
//! The logic of the five transactions is written once, over this trait; an engine gives the SQL text of each statement
//! in its own dialect and a way to execute it prepared.

use crate::session::SessionError;

/// A parameter of a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Param<'a> {
    Null,
    Int(i64),
    /// An amount in cents.
    Cents(i64),
    Text(&'a str),
}

/// A column of a result row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Cents(i64),
    /// Ten-thousandths.
    Rate(i64),
    Text(String),
}

/// Rows of a result, in order.
pub type Rows = Vec<Vec<Value>>;

/// One connection that executes the workload's prepared statements. `Id` names a statement.
#[allow(async_fn_in_trait)]
pub trait Statements<Id> {
    /// Opens a database transaction; `writes` lets an engine with a single writer queue for it now.
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError>;
    async fn commit(&mut self) -> Result<(), SessionError>;
    async fn rollback(&mut self) -> Result<(), SessionError>;
    async fn query(&mut self, id: Id, params: &[Param<'_>]) -> Result<Rows, SessionError>;
    /// Rows changed.
    async fn execute(&mut self, id: Id, params: &[Param<'_>]) -> Result<u64, SessionError>;
}
