//! Tables and statements, as sysbench writes them for each database (`oltp_common.lua`).

use plimsoll_plan::resolved::{Script, Sysbench};

/// What databases write differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SysbenchDialect {
    /// sysbench 1.0 has no driver for it: as for the others, in SQLite's syntax.
    Sqlite,
    Postgres,
    Mariadb,
    /// sysbench has no driver for it either.
    Sqlserver,
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
    pub fn create_table(self, table: u32) -> String {
        let (id, engine) = match self {
            Self::Sqlite => ("INTEGER NOT NULL", ""),
            Self::Postgres => ("SERIAL", ""),
            Self::Mariadb => ("INTEGER NOT NULL AUTO_INCREMENT", " /*! ENGINE = innodb */"),
            Self::Sqlserver => ("INTEGER NOT NULL IDENTITY(1, 1)", ""),
        };
        format!(
            "CREATE TABLE {}(id {id}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
             pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)){engine}",
            table_name(table)
        )
    }

    /// The type that a sum of ids is read as.
    pub fn integer(self) -> &'static str {
        match self {
            Self::Sqlite => "INTEGER",
            Self::Postgres => "bigint",
            Self::Mariadb => "SIGNED",
            Self::Sqlserver => "bigint",
        }
    }

    /// The function that counts a text's characters.
    pub fn length(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres | Self::Mariadb => "length",
            Self::Sqlserver => "len",
        }
    }

    /// Where the database finds the id.
    pub fn insert_next(self, table: u32, row: &NewRow) -> String {
        let NewRow { k, c, pad } = row;
        match self {
            Self::Sqlite | Self::Postgres | Self::Sqlserver => {
                format!(
                    "INSERT INTO {} (k, c, pad) VALUES ({k}, '{c}', '{pad}')",
                    table_name(table)
                )
            }
            Self::Mariadb => {
                format!(
                    "INSERT INTO {} (id, k, c, pad) VALUES (0, {k}, '{c}', '{pad}')",
                    table_name(table)
                )
            }
        }
    }

    fn prepared(self, stmt: SysbenchStmt, table: u32) -> String {
        let text = stmt.text().replace("{}", &table_name(table));
        match self {
            Self::Sqlite | Self::Mariadb => text,
            Self::Postgres => numbered(&text, "$"),
            Self::Sqlserver => of_sqlserver(stmt, table, &numbered(&text, "@P")),
        }
    }
}

/// A sum of integers is an integer there, and may be too large for one. An id is given to a row only where that is asked
/// for, of one table at a time.
fn of_sqlserver(stmt: SysbenchStmt, table: u32, text: &str) -> String {
    match stmt {
        SysbenchStmt::SumRange => text.replace("SUM(k)", "SUM(CAST(k AS bigint))"),
        SysbenchStmt::Insert => {
            let name = table_name(table);
            format!("SET IDENTITY_INSERT {name} ON; {text}; SET IDENTITY_INSERT {name} OFF")
        }
        _ => text.to_owned(),
    }
}

/// `$1`, `$2`, … in the places of `?`, where `$` is the sign.
fn numbered(text: &str, sign: &str) -> String {
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

    pub fn texts(&self, dialect: SysbenchDialect) -> Vec<String> {
        let own = SysbenchStmt::ALL
            .iter()
            .filter(|stmt| stmt.is_in(self.script));
        own.flat_map(|&stmt| (1..=self.tables).map(move |table| dialect.prepared(stmt, table)))
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

    #[test]
    fn statements_are_found_where_they_are() {
        for &script in Script::ALL {
            let prepared = Prepared::new(&Sysbench {
                script,
                tables: 3,
                ..SMALL
            });
            let texts = prepared.texts(SysbenchDialect::Postgres);
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
                    SysbenchDialect::Postgres.prepared(stmt, table)
                );
            }
        }
    }

    #[test]
    fn parameters_are_written_as_the_database_wants() {
        assert_eq!(
            SysbenchDialect::Postgres.prepared(SysbenchStmt::Insert, 12),
            "INSERT INTO sbtest12 (id, k, c, pad) VALUES ($1, $2, $3, $4)"
        );
        for dialect in [SysbenchDialect::Sqlite, SysbenchDialect::Mariadb] {
            assert_eq!(
                dialect.prepared(SysbenchStmt::TextUpdate, 1),
                "UPDATE sbtest1 SET c=? WHERE id=?"
            );
        }
    }

    /// `create_table` of `oltp_common.lua` and `event` of `oltp_insert.lua`, for its driver mysql.
    #[test]
    fn mariadb_gets_what_sysbench_sends_a_mysql() {
        assert_eq!(
            SysbenchDialect::Mariadb.create_table(3),
            "CREATE TABLE sbtest3(id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) \
             /*! ENGINE = innodb */"
        );
        let row = NewRow {
            k: 5,
            c: "1-2".into(),
            pad: "3-4".into(),
        };
        assert_eq!(
            SysbenchDialect::Mariadb.insert_next(3, &row),
            "INSERT INTO sbtest3 (id, k, c, pad) VALUES (0, 5, '1-2', '3-4')"
        );
    }
}
