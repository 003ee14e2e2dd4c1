//! Load lines in the report: the headline of a search, the table of what was tried, and what its chart is drawn from.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{Ladder, LoadLine, ObjectiveResult, TriedLoad, Verdict};
use serde::Serialize;

use super::island::short;
use crate::ladder;
use crate::line::{self, LoadLineText};
use crate::message::Messages;
use crate::table::Grid;

/// A load line with what stands below it.
pub(super) struct LineView {
    pub heading: String,
    pub value: String,
    pub unit: String,
    pub objective: String,
    pub between: String,
    pub effort: String,
    pub rate: String,
    /// That the drive was emulated; else empty.
    pub drive: String,
    /// Of the rung of the line; of no line that nothing can be used.
    pub verdict: &'static str,
    pub verdict_word: String,
    pub bottleneck: Vec<String>,
    pub tried: Grid,
}

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<LineView> {
    line::describe(m, summary)
        .into_iter()
        .map(|line| view(m, line))
        .collect()
}

fn view(m: &Messages, text: LoadLineText<'_>) -> LineView {
    let tried = line::table(m, &text).to_grid(m, &text.line.tried.iter().collect::<Vec<_>>());
    let LoadLineText {
        ladder,
        line,
        heading,
        value,
        unit,
        objective,
        between,
        effort,
        rate,
        bottleneck,
    } = text;
    let rung = line.load_index.and_then(|rung| ladder.loads.get(rung));
    let verdict = rung.map_or(Verdict::Invalid, |rung| rung.verdict).name();
    LineView {
        heading,
        value,
        unit,
        objective,
        between,
        effort,
        rate,
        drive: ladder::emulated(m, ladder).unwrap_or_default(),
        verdict,
        verdict_word: m.text(&format!("verdict-{verdict}")),
        bottleneck,
        tried,
    }
}

/// Steps whose lines have a chart: their index and name. One chart shows all media.
pub(super) fn charts(summary: &Summary) -> Vec<(u32, String)> {
    let mut steps: Vec<(u32, String)> = summary
        .lines()
        .map(|(ladder, _)| (ladder.step_index, ladder.step.clone()))
        .collect();
    steps.dedup();
    steps
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

pub(super) fn data(ladder: &Ladder, line: &LoadLine) -> LineData {
    let mut tried: Vec<TriedData> = line.tried.iter().map(tried_data).collect();
    tried.sort_by(|a, b| a.load.total_cmp(&b.load));
    let LoadLine {
        open,
        limit_ms,
        line,
        below,
        ..
    } = line;
    LineData {
        step: ladder.step_index,
        open: *open,
        limit: *limit_ms,
        line: *line,
        below: *below,
        tried,
    }
}

fn tried_data(tried: &TriedLoad) -> TriedData {
    let figure = |repeat: &ObjectiveResult| repeat.figure_ms.map(short);
    let mut figures: Vec<f64> = tried.repeats.iter().filter_map(figure).collect();
    figures.sort_by(f64::total_cmp);
    TriedData {
        load: tried.load,
        outcome: tried.outcome.name(),
        figures,
    }
}
