//! What the contract needs of a server's SQL beyond its dialect.

use std::process::Command;

use crate::engine::server::Target;

/// Texts in a server's SQL; words in braces are replaced.
pub struct ContractSql {
    /// Seconds since `{column}`.
    pub age: &'static str,
    /// Counts the indexes of TPC-C's tables.
    pub count_indexes: &'static str,
    /// A schema's name that holds as many odd characters as the server can have in one.
    pub odd_schema: &'static str,
    /// `{table}` in `{schema}`, which is quoted.
    pub qualified: &'static str,
    /// Makes the empty table `{copy}` as `{table}` is, from which `{name}` of another schema; `None` where there is no such
    /// statement.
    pub copy_table: Option<&'static str>,
    /// Drops the schema `part` with all that is in it.
    pub drop_part: Option<&'static str>,
    /// Makes plimsoll_delivery as somebody else would, and calls it.
    pub create_procedure: &'static str,
    pub call_procedure: &'static str,
    /// Calls plimsoll's procedure for warehouse 1, district 2 and threshold 15.
    pub stock_level: &'static str,
    /// What the server removes with table sbtest1 without a word.
    pub parts_of_others: &'static [PartOfOthers],
    /// Ends the connection `{id}`.
    pub kill: &'static str,
    /// Renames the table `{from}` to `{to}`.
    pub rename: &'static str,
    /// Gives row 5 of sbtest2 the id 501.
    pub change_id: &'static str,
    /// Whether a user sees what tables take.
    pub shows_sizes: bool,
    /// sysbench's driver for it.
    pub sysbench: Option<SysbenchDriver>,
}

/// Something of somebody else's that is part of a table.
pub struct PartOfOthers {
    pub create: &'static str,
    pub drop: &'static str,
    /// In the error that refuses to drop the table.
    pub name: &'static str,
}

/// How sysbench itself works on a server, and what it leaves there.
pub struct SysbenchDriver {
    pub connect: fn(&mut Command, &Target),
    /// Show columns, indexes and the next id, without the schema's name.
    pub describe: &'static [&'static str],
    /// Shown of a table of 500 rows.
    pub next_id: &'static str,
    /// The operator that compares a text with a regular expression.
    pub matches: &'static str,
}

/// What the contract needs where all servers but one are alike.
pub const CHANGE_ID: &str = "UPDATE sbtest2 SET id = 501 WHERE id = 5";
pub const RENAME: &str = "ALTER TABLE {from} RENAME TO {to}";
