//! Loading sysbench's tables, or finding them; see [`crate::engine::server::sysbench`].

use plimsoll_model::plan::resolved::{Script, Sysbench};
use tokio_postgres::{Client, Error, Row};

use crate::engine::postgres::blocking;
use crate::engine::postgres::bulk::{Bulk, Part};
use crate::engine::postgres::connect::{connect, server_error};
use crate::engine::postgres::copy::CopySink;
use crate::engine::postgres::guard;
use crate::engine::postgres::load::take_schema;
use crate::engine::postgres::quote_ident;
use crate::engine::server::IfOther;
use crate::engine::server::sysbench::{Contents, FINISHED, MARKER, Marker, SysbenchSchemaState};
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;
use crate::workload::sysbench::population::Population;
use crate::workload::sysbench::sql::{COLUMNS, Dialect, create_index, table_name};

/// Rows between two checks for a cancelled load.
const BATCH: u32 = 10_000;

/// Loads the population into `schema`, which is created when it is missing, or finds it there: plimsoll's own if every
/// row is still there, or tables of sysbench's. Refused while any plimsoll uses the schema. Blocks the calling thread.
pub fn load(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
    seed: u64,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    blocking(|| async {
        let main = connect(conninfo).await?;
        let population = Population::new(sysbench, seed);
        PostgresSysbenchLoad {
            conninfo,
            schema,
            script: sysbench.script,
            population,
            if_other,
            control,
            main,
        }
        .run()
        .await
    })
}

struct PostgresSysbenchLoad<'a> {
    conninfo: &'a str,
    schema: &'a str,
    script: Script,
    population: Population,
    if_other: IfOther,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Client,
}

impl<'a> PostgresSysbenchLoad<'a> {
    async fn run(&self) -> Result<Loaded, LoadError> {
        take_schema(&self.main, self.schema).await?;
        let contents = self.contents().await?;
        let loaded = match contents.classify(&self.population)? {
            SysbenchSchemaState::Foreign => self.use_foreign(&contents).await?,
            SysbenchSchemaState::Same => self.use_again().await?,
            SysbenchSchemaState::Nothing => self.fresh(0).await?,
            SysbenchSchemaState::Stale(tables) => self.fresh(tables).await?,
            SysbenchSchemaState::Other(tables, _) if self.if_other == IfOther::Replace => {
                self.fresh(tables).await?
            }
            SysbenchSchemaState::Other(_, holds) => {
                return Err(contents.occupied(&holds, &quote_ident(self.schema)));
            }
        };
        guard::release(&self.main, self.schema).await?;
        Ok(loaded)
    }

    /// Drops the tables that an earlier load made, numbered from 1, and makes those of this one.
    async fn fresh(&self, earlier: u32) -> Result<Loaded, LoadError> {
        self.control.start(self.population.total());
        self.create(earlier).await?;
        let bulk = Bulk::open(self.conninfo, self.schema, self.control).await?;
        bulk.or_cancelled(&self.main, self.fill_and_index(&bulk))
            .await?;
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', since = now()");
        self.batch("finishing the load", &done).await?;
        Ok(Loaded::Fresh)
    }

    async fn batch(&self, what: &str, sql: &str) -> Result<(), LoadError> {
        self.main
            .batch_execute(sql)
            .await
            .map_err(|e| server_error(what, &e))
    }

