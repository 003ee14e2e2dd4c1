//! The bulk load: tables, LOAD DATA over several connections from memory, then indexes, then ANALYZE.
//!
//! A marker table says what was loaded. It is made before all other tables, so a load that was cut off is known as
//! plimsoll's own and begins again; a schema without a marker is somebody else's and is left alone unless it is empty.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler};

use super::connect::{connect, connect_to, server_error};
use super::guard::{self, Use};
use super::quote_ident;
use super::tsv::TsvSink;
use crate::engine::server::IfOther;
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;
use crate::scratch::wait_until;
use crate::workload::tpcc::population::{Chunk, Population};
use crate::workload::tpcc::rows::Table;

const SCHEMA: &str = include_str!("sql/schema.sql");
const INDEXES: &str = include_str!("sql/indexes.sql");
const PROCEDURES: &str = include_str!("sql/procedures.sql");

pub(super) const MARKER: &str = "plimsoll_load";
/// The marker's state when everything is in the tables.
pub(super) const FINISHED: &str = "finished";
/// Of the tables' layout: data of another version is loaded again.
const VERSION: i32 = 1;

/// After this time a load goes on without looking whether the user wants it to end.
const LONGEST_SECONDS: u64 = 30 * 24 * 3600;

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
    Load { conninfo, schema, population, if_other, control, main }.run()
}

/// Makes the next [`load`] begin anew although its data are there.
pub fn forget(conninfo: &str, schema: &str) -> Result<(), LoadError> {
    let mut main = connect_to(conninfo, schema)?;
    guard::take(&mut main, schema, Use::Load)?;
    let forget = format!("UPDATE {MARKER} SET state = 'started'");
    main.query_drop(forget).map_err(|e| server_error(&format!("schema {schema}"), &e))
}

/// What is in the schema.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Same,
    /// Something else that plimsoll loaded, in words.
    Other(String),
    Unfinished,
}

struct Load<'a> {
    conninfo: &'a str,
    schema: &'a str,
    population: Population,
    if_other: IfOther,
    control: &'a LoadControl,
    /// Held for the lock, the marker, and cancelling.
    main: Conn,
}

