//! TPC-C's tables as a server's schema holds them.

use plimsoll_plan::resolved::Tpcc;

use super::data_set::{Contents, DataSet, DataSetState};
use super::dialect::statements;
use super::marker::{FINISHED, MarkerTable};
use super::part::TablePart;
use super::{Dialect, ServerClient, sysbench};
use crate::engine::LoadControl;
use crate::error::LoadError;
use crate::workload::tpcc::population::{TpccPopulation, VERSION};
use crate::workload::tpcc::rows::TpccTable;

pub(super) const MARKER: &str = "plimsoll_load";

pub(super) static MARKER_TABLE: MarkerTable = MarkerTable {
    name: MARKER,
    columns: &[
        ("version", "integer"),
        ("state", "varchar(10)"),
        ("warehouses", "integer"),
        ("seed", "varchar(20)"),
    ],
    tables: |_| Ok(tables().map(str::to_owned).collect()),
    columns_of: |name| {
        let table = TpccTable::ALL.iter().find(|table| table.name() == name);
        table.map_or(&[], |table| table.columns())
    },
    procedures: &[
        "plimsoll_new_order",
        "plimsoll_payment",
        "plimsoll_order_status",
        "plimsoll_delivery",
        "plimsoll_stock_level",
    ],
};

pub(super) struct TpccData(TpccPopulation);

impl TpccData {
    pub fn new(tpcc: &Tpcc, seed: u64) -> Self {
        Self(TpccPopulation {
            warehouses: tpcc.warehouses,
            seed,
        })
    }
}

/// Names of the tables that a load makes.
fn all_tables() -> impl Iterator<Item = &'static str> {
    tables().chain([MARKER])
}

/// Those of the workload.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    TpccTable::ALL.iter().map(|table| table.name())
}

/// The tables that hold the most rows come first, so that all connections end at about the same time.
fn largest_first() -> impl Iterator<Item = TpccTable> {
    const LARGEST: [TpccTable; 5] = [
        TpccTable::OrderLine,
        TpccTable::Stock,
        TpccTable::Customer,
        TpccTable::Orders,
        TpccTable::History,
    ];
    let rest = TpccTable::ALL
        .iter()
        .copied()
        .filter(|table| !LARGEST.contains(table));
    LARGEST.into_iter().chain(rest)
}

/// What could be in a load's way: what has a name of its tables, or anything where it needs a schema of its own.
fn in_the_way<'a>(contents: &'a Contents<'_>, dialect: &Dialect) -> Vec<&'a str> {
    let names = contents.names.iter().map(String::as_str);
    if dialect.shares_schemas {
        return names
            .filter(|name| all_tables().any(|own| own == *name))
            .collect();
    }
    // Tables of sysbench's beside their marker are plimsoll's own, and no obstacle.
    let beside_sysbench = contents.has(sysbench::MARKER);
    names
        .filter(|name| !(beside_sysbench && is_sysbenchs(name)))
        .collect()
}

fn is_sysbenchs(name: &str) -> bool {
    name == sysbench::MARKER || sysbench::is_table(name)
}

impl DataSet for TpccData {
    fn marker(&self) -> &'static MarkerTable {
        &MARKER_TABLE
    }

    fn writes(&self) -> bool {
        true
    }

    fn marker_values(&self, _: &Dialect) -> String {
        let TpccPopulation { warehouses, seed } = self.0;
        format!("{VERSION}, 'started', {warehouses}, '{seed}'")
    }

    fn schema_options(&self, dialect: &Dialect) -> &'static str {
        dialect.scripts.schema_options
    }

    fn classify(
        &self,
        contents: &Contents<'_>,
        dialect: &Dialect,
    ) -> Result<DataSetState, LoadError> {
        let in_the_way = in_the_way(contents, dialect);
        if in_the_way.is_empty() {
            return Ok(DataSetState::Nothing);
        }
        let why = if contents.load.is_none() {
            format!("it was not made by plimsoll: the schema has no table {MARKER}")
        } else {
            format!("table {MARKER} is empty and does not prove that plimsoll made it")
        };
        let only_marker = in_the_way.iter().all(|name| *name == MARKER);
        let Some(marker) = contents.marker() else {
            if contents.load.is_some() && only_marker {
                return Ok(DataSetState::Stale);
            }
            let shown = in_the_way[..in_the_way.len().min(10)].join(", ");
            return Err(LoadError::Foreign {
                what: format!("Table {shown} in schema {}", contents.schema),
                why,
                next: if dialect.shares_schemas {
                    "Name another schema in the plan, or move these tables away.".into()
                } else {
                    "Name another schema in the plan: plimsoll needs one of its own.".into()
                },
            });
        };
        if marker.text(1) != Some(FINISHED) {
            return Ok(DataSetState::Stale);
        }
        let version: i32 = marker.get(0)?;
        let warehouses: u32 = marker.get(2)?;
        let seed: String = marker.get(3)?;
        let same = (version, warehouses) == (VERSION, self.0.warehouses)
            && seed == self.0.seed.to_string();
        if same && all_tables().all(|name| contents.has(name)) {
            return Ok(DataSetState::Same);
        }
        let holds =
            format!("a finished load of {warehouses} warehouses, seed {seed}, layout {version}");
        Ok(DataSetState::Other(holds))
    }

    /// [`Self::classify`] gives none.
    fn verify_foreign(
        &self,
        _: &Contents<'_>,
        _: &mut dyn ServerClient,
        _: &LoadControl,
    ) -> Result<(), LoadError> {
        Ok(())
    }

    /// The procedures' names are plimsoll's in a schema with its marker.
    fn reuse(&self, dialect: &Dialect) -> Vec<String> {
        dialect.scripts.procedures().collect()
    }

    fn rows(&self) -> u64 {
        self.0.rows()
    }

    fn tables(&self, dialect: &Dialect) -> Vec<String> {
        dialect.scripts.tables(dialect.timestamp)
    }

    fn parts(&self, now_micros: i64) -> Vec<TablePart> {
        TablePart::of_tpcc(self.0, now_micros)
    }

    fn rounds(&self, dialect: &Dialect) -> Vec<Vec<String>> {
        let analyze = largest_first().map(|table| dialect.analyze(table.name()));
        vec![statements(dialect.scripts.indexes), analyze.collect()]
    }

    fn finish(&self, dialect: &Dialect) -> Vec<String> {
        self.reuse(dialect)
    }
}
