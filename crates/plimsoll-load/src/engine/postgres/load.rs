//! The bulk load: tables, binary COPY over several connections, then indexes, then VACUUM ANALYZE.
//!
//! A marker table records what was loaded. It is committed with the empty tables, so a load that was cut off is known as
//! plimsoll's own and begins again; tables without a marker are the user's and are left alone.

use tokio_postgres::Client;

use super::bulk::{Bulk, Part};
use super::connect::{connect, server_error};
use super::copy::CopySink;
use super::guard::{self, Use};
use super::{blocking, quote_ident, search_path};
use crate::engine::server::{IfOther, TpccSchemaState, sysbench};
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;
use crate::workload::tpcc::population::{Chunk, Population, VERSION};
use crate::workload::tpcc::rows::Table;

const SCHEMA: &str = include_str!("sql/schema.sql");
const INDEXES: &str = include_str!("sql/indexes.sql");
const PROCEDURES: &str = include_str!("sql/procedures.sql");

pub(super) const MARKER: &str = "plimsoll_load";
/// The marker's state when everything is in the tables.
pub(super) const FINISHED: &str = "finished";

/// Loads a population into `schema`, which is created when it is missing. What an unfinished load of plimsoll left there
/// is replaced, and a finished one unless it is of this very population or `if_other` forbids it. Refused while any
/// plimsoll uses the schema. Blocks the calling thread.
pub fn load(
    conninfo: &str,
    schema: &str,
    population: Population,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    blocking(|| async {
        let main = connect(conninfo).await?;
        PostgresTpccLoad {
            conninfo,
            schema,
            population,
            if_other,
            control,
            main,
        }
        .run()
        .await
    })
}

/// Makes the next [`load`] begin anew although its data are there.
pub fn forget(conninfo: &str, schema: &str) -> Result<(), LoadError> {
    blocking(|| async {
        let client = connect(conninfo).await?;
        let what = format!("schema {schema}");
        guard::take(&client, schema, Use::Load).await?;
        client
            .batch_execute(&search_path(schema))
            .await
            .map_err(|e| server_error(&what, &e))?;
        for marker in [MARKER, sysbench::MARKER] {
            let there = client
                .query_one("SELECT to_regclass($1::text) IS NOT NULL", &[&marker])
                .await;
            if there
                .and_then(|row| row.try_get(0))
                .map_err(|e| server_error(&what, &e))?
            {
                let forget = format!("UPDATE {marker} SET state = 'started'");
                client
                    .batch_execute(&forget)
                    .await
                    .map_err(|e| server_error(&what, &e))?;
            }
        }
        Ok(())
    })
}

/// Makes the schema if need be, and keeps other plimsolls out of it until this connection ends.
pub(super) async fn take_schema(client: &Client, schema: &str) -> Result<(), LoadError> {
    let what = format!("schema {schema}");
    let error = |e: tokio_postgres::Error| server_error(&what, &e);
    guard::take(client, schema, Use::Load).await?;
    let there = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
    let row = client.query_one(there, &[&schema]).await.map_err(error)?;
    if !row.try_get::<_, bool>(0).map_err(error)? {
        client
            .batch_execute(&format!("CREATE SCHEMA {}", quote_ident(schema)))
            .await
            .map_err(error)?;
    }
    client
        .batch_execute(&search_path(schema))
        .await
        .map_err(error)
}

struct PostgresTpccLoad<'a> {
    conninfo: &'a str,
    schema: &'a str,
    population: Population,
    if_other: IfOther,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Client,
}

