//! What rules read, gathered from a record and its summary. Nothing that the summary has is computed again.

mod block;
mod drive_file;
mod facts;
mod load;
mod moves;
mod pair;
mod printed;
mod stops;
mod suspicions;
mod system;

pub use pair::of_runs;

use super::AuditSubject;
use super::input::{AuditInput, LoadInput, SubjectFindings};
use crate::summary::{Finding, RunFigures};
use facts::RecordFacts;
use plimsoll_record::Record;

/// A run, with what it compares within itself.
pub fn of_run(record: &Record, summary: &RunFigures) -> AuditInput {
    let facts = RecordFacts::new(record);
    let file = Some(record.integrity.clone());
    let mut input = AuditInput {
        others: other_findings(summary),
        file,
        ..AuditInput::default()
    };
    input.systems = system::of_run(&facts, summary);
    input.loads = loads_of(&facts, summary);
    input.pairs = pair::of_run(&facts, summary);
    input.moves = moves::of_run(summary);
    input
}

/// Points of ladders and of block I/O.
pub fn loads(record: &Record, summary: &RunFigures) -> Vec<LoadInput> {
    loads_of(&RecordFacts::new(record), summary)
}

fn loads_of(facts: &RecordFacts<'_>, summary: &RunFigures) -> Vec<LoadInput> {
    let ladders = summary.ladders.iter();
    let of_ladders = ladders.flat_map(|ladder| load::of_ladder(facts, ladder));
    let media = summary
        .blocks
        .iter()
        .flat_map(|step| step.media.iter().map(move |medium| (step, medium)));
    let of_media = media.flat_map(|(step, medium)| block::of_medium(facts, step, medium));
    of_ladders.chain(of_media).collect()
}

/// Findings that are about no load of the audit: those of the run, of media, of backups, and of rounds that do not count.
fn other_findings(summary: &RunFigures) -> Vec<SubjectFindings> {
    let mut all = vec![SubjectFindings {
        about: AuditSubject::Whole,
        findings: summary.findings.clone(),
    }];
    let mut add = |name: String, finding: &Finding| {
        let about = AuditSubject::Named(name);
        match all.iter_mut().find(|own| own.about == about) {
            Some(own) => own.findings.push(finding.clone()),
            None => all.push(SubjectFindings {
                about,
                findings: vec![finding.clone()],
            }),
        }
    };
    for (medium, place, finding) in summary.block_findings() {
        match place {
            None => add(medium.medium.clone(), finding),
            Some((job, point)) if !point.counts => {
                add(format!("{}, {}", medium.medium, job.job), finding);
            }
            Some(_) => {}
        }
    }
    for backup in &summary.backups {
        for (_, finding) in backup.all_findings() {
            add(backup.step.clone(), finding);
        }
    }
    all
}

#[cfg(test)]
mod tests;
