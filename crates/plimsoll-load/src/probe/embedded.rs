//! An embedded database: it is in this process, so that reading what its sessions have counted takes no time.

use std::path::PathBuf;

use super::counters::CounterRates;
use super::data::DataProbe;
use super::emit::Emit;
use super::source::Warnings;
use crate::engine::sqlite::SqliteInsight;

/// The size of its files, and its counters.
#[derive(Debug)]
pub(super) struct EmbeddedProbe {
    insight: SqliteInsight,
    counters: CounterRates,
    data: DataProbe,
}

impl EmbeddedProbe {
    pub fn new(path: PathBuf) -> Self {
        Self {
            insight: SqliteInsight::new(&path),
            counters: CounterRates::default(),
            data: DataProbe::new(path),
        }
    }

    pub fn sample(&mut self, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        self.counters.emit(&self.insight.read(), emit);
        self.data.sample(warnings, emit);
    }
}
