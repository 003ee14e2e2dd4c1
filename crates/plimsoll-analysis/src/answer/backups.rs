//! The answer of a backup step: how long backups and restores take.

use plimsoll_record::{BackupKind, OfferedLoad};
use serde::Serialize;

use crate::summary::{BackupFigures, BackupMedium, Estimate, FigureId, Ratio, RunFigures, Verdict};

/// Backups or restores between two media.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackupAnswer {
    /// With the data.
    pub medium: Option<String>,
    pub drive: Option<String>,
    /// How many times slower than rated the slower of both drives ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    /// With the backups.
    pub target: String,
    pub kind: BackupKind,
    /// The load that they ran beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<OfferedLoad>,
    pub complete: u64,
    /// Without a result, or with other data than were saved.
    pub failed: u64,
    /// `None` where none completed.
    pub seconds: Option<Estimate>,
    pub mb_per_second: Option<f64>,
    /// Of the times, to the first medium; `None` where one of them is invalid or ran at another speed.
    pub ratio: Option<Ratio>,
    pub verdict: Verdict,
}

/// `None` where there were no backups.
pub(super) fn of(figures: &RunFigures) -> Option<Vec<BackupAnswer>> {
    let mut all = Vec::new();
    for step in &figures.backups {
        let beside = step.beside.map(|beside| beside.load);
        for medium in &step.media {
            let kinds = medium.kinds.iter();
            all.extend(kinds.map(|kind| answer(medium, kind, beside)));
        }
    }
    (!all.is_empty()).then_some(all)
}

fn answer(
    medium: &BackupMedium,
    kind: &BackupFigures,
    beside: Option<OfferedLoad>,
) -> BackupAnswer {
    BackupAnswer {
        medium: medium.medium.clone(),
        drive: medium.drive.clone(),
        slower: [medium.slower, medium.target_slower]
            .into_iter()
            .flatten()
            .filter(|factor| *factor > 1.0)
            .reduce(f64::max),
        target: medium.target.clone(),
        kind: kind.kind,
        beside,
        complete: kind.complete,
        failed: kind.failed + kind.cancelled + kind.differs,
        seconds: kind.figures.get(FigureId::Seconds),
        mb_per_second: kind.figures.value(FigureId::MbPerSecond),
        ratio: kind.ratios.get(FigureId::Seconds),
        verdict: medium.verdict,
    }
}
