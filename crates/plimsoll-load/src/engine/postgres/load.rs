//! The bulk load: tables, binary COPY over several connections, then indexes, then VACUUM ANALYZE.
//!
//! A marker table says what was loaded. It is committed with the empty tables, so a load that was cut off is known as
//! plimsoll's own and begins again; tables without a marker are somebody else's and are left alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures_util::SinkExt;
use futures_util::future::{Either, select, try_join_all};
use tokio::sync::mpsc;
use tokio_postgres::Client;

use super::connect::{connect, server_error};
use super::copy::{CopySink, Piece};
use super::guard::{self, Use};
use super::{blocking, quote_ident, search_path};
use crate::clock::Clock;
use crate::engine::server::IfOther;
use crate::engine::{LoadControl, Loaded};
use crate::error::LoadError;
use crate::workload::tpcc::population::{Chunk, Population};
use crate::workload::tpcc::rows::Table;
use plimsoll_model::units::Nanos;

const SCHEMA: &str = include_str!("sql/schema.sql");
const INDEXES: &str = include_str!("sql/indexes.sql");
const PROCEDURES: &str = include_str!("sql/procedures.sql");

pub(super) const MARKER: &str = "plimsoll_load";
/// The marker's state when everything is in the tables.
pub(super) const FINISHED: &str = "finished";
/// Of the tables' layout: data of another version is loaded again.
const VERSION: i32 = 1;
/// Pieces that a generator may be ahead of its connection.
const AHEAD: usize = 4;

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
        Load { conninfo, schema, population, if_other, control, main }.run().await
    })
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
    main: Client,
}

impl Load<'_> {
    async fn run(&self) -> Result<Loaded, LoadError> {
        self.take_schema().await?;
        let loaded = match self.find().await? {
            Found::Same => {
                self.batch("creating functions", PROCEDURES).await?;
                Loaded::Reused
            }
            Found::Other(what) if self.if_other == IfOther::Refuse => return Err(self.occupied(&what)),
            found => {
                self.fresh(&found).await?;
                Loaded::Fresh
            }
        };
        guard::release(&self.main, self.schema).await?;
        Ok(loaded)
    }

    async fn fresh(&self, found: &Found) -> Result<(), LoadError> {
        self.control.start(self.population.rows());
        self.create(found).await?;
        let mut workers = Vec::new();
        for _ in 0..connections() {
            workers.push(Worker::open(self.conninfo, self.schema).await?);
        }
        let work = self.fill_and_index(&workers);
        self.or_cancelled(&workers, work).await?;
        self.batch("creating functions", PROCEDURES).await?;
        let done = format!("UPDATE {MARKER} SET state = '{FINISHED}', since = now()");
        self.batch("finishing the load", &done).await
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

    async fn batch(&self, what: &str, sql: &str) -> Result<(), LoadError> {
        self.main.batch_execute(sql).await.map_err(|e| server_error(what, &e))
    }

    /// Makes the schema if need be, and keeps other plimsolls out of it until this connection ends.
    async fn take_schema(&self) -> Result<(), LoadError> {
        let what = format!("schema {}", self.schema);
        let error = |e: tokio_postgres::Error| server_error(&what, &e);
        guard::take(&self.main, self.schema, Use::Load).await?;
        let there = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
        let row = self.main.query_one(there, &[&self.schema]).await.map_err(error)?;
        if !row.try_get::<_, bool>(0).map_err(error)? {
            self.batch(&what, &format!("CREATE SCHEMA {}", quote_ident(self.schema))).await?;
        }
        self.batch(&what, &search_path(self.schema)).await
    }

    async fn find(&self) -> Result<Found, LoadError> {
        let error = |e: tokio_postgres::Error| server_error("looking at the schema", &e);
        let names: Vec<&str> = all_tables().collect();
        let sql = "SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                   WHERE nspname = $1 AND relname = ANY ($2) ORDER BY 1";
        let rows = self.main.query(sql, &[&self.schema, &names]).await.map_err(error)?;
        let there: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(error)?;
        if there.is_empty() {
            return Ok(Found::Nothing);
        }
        if !there.iter().any(|name| name == MARKER) {
            return Err(LoadError::Foreign {
                what: format!("Table {} in schema {}", there.join(", "), self.schema),
                next: "Name another schema in the plan, or move these tables away.".into(),
            });
        }
        let sql = format!("SELECT version, state, warehouses, seed FROM {MARKER}");
        let Some(row) = self.main.query_opt(&sql, &[]).await.map_err(error)? else { return Ok(Found::Unfinished) };
        let state: String = row.try_get(1).map_err(error)?;
        if state != FINISHED {
            return Ok(Found::Unfinished);
        }
        let marked: (i32, i32, String) =
            (row.try_get(0).map_err(error)?, row.try_get(2).map_err(error)?, row.try_get(3).map_err(error)?);
        let Population { warehouses, seed } = self.population;
        if marked == (VERSION, warehouses.cast_signed(), seed.to_string()) && there.len() == names.len() {
            return Ok(Found::Same);
        }
        let (version, warehouses, seed) = marked;
        Ok(Found::Other(format!("a finished load of {warehouses} warehouses, seed {seed}, layout {version}")))
    }

    /// Empty tables and the marker, in one transaction; before them what an earlier load left.
    async fn create(&self, found: &Found) -> Result<(), LoadError> {
        let drop = match found {
            Found::Other(_) | Found::Unfinished => {
                format!("DROP TABLE IF EXISTS {};", all_tables().collect::<Vec<_>>().join(", "))
            }
            Found::Nothing | Found::Same => String::new(),
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

    async fn fill_and_index(&self, workers: &[Worker]) -> Result<(), LoadError> {
        let now = "SELECT (extract(epoch FROM now()) * 1000000)::bigint";
        let error = |e: tokio_postgres::Error| server_error("asking for the time", &e);
        let now: i64 = self.main.query_one(now, &[]).await.map_err(error)?.try_get(0).map_err(error)?;
        let chunks = Arc::new(self.population.chunks());
        let next = Arc::new(AtomicUsize::new(0));
        try_join_all(workers.iter().map(|worker| {
            let (to, from) = mpsc::channel(AHEAD);
            let (population, chunks, next) = (self.population, chunks.clone(), next.clone());
            thread::spawn(move || generate(population, now, &chunks, &next, &to));
            worker.copy(from, self.control)
        }))
        .await?;
        run_all(workers, INDEXES.lines().filter(|line| !line.starts_with("--")).map(str::to_owned)).await?;
        // Sets hint bits and the visibility map now, which would otherwise be somebody's work during the measurement.
        let largest_first = [Table::OrderLine, Table::Stock, Table::Customer, Table::Orders, Table::History];
        let rest = Table::ALL.into_iter().filter(|table| !largest_first.contains(table));
        let vacuum = largest_first.into_iter().chain(rest);
        run_all(workers, vacuum.map(|table| format!("VACUUM ANALYZE {}", table.name()))).await
    }

    /// Ends the work early when the user wants it to end, and stops what the server is doing for it in either case.
    async fn or_cancelled(
        &self,
        workers: &[Worker],
        work: impl Future<Output = Result<(), LoadError>>,
    ) -> Result<(), LoadError> {
        let clock = Clock::real();
        let watch = async {
            while !self.control.is_cancelled() {
                clock.sleep(Nanos::from_millis(100)).await;
            }
        };
        let result = match select(std::pin::pin!(work), std::pin::pin!(watch)).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(LoadError::Cancelled),
        };
        if result.is_err() {
            let pids: Vec<i32> = workers.iter().map(|worker| worker.pid).collect();
            let _ = self.main.execute("SELECT pg_cancel_backend(pid) FROM unnest($1::int[]) AS pid", &[&pids]).await;
        }
        result
    }
}

/// Connections that load at the same time.
/// Names of the tables that a load makes.
fn all_tables() -> impl Iterator<Item = &'static str> {
    Table::ALL.into_iter().map(Table::name).chain([MARKER])
}

