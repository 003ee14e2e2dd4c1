//! The figures of a set of runs.

use plimsoll_analysis::set::{SetAxisSummary, SetRun, SetSummary, summarise_set};
use plimsoll_analysis::summarise;
use plimsoll_report::set::{set_csv, set_table};

use crate::cli::Format;
use crate::failure::Failure;
use crate::set::RunSet;

/// Of all runs that came to their end.
pub fn summary_of(set: &RunSet) -> Result<SetSummary, Failure> {
    let mut runs = Vec::new();
    for cell in &set.list.cells {
        if let Some(record) = set.complete(cell)? {
            runs.push(SetRun {
                choice: cell.choice.clone(),
                repeat: cell.repeat,
                summary: summarise(&record),
            });
        }
    }
    let axes = set.list.axes.iter();
    let axes = axes.map(|axis| SetAxisSummary {
        name: axis.name.clone(),
        key: axis.key.clone(),
        values: axis.values.clone(),
    });
    Ok(summarise_set(
        &set.list.title,
        axes.collect(),
        set.list.cells.len(),
        &runs,
    ))
}

pub fn render_set(summary: &SetSummary, format: Format) -> String {
    match format {
        Format::Table => set_table(summary),
        Format::Json => serde_json::to_string_pretty(summary).unwrap_or_default(),
        Format::Csv => set_csv(summary),
    }
}
