//! What programs read: JSON of the figures of a run; tables of one run or of many as CSV and Parquet.

use plimsoll_analysis::Summary;
use plimsoll_record::Record;
use strum::{EnumString, IntoStaticStr, VariantArray};

pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod drive;
mod json;
pub(crate) mod medium;
mod parquet;
pub(crate) mod points;
pub(crate) mod run;
pub(crate) mod seconds;
pub(crate) mod wait;

use self::run::{RunRow, WithRun};
use crate::section::imported;
use crate::table::{CsvSink, TableSink, TypedColumn};
use crate::{backup, effect};

pub use self::parquet::{PARQUET_VERSION, ParquetFile, RowBatch};
pub use ::parquet::errors::ParquetError;
pub use audit::{audit_csv, audit_json};
pub use json::{Export, to_json};

/// The tables that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ExportTable {
    /// One row for each point.
    Ladder,
    /// One row for each point and transaction type.
    Types,
    /// One row for each second and transaction type.
    Seconds,
    /// One row for each sample of each metric.
    Series,
    /// One row for each second, emulated drive and kind of operation.
    Drive,
    /// One row for each second, system, state and event of its sessions.
    Wait,
    /// Block I/O: one row for each point and kind of request.
    Block,
    /// Figures that other tools printed: one row for each.
    Reported,
    /// One row for each backup and restore.
    Backup,
    /// One row for each load with noise, and for each of its systems.
    Effect,
    /// One row for each second of media that systems share, and of what these achieve together.
    Medium,
}

impl ExportTable {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl ExportTable {
    /// Whether it is computed: else the record holds its rows.
    pub fn needs_summary(self) -> bool {
        !matches!(
            self,
            Self::Seconds | Self::Series | Self::Drive | Self::Wait
        )
    }

    /// The columns of a table of several runs.
    pub fn columns(self) -> Vec<TypedColumn> {
        let own = match self {
            Self::Ladder => points::table_of_any().typed_columns(),
            Self::Types => points::types().typed_columns(),
            Self::Seconds => seconds::table().typed_columns(),
            Self::Series => seconds::samples().typed_columns(),
            Self::Drive => drive::table().typed_columns(),
            Self::Wait => wait::table().typed_columns(),
            Self::Block => block::table().typed_columns(),
            Self::Reported => imported::table().typed_columns(),
            Self::Backup => backup::operations().typed_columns(),
            Self::Effect => effect::table().typed_columns(),
            Self::Medium => medium::table().typed_columns(),
        };
        let run = if self.needs_summary() {
            run::audited()
        } else {
            run::table()
        };
        [run.typed_columns(), own].concat()
    }
}

/// One table of one run as CSV, with a header.
pub fn to_csv(record: &Record, summary: &Summary, kind: ExportTable) -> String {
    if kind == ExportTable::Ladder {
        return points::table_of(summary).to_csv(points::rows(record, summary));
    }
    let mut csv = CsvSink::with_header();
    send_computed(record, summary, kind, &mut csv);
    send_recorded(record, kind, &mut csv);
    csv.text
}

/// One of several runs.
pub struct RunOfMany<'a> {
    pub record: &'a Record,
    /// Of tables that need one.
    pub summary: Option<&'a Summary>,
    /// The name of its file.
    pub file: &'a str,
}

impl RunOfMany<'_> {
    /// Its part of a table of several runs: [`ExportTable::columns`].
    pub fn send(&self, kind: ExportTable, sink: &mut dyn TableSink) {
        let run = RunRow {
            record: self.record,
            file: self.file,
            summary: self.summary,
        };
        match self.summary {
            Some(summary) if kind.needs_summary() => {
                let mut sink = WithRun::new(&run::audited(), &run, sink);
                send_computed(self.record, summary, kind, &mut sink);
            }
            _ => {
                let mut sink = WithRun::new(&run::table(), &run, sink);
                send_recorded(self.record, kind, &mut sink);
            }
        }
    }
}

/// A table that is computed; nothing of the others.
fn send_computed(record: &Record, summary: &Summary, kind: ExportTable, sink: &mut dyn TableSink) {
    let backups = summary.figures.backups.iter();
    let effects = summary.figures.effects.iter();
    match kind {
        ExportTable::Ladder => points::table_of_any().send(points::rows(record, summary), sink),
        ExportTable::Types => points::types().send(points::type_rows(record, summary), sink),
        ExportTable::Block => block::table().send(block::rows(summary), sink),
        ExportTable::Reported => imported::table().send(imported::rows(summary), sink),
        ExportTable::Backup => {
            backup::operations().send(backups.flat_map(backup::operation_rows), sink);
        }
        ExportTable::Effect => effect::table().send(effects.flat_map(effect::rows), sink),
        ExportTable::Medium => medium::table().send(medium::rows(summary), sink),
        ExportTable::Seconds | ExportTable::Series | ExportTable::Drive | ExportTable::Wait => {}
    }
}

/// A table that the record holds; nothing of the others.
fn send_recorded(record: &Record, kind: ExportTable, sink: &mut dyn TableSink) {
    match kind {
        ExportTable::Seconds => seconds::table().send(seconds::rows(record), sink),
        ExportTable::Series => seconds::samples().send(seconds::sample_rows(record), sink),
        ExportTable::Drive => drive::table().send(drive::rows(record), sink),
        ExportTable::Wait => wait::table().send(wait::rows(record), sink),
        ExportTable::Ladder
        | ExportTable::Types
        | ExportTable::Block
        | ExportTable::Reported
        | ExportTable::Backup
        | ExportTable::Effect
        | ExportTable::Medium => {}
    }
}

#[cfg(test)]
mod tests;
