//! Tables and statements, as sysbench writes them for each database (`oltp_common.lua`).

use plimsoll_plan::resolved::{Script, Sysbench};

use crate::workload::statement::{Statement, StatementKind, TableSyntax};

/// A prepared statement of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum SysbenchStmt {
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    TextUpdate,
    Delete,
    Insert,
}

impl SysbenchStmt {
    const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::IndexUpdate | Self::TextUpdate | Self::Delete | Self::Insert
        )
    }

    /// Whether the script prepares it.
    fn is_in(self, script: Script) -> bool {
        match script {
            Script::ReadWrite => true,
            Script::ReadOnly => !self.writes(),
            Script::WriteOnly => self.writes(),
            Script::PointSelect => self == Self::PointSelect,
            Script::UpdateIndex => self == Self::IndexUpdate,
            Script::UpdateNonIndex => self == Self::TextUpdate,
            Script::Delete => self == Self::Delete,
            Script::Insert => false,
        }
    }

    /// `{}` stands for the table.
    fn text(self) -> &'static str {
        match self {
            Self::PointSelect => "SELECT c FROM {} WHERE id=$1",
            Self::SimpleRange => "SELECT c FROM {} WHERE id BETWEEN $1 AND $2",
            Self::SumRange => "SELECT SUM(k) FROM {} WHERE id BETWEEN $1 AND $2",
            Self::OrderRange => "SELECT c FROM {} WHERE id BETWEEN $1 AND $2 ORDER BY c",
            Self::DistinctRange => {
                "SELECT DISTINCT c FROM {} WHERE id BETWEEN $1 AND $2 ORDER BY c"
            }
            Self::IndexUpdate => "UPDATE {} SET k=k+1 WHERE id=$1",
            Self::TextUpdate => "UPDATE {} SET c=$1 WHERE id=$2",
            Self::Delete => "DELETE FROM {} WHERE id=$1",
            Self::Insert => "INSERT INTO {} (id, k, c, pad) VALUES ($1, $2, $3, $4)",
        }
    }

    /// The statement on this table.
    fn statement(self, table: u32) -> Statement {
        Statement {
            kind: match self {
                Self::Insert => StatementKind::GivesId,
                _ => StatementKind::Plain,
            },
            ..Statement::plain(self.text().replace("{}", &table_name(table)))
        }
    }
}

/// What an INSERT puts in beside the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    pub k: i32,
    pub c: String,
    pub pad: String,
}

/// Columns in the order in which rows are filled.
pub const COLUMNS: [&str; 4] = ["id", "k", "c", "pad"];

/// Tables are counted from 1.
pub fn table_name(table: u32) -> String {
    format!("sbtest{table}")
}

/// As sysbench names it.
pub fn create_index(table: u32) -> String {
    format!("CREATE INDEX k_{table} ON {}(k)", table_name(table))
}

pub fn create_table(table: u32, syntax: &TableSyntax) -> String {
    format!(
        "CREATE TABLE {}(id {}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)){}",
        table_name(table),
        syntax.id,
        syntax.table_options,
    )
}

/// Where the database finds the id.
pub fn insert_next(table: u32, row: &NewRow, syntax: &TableSyntax) -> String {
    let NewRow { k, c, pad } = row;
    let (column, value) = match syntax.next_id {
        Some(value) => ("id, ", format!("{value}, ")),
        None => ("", String::new()),
    };
    format!(
        "INSERT INTO {} ({column}k, c, pad) VALUES ({value}{k}, '{c}', '{pad}')",
        table_name(table)
    )
}

/// The statements that a session of a script prepares, and where each is among them.
#[derive(Debug, Clone)]
pub struct Prepared {
    script: Script,
    tables: u32,
    /// By [`SysbenchStmt`]: how many of the script's come before it.
    before: [usize; SysbenchStmt::ALL.len()],
}

impl Prepared {
    pub fn new(sysbench: &Sysbench) -> Self {
        let mut before = [0; SysbenchStmt::ALL.len()];
        for &stmt in SysbenchStmt::ALL {
            let earlier = SysbenchStmt::ALL.iter().take(stmt as usize);
            before[stmt as usize] = earlier
                .filter(|earlier| earlier.is_in(sysbench.script))
                .count();
        }
        Self {
            script: sysbench.script,
            tables: sysbench.tables,
            before,
        }
    }

    pub fn statements(&self) -> Vec<Statement> {
        SysbenchStmt::ALL
            .iter()
            .filter(|stmt| stmt.is_in(self.script))
            .flat_map(|stmt| (1..=self.tables).map(|table| stmt.statement(table)))
            .collect()
    }

    /// Place in [`Self::statements`].
    pub fn place(&self, stmt: SysbenchStmt, table: u32) -> usize {
        self.before[stmt as usize] * self.tables as usize + table as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sysbench::population::testing::SMALL;

    #[test]
    fn statements_are_found_where_they_are() {
        for &script in Script::ALL {
            let prepared = Prepared::new(&Sysbench {
                script,
                tables: 3,
                ..SMALL
            });
            let statements = prepared.statements();
            let own: Vec<SysbenchStmt> = SysbenchStmt::ALL
                .iter()
                .copied()
                .filter(|stmt| stmt.is_in(script))
                .collect();
            assert_eq!(statements.len(), own.len() * 3);
            for stmt in own {
                for table in 1..=3 {
                    let found = &statements[prepared.place(stmt, table)];
                    assert_eq!(*found, stmt.statement(table));
                }
            }
        }
    }
}
