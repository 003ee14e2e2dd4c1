//! A set of runs as a document: a page that needs no script, and tables on a terminal.

use plimsoll_analysis::set::SetSummary;
use plimsoll_analysis::summary::{FigureId, Verdict};

use super::answer::page_answer;
use super::chart::{ChartFigure, by_axis};
use super::rows::{self, SetRowGroup, crossed, crossed_rows, groups, loads, rate, rate_name};
use super::words::describe;
use crate::document::{ReportBlock, ReportDocument, ReportSection};
use crate::message::Messages;
use crate::render;

/// The page of the set in `dir`.
pub fn set_page(summary: &SetSummary, dir: &str) -> String {
    let m = Messages::english();
    let answer = page_answer(&m, summary, dir);
    let document = ReportDocument {
        title: summary.title.clone(),
        is_question: true,
        header: vec![ReportBlock::Answer(Box::new(answer)), meta(&m, summary)],
        sections: sections(&m, summary),
        footer: vec![ReportBlock::note(m.text("set-how"))],
    };
    render::html::page(&m, &document)
}

/// All tables of a set.
pub fn set_table(summary: &SetSummary) -> String {
    let m = Messages::english();
    let args = [
        ("title", summary.title.clone()),
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let mut heading = ReportSection::bare("heading");
    heading.line(m.text_with("set-heading", &args));
    let mut sections = sections(&m, summary);
    // Its last lines are what tables show.
    sections.sort_by_key(|section| section.id == CROSSOVERS);
    sections.insert(0, heading);
    render::text::sections(&sections)
}

/// One line for each row; figures without their intervals have the median alone.
pub fn set_csv(summary: &SetSummary) -> String {
    rows::table(&summary.axes).to_csv(&summary.rows)
}

/// How many runs, and the values of each axis.
fn meta(m: &Messages, summary: &SetSummary) -> ReportBlock {
    let runs = [
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let runs = (m.text("set-runs"), m.text_with("set-runs-of", &runs));
    let axes = summary.axes.iter();
    let axes = axes.map(|axis| (axis.key.clone(), axis.values.join(", ")));
    ReportBlock::Facts {
        class: "meta",
        facts: [runs].into_iter().chain(axes).collect(),
    }
}

const CROSSOVERS: &str = "crossovers";

/// From how much of something on more of it changes nothing, then each group of rows.
fn sections(m: &Messages, summary: &SetSummary) -> Vec<ReportSection> {
    let mut crossovers = ReportSection::new(CROSSOVERS, m.text("set-crossovers"));
    let found = summary.crossovers.iter();
    crossovers.both(ReportBlock::list(found.map(|own| describe(m, own))));
    let groups = groups(m, summary).into_iter();
    let groups = groups.map(|group| group_section(m, summary, &group));
    crossovers.if_filled().into_iter().chain(groups).collect()
}

/// Rows of one step, system and scene: their charts and table; on a terminal also the rate by the values of both axes.
fn group_section(m: &Messages, summary: &SetSummary, group: &SetRowGroup<'_>) -> ReportSection {
    let mut section = ReportSection::new("group", &group.name);
    section.line(&group.name);
    let charts = charts(m, summary, group);
    if !charts.is_empty() {
        let mut notes = vec![m.text("set-chart-note")];
        // Some have figures that must not be quoted.
        if group.rows.iter().any(|row| row.verdict == Verdict::Invalid) {
            notes.push(m.text("set-chart-hollow"));
        }
        section.page(ReportBlock::note(notes.join(" ")));
    }
    section.page(ReportBlock::group("figures set", charts));
    let table = rows::table(&summary.axes);
    section.both(ReportBlock::table(m, &group.name, &table, &group.rows));
    for load in loads(&group.rows) {
        if let Some(rows) = crossed_rows(&summary.axes, &group.rows, &load) {
            section.gap();
            section.line(m.text_with("set-crossed", &[("load", load)]));
            section.line(crossed(&summary.axes).to_text(m, &rows));
        }
    }
    section
}

fn charts(m: &Messages, summary: &SetSummary, group: &SetRowGroup<'_>) -> Vec<ReportBlock> {
    let figures = [
        ChartFigure {
            name: rate_name(m, &group.rows),
            of: rate,
        },
        ChartFigure {
            name: m.text("set-reads-long"),
            of: |row| row.figures.get(FigureId::DeviceReads),
        },
    ];
    let mut charts = Vec::new();
    for (place, axis) in summary.axes.iter().enumerate() {
        if axis.values.len() > 1 {
            for figure in &figures {
                let own = by_axis(m, &summary.axes, &group.rows, place, figure);
                charts.extend(own.into_iter().map(ReportBlock::Drawing));
            }
        }
    }
    charts
}
