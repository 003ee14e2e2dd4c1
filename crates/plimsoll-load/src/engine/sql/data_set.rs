//! What a schema is loaded with.

use super::client::{ServerClient, TextRow};
use super::dialect::Dialect;
use super::marker::MarkerTable;
use super::ownership::ProvenLoad;
use super::part::TablePart;
use crate::engine::LoadControl;
use crate::error::LoadError;

/// What a schema is loaded with, beside the table that marks it.
pub(super) trait DataSet {
    fn marker(&self) -> &'static MarkerTable;
    /// Whether the workload changes rows.
    fn writes(&self) -> bool;
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
    fn rows(&self) -> u64;
    fn tables(&self, dialect: &Dialect) -> Vec<String>;
    fn parts(&self, now_micros: i64) -> Vec<TablePart>;
    /// Statements after the rows are in: those of a round can run at the same time.
    fn rounds(&self, dialect: &Dialect) -> Vec<Vec<String>>;
    /// Statements that end the load.
    fn finish(&self, dialect: &Dialect) -> Vec<String>;
}

/// What a schema holds.
pub(super) struct Contents<'a> {
    pub schema: &'a str,
    /// Names of tables, others among them.
    pub names: Vec<String>,
    /// What the last load of this kind made.
    pub load: Option<ProvenLoad>,
}

impl Contents<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|there| there == name)
    }

    /// The marker's row; `None` also where the marker is empty.
    pub fn marker(&self) -> Option<&TextRow> {
        self.load.as_ref()?.row.as_ref()
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
    Stale,
    /// A finished load of another data set: what it is.
    Other(String),
}
