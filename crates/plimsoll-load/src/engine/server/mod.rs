//! Servers of any engine: one of plimsoll's own, or one that exists. One arm per engine; what they share is here.
//!
//! All functions block their caller.

use std::collections::BTreeMap;
use std::thread;

use plimsoll_plan::resolved::{ServerKind, Workload};
use plimsoll_plan::units::Bytes;
use plimsoll_record::receipt::CommitCounts;

use super::sql::error::not_loaded;
use super::sql::{self, Dialect, ServerClient, TextRow, guard};
use super::{CheckedData, ConditionResult, LoadControl, Loaded};
use crate::error::LoadError;

pub(crate) mod backup;
mod log;
pub(crate) mod managed;
mod process;
mod unprivileged;

pub use log::LogTail;
pub use managed::ManagedServer;
pub use process::ServerProcess;
pub(crate) use process::{ServerContext, write_durably};
#[cfg(test)]
pub(crate) use unprivileged::unprivileged;

/// The schema on a server of plimsoll's own.
pub const MANAGED_SCHEMA: &str = "plimsoll";

/// What becomes of a finished load of another population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfOther {
    /// On a server of plimsoll's own.
    Replace,
    /// On a server of the user's, who may want to keep it.
    Refuse,
}

/// Version, settings and size of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Number and build, as the server reports it.
    pub version: String,
    /// `name`, `value with unit`, sorted by name: all that are not at their default, and those that decide whether a
    /// commit is durable, whatever they are.
    pub settings: Vec<(String, String)>,
    /// The data's files as the server counts them.
    pub database_size: Bytes,
}

/// What to do with a database's template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateTask {
    /// Make it of the database.
    Keep,
    /// Make the database of it.
    Restore,
}

/// The workload's tables on a server.
#[derive(Clone)]
pub struct Target {
    pub engine: ServerKind,
    /// May hold a password.
    pub conninfo: String,
    pub schema: String,
}

impl Target {
    pub(crate) fn dialect(&self) -> &'static Dialect {
        Dialect::of(self.engine)
    }

    pub(crate) fn connect(&self) -> Result<Box<dyn ServerClient>, LoadError> {
        (self.dialect().connect)(&self.conninfo)
    }

    /// A connection to the schema, which holds this data.
    pub(crate) fn open(&self, data: &str) -> Result<Box<dyn ServerClient>, LoadError> {
        let mut client = self.connect()?;
        if !self.exists(client.as_mut())? {
            return Err(self.not_loaded(data, "there is no such schema"));
        }
        let sql = self
            .dialect()
            .of_schema(self.dialect().use_schema, &self.schema);
        client.execute(&guard::what(&self.schema), &sql)?;
        Ok(client)
    }

    /// Whether the schema is there.
    pub(crate) fn exists(&self, client: &mut dyn ServerClient) -> Result<bool, LoadError> {
        let sql = self
            .dialect()
            .of_schema(self.dialect().schema_exists, &self.schema);
        let rows = client.rows(&guard::what(&self.schema), &sql)?;
        Ok(!rows.is_empty())
    }

    /// Names of all that is in the schema.
    pub(crate) fn relations(
        &self,
        client: &mut dyn ServerClient,
    ) -> Result<Vec<String>, LoadError> {
        let sql = self
            .dialect()
            .of_schema(self.dialect().relations, &self.schema);
        let rows = client.rows("inspecting the schema", &sql)?;
        Ok(rows.into_iter().flat_map(TextRow::into_texts).collect())
    }

    pub(crate) fn not_loaded(&self, data: &str, searched: &str) -> LoadError {
        not_loaded(data, &self.schema, searched)
    }

    /// Loads the workload's data set unless the schema holds it.
    pub fn load(
        &self,
        workload: &Workload,
        seed: u64,
        if_other: IfOther,
        control: &LoadControl,
    ) -> Result<Loaded, LoadError> {
        on_own_thread(|| sql::load::load(self, workload, seed, if_other, control))
    }

    /// Makes the next load begin anew although its data are there.
    pub fn forget(&self) -> Result<(), LoadError> {
        on_own_thread(|| sql::load::forget(self))
    }

    /// The verdicts on all consistency conditions, in their order. No other session should write meanwhile.
    pub fn check(&self, data: CheckedData<'_>) -> Result<Vec<ConditionResult>, LoadError> {
        on_own_thread(|| match data {
            CheckedData::Tpcc => sql::check::tpcc(self),
            CheckedData::Sysbench(sysbench) => sql::check::sysbench(self, sysbench),
        })
    }

    /// What the workload's transactions have left in the database, by place.
    pub fn books(&self) -> Result<CommitCounts, LoadError> {
        on_own_thread(|| sql::check::books(self))
    }

    pub fn orders_added(&self) -> Result<u64, LoadError> {
        on_own_thread(|| sql::check::orders_added(self))
    }

    pub fn facts(&self) -> Result<Facts, LoadError> {
        on_own_thread(|| sql::facts::facts(self))
    }

    /// How many rows each table of the schema has.
    pub(crate) fn row_counts(&self) -> Result<BTreeMap<String, u64>, LoadError> {
        on_own_thread(|| sql::facts::row_counts(self))
    }
}

/// Clients must not be used by a thread that drives a runtime, as a caller's may.
fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
