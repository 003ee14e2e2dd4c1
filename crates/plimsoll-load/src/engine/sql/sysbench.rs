//! What a server's schema holds of sysbench's tables: plimsoll's own beside a marker table, or the user's, which are
//! used as they are if they are of the plan's size, and never replaced.

use plimsoll_plan::resolved::{Script, Sysbench};

use super::data_set::{Contents, DataSet, DataSetState};
use super::marker::{FINISHED, MarkerTable};
use super::part::TablePart;
use super::{Dialect, ServerClient, TextRow};
use crate::engine::LoadControl;
use crate::error::LoadError;
use crate::workload::sysbench::population::SysbenchPopulation;
use crate::workload::sysbench::sql::{COLUMNS, create_index, create_table, table_name};

pub(super) const MARKER: &str = "plimsoll_sysbench";
/// Of the marker's and the tables' layout: data of another version is loaded again.
const VERSION: i32 = 1;

pub(super) static MARKER_TABLE: MarkerTable = MarkerTable {
    name: MARKER,
    columns: &[
        ("version", "integer"),
        ("state", "varchar(10)"),
        ("tables", "integer"),
        ("rows", "integer"),
        ("distribution", "varchar(20)"),
        ("seed", "varchar(20)"),
        ("rows_kept", "boolean"),
    ],
    tables: |row| Ok(Marker::read(row)?.table_names()),
    columns_of: |_| &COLUMNS,
    procedures: &[],
};

/// Whether a table has a name that sysbench gives.
pub(super) fn is_table(name: &str) -> bool {
    let number = name.strip_prefix("sbtest").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// The marker's only row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marker {
    version: i32,
    state: String,
    /// How many tables were made, numbered from 1.
    tables: u32,
    rows: u32,
    distribution: String,
    seed: String,
    /// Whether every row is still there.
    rows_kept: bool,
}

impl Marker {
    fn read(row: &TextRow) -> Result<Self, LoadError> {
        Ok(Self {
            version: row.get(0)?,
            state: row.get(1)?,
            tables: row.get(2)?,
            rows: row.get(3)?,
            distribution: row.get(4)?,
            seed: row.get(5)?,
            rows_kept: row.flag(6),
        })
    }

    fn table_names(&self) -> Vec<String> {
        (1..=self.tables).map(table_name).collect()
    }

    /// A load whose tables are all there.
    fn classify(&self, population: &SysbenchPopulation) -> DataSetState {
        if self.state != FINISHED {
            return DataSetState::Stale;
        }
        let same = (self.version, self.tables, self.rows)
            == (VERSION, population.tables, population.rows)
            && self.distribution == population.distribution.name()
            && self.seed == population.seed.to_string();
        if !same {
            let Self {
                version,
                tables,
                rows,
                distribution,
                seed,
                ..
            } = self;
            let holds = format!(
                "sysbench's tables: {tables} of {rows} rows, {distribution}, seed {seed}, layout {version}"
            );
            return DataSetState::Other(holds);
        }
        if self.rows_kept {
            DataSetState::Same
        } else {
            DataSetState::Stale
        }
    }
}

pub(super) struct SysbenchData {
    script: Script,
    population: SysbenchPopulation,
}

impl SysbenchData {
    pub fn new(sysbench: &Sysbench, seed: u64) -> Self {
        Self {
            script: sysbench.script,
            population: SysbenchPopulation::new(sysbench, seed),
        }
    }

    fn table_names(&self) -> impl Iterator<Item = String> {
        (1..=self.population.tables).map(table_name)
    }

    /// Tables that plimsoll did not make are used if there are as many as the plan wants.
    fn expect_tables(&self, contents: &Contents<'_>) -> Result<(), LoadError> {
        let tables = self.population.tables;
        let missing: Vec<String> = self
            .table_names()
            .filter(|name| !contents.has(name))
            .collect();
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let there = tables as usize - missing.len();
        let holds = format!("{there} of {tables} tables, {first} is missing");
        Err(other_size(contents.schema, &holds))
    }
}

fn other_size(schema: &str, holds: &str) -> LoadError {
    LoadError::Occupied {
        what: format!("Schema {schema}"),
        holds: format!("sysbench's tables that plimsoll did not make: {holds}"),
        next: "Write `tables` and `rows` in the plan as they are there, prepare them anew with sysbench, or name \
               another schema."
            .into(),
    }
}

