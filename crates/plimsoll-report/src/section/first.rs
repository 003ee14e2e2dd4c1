//! The first screen of a run's report.

use plimsoll_analysis::Summary;

use crate::answer;
use crate::document::{AnswerNote, PageAnswer, ReportBlock, ReportSection};
use crate::medium;
use crate::message::Messages;

pub(crate) const ID: &str = "first";

/// `run` stands for the run file in commands. `None` without an answer.
pub(crate) fn section(m: &Messages, summary: &Summary, run: &str) -> Option<ReportSection> {
    let mut section = ReportSection::untitled(ID).styled("first");
    let answer = page_answer(m, summary, run)?;
    section.page(ReportBlock::Answer(Box::new(answer)));
    Some(section)
}

fn page_answer(m: &Messages, summary: &Summary, run: &str) -> Option<PageAnswer> {
    let own = summary.answer.as_ref()?;
    let parts = answer::parts(m, own);
    let (sentence, beside) = parts.sentences.split_first()?;
    let trust = answer::trusted_points(m, &own.trust);
    let limited = AnswerNote {
        heading: m.text("answer-limited-title"),
        lines: parts.limited_by,
    };
    let table = parts.table.map(|table| table.to_grid(m));
    let beside = beside.join(" ");
    Some(PageAnswer {
        beside: [beside, emulated(m, summary)]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect(),
        limits: answer::limits(m, &own.trust, answer::MOST_LIMITS),
        chart: parts.chart,
        table: table.unwrap_or_default(),
        table_name: m.text("answer-table-title"),
        notes: Some(limited)
            .filter(|own| !own.lines.is_empty())
            .into_iter()
            .collect(),
        next: answer::next(m, own, run),
        ..PageAnswer::new(m, sentence.clone(), own.trust.verdict, trust)
    })
}

/// What is emulated, where that is one drive; several stand beside their figures.
fn emulated(m: &Messages, summary: &Summary) -> String {
    let figures = &summary.figures;
    // The answer states the machine and that its drives are models.
    if figures.ladders.iter().any(|own| own.is_simulated) {
        return String::new();
    }
    let ladders = figures.ladders.iter().map(|own| &own.drive);
    let blocks = figures.blocks.iter().flat_map(|own| &own.media);
    let mut drives: Vec<Option<&String>> = ladders
        .chain(blocks.map(|own| &own.drive))
        .map(Option::as_ref)
        .collect();
    drives.dedup();
    match drives.as_slice() {
        [one] => medium::emulated(m, *one),
        _ => String::new(),
    }
}
