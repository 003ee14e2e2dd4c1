//! Servers of any engine: one of plimsoll's own, or one that exists. One arm per engine; what they share is here.
//!
//! All functions block their caller.

use std::collections::BTreeMap;

use plimsoll_plan::resolved::Workload;
use plimsoll_record::receipt::CommitCounts;

use super::sql;
use super::{CheckedData, ConditionResult, LoadControl, Loaded};
use crate::error::LoadError;

mod backup;
pub(crate) mod backup_programs;
mod command;
mod log;
mod managed;
pub(crate) mod own_backups;
mod own_thread;
mod process;
pub(crate) mod setup;
pub mod target;
mod unprivileged;

pub(crate) use backup::{DatabaseCopy, RestoredServer};
pub use log::LogTail;
pub use managed::ManagedServer;
use own_thread::on_own_thread;
pub use process::ServerProcess;
pub(crate) use process::{ServerContext, write_durably};
pub use target::{
    CreatedTables, IfOther, LeftSchema, MANAGED_SCHEMA, ServerFacts, ServerRoute, Target,
    TemplateTask,
};
#[cfg(test)]
pub(crate) use unprivileged::unprivileged;

impl Target {
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

    /// Connects, and no more.
    pub fn check_answer(&self) -> Result<(), LoadError> {
        on_own_thread(|| self.connect().map(drop))
    }

    /// How it is reached. Refuses a pooler that lends connections for single transactions.
    pub fn route(&self) -> Result<ServerRoute, LoadError> {
        on_own_thread(|| sql::route::find(self))
    }

    /// Refuses a load of so many users that takes more connections than there can be beside those of others. `pooler` is
    /// what [`Self::route`] found.
    pub fn check_connections(&self, users: u32, pooler: Option<&str>) -> Result<(), LoadError> {
        let needed = users.saturating_add(sql::route::RESERVE);
        on_own_thread(|| sql::route::check_connections(self, needed, pooler))
    }

    /// Refuses a URL that no server can be reached by, without connecting.
    pub fn check_url(&self) -> Result<(), LoadError> {
        (self.dialect().check_url)(&self.conninfo)
    }

    /// Refuses a server or schema that [`Self::load`] would refuse with [`IfOther::Refuse`], and writes nothing.
    pub fn check_usable(&self, workload: &Workload, seed: u64) -> Result<(), LoadError> {
        on_own_thread(|| sql::load::check_usable(self, workload, seed))
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
    pub fn commit_counts(&self) -> Result<CommitCounts, LoadError> {
        on_own_thread(|| sql::check::commit_counts(self))
    }

    pub fn orders_added(&self) -> Result<u64, LoadError> {
        on_own_thread(|| sql::check::orders_added(self))
    }

    pub fn facts(&self) -> Result<ServerFacts, LoadError> {
        on_own_thread(|| sql::facts::facts(self))
    }

    /// How many rows each table of the schema has.
    pub(crate) fn row_counts(&self) -> Result<BTreeMap<String, u64>, LoadError> {
        on_own_thread(|| sql::facts::row_counts(self))
    }
}
