//! Backups and restores: their stated figures against the growth of their files.

use crate::audit::input::{Known, Move};
use crate::audit::{AuditSubject, Missing};
use crate::summary::{BackupOperation, FigureId, FigureSet, RateCheck, RateNotChecked, RunFigures};
use plimsoll_record::BackupOutcome;

pub(super) fn of_run(summary: &RunFigures) -> Vec<Move> {
    let operations = summary.backups.iter().flat_map(|step| {
        let own = step.media.iter().flat_map(|medium| &medium.operations);
        own.map(move |operation| (step, operation))
    });
    let complete = operations.filter(|(_, operation)| operation.outcome == BackupOutcome::Complete);
    complete
        .map(|(step, operation)| {
            let name = format!(
                "{} {}, {}, {}",
                operation.kind.name(),
                operation.cycle + 1,
                step.step,
                operation.system
            );
            let agrees = match operation.rate {
                RateCheck::Agrees { .. } => Some(true),
                RateCheck::Disagrees { .. } => Some(false),
                RateCheck::NotEvaluated { .. } => None,
            };
            let mut figures = FigureSet::default();
            figures.put_all(FigureId::MovedMb, moved(operation));
            Move {
                about: AuditSubject::Named(name),
                figures,
                agrees,
            }
        })
        .collect()
}

/// MB/s as observed while it ran; time and bytes as it states.
fn moved(operation: &BackupOperation) -> Known<FigureSet> {
    let (RateCheck::Agrees { observed_bytes, .. } | RateCheck::Disagrees { observed_bytes, .. }) =
        operation.rate
    else {
        let restore = operation.rate
            == RateCheck::NotEvaluated {
                why: RateNotChecked::Restore,
            };
        return Err(if restore {
            Missing::ByConstruction
        } else {
            Missing::NoBytes
        });
    };
    if operation.seconds <= 0.0 || operation.bytes == 0 {
        return Err(Missing::NoBytes);
    }
    let observed_mb = observed_bytes / 1e6;
    Ok(FigureSet::from_iter([
        (FigureId::MbPerSecond, observed_mb / operation.seconds),
        (FigureId::Seconds, operation.seconds),
        (FigureId::MovedMb, operation.bytes as f64 / 1e6),
    ]))
}
