//! What a schema is loaded with, and the table that records it.

use super::client::{ServerClient, TextRow};
use super::dialect::{Dialect, STANDARD_BOOLEAN};
use super::part::TablePart;
use crate::engine::LoadControl;
use crate::error::LoadError;

/// A marker's state when everything is in the tables.
pub(crate) const FINISHED: &str = "finished";

/// What a schema is loaded with, beside the table that marks it.
pub(super) trait DataSet {
    fn marker(&self) -> &'static MarkerTable;
    /// The marker's row for a load that begins, as an INSERT's values, but for the time.
    fn marker_values(&self, dialect: &Dialect) -> String;
    /// How a schema for it is made.
    fn schema_options(&self, dialect: &Dialect) -> &'static str;
    fn classify(
        &self,
        contents: &Contents<'_>,
        dialect: &Dialect,
    ) -> Result<DataSetState, LoadError>;
    /// Before it uses tables that plimsoll did not make.
    fn verify_foreign(
        &self,
        contents: &Contents<'_>,
        client: &mut dyn ServerClient,
        control: &LoadControl,
    ) -> Result<(), LoadError>;
    /// Statements that make a data set which is there ready for a run.
    fn reuse(&self, dialect: &Dialect) -> Vec<String>;
    /// Completes "remove this data yourself: ". `prefix` comes before the tables' names.
    fn removal(&self, prefix: &str) -> String;
    fn rows(&self) -> u64;
    fn tables(&self, dialect: &Dialect) -> Vec<String>;
    fn parts(&self, now_micros: i64) -> Vec<TablePart>;
    /// Statements after the rows are in: those of a round can run at the same time.
    fn rounds(&self, dialect: &Dialect) -> Vec<Vec<String>>;
    /// Statements that end the load.
    fn finish(&self, dialect: &Dialect) -> Vec<String>;
}

/// A table that records what was loaded. All have a column `state`, and end with one for the time.
pub(super) struct MarkerTable {
    pub name: &'static str,
    /// Names and types; a `boolean` is the dialect's.
    pub columns: &'static [(&'static str, &'static str)],
}

/// What a schema holds.
pub(super) struct Contents<'a> {
    pub schema: &'a str,
    /// Names of tables, others among them.
    pub names: Vec<String>,
    /// The marker's row; `None` also where the marker is empty.
    pub marker: Option<TextRow>,
}

impl Contents<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|there| there == name)
    }
}

/// What a schema's contents are to a load.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DataSetState {
    Nothing,
    /// Tables that plimsoll did not make, and may use if they are as the plan wants them.
    Foreign,
    /// A finished load of this very data set.
    Same,
    /// Of plimsoll's, in need of a new load, which drops these tables.
    Stale(Vec<String>),
    /// A finished load of another data set: its tables, and what it is.
    Other(Vec<String>, String),
}

impl MarkerTable {
    pub fn unfinished(&self) -> String {
        format!("UPDATE {} SET state = 'started'", self.name)
    }

    pub fn create(&self, dialect: &Dialect) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|(name, kind)| {
                let kind = kind.replace(STANDARD_BOOLEAN.kind, dialect.boolean.kind);
                format!("{} {kind}", dialect.identifier(name))
            })
            .collect();
        let columns = columns.join(", ");
        let timestamp = dialect.timestamp;
        format!("CREATE TABLE {} ({columns}, since {timestamp})", self.name)
    }

    pub fn select(&self, dialect: &Dialect) -> String {
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| dialect.identifier(name))
            .collect();
        format!("SELECT {} FROM {}", names.join(", "), self.name)
    }
}