impl PostgresTpccLoad<'_> {
    async fn run(&self) -> Result<Loaded, LoadError> {
        take_schema(&self.main, self.schema).await?;
        let loaded = match self.find().await? {
            TpccSchemaState::Same => {
                self.batch("creating functions", PROCEDURES).await?;
                Loaded::Reused
            }
            TpccSchemaState::Other(what) if self.if_other == IfOther::Refuse => {
                return Err(self.occupied(&what));
            }
            found => {
                self.fresh(&found).await?;
                Loaded::Fresh
            }
        };
        guard::release(&self.main, self.schema).await?;
        Ok(loaded)
    }

    async fn fresh(&self, found: &TpccSchemaState) -> Result<(), LoadError> {
        self.control.start(self.population.rows());
        self.create(found).await?;
        let bulk = Bulk::open(self.conninfo, self.schema, self.control).await?;
        bulk.or_cancelled(&self.main, self.fill_and_index(&bulk))
            .await?;
        self.batch("creating functions", PROCEDURES).await?;
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', since = now()");
        self.batch("finishing the load", &done).await
    }

    fn occupied(&self, what: &str) -> LoadError {
        let schema = quote_ident(self.schema);
        let tables: Vec<String> = all_tables()
            .map(|name| format!("{schema}.{name}"))
            .collect();
        LoadError::Occupied {
            what: format!("Schema {}", self.schema),
            holds: what.into(),
            next: format!(
                "Name another `schema` in the plan, or remove this data yourself: DROP TABLE IF EXISTS {};",
                tables.join(", ")
            ),
        }
    }

    async fn batch(&self, what: &str, sql: &str) -> Result<(), LoadError> {
        self.main
            .batch_execute(sql)
            .await
            .map_err(|e| server_error(what, &e))
    }

    async fn find(&self) -> Result<TpccSchemaState, LoadError> {
        let error = |e: tokio_postgres::Error| server_error("inspecting the schema", &e);
        let names: Vec<&str> = all_tables().collect();
        let sql = "SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                   WHERE nspname = $1 AND relname = ANY ($2) ORDER BY 1";
        let rows = self
            .main
            .query(sql, &[&self.schema, &names])
            .await
            .map_err(error)?;
        let there: Vec<String> = rows
            .iter()
            .map(|row| row.try_get(0))
            .collect::<Result<_, _>>()
            .map_err(error)?;
        if there.is_empty() {
            return Ok(TpccSchemaState::Nothing);
        }
        if !there.iter().any(|name| name == MARKER) {
            return Err(LoadError::Foreign {
                what: format!("Table {} in schema {}", there.join(", "), self.schema),
                next: "Name another schema in the plan, or move these tables away.".into(),
            });
        }
        let sql = format!("SELECT version, state, warehouses, seed FROM {MARKER}");
        let Some(row) = self.main.query_opt(&sql, &[]).await.map_err(error)? else {
            return Ok(TpccSchemaState::Unfinished);
        };
        let state: String = row.try_get(1).map_err(error)?;
        if state != FINISHED {
            return Ok(TpccSchemaState::Unfinished);
        }
        let marked: (i32, i32, String) = (
            row.try_get(0).map_err(error)?,
            row.try_get(2).map_err(error)?,
            row.try_get(3).map_err(error)?,
        );
        let Population { warehouses, seed } = self.population;
        if marked == (VERSION, warehouses.cast_signed(), seed.to_string())
            && there.len() == names.len()
        {
            return Ok(TpccSchemaState::Same);
        }
        let (version, warehouses, seed) = marked;
        Ok(TpccSchemaState::Other(format!(
            "a finished load of {warehouses} warehouses, seed {seed}, layout {version}"
        )))
    }

    /// Empty tables and the marker, in one transaction; before them what an earlier load left.
    async fn create(&self, found: &TpccSchemaState) -> Result<(), LoadError> {
        let drop = match found {
            TpccSchemaState::Other(_) | TpccSchemaState::Unfinished => {
                format!(
                    "DROP TABLE IF EXISTS {};",
                    all_tables().collect::<Vec<_>>().join(", ")
                )
            }
            TpccSchemaState::Nothing | TpccSchemaState::Same => String::new(),
        };
        let Population { warehouses, seed } = self.population;
        let sql = format!(
            "BEGIN; {drop} {SCHEMA}
             CREATE TABLE {MARKER} (version integer, state text, warehouses integer, seed text, since timestamptz);
             INSERT INTO {MARKER} VALUES ({VERSION}, 'started', {warehouses}, '{seed}', now());
             COMMIT"
        );
        self.batch("creating tables", &sql).await
    }

    async fn fill_and_index(&self, bulk: &Bulk<'_>) -> Result<(), LoadError> {
        let now = "SELECT (extract(epoch FROM now()) * 1000000)::bigint";
        let error = |e: tokio_postgres::Error| server_error("asking for the time", &e);
        let now: i64 = self
            .main
            .query_one(now, &[])
            .await
            .map_err(error)?
            .try_get(0)
            .map_err(error)?;
        let population = self.population;
        let part = |chunk| ChunkPart {
            population,
            chunk,
            now,
        };
        bulk.copy(population.chunks().into_iter().map(part).collect())
            .await?;
        bulk.run(
            INDEXES
                .lines()
                .filter(|line| !line.starts_with("--"))
                .map(str::to_owned),
        )
        .await?;
        // Sets hint bits and the visibility map now, which would otherwise be work during the measurement.
        let largest_first = [
            Table::OrderLine,
            Table::Stock,
            Table::Customer,
            Table::Orders,
            Table::History,
        ];
        let rest = Table::ALL
            .into_iter()
            .filter(|table| !largest_first.contains(table));
        let vacuum = largest_first.into_iter().chain(rest);
        bulk.run(vacuum.map(|table| format!("VACUUM ANALYZE {}", table.name())))
            .await
    }
}

/// Names of the tables that a load makes.
fn all_tables() -> impl Iterator<Item = &'static str> {
    Table::ALL.into_iter().map(Table::name).chain([MARKER])
}

/// A chunk of the population, loaded at this time.
struct ChunkPart {
    population: Population,
    chunk: Chunk,
    now: i64,
}

impl Part for ChunkPart {
    fn table(&self) -> String {
        self.chunk.table.name().into()
    }

    fn columns(&self) -> &'static [&'static str] {
        self.chunk.table.columns()
    }

    fn fill(&self, sink: &mut CopySink<'_>) {
        self.population.fill(&self.chunk, self.now, sink);
    }
}
