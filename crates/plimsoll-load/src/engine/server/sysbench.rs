//! What a server's schema holds of sysbench's tables: plimsoll's own beside a marker table, or the user's, which are
//! used as they are if they are of the plan's size, and never replaced.

use plimsoll_model::plan::resolved::Script;

use crate::error::LoadError;
use crate::workload::sysbench::population::Population;
use crate::workload::sysbench::sql::table_name;

pub const MARKER: &str = "plimsoll_sysbench";
/// The marker's state when everything is in the tables.
pub const FINISHED: &str = "finished";
/// Of the marker's and the tables' layout: data of another version is loaded again.
pub const VERSION: i32 = 1;

/// Whether a table has a name that sysbench gives.
pub fn is_table(name: &str) -> bool {
    let number = name.strip_prefix("sbtest").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// The marker's only row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub version: i32,
    pub state: String,
    /// How many tables were made, numbered from 1.
    pub tables: u32,
    pub rows: u32,
    pub distribution: String,
    pub seed: String,
    /// Whether every row is still there.
    pub rows_kept: bool,
}

/// What a schema holds, as the server names it.
#[derive(Debug)]
pub struct Contents<'a> {
    pub schema: &'a str,
    /// Names of tables, others among them.
    pub names: Vec<String>,
    /// `None` also for a marker that is empty.
    pub marker: Option<Marker>,
}

/// What that is to a load.
#[derive(Debug, PartialEq, Eq)]
pub enum SysbenchSchemaState {
    Nothing,
    /// Tables without a marker.
    Foreign,
    /// A finished load whose rows are all there.
    Same,
    /// Of plimsoll's, in need of a new load: unfinished, or used up by inserts or deletes. How many tables it made.
    Stale(u32),
    /// A finished load of another population, described.
    Other(u32, String),
}

impl Contents<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|there| there == name)
    }

    /// An error when there are tables of the plan's names that plimsoll's last load did not make.
    pub fn classify(&self, population: &Population) -> Result<SysbenchSchemaState, LoadError> {
        let mut there = (1..=population.tables).filter(|table| self.has(&table_name(*table)));
        if !self.has(MARKER) {
            return Ok(if there.next().is_none() {
                SysbenchSchemaState::Nothing
            } else {
                SysbenchSchemaState::Foreign
            });
        }
        let made = self.marker.as_ref().map_or(0, |marker| marker.tables);
        if let Some(foreign) = there.find(|table| *table > made) {
            return Err(LoadError::Foreign {
                what: format!("Table {} in schema {}", table_name(foreign), self.schema),
                next: "Name another schema in the plan, or move this table away.".into(),
            });
        }
        match &self.marker {
            Some(marker) if (1..=made).all(|table| self.has(&table_name(table))) => {
                Ok(marker.classify(population))
            }
            _ => Ok(SysbenchSchemaState::Stale(made)),
        }
    }

    /// Tables that plimsoll did not make are used if there are as many as the plan wants; their rows are counted apart.
    pub fn expect_tables(&self, tables: u32) -> Result<(), LoadError> {
        let lacking: Vec<String> = (1..=tables)
            .map(table_name)
            .filter(|name| !self.has(name))
            .collect();
        let Some(first) = lacking.first() else {
            return Ok(());
        };
        let there = tables as usize - lacking.len();
        Err(self.other_size(&format!("{there} of {tables} tables, {first} is missing")))
    }

    /// Each of them has to have as many rows as the plan wants.
    pub fn expect_rows(&self, table: &str, found: i64, rows: u32) -> Result<(), LoadError> {
        if found == i64::from(rows) {
            return Ok(());
        }
        Err(self.other_size(&format!(
            "{found} rows in {table}, and the plan wants {rows}"
        )))
    }

    fn other_size(&self, holds: &str) -> LoadError {
        LoadError::Occupied {
            what: format!("Schema {}", self.schema),
            holds: format!("sysbench's tables that plimsoll did not make: {holds}"),
            next: "Write `tables` and `rows` in the plan as they are there, prepare them anew with sysbench, or name \
                   another schema."
                .into(),
        }
    }

    /// Another load of plimsoll's, which may not be replaced. `quoted` is the schema as SQL writes it.
    pub fn occupied(&self, holds: &str, quoted: &str) -> LoadError {
        LoadError::Occupied {
            what: format!("Schema {}", self.schema),
            holds: holds.into(),
            next: format!(
                "Name another `schema` in the plan, or remove this data yourself: its tables sbtest… and \
                 {quoted}.{MARKER}."
            ),
        }
    }
}

