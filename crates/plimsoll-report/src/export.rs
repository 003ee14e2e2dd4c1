//! What machines read: JSON of the figures, CSV of the ladder, of block I/O, of every second and of every sample.

use plimsoll_analysis::Summary;
use plimsoll_record::Record;
use strum::{EnumString, IntoStaticStr, VariantArray};

pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod drive;
mod json;
pub(crate) mod medium;
pub(crate) mod points;
pub(crate) mod seconds;
pub(crate) mod wait;

use crate::{backup, effect, imported};
pub use audit::{audit_csv, audit_json};
pub use json::{Export, to_json};

/// The tables that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum CsvKind {
    /// One row for each point.
    Ladder,
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

impl CsvKind {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One table as CSV (RFC 4180, but with bare newlines), with a header.
pub fn to_csv(record: &Record, summary: &Summary, kind: CsvKind) -> String {
    let backups = summary.figures.backups.iter();
    let effects = summary.figures.effects.iter();
    match kind {
        CsvKind::Ladder => points::csv(summary),
        CsvKind::Seconds => seconds::table().to_csv(seconds::rows(record)),
        CsvKind::Series => seconds::samples().to_csv(seconds::sample_rows(record)),
        CsvKind::Drive => drive::table().to_csv(drive::rows(record)),
        CsvKind::Wait => wait::table().to_csv(wait::rows(record)),
        CsvKind::Block => block::table().to_csv(block::rows(summary)),
        CsvKind::Reported => imported::table().to_csv(imported::rows(summary)),
        CsvKind::Backup => backup::operations().to_csv(backups.flat_map(backup::operation_rows)),
        CsvKind::Effect => effect::table().to_csv(effects.flat_map(effect::rows)),
        CsvKind::Medium => medium::table().to_csv(medium::rows(summary)),
    }
}

#[cfg(test)]
mod tests;
