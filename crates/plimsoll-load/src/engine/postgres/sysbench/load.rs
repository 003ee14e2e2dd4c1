//! Loading sysbench's tables, or finding them: plimsoll's own beside a marker table, or somebody else's, which are used
//! as they are if they are of the plan's size, and never replaced.

use plimsoll_model::plan::resolved::{Script, Sysbench};
use tokio_postgres::{Client, Error, Row};

use crate::engine::postgres::blocking;
use crate::engine::postgres::bulk::{Bulk, Part};
use crate::engine::postgres::connect::{connect, server_error};
use crate::engine::postgres::copy::CopySink;
use crate::engine::postgres::guard;
use crate::engine::postgres::load::{FINISHED, take_schema};
use crate::engine::postgres::quote_ident;
use crate::engine::server::IfOther;
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;
use crate::workload::sysbench::population::Population;
use crate::workload::sysbench::sql::{COLUMNS, Dialect, create_index, table_name};

pub const MARKER: &str = "plimsoll_sysbench";
/// Of the marker's and the tables' layout: data of another version is loaded again.
const VERSION: i32 = 1;
/// Rows between two looks at whether anybody still wants them.
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
        Load { conninfo, schema, script: sysbench.script, population, if_other, control, main }.run().await
    })
}

/// What is in the schema.
enum Found {
    Nothing,
    /// Tables without a marker.
    Foreign,
    /// A finished load whose rows are all there.
    Same,
    /// Of plimsoll's, in need of a new load: unfinished, or used up by inserts or deletes. How many tables it made.
    Stale(u32),
    /// A finished load of another population, in words.
    Other(u32, String),
}

struct Load<'a> {
    conninfo: &'a str,
    schema: &'a str,
    script: Script,
    population: Population,
    if_other: IfOther,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Client,
}

