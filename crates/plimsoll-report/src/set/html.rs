//! A set of runs as one HTML file that holds everything and needs no script.

use askama::Template;
use plimsoll_analysis::set::SetSummary;
use plimsoll_analysis::summary::{FigureId, Verdict};

use super::answer::page_answer;
use super::chart::{ChartFigure, by_axis};
use super::rows::{self, groups, rate, rate_name};
use super::text::describe;
use crate::html::STYLE;
use crate::html::page_answer::PageAnswer;
use crate::message::Messages;
use crate::svg::chart::Chart;
use crate::table::Grid;

/// The page of the set in `dir`.
pub fn set_page(summary: &SetSummary, dir: &str) -> String {
    let m = Messages::english();
    let runs = [
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let page = SetPage {
        title: &summary.title,
        first: page_answer(&m, summary, dir),
        runs: m.text_with("set-runs-of", &runs),
        axes: summary
            .axes
            .iter()
            .map(|axis| (axis.key.clone(), axis.values.join(", ")))
            .collect(),
        crossovers: summary
            .crossovers
            .iter()
            .map(|crossover| describe(&m, crossover))
            .collect(),
        groups: groups(&m, summary)
            .into_iter()
            .map(|group| GroupView::new(&m, summary, group))
            .collect(),
        m: &m,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "set.html")]
struct SetPage<'a> {
    m: &'a Messages,
    title: &'a str,
    first: PageAnswer,
    runs: String,
    /// Key and values.
    axes: Vec<(String, String)>,
    crossovers: Vec<String>,
    groups: Vec<GroupView>,
    style: &'static str,
}

struct GroupView {
    name: String,
    charts: Vec<Chart>,
    /// Whether a chart has figures that must not be quoted.
    hollow: bool,
    grid: Grid,
}

impl GroupView {
    fn new(m: &Messages, summary: &SetSummary, group: rows::SetRowGroup<'_>) -> Self {
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
                    charts.extend(by_axis(m, &summary.axes, &group.rows, place, figure));
                }
            }
        }
        let mut rows = group.rows.iter();
        let is_invalid = rows.any(|row| row.verdict == Verdict::Invalid);
        Self {
            name: group.name,
            hollow: !charts.is_empty() && is_invalid,
            charts,
            grid: rows::table(&summary.axes).to_grid(m, &group.rows),
        }
    }
}