    async fn contents(&self) -> Result<Contents<'a>, LoadError> {
        let error = |e: Error| server_error("inspecting the schema", &e);
        let sql = "SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1";
        let rows = self.main.query(sql, &[&self.schema]).await.map_err(error)?;
        let names: Vec<String> = rows
            .iter()
            .map(|row| row.try_get(0))
            .collect::<Result<_, _>>()
            .map_err(error)?;
        let mut marker = None;
        if names.iter().any(|name| name == MARKER) {
            let error = |e: Error| server_error("inspecting the loaded data", &e);
            let sql = format!(
                "SELECT version, state, tables, rows, distribution, seed, rows_kept FROM {MARKER}"
            );
            let row = self.main.query_opt(&sql, &[]).await.map_err(error)?;
            marker = row.map(|row| read(&row)).transpose().map_err(error)?;
        }
        Ok(Contents {
            schema: self.schema,
            names,
            marker,
        })
    }

    async fn use_foreign(&self, contents: &Contents<'_>) -> Result<Loaded, LoadError> {
        let Population { tables, rows, .. } = self.population;
        contents.expect_tables(tables)?;
        for name in (1..=tables).map(table_name) {
            let error = |e: Error| server_error(&format!("counting the rows of {name}"), &e);
            let row = self
                .main
                .query_one(&format!("SELECT count(*) FROM {name}"), &[])
                .await
                .map_err(error)?;
            contents.expect_rows(&name, row.try_get(0).map_err(error)?, rows)?;
            self.control.check()?;
        }
        Ok(Loaded::Reused)
    }

    async fn use_again(&self) -> Result<Loaded, LoadError> {
        if !self.script.keeps_rows() {
            self.batch(
                "noting that rows will change",
                &format!("UPDATE {MARKER} SET rows_kept = false"),
            )
            .await?;
        }
        Ok(Loaded::Reused)
    }

    /// Empty tables and the marker, in one transaction; before them what an earlier load left.
    async fn create(&self, earlier: u32) -> Result<(), LoadError> {
        let tables = self.population.tables;
        let drop: String = (1..=earlier)
            .map(|table| format!("DROP TABLE IF EXISTS {};", table_name(table)))
            .collect();
        let create: String = (1..=tables)
            .map(|table| format!("{};", Dialect::Postgres.create_table(table)))
            .collect();
        let sql = format!(
            "BEGIN; {drop} DROP TABLE IF EXISTS {MARKER}; {create}
             CREATE TABLE {MARKER} (version integer, state text, tables integer, rows integer, distribution text,
                                    seed text, rows_kept boolean, since timestamptz);
             INSERT INTO {MARKER} VALUES ({}, now());
             COMMIT",
            Marker::started(&self.population, self.script).values()
        );
        self.batch("creating tables", &sql).await
    }

    async fn fill_and_index(&self, bulk: &Bulk<'_>) -> Result<(), LoadError> {
        let Population { tables, rows, .. } = self.population;
        let part = |table| TablePart {
            population: self.population,
            table,
        };
        bulk.copy((1..=tables).map(part).collect()).await?;
        bulk.run((1..=tables).map(create_index)).await?;
        // The ids came with the rows, and inserts go on behind them.
        let serial =
            |name: String| format!("SELECT setval(pg_get_serial_sequence('{name}', 'id'), {rows})");
        bulk.run((1..=tables).map(table_name).map(serial)).await?;
        // Sets hint bits and the visibility map now, which would otherwise be work during the measurement.
        bulk.run((1..=tables).map(|table| format!("VACUUM ANALYZE {}", table_name(table))))
            .await
    }
}

/// The marker's row.
fn read(row: &Row) -> Result<Marker, Error> {
    Ok(Marker {
        version: row.try_get("version")?,
        state: row.try_get("state")?,
        tables: row.try_get::<_, i32>("tables")?.cast_unsigned(),
        rows: row.try_get::<_, i32>("rows")?.cast_unsigned(),
        distribution: row.try_get("distribution")?,
        seed: row.try_get("seed")?,
        rows_kept: row.try_get("rows_kept")?,
    })
}

/// A whole table: one connection fills it in the order of ids, so that rows lie on the disk as sysbench puts them there.
struct TablePart {
    population: Population,
    table: u32,
}

impl Part for TablePart {
    fn table(&self) -> String {
        table_name(self.table)
    }

    fn columns(&self) -> &'static [&'static str] {
        &COLUMNS
    }

    fn fill(&self, sink: &mut CopySink<'_>) {
        let mut rows = self.population.table(self.table);
        while !sink.is_closed() && rows.fill(BATCH, sink) > 0 {}
    }
}
