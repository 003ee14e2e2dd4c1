//! sysbench's tables on SQLite: loading, checking. sysbench 1.0 has no driver for it: they are those of its other drivers.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_plan::resolved::Sysbench;
use rusqlite::Connection as Database;

use super::client::SqliteClient;
use super::connection::open_read_only;
use super::load::{SqliteDataSet, holds, load_data};
use super::schema::TABLE_SYNTAX;
use crate::engine::sql::SqlClient;
use crate::engine::sql::check::table_check;
use crate::engine::sql::part::TablePart;
use crate::engine::{ConditionResult, LoadControl, Loaded};
use crate::error::LoadError;
use crate::workload::sysbench::check;
use crate::workload::sysbench::population::SysbenchPopulation;
use crate::workload::sysbench::sql::{create_index, create_table, table_name};

/// Version of the tables and the marker.
const FORMAT: i64 = 1;

/// Loads the population into a new database at `path`, or finds it there with every row. A database that plimsoll loaded
/// there before is replaced, any other file is refused.
pub fn load(
    path: &Path,
    sysbench: &Sysbench,
    seed: u64,
    pragmas: &BTreeMap<String, String>,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    let data = Data {
        population: SysbenchPopulation::new(sysbench, seed),
        rows_kept: sysbench.script.keeps_rows(),
    };
    if holds(path, "plimsoll_sysbench", |connection| {
        data.is_in(connection)
    })? {
        return Ok(Loaded::Reused);
    }
    load_data(path, &data, pragmas, control).map(|()| Loaded::Fresh)
}

struct Data {
    population: SysbenchPopulation,
    /// Whether the script leaves every row where it is.
    rows_kept: bool,
}

impl Data {
    /// Whether it is there as it was loaded; then the marker records whether it will stay so.
    fn is_in(&self, connection: &Database) -> rusqlite::Result<bool> {
        let SysbenchPopulation {
            tables,
            rows,
            distribution,
            seed,
        } = self.population;
        let sql = "SELECT count(*) FROM plimsoll_sysbench
                   WHERE (format, tables, rows, distribution, seed, rows_kept) = (?1, ?2, ?3, ?4, ?5, 1)";
        let wanted = (
            FORMAT,
            tables,
            rows,
            distribution.name(),
            seed.cast_signed(),
        );
        let same: i64 = connection.query_row(sql, wanted, |row| row.get(0))?;
        if same == 1 && !self.rows_kept {
            connection.execute("UPDATE plimsoll_sysbench SET rows_kept = 0", ())?;
        }
        Ok(same == 1)
    }
}

impl SqliteDataSet for Data {
    fn rows(&self) -> u64 {
        self.population.total()
    }

    fn create_tables(&self) -> String {
        (1..=self.population.tables)
            .map(|table| format!("{};", create_table(table, &TABLE_SYNTAX)))
            .collect()
    }

    fn parts(&self) -> Vec<TablePart> {
        TablePart::of_sysbench(self.population)
    }

    fn indexes(&self) -> Vec<String> {
        (1..=self.population.tables).map(create_index).collect()
    }

    fn mark(&self, connection: &Database) -> rusqlite::Result<()> {
        connection.execute_batch(
            "CREATE TABLE plimsoll_sysbench (format INTEGER NOT NULL, tables INTEGER NOT NULL, rows INTEGER NOT NULL,
             distribution TEXT NOT NULL, seed INTEGER NOT NULL, rows_kept INTEGER NOT NULL) STRICT",
        )?;
        let SysbenchPopulation {
            tables,
            rows,
            distribution,
            seed,
        } = self.population;
        let loaded = (
            FORMAT,
            tables,
            rows,
            distribution.name(),
            seed.cast_signed(),
            self.rows_kept,
        );
        connection
            .execute(
                "INSERT INTO plimsoll_sysbench VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                loaded,
            )
            .map(drop)
    }
}

/// What holds of the tables after the plan's script; see [`check::verdicts`]. The database stays as it is.
pub fn check(path: &Path, sysbench: &Sysbench) -> Result<Vec<ConditionResult>, LoadError> {
    let connection = &open_read_only(path)?;
    let mut client = SqliteClient { connection, path };
    let found = (1..=sysbench.tables).map(|table| {
        let sql = check::sql(sysbench, table, &TABLE_SYNTAX);
        table_check(&client.row(&format!("checking {}", table_name(table)), &sql)?)
    });
    let found: Result<Vec<_>, LoadError> = found.collect();
    Ok(check::verdicts(sysbench, &found?))
}
