//! Tables and statements, as sysbench writes them for each database (`oltp_common.lua`).

use plimsoll_plan::resolved::{Script, Sysbench};

/// What databases write differently: data, and one function for what is in none of it.
pub struct SysbenchDialect {
    /// Type of the ids.
    pub id: &'static str,
    /// Behind the columns of a table.
    pub table_options: &'static str,
    /// The type that a sum of ids is read as.
    pub integer: &'static str,
    /// The function that counts a text's characters.
    pub length: &'static str,
    /// What an INSERT has in the place of an id that the database finds; `None`: it leaves the column out.
    pub next_id: Option<&'static str>,
    /// A statement on this table as the database wants it; parameters are `?`.
    pub prepared: fn(SysbenchStmt, &str, String) -> String,
}

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

    /// `{}` stands for the table, `?` for parameters.
    fn text(self) -> &'static str {
        match self {
            Self::PointSelect => "SELECT c FROM {} WHERE id=?",
            Self::SimpleRange => "SELECT c FROM {} WHERE id BETWEEN ? AND ?",
            Self::SumRange => "SELECT SUM(k) FROM {} WHERE id BETWEEN ? AND ?",
            Self::OrderRange => "SELECT c FROM {} WHERE id BETWEEN ? AND ? ORDER BY c",
            Self::DistinctRange => "SELECT DISTINCT c FROM {} WHERE id BETWEEN ? AND ? ORDER BY c",
            Self::IndexUpdate => "UPDATE {} SET k=k+1 WHERE id=?",
            Self::TextUpdate => "UPDATE {} SET c=? WHERE id=?",
            Self::Delete => "DELETE FROM {} WHERE id=?",
            Self::Insert => "INSERT INTO {} (id, k, c, pad) VALUES (?, ?, ?, ?)",
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

impl SysbenchDialect {
    pub fn create_table(&self, table: u32) -> String {
        format!(
            "CREATE TABLE {}(id {}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
             pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)){}",
            table_name(table),
            self.id,
            self.table_options,
        )
    }

    /// Where the database finds the id.
    pub fn insert_next(&self, table: u32, row: &NewRow) -> String {
        let NewRow { k, c, pad } = row;
        let (column, value) = match self.next_id {
            Some(value) => ("id, ", format!("{value}, ")),
            None => ("", String::new()),
        };
        format!(
            "INSERT INTO {} ({column}k, c, pad) VALUES ({value}{k}, '{c}', '{pad}')",
            table_name(table)
        )
    }

    pub(crate) fn prepare(&self, stmt: SysbenchStmt, table: u32) -> String {
        let name = table_name(table);
        let text = stmt.text().replace("{}", &name);
        (self.prepared)(stmt, &name, text)
    }
}

/// `$1`, `$2`, … in the places of `?`, where `$` is the sign.
pub fn numbered(text: &str, sign: &str) -> String {
    let mut parts = text.split('?');
    let first = parts.next().unwrap_or_default().to_owned();
    parts
        .zip(1..)
        .fold(first, |text, (part, n)| format!("{text}{sign}{n}{part}"))
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

    pub fn texts(&self, dialect: &SysbenchDialect) -> Vec<String> {
        let own = SysbenchStmt::ALL
            .iter()
            .filter(|stmt| stmt.is_in(self.script));
        own.flat_map(|&stmt| (1..=self.tables).map(move |table| dialect.prepare(stmt, table)))
            .collect()
    }

    /// Place in [`Self::texts`].
    pub fn place(&self, stmt: SysbenchStmt, table: u32) -> usize {
        self.before[stmt as usize] * self.tables as usize + table as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sysbench::population::testing::SMALL;

    static PLAIN: SysbenchDialect = SysbenchDialect {
        id: "INTEGER NOT NULL",
        table_options: "",
        integer: "INTEGER",
        length: "length",
        next_id: None,
        prepared: |_, _, text| text,
    };

    #[test]
    fn statements_are_found_where_they_are() {
        for &script in Script::ALL {
            let prepared = Prepared::new(&Sysbench {
                script,
                tables: 3,
                ..SMALL
            });
            let texts = prepared.texts(&PLAIN);
            let own: Vec<SysbenchStmt> = SysbenchStmt::ALL
                .iter()
                .copied()
                .filter(|stmt| stmt.is_in(script))
                .collect();
            assert_eq!(texts.len(), own.len() * 3);
            for (stmt, table) in own
                .into_iter()
                .flat_map(|stmt| (1..=3).map(move |table| (stmt, table)))
            {
                assert_eq!(
                    texts[prepared.place(stmt, table)],
                    PLAIN.prepare(stmt, table)
                );
            }
        }
    }
}
