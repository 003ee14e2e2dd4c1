//! The answer of a run: the number with its interval, what limits it, and whether it can be trusted.
//!
//! | run | answer |
//! | --- | --- |
//! | several media | ratio of throughput at the highest load at which most media are valid |
//! | one medium | the highest valid throughput and its load |
//!
//! Throughput of slowed drives is that predicted for full speed, where it can be predicted. A rate that the plan imposes is
//! no result: response times are compared then. An invalid point has no ratio, and one valid side is no comparison.
//! Searches, block I/O, backups and power cuts have sections of their own.

mod choose;
mod kinds;
mod limited;
#[cfg(test)]
mod tests;
mod trust;

pub use kinds::{
    AnswerLoad, AnswerResult, AnswerRow, ComparedBy, LimitedBy, Limiter, LoadAnswer, MediaAnswer,
    MediumRatio, NoAnswer, PointCounts, RateBasis, RateEstimate, RunAnswer, Trust, TrustLimit,
};

use plimsoll_record::Record;

use crate::audit::Audit;
use crate::full_speed::FullSpeed;
use crate::summary::{RunFigures, Verdict};
use choose::{ChosenAnswer, media, single};

/// What an answer is computed from.
pub(crate) struct AnswerInput<'a> {
    pub record: &'a Record,
    pub figures: &'a RunFigures,
    pub audit: &'a Audit,
    pub full_speed: &'a FullSpeed,
    pub verdict: Verdict,
}

/// `None` for runs that are not about a load of transactions at given users or rates.
pub(crate) fn answer(input: &AnswerInput<'_>) -> Option<RunAnswer> {
    let ladders = &input.figures.ladders;
    let is_other = input.figures.lines().next().is_some()
        || !input.figures.blocks.is_empty()
        || !input.figures.backups.is_empty()
        || !input.figures.effects.is_empty()
        || ladders
            .iter()
            .all(|ladder| ladder.points.iter().any(|point| point.power_cut.is_some()));
    if is_other || ladders.is_empty() {
        return None;
    }
    let trust = trust::of(input.figures, input.audit, input.verdict);
    let chosen = media(ladders, &input.figures.comparisons, input.full_speed)
        .or_else(|| single(ladders, input.full_speed))
        .unwrap_or_else(|| ChosenAnswer::nothing(NoAnswer::NothingMeasured));
    Some(RunAnswer {
        title: input.record.run.title.clone(),
        limited_by: limited::of(&chosen, ladders, input.full_speed),
        nopm: chosen.nopm,
        result: chosen.result,
        rows: chosen.rows,
        trust,
    })
}
