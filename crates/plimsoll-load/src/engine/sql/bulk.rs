//! Filling tables fast: work shared out among several connections, each on a thread of its own.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::ServerClient;
use crate::engine::LoadControl;
use crate::engine::server::Target;
use crate::error::LoadError;
use crate::scratch::wait_until;
use crate::workload::sysbench;
use crate::workload::sysbench::sql::table_name;
use crate::workload::tpcc::population::{Chunk, Population};
use crate::workload::tpcc::rows::RowSink;

/// After this time a load goes on without checking for a stop.
const LONGEST_SECONDS: u64 = 30 * 24 * 3600;

/// A part of a data set that is put into one table in one go.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Chunk {
        population: Population,
        chunk: Chunk,
        now_micros: i64,
    },
    /// A whole table: one connection fills it in the order of ids, so that rows lie on the disk as sysbench puts them
    /// there.
    Table {
        population: sysbench::population::Population,
        table: u32,
    },
}

/// Takes a part's rows.
pub(crate) trait PartSink: RowSink {
    /// Whether further rows would go nowhere.
    fn is_closed(&self) -> bool;
}

impl Part {
    /// All parts of TPC-C's data, loaded at this time.
    pub fn of_tpcc(population: Population, now_micros: i64) -> Vec<Self> {
        population
            .chunks()
            .into_iter()
            .map(|chunk| Self::Chunk {
                population,
                chunk,
                now_micros,
            })
            .collect()
    }

    pub fn of_sysbench(population: sysbench::population::Population) -> Vec<Self> {
        (1..=population.tables)
            .map(|table| Self::Table { population, table })
            .collect()
    }

    pub fn table(&self) -> String {
        match self {
            Self::Chunk { chunk, .. } => chunk.table.name().into(),
            Self::Table { table, .. } => table_name(*table),
        }
    }

    pub fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Chunk { chunk, .. } => chunk.table.columns(),
            Self::Table { .. } => &sysbench::sql::COLUMNS,
        }
    }

    /// Puts all rows in; may end early when the sink is closed.
    pub fn fill(&self, sink: &mut impl PartSink) {
        /// Rows between two checks.
        const BATCH: u32 = 10_000;
        match self {
            Self::Chunk {
                population,
                chunk,
                now_micros,
            } => population.fill(chunk, *now_micros, sink),
            Self::Table { population, table } => {
                let mut rows = population.table(*table);
                while !sink.is_closed() && rows.fill(BATCH, sink) > 0 {}
            }
        }
    }
}

/// Rows are handed on in pieces of about this size.
const PIECE_BYTES: usize = 256 << 10;
/// Room for the longest row (stock, customer) beyond a full piece.
const SPARE_BYTES: usize = 4 << 10;

/// Encoded rows on their way to a server. A failure is reported at the end; the rest of the rows then goes nowhere.
pub(crate) struct Pieces<'a, W: Write> {
    pub out: Vec<u8>,
    rows: u64,
    to: W,
    control: &'a LoadControl,
    failed: Option<io::Error>,
}

impl<'a, W: Write> Pieces<'a, W> {
    pub fn new(to: W, control: &'a LoadControl) -> Self {
        Self {
            out: Vec::with_capacity(PIECE_BYTES + SPARE_BYTES),
            rows: 0,
            to,
            control,
            failed: None,
        }
    }

    /// The encoded row is complete.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows += 1;
        if self.out.len() >= PIECE_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            let written = if self.control.is_cancelled() {
                Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"))
            } else {
                self.to.write_all(&self.out)
            };
            match written {
                Ok(()) => self.control.add(self.rows),
                Err(error) => self.failed = Some(error),
            }
        }
        self.out.clear();
        self.rows = 0;
    }

    pub fn is_closed(&self) -> bool {
        self.failed.is_some()
    }

    pub fn end(mut self) -> io::Result<()> {
        self.flush();
        self.failed.map_or(Ok(()), Err)
    }
}

/// Work for one connection.
pub(super) enum Job {
    Fill(Part),
    Run(String),
}

impl Job {
    fn run(&self, client: &mut dyn ServerClient, control: &LoadControl) -> Result<(), LoadError> {
        match self {
            Self::Fill(part) => client.fill(part, control),
            Self::Run(sql) => client.execute(sql, sql),
        }
    }
}

/// Jobs that several connections take in turn.
struct Queue<'a> {
    jobs: &'a [Job],
    next: AtomicUsize,
    failed: AtomicBool,
    control: &'a LoadControl,
}

impl Queue<'_> {
    /// Whoever is free takes the next.
    fn work(&self, mut client: Box<dyn ServerClient>) -> Result<(), LoadError> {
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.control.check()?;
            if let Err(error) = job.run(client.as_mut(), self.control) {
                self.next.store(self.jobs.len(), Ordering::Relaxed);
                self.control.check()?;
                if self.failed.swap(true, Ordering::Relaxed) {
                    // It was ended because of another one's failure, which is reported.
                    return Ok(());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn is_to_end(&self) -> bool {
        self.control.is_cancelled() || self.failed.load(Ordering::Relaxed)
    }
}

/// Does all jobs on several connections. Ends early when one fails or the user wants it to end; `main` then stops what
/// the server is doing for the others.
pub(super) fn share_out(
    target: &Target,
    jobs: &[Job],
    main: &mut dyn ServerClient,
    control: &LoadControl,
) -> Result<(), LoadError> {
    let connections = thread::available_parallelism().map_or(2, usize::from);
    let mut clients = Vec::new();
    let mut cancels = Vec::new();
    for _ in 0..connections.min(jobs.len()) {
        let mut client = target.open("The workload's")?;
        let id = client.id()?.to_string();
        cancels.push(target.dialect().cancel.replace("{id}", &id));
        clients.push(client);
    }
    let queue = Queue {
        jobs,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        control,
    };
    thread::scope(|scope| {
        let running: Vec<_> = clients
            .into_iter()
            .map(|client| scope.spawn(|| queue.work(client)))
            .collect();
        wait_until(LONGEST_SECONDS, || {
            if queue.is_to_end() {
                cancels
                    .drain(..)
                    .for_each(|sql| drop(main.execute("stopping the load", &sql)));
            }
            running.iter().all(|worker| worker.is_finished())
        });
        let ends = running.into_iter().map(|worker| worker.join());
        let ends: Vec<_> = ends
            .map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        ends.into_iter().collect()
    })
}
