//! Parts of a data set on their way into tables.

use std::io::{self, Write};

use crate::engine::LoadControl;
use crate::workload::sysbench;
use crate::workload::sysbench::sql::table_name;
use crate::workload::tpcc::population::{Chunk, TpccPopulation};
use crate::workload::tpcc::rows::RowSink;

/// A part of a data set that is put into one table in one go.
#[derive(Debug, Clone)]
pub(crate) enum TablePart {
    Chunk {
        population: TpccPopulation,
        chunk: Chunk,
        now_micros: i64,
    },
    /// A whole table: one connection fills it in the order of ids, so that rows lie on the disk as sysbench puts them
    /// there.
    Table {
        population: sysbench::population::SysbenchPopulation,
        table: u32,
    },
}

/// Takes a part's rows.
pub(crate) trait PartSink: RowSink {
    /// Whether further rows would go nowhere.
    fn is_closed(&self) -> bool;
}

impl TablePart {
    /// All parts of TPC-C's data, loaded at this time.
    pub fn of_tpcc(population: TpccPopulation, now_micros: i64) -> Vec<Self> {
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

    pub fn of_sysbench(population: sysbench::population::SysbenchPopulation) -> Vec<Self> {
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
