//! What one transaction of a script does, drawn before its clock starts.

use plimsoll_plan::resolved::Script;

pub use super::sql::NewRow;
use super::sql::SysbenchStmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SysbenchInput {
    pub bracket: Bracket,
    /// In the order in which they are run.
    pub operations: Vec<Operation>,
}

/// What stands around the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// Each operation is a transaction of its own.
    Autocommit,
    /// BEGIN and COMMIT; nothing is written.
    Reads,
    /// BEGIN and COMMIT.
    Writes,
}

impl Bracket {
    /// That of every transaction of a script.
    pub fn of(script: Script) -> Self {
        match script {
            Script::ReadWrite | Script::WriteOnly => Self::Writes,
            Script::ReadOnly => Self::Reads,
            Script::PointSelect
            | Script::UpdateIndex
            | Script::UpdateNonIndex
            | Script::Insert
            | Script::Delete => Self::Autocommit,
        }
    }
}

/// One statement and its parameters; tables are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A statement whose only parameter is an id.
    OfId {
        stmt: SysbenchStmt,
        table: u32,
        id: i32,
    },
    Range {
        stmt: SysbenchStmt,
        table: u32,
        first: i32,
        last: i32,
    },
    /// A new `c`.
    SetText {
        table: u32,
        c: String,
        id: i32,
    },
    Insert {
        table: u32,
        id: i32,
        row: NewRow,
    },
    /// With an id that the database finds, as a statement of its own text and not prepared.
    InsertNext {
        table: u32,
        row: NewRow,
    },
}

impl Operation {
    /// `None` for a statement that is not prepared.
    pub fn stmt(&self) -> Option<SysbenchStmt> {
        match self {
            Self::OfId { stmt, .. } | Self::Range { stmt, .. } => Some(*stmt),
            Self::SetText { .. } => Some(SysbenchStmt::TextUpdate),
            Self::Insert { .. } => Some(SysbenchStmt::Insert),
            Self::InsertNext { .. } => None,
        }
    }
}
