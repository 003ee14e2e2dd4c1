//! Filling tables fast: binary COPY over several connections, fed by a thread each, and statements shared out among them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures_util::SinkExt;
use futures_util::future::{Either, select, try_join_all};
use plimsoll_model::units::Nanos;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use super::connect::{connect, server_error};
use super::copy::{CopySink, Piece};
use super::search_path;
use crate::clock::Clock;
use crate::engine::LoadControl;
use crate::error::LoadError;

/// Pieces that a generator may be ahead of its connection.
const AHEAD: usize = 4;

/// A part of a data set that is put into one table with one COPY.
pub trait Part: Send + Sync + 'static {
    fn table(&self) -> String;
    fn columns(&self) -> &'static [&'static str];
    /// Puts all rows in; may end early when [`CopySink::is_closed`].
    fn fill(&self, sink: &mut CopySink<'_>);
}

/// Connections that load at the same time, all in one schema.
pub struct Bulk<'a> {
    workers: Vec<Worker>,
    control: &'a LoadControl,
}

impl<'a> Bulk<'a> {
    pub async fn open(
        conninfo: &str,
        schema: &str,
        control: &'a LoadControl,
    ) -> Result<Self, LoadError> {
        let mut workers = Vec::new();
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            workers.push(Worker::open(conninfo, schema).await?);
        }
        Ok(Self { workers, control })
    }

    /// Copies all parts: whoever is free takes the next.
    pub async fn copy<P: Part>(&self, parts: Vec<P>) -> Result<(), LoadError> {
        let parts = Arc::new(parts);
        let next = Arc::new(AtomicUsize::new(0));
        let copies = self.workers.iter().map(|worker| {
            let (to, from) = mpsc::channel(AHEAD);
            let (parts, next) = (parts.clone(), next.clone());
            thread::spawn(move || generate(&parts, &next, &to));
            worker.copy(from, self.control)
        });
        try_join_all(copies).await.map(drop)
    }

    /// Shares statements out among the workers: whoever is free takes the next.
    pub async fn run(&self, statements: impl IntoIterator<Item = String>) -> Result<(), LoadError> {
        let statements: Vec<String> = statements.into_iter().collect();
        let next = AtomicUsize::new(0);
        try_join_all(self.workers.iter().map(|worker| async {
            while let Some(sql) = statements.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker
                    .client
                    .batch_execute(sql)
                    .await
                    .map_err(|e| server_error(sql, &e))?;
            }
            Ok(())
        }))
        .await
        .map(drop)
    }

    /// Ends the work early when the user wants it to end, and stops what the server is doing for it in either case, over
    /// a connection that does none of it.
    pub async fn or_cancelled(
        &self,
        other: &Client,
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
            let pids: Vec<i32> = self.workers.iter().map(|worker| worker.pid).collect();
            let _ = other
                .execute(
                    "SELECT pg_cancel_backend(pid) FROM unnest($1::int[]) AS pid",
                    &[&pids],
                )
                .await;
        }
        result
    }
}

/// Makes part after part until none is left or the connection is gone.
fn generate<P: Part>(parts: &[P], next: &AtomicUsize, to: &mpsc::Sender<Piece>) {
    while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
        if to.is_closed() {
            return;
        }
        let mut sink = CopySink::begin(&part.table(), part.columns(), to);
        part.fill(&mut sink);
        sink.end();
    }
}

/// A connection that loads.
struct Worker {
    client: Client,
    pid: i32,
}

impl Worker {
    async fn open(conninfo: &str, schema: &str) -> Result<Self, LoadError> {
        let client = connect(conninfo).await?;
        let error =
            |e: tokio_postgres::Error| server_error("opening a connection to load with", &e);
        client
            .batch_execute(&search_path(schema))
            .await
            .map_err(error)?;
        let row = client
            .query_one("SELECT pg_backend_pid()", &[])
            .await
            .map_err(error)?;
        Ok(Self {
            pid: row.try_get(0).map_err(error)?,
            client,
        })
    }

    async fn copy(
        &self,
        mut from: mpsc::Receiver<Piece>,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        while let Some(piece) = from.recv().await {
            let Piece::Begin { table, sql } = piece else {
                return Err(LoadError::other(
                    "loading",
                    "pieces of a table came out of order",
                ));
            };
            self.copy_part(&table, &sql, &mut from, control).await?;
        }
        Ok(())
    }

    /// One COPY statement, up to [`Piece::End`].
    async fn copy_part(
        &self,
        table: &str,
        sql: &str,
        from: &mut mpsc::Receiver<Piece>,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let error = |e: tokio_postgres::Error| server_error(&format!("filling table {table}"), &e);
        let sink = self
            .client
            .copy_in::<_, bytes::Bytes>(sql)
            .await
            .map_err(error)?;
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
                Some(Piece::Begin { .. }) | None => {
                    return Err(LoadError::other(
                        "loading",
                        format!("rows of {table} ended early"),
                    ));
                }
            }
        }
        sink.finish().await.map(drop).map_err(error)
    }
}