impl Load<'_> {
    fn run(&mut self) -> Result<Loaded, LoadError> {
        guard::take(&mut self.main, self.schema, Use::Load)?;
        self.take_schema()?;
        let loaded = match self.find()? {
            Found::Same => {
                self.create_procedures()?;
                Loaded::Reused
            }
            Found::Other(what) if self.if_other == IfOther::Refuse => return Err(self.occupied(&what)),
            found => {
                self.fresh(&found)?;
                Loaded::Fresh
            }
        };
        guard::release(&mut self.main, self.schema)?;
        Ok(loaded)
    }

    fn fresh(&mut self, found: &Found) -> Result<(), LoadError> {
        self.control.start(self.population.rows());
        self.create(found)?;
        let now = "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)";
        let now: Option<i64> = self.main.query_first(now).map_err(|e| server_error("asking for the time", &e))?;
        let chunks = Arc::new(self.population.chunks());
        let files = (0..chunks.len()).map(|i| load_data(i, chunks[i].table));
        let source = Source { population: self.population, chunks: chunks.clone(), now: now.unwrap_or_default() };
        self.share_out(files.collect(), Some(&source))?;
        self.share_out(statements(INDEXES), None)?;
        self.share_out(Table::ALL.map(|table| format!("ANALYZE TABLE {}", table.name())).into(), None)?;
        self.create_procedures()?;
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', since = UTC_TIMESTAMP(6)");
        self.run_sql("finishing the load", &done)
    }

    fn occupied(&self, what: &str) -> LoadError {
        let schema = quote_ident(self.schema);
        let tables: Vec<String> = all_tables().map(|name| format!("{schema}.{name}")).collect();
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
        self.main.query_drop(sql).map_err(|e| server_error(what, &e))
    }

    /// The procedures' names are plimsoll's in a schema with its marker.
    fn create_procedures(&mut self) -> Result<(), LoadError> {
        PROCEDURES.split("\n$$\n").try_for_each(|sql| self.run_sql("creating procedures", sql))
    }

    /// Makes the schema if need be.
    fn take_schema(&mut self) -> Result<(), LoadError> {
        let what = format!("schema {}", self.schema);
        let there = "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?";
        let there: Option<i64> = self.main.exec_first(there, (self.schema,)).map_err(|e| server_error(&what, &e))?;
        let name = quote_ident(self.schema);
        if there.is_none() {
            self.run_sql(&what, &format!("CREATE DATABASE {name} CHARACTER SET latin1 COLLATE latin1_bin"))?;
        }
        self.run_sql(&what, &format!("USE {name}"))
    }

    fn find(&mut self) -> Result<Found, LoadError> {
        let error = |e: mysql::Error| server_error("looking at the schema", &e);
        let sql = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? ORDER BY 1";
        let there: Vec<String> = self.main.exec(sql, (self.schema,)).map_err(error)?;
        if there.is_empty() {
            return Ok(Found::Nothing);
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
        let Some((state, version, warehouses, seed)) = row else { return Ok(Found::Unfinished) };
        if state != FINISHED {
            return Ok(Found::Unfinished);
        }
        let wanted = (VERSION, self.population.warehouses, self.population.seed.to_string());
        let whole = all_tables().all(|name| there.iter().any(|found| found == name));
        if (version, warehouses, &seed) == (wanted.0, wanted.1, &wanted.2) && whole {
            return Ok(Found::Same);
        }
        Ok(Found::Other(format!("a finished load of {warehouses} warehouses, seed {seed}, layout {version}")))
    }

    /// The marker, then empty tables; before them what an earlier load left. Each statement is a transaction of its own
    /// here: from the first to the last a marker says that these tables are plimsoll's, and unfinished.
    fn create(&mut self, found: &Found) -> Result<(), LoadError> {
        let Population { warehouses, seed } = self.population;
        let what = "creating tables";
        if let Found::Other(_) | Found::Unfinished = found {
            self.run_sql(what, &format!("DELETE FROM {MARKER}"))?;
            let tables: Vec<&str> = Table::ALL.into_iter().map(Table::name).collect();
            self.run_sql(what, &format!("DROP TABLE IF EXISTS {}", tables.join(", ")))?;
            self.run_sql(what, &format!("DROP TABLE {MARKER}"))?;
        }
        let columns = "version int, state varchar(10), warehouses int unsigned, seed varchar(20), since datetime(6)";
        self.run_sql(what, &format!("CREATE TABLE {MARKER} ({columns}) ENGINE = InnoDB"))?;
        let row = format!("({VERSION}, 'started', {warehouses}, '{seed}', UTC_TIMESTAMP(6))");
        self.run_sql(what, &format!("INSERT INTO {MARKER} VALUES {row}"))?;
        statements(SCHEMA).iter().try_for_each(|sql| self.run_sql(what, sql))
    }

    /// Shares statements out among several connections: whoever is free takes the next. Ends early when one fails or the
    /// user wants it to end, and stops what the server is doing for it in either case.
    fn share_out(&mut self, statements: Vec<String>, source: Option<&Source>) -> Result<(), LoadError> {
        let mut workers = Vec::new();
        for _ in 0..connections().min(statements.len()) {
            let mut conn = connect_to(self.conninfo, self.schema)?;
            if let Some(source) = source {
                conn.set_local_infile_handler(Some(source.clone().handler(self.control.clone())));
            }
            workers.push(conn);
        }
        let ids: Vec<u32> = workers.iter().map(Conn::connection_id).collect();
        let (next, failed, control) = (AtomicUsize::new(0), AtomicBool::new(false), self.control);
        let work = |mut conn: Conn| -> Result<(), LoadError> {
            while let Some(sql) = statements.get(next.fetch_add(1, Ordering::Relaxed)) {
                control.check()?;
                if let Err(error) = conn.query_drop(sql) {
                    next.store(statements.len(), Ordering::Relaxed);
                    control.check()?;
                    if failed.swap(true, Ordering::Relaxed) {
                        // It was ended because of another one's failure, which is told.
                        return Ok(());
                    }
                    return Err(server_error(first_words(sql), &error));
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let running: Vec<_> = workers.into_iter().map(|conn| scope.spawn(|| work(conn))).collect();
            let mut killed = false;
            wait_until(LONGEST_SECONDS, || {
                if !killed && (control.is_cancelled() || failed.load(Ordering::Relaxed)) {
                    ids.iter().for_each(|id| drop(self.main.query_drop(format!("KILL QUERY {id}"))));
                    killed = true;
                }
                running.iter().all(|worker| worker.is_finished())
            });
            let ends = running.into_iter().map(|worker| worker.join());
            let ends: Vec<_> = ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
            ends.into_iter().collect::<Result<(), LoadError>>()
        })
    }
}

/// What a LOAD DATA statement reads instead of a file: the chunk whose number is the file's name.
#[derive(Clone)]
struct Source {
    population: Population,
    chunks: Arc<Vec<Chunk>>,
    now: i64,
}

impl Source {
    fn handler(self, control: LoadControl) -> LocalInfileHandler {
        LocalInfileHandler::new(move |name, to| {
            let chunk = std::str::from_utf8(name).ok().and_then(|name| self.chunks.get(name.parse::<usize>().ok()?));
            // A server that asks for anything else gets nothing.
            let chunk = chunk.ok_or_else(|| std::io::Error::other("the server asked for a file"))?;
            let mut sink = TsvSink::new(to, &control);
            self.population.fill(chunk, self.now, &mut sink);
            sink.end()
        })
    }
}

fn load_data(chunk: usize, table: Table) -> String {
    let (name, columns) = (table.name(), table.columns().join(", "));
    format!("LOAD DATA LOCAL INFILE '{chunk}' INTO TABLE {name} CHARACTER SET latin1 ({columns})")
}

/// `filling table stock` for a LOAD DATA, else the statement itself.
fn first_words(sql: &str) -> &str {
    sql.split_once(" CHARACTER SET ").map_or(sql, |(head, _)| head)
}

/// The statements of a file, without its comments.
fn statements(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.starts_with("--")).collect();
    code.join("\n").split(';').map(str::trim).filter(|sql| !sql.is_empty()).map(str::to_owned).collect()
}

/// Names of the tables that a load makes.
fn all_tables() -> impl Iterator<Item = &'static str> {
    Table::ALL.into_iter().map(Table::name).chain([MARKER])
}

/// Connections that load at the same time.
fn connections() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}
