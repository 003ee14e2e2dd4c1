//! Filling tables fast: LOAD DATA over several connections, from memory, and statements shared out among them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler};

use super::connect::{connect_to, server_error};
use super::tsv::TsvSink;
use crate::engine::LoadControl;
use crate::error::LoadError;
use crate::scratch::wait_until;

/// After this time a load goes on without checking for a stop.
const LONGEST_SECONDS: u64 = 30 * 24 * 3600;

/// A part of a data set that is put into one table with one LOAD DATA.
pub trait Part: Send + Sync + 'static {
    fn table(&self) -> String;
    fn columns(&self) -> &'static [&'static str];
    /// Puts all rows in; may end early when [`TsvSink::is_closed`].
    fn fill<W: Write>(&self, sink: &mut TsvSink<'_, W>);
}

/// Connections that load at the same time, all in one schema.
pub struct Bulk<'a> {
    conninfo: &'a str,
    schema: &'a str,
    control: &'a LoadControl,
    /// Ends what the others are doing when the load is cancelled.
    main: &'a mut Conn,
}

impl<'a> Bulk<'a> {
    pub fn new(
        conninfo: &'a str,
        schema: &'a str,
        control: &'a LoadControl,
        main: &'a mut Conn,
    ) -> Self {
        Self {
            conninfo,
            schema,
            control,
            main,
        }
    }

    /// Puts all parts into their tables.
    pub fn copy<P: Part>(&mut self, parts: Vec<P>) -> Result<(), LoadError> {
        let files = parts
            .iter()
            .enumerate()
            .map(|(i, part)| load_data(i, part))
            .collect();
        let (parts, control) = (Arc::new(parts), self.control.clone());
        self.share_out(files, || Some(source(parts.clone(), control.clone())))
    }

    pub fn run(&mut self, statements: Vec<String>) -> Result<(), LoadError> {
        self.share_out(statements, || None)
    }

    /// Shares statements out among several connections: whoever is free takes the next. Ends early when one fails or the
    /// user wants it to end, and stops what the server is doing for it in either case.
    fn share_out(
        &mut self,
        statements: Vec<String>,
        source: impl Fn() -> Option<LocalInfileHandler>,
    ) -> Result<(), LoadError> {
        let mut workers = Vec::new();
        for _ in 0..connections().min(statements.len()) {
            let mut conn = connect_to(self.conninfo, self.schema)?;
            conn.set_local_infile_handler(source());
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
                        // It was ended because of another one's failure, which is reported.
                        return Ok(());
                    }
                    return Err(server_error(first_words(sql), &error));
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let running: Vec<_> = workers
                .into_iter()
                .map(|conn| scope.spawn(|| work(conn)))
                .collect();
            let mut killed = false;
            wait_until(LONGEST_SECONDS, || {
                if !killed && (control.is_cancelled() || failed.load(Ordering::Relaxed)) {
                    ids.iter()
                        .for_each(|id| drop(self.main.query_drop(format!("KILL QUERY {id}"))));
                    killed = true;
                }
                running.iter().all(|worker| worker.is_finished())
            });
            let ends = running.into_iter().map(|worker| worker.join());
            let ends: Vec<_> = ends
                .map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            ends.into_iter().collect::<Result<(), LoadError>>()
        })
    }
}

/// What a LOAD DATA statement reads instead of a file: the part whose number is the file's name.
fn source<P: Part>(parts: Arc<Vec<P>>, control: LoadControl) -> LocalInfileHandler {
    LocalInfileHandler::new(move |name, to| {
        let part = std::str::from_utf8(name)
            .ok()
            .and_then(|name| parts.get(name.parse::<usize>().ok()?));
        // A server that asks for anything else gets nothing.
        let part = part.ok_or_else(|| io::Error::other("the server asked for a file"))?;
        let mut sink = TsvSink::new(to, &control);
        part.fill(&mut sink);
        sink.end()
    })
}

fn load_data(file: usize, part: &impl Part) -> String {
    let (name, columns) = (part.table(), part.columns().join(", "));
    format!("LOAD DATA LOCAL INFILE '{file}' INTO TABLE {name} CHARACTER SET latin1 ({columns})")
}

/// `filling table stock` for a LOAD DATA, else the statement itself.
fn first_words(sql: &str) -> &str {
    sql.split_once(" CHARACTER SET ")
        .map_or(sql, |(head, _)| head)
}

/// Connections that load at the same time.
fn connections() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}
