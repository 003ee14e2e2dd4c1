//! Results of consistency conditions.

use serde::{Deserialize, Serialize};

/// With the clause of its [`Check`](crate::Check), which names the condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", content = "args", rename_all = "snake_case")]
pub enum CheckDetail {
    Holds,
    /// Both sides of the first row that violates it, and how many of the table's rows do.
    Fails {
        key: String,
        left: String,
        right: String,
        violations: i64,
        rows: i64,
        table: String,
    },
    /// The condition is about the rows of this table.
    TableEmpty {
        table: String,
    },
    /// Tables of a database that was loaded with so many warehouses.
    RowsMissing {
        warehouses: i64,
        tables: Vec<RowRequirement>,
    },
    /// sysbench's tables, which were loaded with `loaded` rows each.
    TablesHold {
        bound: RowBound,
        loaded: i64,
    },
    /// The first table that violates it: of its `rows`, `in_range` have ids of the load, of this sum, and `whole` have
    /// texts of full length.
    TableDiffers {
        bound: RowBound,
        loaded: i64,
        table: String,
        rows: i64,
        in_range: i64,
        sum: i64,
        whole: i64,
    },
    /// pgbench reports its results to be incomplete.
    ResultsIncomplete {
        error: String,
    },
    /// vdbench printed no average: the run ended early.
    AverageMissing {
        name: String,
        intervals: u64,
    },
    /// Requests of fio that failed, and the error that it ended with.
    RequestsFailed {
        failed: u64,
        offered: u64,
        errno: Option<i64>,
        is_verify: bool,
    },
    /// Virtual users of HammerDB that report FINISHED FAILED.
    UsersFailed {
        users: u64,
    },
    /// As it stands in a run file.
    #[serde(untagged)]
    Stored {
        text: String,
    },
}

/// Rows that a table has, and those that it must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRequirement {
    pub table: String,
    pub rows: i64,
    pub bound: RowBound,
    pub expected: i64,
}

impl RowRequirement {
    pub fn is_met(&self) -> bool {
        self.bound.allows(self.rows, self.expected)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowBound {
    Exactly,
    AtLeast,
    AtMost,
}

impl RowBound {
    pub fn allows(self, rows: i64, expected: i64) -> bool {
        match self {
            Self::Exactly => rows == expected,
            Self::AtLeast => rows >= expected,
            Self::AtMost => rows <= expected,
        }
    }
}

impl From<String> for CheckDetail {
    fn from(text: String) -> Self {
        Self::Stored { text }
    }
}
