//! The bulk load: tables, LOAD DATA over several connections from memory, then indexes, then ANALYZE.
//!
//! A marker table records what was loaded. It is made before all other tables, so a load that was cut off is known as
//! plimsoll's own and begins again; a schema without a marker is the user's and is left alone unless it is empty.

use std::io::Write;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::bulk::{Bulk, Part};
use super::connect::{connect, connect_to, server_error};
use super::guard::{self, Use};
use super::quote_ident;
use super::tsv::TsvSink;
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
/// plimsoll uses the schema.
pub fn load(
    conninfo: &str,
    schema: &str,
    population: Population,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    let main = connect(conninfo)?;
    MariadbTpccLoad {
        conninfo,
        schema,
        population,
        if_other,
        control,
        main,
    }
    .run()
}

/// Makes the next [`load`] begin anew although its data are there.
pub fn forget(conninfo: &str, schema: &str) -> Result<(), LoadError> {
    let mut main = connect_to(conninfo, schema)?;
    guard::take(&mut main, schema, Use::Load)?;
    let there = tables_in(&mut main, schema)?;
    for marker in [MARKER, sysbench::MARKER]
        .into_iter()
        .filter(|marker| there.iter().any(|name| name == marker))
    {
        let forget = format!("UPDATE {marker} SET state = 'started'");
        main.query_drop(forget)
            .map_err(|e| server_error(&format!("schema {schema}"), &e))?;
    }
    Ok(())
}

/// Makes the schema if need be, with these options, and keeps other plimsolls out of it until this connection ends.
pub(super) fn take_schema(main: &mut Conn, schema: &str, options: &str) -> Result<(), LoadError> {
    let error = |e: mysql::Error| server_error(&format!("schema {schema}"), &e);
    guard::take(main, schema, Use::Load)?;
    let there = "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?";
    let there: Option<i64> = main.exec_first(there, (schema,)).map_err(error)?;
    let name = quote_ident(schema);
    if there.is_none() {
        main.query_drop(format!("CREATE DATABASE {name}{options}"))
            .map_err(error)?;
    }
    main.query_drop(format!("USE {name}")).map_err(error)
}

/// Names of all tables that are there.
pub(super) fn tables_in(main: &mut Conn, schema: &str) -> Result<Vec<String>, LoadError> {
    let sql = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? ORDER BY 1";
    main.exec(sql, (schema,))
        .map_err(|e| server_error("inspecting the schema", &e))
}

struct MariadbTpccLoad<'a> {
    conninfo: &'a str,
    schema: &'a str,
    population: Population,
    if_other: IfOther,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Conn,
}

