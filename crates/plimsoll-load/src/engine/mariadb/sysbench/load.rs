//! Loading sysbench's tables, or finding them; see [`crate::engine::server::sysbench`].

use std::io::Write;

use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, Error};
use plimsoll_model::plan::resolved::{Script, Sysbench};

use crate::engine::mariadb::bulk::{Bulk, Part};
use crate::engine::mariadb::connect::{connect, server_error};
use crate::engine::mariadb::load::{tables_in, take_schema};
use crate::engine::mariadb::tsv::TsvSink;
use crate::engine::mariadb::{guard, quote_ident};
use crate::engine::server::IfOther;
use crate::engine::server::sysbench::{Contents, FINISHED, MARKER, Marker, SysbenchSchemaState};
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;
use crate::workload::sysbench::population::Population;
use crate::workload::sysbench::sql::{COLUMNS, Dialect, create_index, table_name};

/// Rows between two checks for a cancelled load.
const BATCH: u32 = 10_000;

/// Loads the population into `schema`, which is created when it is missing, or finds it there: plimsoll's own if every
/// row is still there, or tables of sysbench's. Refused while any plimsoll uses the schema.
pub fn load(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
    seed: u64,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    let main = connect(conninfo)?;
    let population = Population::new(sysbench, seed);
    MariadbSysbenchLoad {
        conninfo,
        schema,
        script: sysbench.script,
        population,
        if_other,
        control,
        main,
    }
    .run()
}

struct MariadbSysbenchLoad<'a> {
    conninfo: &'a str,
    schema: &'a str,
    script: Script,
    population: Population,
    if_other: IfOther,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Conn,
}

impl<'a> MariadbSysbenchLoad<'a> {
    fn run(&mut self) -> Result<Loaded, LoadError> {
        // Characters are the server's default, as for whoever makes a database for sysbench.
        take_schema(&mut self.main, self.schema, "")?;
        let contents = self.contents()?;
        let loaded = match contents.classify(&self.population)? {
            SysbenchSchemaState::Foreign => self.use_foreign(&contents)?,
            SysbenchSchemaState::Same => self.use_again()?,
            SysbenchSchemaState::Nothing => self.fresh(0)?,
            SysbenchSchemaState::Stale(tables) => self.fresh(tables)?,
            SysbenchSchemaState::Other(tables, _) if self.if_other == IfOther::Replace => {
                self.fresh(tables)?
            }
            SysbenchSchemaState::Other(_, holds) => {
                return Err(contents.occupied(&holds, &quote_ident(self.schema)));
            }
        };
        guard::release(&mut self.main, self.schema)?;
        Ok(loaded)
    }

    fn run_sql(&mut self, what: &str, sql: &str) -> Result<(), LoadError> {
        self.main
            .query_drop(sql)
            .map_err(|e| server_error(what, &e))
    }

    fn first<T: FromRow>(&mut self, what: &str, sql: &str) -> Result<Option<T>, LoadError> {
        self.main
            .query_first(sql)
            .map_err(|e: Error| server_error(what, &e))
    }

    fn contents(&mut self) -> Result<Contents<'a>, LoadError> {
        let names = tables_in(&mut self.main, self.schema)?;
        let mut marker = None;
        if names.iter().any(|name| name == MARKER) {
            let sql = format!(
                "SELECT version, state, tables, `rows`, distribution, seed, rows_kept FROM {MARKER}"
            );
            marker = self.first("inspecting the loaded data", &sql)?.map(
                |(version, state, tables, rows, distribution, seed, rows_kept)| Marker {
                    version,
                    state,
                    tables,
                    rows,
                    distribution,
                    seed,
                    rows_kept,
                },
            );
        }
        Ok(Contents {
            schema: self.schema,
            names,
            marker,
        })
    }

    fn use_foreign(&mut self, contents: &Contents<'_>) -> Result<Loaded, LoadError> {
        let Population { tables, rows, .. } = self.population;
        contents.expect_tables(tables)?;
        for name in (1..=tables).map(table_name) {
            let count = format!("SELECT count(*) FROM {name}");
            let found = self.first(&format!("counting the rows of {name}"), &count)?;
            contents.expect_rows(&name, found.unwrap_or_default(), rows)?;
            self.control.check()?;
        }
        Ok(Loaded::Reused)
    }

    fn use_again(&mut self) -> Result<Loaded, LoadError> {
        if !self.script.keeps_rows() {
            self.run_sql(
                "noting that rows will change",
                &format!("UPDATE {MARKER} SET rows_kept = false"),
            )?;
        }
        Ok(Loaded::Reused)
    }

    /// Drops the tables that an earlier load made, numbered from 1, and makes those of this one.
    fn fresh(&mut self, earlier: u32) -> Result<Loaded, LoadError> {
        self.control.start(self.population.total());
        self.create(earlier)?;
        let tables = 1..=self.population.tables;
        let part = |table| TablePart {
            population: self.population,
            table,
        };
        let parts = tables.clone().map(part).collect();
        let mut bulk = Bulk::new(self.conninfo, self.schema, self.control, &mut self.main);
        bulk.copy::<TablePart>(parts)?;
        bulk.run(tables.clone().map(create_index).collect())?;
        bulk.run(
            tables
                .map(|table| format!("ANALYZE TABLE {}", table_name(table)))
                .collect(),
        )?;
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', since = UTC_TIMESTAMP(6)");
        self.run_sql("finishing the load", &done)?;
        Ok(Loaded::Fresh)
    }

    /// The marker, then empty tables; before them what an earlier load left. Each statement is a transaction of its own
    /// here: as long as there is a table of plimsoll's, a marker shows that it is, and unfinished.
    fn create(&mut self, earlier: u32) -> Result<(), LoadError> {
        let what = "creating tables";
        if earlier > 0 {
            self.run_sql(what, &format!("UPDATE {MARKER} SET state = 'started'"))?;
            let names: Vec<String> = (1..=earlier).map(table_name).collect();
            self.run_sql(what, &format!("DROP TABLE IF EXISTS {}", names.join(", ")))?;
        }
        self.run_sql(what, &format!("DROP TABLE IF EXISTS {MARKER}"))?;
        let columns = "version int, state varchar(10), tables int unsigned, `rows` int unsigned, \
                       distribution varchar(20), seed varchar(20), rows_kept boolean, since datetime(6)";
        self.run_sql(
            what,
            &format!("CREATE TABLE {MARKER} ({columns}) ENGINE = InnoDB"),
        )?;
        let values = Marker::started(&self.population, self.script).values();
        self.run_sql(
            what,
            &format!("INSERT INTO {MARKER} VALUES ({values}, UTC_TIMESTAMP(6))"),
        )?;
        let mut tables = 1..=self.population.tables;
        tables.try_for_each(|table| self.run_sql(what, &Dialect::Mariadb.create_table(table)))
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

    fn fill<W: Write>(&self, sink: &mut TsvSink<'_, W>) {
        let mut rows = self.population.table(self.table);
        while !sink.is_closed() && rows.fill(BATCH, sink) > 0 {}
    }
}
