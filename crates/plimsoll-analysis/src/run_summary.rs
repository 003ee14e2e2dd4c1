//! A run's figures, audit, verdict and answer.

use plimsoll_record::Record;
use serde::Serialize;

use crate::answer::{AnswerInput, RunAnswer, answer};
use crate::audit::{Audit, audit};
use crate::audited::figures_and_timelines;
use crate::emulated::EmulatedDrives;
use crate::full_speed::FullSpeed;
use crate::summary::{RunFigures, Verdict};

/// All that is computed from one record: the shape of `--format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What the run says about its question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<RunAnswer>,
    #[serde(flatten)]
    pub figures: RunFigures,
    /// That of the audit, which has all findings. The doctor's stand for themselves.
    pub verdict: Verdict,
    /// Results of the audit's rules.
    pub audit: Audit,
    /// What slowed drives would give at full speed.
    #[serde(skip_serializing_if = "FullSpeed::is_empty")]
    pub full_speed: FullSpeed,
}

/// As [`summarise_with`], without what only models of drives know.
pub fn summarise(record: &Record) -> Summary {
    summarise_with(record, |_| EmulatedDrives::default())
}

/// Computes figures, audits them, decides how far they can be trusted, and chooses the answer: the only place that does.
/// `emulated` asks the models of drives, which this crate has not.
pub fn summarise_with(
    record: &Record,
    emulated: impl FnOnce(&RunFigures) -> EmulatedDrives,
) -> Summary {
    let figures = figures_and_timelines(record);
    let audit = audit(record, &figures);
    let drives = emulated(&figures);
    let verdict = audit.verdict();
    Summary {
        answer: answer(&AnswerInput {
            record,
            figures: &figures,
            audit: &audit,
            drives: &drives,
            verdict,
        }),
        verdict,
        figures,
        audit,
        full_speed: drives.full_speed,
    }
}
