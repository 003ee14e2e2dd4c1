//! Load lines in the report: what was found, the table of what was tried, and what its chart is drawn from.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{LadderSummary, LoadLine, TriedLoad};
use serde::Serialize;

use super::rounding::short;
use crate::line::{self, LoadLineText};
use crate::message::Messages;
use crate::table::Grid;

/// A load line with what stands below it.
pub(super) struct LineView<'a> {
    pub text: LoadLineText<'a>,
    pub tried: Grid,
}

pub(super) fn views<'a>(m: &Messages, summary: &'a Summary) -> Vec<LineView<'a>> {
    let lines = line::describe(m, summary).into_iter();
    lines.map(|line| view(m, line)).collect()
}

fn view<'a>(m: &Messages, text: LoadLineText<'a>) -> LineView<'a> {
    LineView {
        tried: line::table().to_grid(m, &line::tried(&text)),
        text,
    }
}

/// The chart of a step's lines, of all media.
pub(super) struct LineChart {
    pub step_index: u32,
    pub title: String,
}

pub(super) fn charts(m: &Messages, summary: &Summary) -> Vec<LineChart> {
    let mut steps: Vec<(u32, &String)> = summary
        .figures
        .lines()
        .map(|(ladder, _)| (ladder.step_index, &ladder.step))
        .collect();
    steps.dedup();
    let steps = steps.into_iter();
    steps
        .map(|(step_index, step)| LineChart {
            step_index,
            title: m.text_with("line-chart", &[("step", step.clone())]),
        })
        .collect()
}

/// What the chart of a line is drawn from.
#[derive(Serialize)]
pub(super) struct LineData {
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

pub(super) fn data(ladder: &LadderSummary, line: &LoadLine) -> LineData {
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
