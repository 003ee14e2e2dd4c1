//! The answer of a run: the number with its interval, what limits it, and whether it can be trusted.
//!
//! | run, the first that applies | answer |
//! | --- | --- |
//! | search | the highest load that met the objective, and the lowest that did not |
//! | noisy neighbors | p99 and throughput with and without them, at the highest valid load |
//! | nothing but failures of an array's members | load and p99 before, degraded, during the rebuild, after it |
//! | nothing but power cuts | acknowledged transactions that were lost |
//! | transactions on several media | ratio of throughput at the highest load at which most media are valid |
//! | transactions on one medium | the highest valid throughput and its load |
//! | backups | how long they and restores took |
//! | block I/O | rates of each job, and against the data sheet |
//!
//! Throughput of slowed drives is that predicted for full speed, where it can be predicted. A rate that the plan imposes is
//! no result: response times are compared then. An invalid point has no ratio, and one valid side is no comparison. Media that
//! ran at unlike speeds have no ratio either, and one whose interval is wider than a factor of two up or down is no answer.

mod arrays;
mod backups;
mod blocks;
mod choose;
mod cpu_speed;
mod cuts;
mod kinds;
mod limited;
mod lines;
mod noise;
mod refused;
#[cfg(test)]
mod tests;
mod trust;

pub use arrays::ArrayAnswer;
pub use backups::BackupAnswer;
pub use blocks::BlockAnswer;
pub use cpu_speed::AtCpuSpeeds;
pub use cuts::CutAnswer;
pub use kinds::{
    AnswerResult, AnswerRow, ComparedBy, LimitedBy, LoadAnswer, MediaAnswer, MediumRatio, NoAnswer,
    PointCounts, RateBasis, RunAnswer, SimulatedMachine, StepPeak, Trust, TrustLimit, TrustReason,
};
pub use lines::LineAnswer;
pub use noise::NoiseAnswer;

use plimsoll_record::{Record, Severity};

use crate::audit::Audit;
use crate::emulated::EmulatedDrives;
use crate::summary::{
    RunFigures, SIMULATED_CPUS_FACT, SIMULATED_MEMORY_FACT, SIMULATED_SPEED_FACT, Verdict,
};
use choose::{ChoiceInput, ChosenAnswer, media, single};
use refused::RefusedFigures;

/// What an answer is computed from.
pub(crate) struct AnswerInput<'a> {
    pub record: &'a Record,
    pub figures: &'a RunFigures,
    pub audit: &'a Audit,
    pub drives: &'a EmulatedDrives,
    pub verdict: Verdict,
}

/// `None` for runs without load: imported results and examinations of a system.
pub(crate) fn answer(input: &AnswerInput<'_>) -> Option<RunAnswer> {
    let refused = RefusedFigures::new(input.audit, input.figures);
    let chosen = chosen(input, &refused)?;
    let full_speed = &input.drives.full_speed;
    Some(RunAnswer {
        title: input.record.run.title.clone(),
        simulated: simulated(input.record),
        verdict: verdict(&chosen, input.figures, &refused),
        limited_by: limited::of(&chosen, &input.figures.ladders, full_speed),
        media: (input.record.media().into_iter())
            .map(str::to_owned)
            .collect(),
        nopm: chosen.nopm,
        result: chosen.result,
        rows: chosen.rows,
        trust: trust::of(input.figures, input.audit, &refused, input.verdict),
    })
}

fn simulated(record: &Record) -> Option<SimulatedMachine> {
    let fact = |key: &str| {
        let own = record.facts.iter().find(|fact| fact.key == key)?;
        Some(own.value.clone())
    };
    Some(SimulatedMachine {
        cpus: fact(SIMULATED_CPUS_FACT)?,
        cpu_speed: fact(SIMULATED_SPEED_FACT),
        memory: fact(SIMULATED_MEMORY_FACT),
    })
}

/// Of what the answer rests on: an invalid point beside it does not make it invalid, an error of the whole run does.
fn verdict(chosen: &ChosenAnswer, figures: &RunFigures, refused: &RefusedFigures<'_>) -> Verdict {
    let has_error = (figures.findings.iter()).any(|own| own.severity == Severity::Error);
    if chosen.is_refused || has_error || refused.has_whole() {
        return Verdict::Invalid;
    }
    let usable = |all: Vec<Verdict>| {
        let usable = all.into_iter().filter(|own| *own < Verdict::Invalid);
        usable.max().unwrap_or(Verdict::Invalid)
    };
    match &chosen.result {
        AnswerResult::None(_) => Verdict::Invalid,
        AnswerResult::Media(_) => usable(chosen.rows.iter().map(|own| own.verdict).collect()),
        AnswerResult::Load(own) => {
            let rows = chosen.rows.iter().filter(|row| row.load == own.load);
            usable(rows.map(|row| row.verdict).collect())
        }
        AnswerResult::Lines { lines } => usable(lines.iter().map(|own| own.verdict).collect()),
        AnswerResult::Noise { effects } => usable(effects.iter().map(|own| own.verdict).collect()),
        AnswerResult::PowerCuts { media } => usable(media.iter().map(|own| own.verdict).collect()),
        AnswerResult::Arrays { media } => usable(media.iter().map(|own| own.verdict).collect()),
        AnswerResult::Backups { backups } => {
            usable(backups.iter().map(|own| own.verdict).collect())
        }
        AnswerResult::Block { jobs } => usable(jobs.iter().map(|own| own.verdict).collect()),
    }
}

fn chosen(input: &AnswerInput<'_>, refused: &RefusedFigures<'_>) -> Option<ChosenAnswer> {
    let figures = input.figures;
    let before = lines::of(figures, refused)
        .map(|lines| AnswerResult::Lines { lines })
        .or_else(|| noise::of(figures, refused).map(|effects| AnswerResult::Noise { effects }))
        .or_else(|| cuts::of(figures, refused).map(|media| AnswerResult::PowerCuts { media }))
        .or_else(|| arrays::of(figures, refused).map(|media| AnswerResult::Arrays { media }));
    let behind = || {
        let jobs = || blocks::of(figures, &input.drives.data_sheets, refused);
        backups::of(figures)
            .map(|backups| AnswerResult::Backups { backups })
            .or_else(|| jobs().map(|jobs| AnswerResult::Block { jobs }))
    };
    before
        .map(ChosenAnswer::without_rows)
        .or_else(|| transactions(input, refused))
        .or_else(|| behind().map(ChosenAnswer::without_rows))
        .or_else(|| (!figures.blocks.is_empty()).then(nothing))
}

fn nothing() -> ChosenAnswer {
    ChosenAnswer::without_rows(AnswerResult::None(NoAnswer::NothingMeasured))
}

fn transactions(input: &AnswerInput<'_>, refused: &RefusedFigures<'_>) -> Option<ChosenAnswer> {
    let ladders = &input.figures.ladders;
    let choice = ChoiceInput {
        ladders,
        full_speed: &input.drives.full_speed,
        orders: &input.drives.orders,
        refused,
    };
    (!ladders.is_empty()).then(|| {
        media(choice, &input.figures.comparisons)
            .or_else(|| single(choice))
            .unwrap_or_else(nothing)
    })
}
