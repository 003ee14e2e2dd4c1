//! What rules read, gathered from a record and its summary. Nothing that the summary has is computed again.

mod block;
mod drive_file;
mod facts;
mod load;
mod moves;
mod pair;
mod stops;
mod system;

pub use pair::of_runs;

use super::input::AuditInput;
use crate::summary::RunFigures;
use facts::RecordFacts;
use plimsoll_record::Record;

/// A run, with what it compares within itself.
pub fn of_run(record: &Record, summary: &RunFigures) -> AuditInput {
    let facts = RecordFacts::new(record);
    let file = Some(record.integrity.clone());
    let mut input = AuditInput {
        findings: summary.findings.clone(),
        file,
        ..AuditInput::default()
    };
    input.systems = system::of_run(&facts, summary);
    input.loads = summary
        .ladders
        .iter()
        .flat_map(|ladder| load::of_ladder(&facts, ladder))
        .collect();
    let media = summary
        .blocks
        .iter()
        .flat_map(|step| step.media.iter().map(move |medium| (step, medium)));
    input
        .loads
        .extend(media.flat_map(|(step, medium)| block::of_medium(step, medium)));
    input.pairs = pair::of_run(&facts, summary);
    input.moves = moves::of_run(summary);
    input
}

#[cfg(test)]
mod tests;
