//! Load lines in the report: what was found, the table of what was tried, and what its chart is drawn from.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{LadderSummary, LoadLine, TriedLoad};
use serde::Serialize;

use crate::document::{ReportBlock, ReportSection, ScriptChart};
use crate::html::rounding::short;
use crate::line::{self, LoadLineText};
use crate::message::Messages;

/// `None` without a search.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let lines = line::describe(m, summary);
    let mut section = ReportSection::new("line", m.text("line-title")).styled("charts");
    section.page(ReportBlock::note(m.text("line-note")));
    section.page(ReportBlock::group("figures wide", charts(m, summary)));
    for line in &lines {
        add(m, line, &mut section);
    }
    section.if_filled()
}

/// The line, the loads tried and the bottleneck.
fn add(m: &Messages, line: &LoadLineText<'_>, section: &mut ReportSection) {
    let args = [
        ("heading", line.heading.clone()),
        ("value", line.value.clone()),
        ("unit", line.unit.clone()),
        ("objective", line.objective.clone()),
    ];
    let sentences = [&line.between, &line.effort, &line.rate].map(String::clone);
    section.gap();
    section.line(m.text_with("line-text", &args));
    let heading = format!("{}: {}", line.heading, line.objective);
    section.page(ReportBlock::heading(heading));
    section.page(ReportBlock::text(sentences.join(" ")));
    section.lines(sentences);
    section.both(ReportBlock::text(m.text("bottleneck-title")));
    section.lines(line.bottleneck.iter().map(|sign| format!("  {sign}")));
    section.page(ReportBlock::list(line.bottleneck.iter().cloned()));
    let tried = line::tried(line);
    section.both(ReportBlock::table(m, &line.heading, &line::table(), &tried));
}

/// What was done to data and drives before points. `None` where nothing was.
pub(crate) fn before_points(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let before = line::before_points(m, summary);
    let mut section = ReportSection::new("precondition", m.text("precondition-title"));
    for text in &before {
        section.gap();
        section.line(text);
    }
    section.page(ReportBlock::list(before));
    section.if_filled()
}

/// One for each step, with the lines of all media.
fn charts(m: &Messages, summary: &Summary) -> Vec<ReportBlock> {
    let mut steps: Vec<(u32, &String)> = summary
        .figures
        .lines()
        .map(|(ladder, _)| (ladder.step_index, &ladder.step))
        .collect();
    steps.dedup();
    let charts = steps.into_iter().map(|(step_index, step)| {
        ReportBlock::Chart(ScriptChart {
            title: m.text_with("line-chart", &[("step", step.clone())]),
            data: vec![
                ("chart", "line".to_owned()),
                ("step", step_index.to_string()),
            ],
        })
    });
    charts.collect()
}

/// What the chart of a line is drawn from.
#[derive(Serialize)]
pub(crate) struct LineData {
    step: u32,
    open: bool,
    limit: f64,
    line: Option<f64>,
    below: Option<f64>,
    /// By load.
    tried: Vec<TriedData>,
}

#[derive(Serialize)]
struct TriedData {
    load: f64,
    outcome: &'static str,
    /// The objective's figure of each repeat, lowest first.
    figures: Vec<f64>,
}

pub(crate) fn data(ladder: &LadderSummary, line: &LoadLine) -> LineData {
    // Where too little was measured there is no figure to draw.
    let decided = line.tried.iter().filter(|tried| tried.outcome.is_decided());
    let mut tried: Vec<TriedData> = decided.map(tried_data).collect();
    tried.sort_by(|a, b| a.load.total_cmp(&b.load));
    LineData {
        step: ladder.step_index,
        open: line.open,
        limit: line.limit_ms,
        line: line.line,
        below: line.below,
        tried,
    }
}

fn tried_data(tried: &TriedLoad) -> TriedData {
    let repeats = tried.repeats.iter();
    let mut figures: Vec<f64> = repeats
        .filter_map(|repeat| repeat.figure_ms.map(short))
        .collect();
    figures.sort_by(f64::total_cmp);
    TriedData {
        load: tried.load,
        outcome: tried.outcome.name(),
        figures,
    }
}