fn connections() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

/// Makes chunk after chunk until none is left or the connection is gone.
fn generate(population: Population, now: i64, chunks: &[Chunk], next: &AtomicUsize, to: &mpsc::Sender<Piece>) {
    while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
        if to.is_closed() {
            return;
        }
        let mut sink = CopySink::begin(chunk.table, to);
        population.fill(chunk, now, &mut sink);
        sink.end();
    }
}

/// Shares statements out among the workers: whoever is free takes the next.
async fn run_all(workers: &[Worker], statements: impl Iterator<Item = String>) -> Result<(), LoadError> {
    let statements: Vec<String> = statements.collect();
    let next = AtomicUsize::new(0);
    try_join_all(workers.iter().map(|worker| async {
        while let Some(sql) = statements.get(next.fetch_add(1, Ordering::Relaxed)) {
            worker.client.batch_execute(sql).await.map_err(|e| server_error(sql, &e))?;
        }
        Ok(())
    }))
    .await
    .map(drop)
}

/// A connection that loads.
struct Worker {
    client: Client,
    pid: i32,
}

impl Worker {
    async fn open(conninfo: &str, schema: &str) -> Result<Self, LoadError> {
        let client = connect(conninfo).await?;
        let error = |e: tokio_postgres::Error| server_error("opening a connection to load with", &e);
        client.batch_execute(&search_path(schema)).await.map_err(error)?;
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(error)?;
        Ok(Self { pid: row.try_get(0).map_err(error)?, client })
    }

    async fn copy(&self, mut from: mpsc::Receiver<Piece>, control: &LoadControl) -> Result<(), LoadError> {
        while let Some(piece) = from.recv().await {
            let Piece::Begin(table) = piece else {
                return Err(LoadError::other("loading", "pieces of a table came out of order"));
            };
            self.copy_chunk(table, &mut from, control).await?;
        }
        Ok(())
    }

    /// One COPY statement, up to [`Piece::End`].
    async fn copy_chunk(
        &self,
        table: Table,
        from: &mut mpsc::Receiver<Piece>,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let error = |e: tokio_postgres::Error| server_error(&format!("filling table {}", table.name()), &e);
        let columns = table.columns().join(", ");
        let sql = format!("COPY {} ({columns}) FROM STDIN (FORMAT binary)", table.name());
        let sink = self.client.copy_in::<_, bytes::Bytes>(&sql).await.map_err(error)?;
        let mut sink = std::pin::pin!(sink);
        loop {
            match from.recv().await {
                Some(Piece::Rows { data, rows }) => {
                    if let Err(closed) = sink.send(data).await {
                        // The reason, if the server gave one, comes as the answer to the whole COPY.
                        return Err(error(sink.finish().await.err().unwrap_or(closed)));
                    }
                    control.add(rows);
                }
                Some(Piece::End) => break,
                Some(Piece::Begin(_)) | None => {
                    return Err(LoadError::other("loading", format!("rows of {} ended early", table.name())));
                }
            }
        }
        sink.finish().await.map(drop).map_err(error)
    }
}