impl DataSet for SysbenchData {
    fn marker(&self) -> &'static MarkerTable {
        &MARKER_TABLE
    }

    fn writes(&self) -> bool {
        self.script.changes_rows()
    }

    /// None of the texts has anything to escape.
    fn marker_values(&self, dialect: &Dialect) -> String {
        let SysbenchPopulation {
            tables,
            rows,
            distribution,
            seed,
        } = self.population;
        let distribution = distribution.name();
        let kept = dialect.flag(self.script.keeps_rows());
        format!("{VERSION}, 'started', {tables}, {rows}, '{distribution}', '{seed}', {kept}")
    }

    /// Characters are the server's default, as for whoever makes a database for sysbench.
    fn schema_options(&self, _: &Dialect) -> &'static str {
        ""
    }

    /// An error when there are tables of the plan's names that plimsoll's last load did not make.
    fn classify(&self, contents: &Contents<'_>, _: &Dialect) -> Result<DataSetState, LoadError> {
        let there = || self.table_names().filter(|name| contents.has(name));
        if !contents.has(MARKER) {
            return Ok(match there().next() {
                None => DataSetState::Nothing,
                Some(_) => DataSetState::Foreign,
            });
        }
        let marker = contents.marker().map(Marker::read).transpose()?;
        let made = marker.as_ref().map(Marker::table_names).unwrap_or_default();
        if let Some(foreign) = there().find(|name| !made.contains(name)) {
            return Err(LoadError::Foreign {
                what: format!("Table {foreign} in schema {}", contents.schema),
                why: format!("it was not made by plimsoll: table {MARKER} does not list it"),
                next: "Name another schema in the plan, or move this table away.".into(),
            });
        }
        match marker {
            Some(marker) if made.iter().all(|name| contents.has(name)) => {
                Ok(marker.classify(&self.population))
            }
            _ => Ok(DataSetState::Stale),
        }
    }

    /// Each of them has to have as many rows as the plan wants.
    fn verify_foreign(
        &self,
        contents: &Contents<'_>,
        client: &mut dyn ServerClient,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        let rows = self.population.rows;
        self.expect_tables(contents)?;
        for name in self.table_names() {
            let doing = format!("counting the rows of {name}");
            let count = client.row(&doing, &format!("SELECT count(*) FROM {name}"))?;
            let found: u64 = count.get(0)?;
            if found != u64::from(rows) {
                let holds = format!("{found} rows in {name}, and the plan wants {rows}");
                return Err(other_size(contents.schema, &holds));
            }
            control.check()?;
        }
        Ok(())
    }

    /// The marker records that rows will change.
    fn reuse(&self, dialect: &Dialect) -> Vec<String> {
        if self.script.keeps_rows() {
            return Vec::new();
        }
        let no = dialect.boolean.no;
        vec![format!("UPDATE {MARKER} SET rows_kept = {no}")]
    }

    fn rows(&self) -> u64 {
        self.population.total()
    }

    fn tables(&self, dialect: &Dialect) -> Vec<String> {
        (1..=self.population.tables)
            .map(|table| create_table(table, dialect.table_syntax))
            .collect()
    }

    fn parts(&self, _: i64) -> Vec<TablePart> {
        TablePart::of_sysbench(self.population)
    }

    fn rounds(&self, dialect: &Dialect) -> Vec<Vec<String>> {
        let rows = self.population.rows.to_string();
        let analyze = self.table_names().map(|table| dialect.analyze(&table));
        vec![
            (1..=self.population.tables).map(create_index).collect(),
            dialect
                .continue_ids
                .map(|text: &str| -> Vec<String> {
                    self.table_names()
                        .map(|table| text.replace("{table}", &table).replace("{rows}", &rows))
                        .collect()
                })
                .unwrap_or_default(),
            analyze.collect(),
        ]
    }

    fn finish(&self, _: &Dialect) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::sql::ownership::ProvenLoad;
    use crate::workload::sysbench::population::testing::SMALL;

    const FINISHED_ROW: [&str; 7] = ["1", "finished", "2", "100", "special", "7", "t"];

    /// The marker's row with one column changed.
    fn row(column: usize, value: &str) -> Option<TextRow> {
        let mut row = FINISHED_ROW.map(|text| Some(text.to_owned()));
        row[column] = Some(value.into());
        Some(TextRow(row.to_vec()))
    }

    fn finished() -> Option<TextRow> {
        row(1, "finished")
    }

    fn classify(names: &[&str], marker: Option<TextRow>) -> Result<DataSetState, LoadError> {
        let contents = Contents {
            schema: "s",
            names: names.iter().map(|&name| name.into()).collect(),
            load: names.contains(&MARKER).then(|| ProvenLoad {
                marker: &MARKER_TABLE,
                row: marker,
                tables: Vec::new(),
                procedures: Vec::new(),
            }),
        };
        SysbenchData::new(&SMALL, 7).classify(&contents, &crate::engine::postgres::DIALECT)
    }

    #[test]
    fn a_schema_is_classified_by_its_marker_and_tables() {
        let both = ["sbtest1", "sbtest2", MARKER];
        let found = |names, marker| classify(names, marker).unwrap();
        assert_eq!(found(&["sbtest3", "other"], None), DataSetState::Nothing);
        assert_eq!(found(&["sbtest2"], None), DataSetState::Foreign);
        assert_eq!(found(&both, finished()), DataSetState::Same);
        assert_eq!(found(&both[1..], finished()), DataSetState::Stale);
        assert_eq!(found(&[MARKER], None), DataSetState::Stale);
        assert_eq!(found(&both, row(1, "started")), DataSetState::Stale);
        assert_eq!(found(&both, row(6, "0")), DataSetState::Stale);
        for (column, value) in [(0, "0"), (3, "99"), (4, "uniform"), (5, "8")] {
            let other = found(&both, row(column, value));
            assert!(matches!(&other, DataSetState::Other(_)), "{other:?}");
        }
    }

    #[test]
    fn a_table_beyond_the_markers_is_the_users() {
        for marker in [None, row(2, "1")] {
            let found = classify(&["sbtest2", MARKER], marker);
            assert!(
                matches!(&found, Err(LoadError::Foreign { what, .. }) if what.contains("sbtest2")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_beginning_load_writes_the_row_that_is_read() {
        let data = SysbenchData::new(&SMALL, 7);
        let values: Vec<String> = data
            .marker_values(&crate::engine::postgres::DIALECT)
            .split(", ")
            .map(|value| value.trim_matches('\'').to_owned())
            .collect();
        assert_eq!(values[..6], ["1", "started", "2", "100", "special", "7"]);
        assert_eq!(values.len(), MARKER_TABLE.columns.len());
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
