//! Records as people and machines read them: tables on a terminal, one HTML file, JSON, CSV.
//!
//! Invariants, stated as absences: nothing here opens a file or a connection, reads a clock or computes a figure. All
//! figures come from [`plimsoll_analysis::summary`], all sentences from the catalog in `locales/`.

pub mod answer;
mod audit;
mod backup;
mod block;
mod bottleneck;
mod chart;
mod document;
pub mod drive_catalog;
mod drives;
mod effect;
pub mod export;
mod finding_view;
mod findings;
pub mod history;
mod ladder;
mod line;
pub mod live;
mod load_summary;
mod medium;
pub mod message;
pub mod number;
mod outcome;
mod point_set;
mod render;
mod run;
pub mod runs;
mod section;
pub mod set;
mod subject;
mod svg;
pub mod table;
#[cfg(test)]
mod tables;
pub mod versus;
mod waits;

pub use export::{ExportTable, audit_csv, audit_json, to_csv, to_json};
pub use run::{ladder_table, report};
pub use section::audit::{audit_page, audit_table, explain};
pub use section::doctor::{ExaminedMedium, checks_text};