impl MariadbTpccLoad<'_> {
    fn run(&mut self) -> Result<Loaded, LoadError> {
        take_schema(
            &mut self.main,
            self.schema,
            " CHARACTER SET latin1 COLLATE latin1_bin",
        )?;
        let loaded = match self.find()? {
            TpccSchemaState::Same => {
                self.create_procedures()?;
                Loaded::Reused
            }
            TpccSchemaState::Other(what) if self.if_other == IfOther::Refuse => {
                return Err(self.occupied(&what));
            }
            found => {
                self.fresh(&found)?;
                Loaded::Fresh
            }
        };
        guard::release(&mut self.main, self.schema)?;
        Ok(loaded)
    }

    fn fresh(&mut self, found: &TpccSchemaState) -> Result<(), LoadError> {
        self.control.start(self.population.rows());
        self.create(found)?;
        let now = "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)";
        let now: Option<i64> = self
            .main
            .query_first(now)
            .map_err(|e| server_error("asking for the time", &e))?;
        let (population, now) = (self.population, now.unwrap_or_default());
        let part = |chunk| ChunkPart {
            population,
            chunk,
            now,
        };
        let mut bulk = Bulk::new(self.conninfo, self.schema, self.control, &mut self.main);
        bulk.copy(population.chunks().into_iter().map(part).collect())?;
        bulk.run(statements(INDEXES))?;
        bulk.run(
            Table::ALL
                .map(|table| format!("ANALYZE TABLE {}", table.name()))
                .into(),
        )?;
        self.create_procedures()?;
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', since = UTC_TIMESTAMP(6)");
        self.run_sql("finishing the load", &done)
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

    fn run_sql(&mut self, what: &str, sql: &str) -> Result<(), LoadError> {
        self.main
            .query_drop(sql)
            .map_err(|e| server_error(what, &e))
    }

    /// The procedures' names are plimsoll's in a schema with its marker.
    fn create_procedures(&mut self) -> Result<(), LoadError> {
        PROCEDURES
            .split("\n$$\n")
            .try_for_each(|sql| self.run_sql("creating procedures", sql))
    }

    fn find(&mut self) -> Result<TpccSchemaState, LoadError> {
        let error = |e: mysql::Error| server_error("inspecting the schema", &e);
        let mut there = tables_in(&mut self.main, self.schema)?;
        // Tables of sysbench's beside their marker are plimsoll's own, and no obstacle.
        if there.iter().any(|name| name == sysbench::MARKER) {
            there.retain(|name| name != sysbench::MARKER && !sysbench::is_table(name));
        }
        if there.is_empty() {
            return Ok(TpccSchemaState::Nothing);
        }
        if !there.iter().any(|name| name == MARKER) {
            let shown = &there[..there.len().min(10)];
            return Err(LoadError::Foreign {
                what: format!("Table {} in schema {}", shown.join(", "), self.schema),
                next: "Name another schema in the plan: plimsoll needs one of its own.".into(),
            });
        }
        let sql = format!("SELECT state, version, warehouses, seed FROM {MARKER}");
        let row: Option<(String, i32, u32, String)> = self.main.query_first(sql).map_err(error)?;
        let Some((state, version, warehouses, seed)) = row else {
            return Ok(TpccSchemaState::Unfinished);
        };
        if state != FINISHED {
            return Ok(TpccSchemaState::Unfinished);
        }
        let wanted = (
            VERSION,
            self.population.warehouses,
            self.population.seed.to_string(),
        );
        let whole = all_tables().all(|name| there.iter().any(|found| found == name));
        if (version, warehouses, &seed) == (wanted.0, wanted.1, &wanted.2) && whole {
            return Ok(TpccSchemaState::Same);
        }
        Ok(TpccSchemaState::Other(format!(
            "a finished load of {warehouses} warehouses, seed {seed}, layout {version}"
        )))
    }

    /// The marker, then empty tables; before them what an earlier load left. Each statement is a transaction of its own
    /// here: from the first to the last a marker shows that these tables are plimsoll's, and unfinished.
    fn create(&mut self, found: &TpccSchemaState) -> Result<(), LoadError> {
        let Population { warehouses, seed } = self.population;
        let what = "creating tables";
        if let TpccSchemaState::Other(_) | TpccSchemaState::Unfinished = found {
            self.run_sql(what, &format!("DELETE FROM {MARKER}"))?;
            let tables: Vec<&str> = Table::ALL.into_iter().map(Table::name).collect();
            self.run_sql(what, &format!("DROP TABLE IF EXISTS {}", tables.join(", ")))?;
            self.run_sql(what, &format!("DROP TABLE {MARKER}"))?;
        }
        let columns = "version int, state varchar(10), warehouses int unsigned, seed varchar(20), since datetime(6)";
        self.run_sql(
            what,
            &format!("CREATE TABLE {MARKER} ({columns}) ENGINE = InnoDB"),
        )?;
        let row = format!("({VERSION}, 'started', {warehouses}, '{seed}', UTC_TIMESTAMP(6))");
        self.run_sql(what, &format!("INSERT INTO {MARKER} VALUES {row}"))?;
        statements(SCHEMA)
            .iter()
            .try_for_each(|sql| self.run_sql(what, sql))
    }
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

    fn fill<W: Write>(&self, sink: &mut TsvSink<'_, W>) {
        self.population.fill(&self.chunk, self.now, sink);
    }
}

/// The statements of a file, without its comments.
fn statements(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("--"))
        .collect();
    code.join("\n")
        .split(';')
        .map(str::trim)
        .filter(|sql| !sql.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Names of the tables that a load makes.
fn all_tables() -> impl Iterator<Item = &'static str> {
    Table::ALL.into_iter().map(Table::name).chain([MARKER])
}