impl Marker {
    /// Of a load that is beginning.
    pub fn started(population: &Population, script: Script) -> Self {
        let Population {
            tables,
            rows,
            distribution,
            seed,
        } = *population;
        Self {
            version: VERSION,
            state: "started".into(),
            tables,
            rows,
            distribution: distribution.name().into(),
            seed: seed.to_string(),
            rows_kept: script.keeps_rows(),
        }
    }

    /// As an INSERT's values, in the order of the fields. None of the texts has anything to escape.
    pub fn values(&self) -> String {
        let Self {
            version,
            state,
            tables,
            rows,
            distribution,
            seed,
            rows_kept,
        } = self;
        format!("{version}, '{state}', {tables}, {rows}, '{distribution}', '{seed}', {rows_kept}")
    }

    /// A load whose tables are all there.
    fn classify(&self, population: &Population) -> SysbenchSchemaState {
        let Self {
            version,
            state,
            tables,
            rows,
            distribution,
            seed,
            rows_kept,
        } = self;
        if state != FINISHED {
            return SysbenchSchemaState::Stale(*tables);
        }
        let Population {
            tables: wanted_tables,
            rows: wanted_rows,
            distribution: law,
            seed: own,
        } = *population;
        let same = (*version, *tables, *rows) == (VERSION, wanted_tables, wanted_rows);
        if !same || (distribution.as_str(), seed.as_str()) != (law.name(), own.to_string().as_str())
        {
            let holds = format!(
                "sysbench's tables: {tables} of {rows} rows, {distribution}, seed {seed}, layout {version}"
            );
            return SysbenchSchemaState::Other(*tables, holds);
        }
        if *rows_kept {
            SysbenchSchemaState::Same
        } else {
            SysbenchSchemaState::Stale(*tables)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sysbench::population::testing::SMALL;

    fn contents(names: &[&str], marker: Option<Marker>) -> Contents<'static> {
        Contents {
            schema: "s",
            names: names.iter().map(|&name| name.into()).collect(),
            marker,
        }
    }

    fn marker() -> Marker {
        Marker {
            state: FINISHED.into(),
            ..Marker::started(&Population::new(&SMALL, 7), Script::ReadWrite)
        }
    }

    #[test]
    fn a_schema_is_classified_by_its_marker_and_tables() {
        let population = Population::new(&SMALL, 7);
        let classify = |names: &[&str], marker| contents(names, marker).classify(&population);
        let both = ["sbtest1", "sbtest2", MARKER];
        assert_eq!(
            classify(&["sbtest3", "other"], None).unwrap(),
            SysbenchSchemaState::Nothing
        );
        assert_eq!(
            classify(&["sbtest2"], None).unwrap(),
            SysbenchSchemaState::Foreign
        );
        assert_eq!(
            classify(&both, Some(marker())).unwrap(),
            SysbenchSchemaState::Same
        );
        assert_eq!(
            classify(&both[1..], Some(marker())).unwrap(),
            SysbenchSchemaState::Stale(2)
        );
        assert_eq!(
            classify(&[MARKER], None).unwrap(),
            SysbenchSchemaState::Stale(0)
        );
        assert_eq!(
            classify(
                &both,
                Some(Marker {
                    state: "started".into(),
                    ..marker()
                })
            )
            .unwrap(),
            SysbenchSchemaState::Stale(2)
        );
        assert_eq!(
            classify(
                &both,
                Some(Marker {
                    rows_kept: false,
                    ..marker()
                })
            )
            .unwrap(),
            SysbenchSchemaState::Stale(2)
        );
        for other in [
            Marker {
                version: 0,
                ..marker()
            },
            Marker {
                rows: 99,
                ..marker()
            },
            Marker {
                distribution: "uniform".into(),
                ..marker()
            },
            Marker {
                seed: "8".into(),
                ..marker()
            },
        ] {
            assert!(matches!(
                classify(&both, Some(other)).unwrap(),
                SysbenchSchemaState::Other(2, _)
            ));
        }
    }

    #[test]
    fn a_table_beyond_the_markers_is_the_users() {
        let population = Population::new(&SMALL, 7);
        for marker in [
            None,
            Some(Marker {
                tables: 1,
                ..marker()
            }),
        ] {
            let found = contents(&["sbtest2", MARKER], marker).classify(&population);
            assert!(
                matches!(&found, Err(LoadError::Foreign { what, .. }) if what.contains("sbtest2")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn names_are_sysbenchs() {
        assert!(["sbtest1", "sbtest20"].into_iter().all(is_table));
        assert!(
            !["sbtest", "sbtest1_pkey", "sbtest_1", "test1"]
                .into_iter()
                .any(is_table)
        );
    }
}