impl Load<'_> {
    async fn run(&self) -> Result<Loaded, LoadError> {
        take_schema(&self.main, self.schema).await?;
        let loaded = match self.find().await? {
            Found::Foreign => {
                self.verify_foreign().await?;
                Loaded::Reused
            }
            Found::Same => Loaded::Reused,
            Found::Nothing => self.fresh(0).await?,
            Found::Stale(tables) => self.fresh(tables).await?,
            Found::Other(tables, _) if self.if_other == IfOther::Replace => self.fresh(tables).await?,
            Found::Other(_, holds) => return Err(self.occupied(&holds)),
        };
        guard::release(&self.main, self.schema).await?;
        Ok(loaded)
    }

    /// Drops the tables that an earlier load made, numbered from 1, and makes those of this one.
    async fn fresh(&self, earlier: u32) -> Result<Loaded, LoadError> {
        self.control.start(self.population.total());
        self.create(earlier).await?;
        let bulk = Bulk::open(self.conninfo, self.schema, self.control).await?;
        bulk.or_cancelled(&self.main, self.fill_and_index(&bulk)).await?;
        let kept = self.script.keeps_rows();
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', rows_kept = {kept}, since = now()");
        self.batch("finishing the load", &done).await?;
        Ok(Loaded::Fresh)
    }

    async fn batch(&self, what: &str, sql: &str) -> Result<(), LoadError> {
        self.main.batch_execute(sql).await.map_err(|e| server_error(what, &e))
    }

    fn occupied(&self, holds: &str) -> LoadError {
        let schema = quote_ident(self.schema);
        LoadError::Occupied {
            what: format!("Schema {}", self.schema),
            holds: holds.into(),
            next: format!(
                "Name another `schema` in the plan, or remove this data yourself: its tables sbtest… and {schema}.{MARKER}."
            ),
        }
    }

    /// Names of those of these tables that are there.
    async fn there(&self, names: &[String]) -> Result<Vec<String>, LoadError> {
        let error = |e: Error| server_error("looking at the schema", &e);
        let sql = "SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                   WHERE nspname = $1 AND relname = ANY ($2) ORDER BY relname";
        let rows = self.main.query(sql, &[&self.schema, &names]).await.map_err(error)?;
        rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(error)
    }

    async fn find(&self) -> Result<Found, LoadError> {
        let tables: Vec<String> = (1..=self.population.tables).map(table_name).collect();
        let there = self.there(&tables).await?;
        if self.there(&[MARKER.to_owned()]).await?.is_empty() {
            return Ok(if there.is_empty() { Found::Nothing } else { Found::Foreign });
        }
        let error = |e: Error| server_error("looking at what was loaded", &e);
        let sql = format!("SELECT tables, state, version, rows, distribution, seed, rows_kept FROM {MARKER}");
        let Some(row) = self.main.query_opt(&sql, &[]).await.map_err(error)? else { return Ok(Found::Stale(0)) };
        let made = row.try_get::<_, i32>(0).map_err(error)?.cast_unsigned();
        let made_names: Vec<String> = (1..=made).map(table_name).collect();
        if let Some(foreign) = there.iter().find(|name| !made_names.contains(name)) {
            return Err(LoadError::Foreign {
                what: format!("Table {foreign} in schema {}", self.schema),
                next: "Name another schema in the plan, or move this table away.".into(),
            });
        }
        if self.there(&made_names).await?.len() < made_names.len() {
            return Ok(Found::Stale(made));
        }
        self.judge(&row, made).await
    }

    /// A load whose tables are all there, going by its marker.
    async fn judge(&self, row: &Row, made: u32) -> Result<Found, LoadError> {
        let error = |e: Error| server_error("looking at what was loaded", &e);
        let (state, version): (String, i32) = (row.try_get(1).map_err(error)?, row.try_get(2).map_err(error)?);
        let (rows, distribution): (i32, String) = (row.try_get(3).map_err(error)?, row.try_get(4).map_err(error)?);
        let (seed, kept): (String, bool) = (row.try_get(5).map_err(error)?, row.try_get(6).map_err(error)?);
        if state != FINISHED {
            return Ok(Found::Stale(made));
        }
        let Population { tables, rows: wanted, distribution: law, seed: own } = self.population;
        let same = (version, made, rows) == (VERSION, tables, wanted.cast_signed());
        if !same || (distribution.as_str(), seed.as_str()) != (law.name(), own.to_string().as_str()) {
            let holds =
                format!("sysbench's tables: {made} of {rows} rows, {distribution}, seed {seed}, layout {version}");
            return Ok(Found::Other(made, holds));
        }
        if !kept {
            return Ok(Found::Stale(made));
        }
        if !self.script.keeps_rows() {
            self.batch("noting that rows will change", &format!("UPDATE {MARKER} SET rows_kept = false")).await?;
        }
        Ok(Found::Same)
    }

    /// Tables that plimsoll did not make are used if there are as many as the plan says, of as many rows.
    async fn verify_foreign(&self) -> Result<(), LoadError> {
        let Population { tables, rows, .. } = self.population;
        let names: Vec<String> = (1..=tables).map(table_name).collect();
        let there = self.there(&names).await?;
        if let Some(lacking) = names.iter().find(|name| !there.contains(name)) {
            return Err(self.other_size(&format!("{} of {tables} tables, {lacking} is missing", there.len())));
        }
        for name in names {
            let error = |e: Error| server_error(&format!("counting the rows of {name}"), &e);
            let row = self.main.query_one(&format!("SELECT count(*) FROM {name}"), &[]).await.map_err(error)?;
            let found: i64 = row.try_get(0).map_err(error)?;
            if found != i64::from(rows) {
                return Err(self.other_size(&format!("{found} rows in {name}, and the plan says {rows}")));
            }
            self.control.check()?;
        }
        Ok(())
    }

    fn other_size(&self, holds: &str) -> LoadError {
        LoadError::Occupied {
            what: format!("Schema {}", self.schema),
            holds: format!("sysbench's tables that plimsoll did not make: {holds}"),
            next: "Write `tables` and `rows` in the plan as they are there, prepare them anew with sysbench, or name \
                   another schema."
                .into(),
        }
    }

    /// Empty tables and the marker, in one transaction; before them what an earlier load left.
    async fn create(&self, earlier: u32) -> Result<(), LoadError> {
        let Population { tables, rows, distribution, seed } = self.population;
        let drop: String = (1..=earlier).map(|table| format!("DROP TABLE IF EXISTS {};", table_name(table))).collect();
        let create: String = (1..=tables).map(|table| format!("{};", Dialect::Postgres.create_table(table))).collect();
        let sql = format!(
            "BEGIN; {drop} DROP TABLE IF EXISTS {MARKER}; {create}
             CREATE TABLE {MARKER} (version integer, state text, tables integer, rows integer, distribution text,
                                    seed text, rows_kept boolean, since timestamptz);
             INSERT INTO {MARKER} VALUES
                 ({VERSION}, 'started', {tables}, {rows}, '{}', '{seed}', true, now());
             COMMIT",
            distribution.name()
        );
        self.batch("creating tables", &sql).await
    }

    async fn fill_and_index(&self, bulk: &Bulk<'_>) -> Result<(), LoadError> {
        let Population { tables, rows, .. } = self.population;
        let part = |table| TablePart { population: self.population, table };
        bulk.copy((1..=tables).map(part).collect()).await?;
        bulk.run((1..=tables).map(create_index)).await?;
        // The ids came with the rows, and inserts go on behind them.
        let serial = |name: String| format!("SELECT setval(pg_get_serial_sequence('{name}', 'id'), {rows})");
        bulk.run((1..=tables).map(table_name).map(serial)).await?;
        // Sets hint bits and the visibility map now, which would otherwise be somebody's work during the measurement.
        bulk.run((1..=tables).map(|table| format!("VACUUM ANALYZE {}", table_name(table)))).await
    }
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
