//! Records as people and machines read them: tables on a terminal, one HTML file, JSON, CSV.
//!
//! Invariants, stated as absences: nothing here opens a file or a connection, reads a clock or computes a figure. All
//! figures come from [`plimsoll_analysis::summary`], all sentences from the catalog in `locales/`.

pub mod answer;
mod audit;
mod backup;
mod block;
mod bottleneck;
mod compare;
mod cut;
mod doctor;
mod drives;
mod effect;
pub mod export;
mod finding_view;
mod findings;
mod fleet;
pub mod history;
pub mod html;
mod imported;
mod ladder;
mod line;
pub mod live;
mod load_summary;
mod medium;
pub mod message;
pub mod number;
mod outcome;
mod point_set;
pub mod runs;
mod scaling;
pub mod set;
mod subject;
mod svg;
pub mod table;
#[cfg(test)]
mod tables;
pub mod text;
pub mod versus;
mod waits;

pub use export::{ExportTable, audit_csv, audit_json, to_csv, to_json};
pub use html::audits::audit_page;
pub use html::report;
pub use text::{audit_table, explain, ladder_table};
