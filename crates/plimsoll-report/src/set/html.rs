//! A set of runs as one HTML file that holds everything and needs no script.

use askama::Template;
use plimsoll_analysis::set::{SetRow, SetSummary};
use plimsoll_analysis::summary::Verdict;

use super::chart::{Chart, Get, by_axis};
use super::{describe, groups, rate, rate_name, table};
use crate::message::Messages;
use crate::table::Grid;

const STYLE: &str = include_str!("../../templates/report.css");

/// The page of a set.
pub fn set_page(summary: &SetSummary) -> String {
    let m = Messages::english();
    let runs = [
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let page = Page {
        title: &summary.title,
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
            .map(|(name, rows)| Group::new(&m, summary, name, &rows))
            .collect(),
        m: &m,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "set.html")]
struct Page<'a> {
    m: &'a Messages,
    title: &'a str,
    runs: String,
    /// Key and values.
    axes: Vec<(String, String)>,
    crossovers: Vec<String>,
    groups: Vec<Group>,
    style: &'static str,
}

struct Group {
    name: String,
    charts: Vec<Chart>,
    /// Whether a chart has figures that must not be quoted.
    hollow: bool,
    grid: Grid,
}

impl Group {
    fn new(m: &Messages, summary: &SetSummary, name: String, rows: &[&SetRow]) -> Self {
        let rate_name = rate_name(m, rows);
        let reads: Get = |row| row.device_reads_per_txn;
        let figures: [(String, Get); 2] = [(rate_name, rate), (m.text("set-reads-long"), reads)];
        let axes = (0..summary.axes.len()).filter(|axis| summary.axes[*axis].values.len() > 1);
        let charts = axes.flat_map(|axis| {
            let of =
                |(figure, get): &(String, Get)| by_axis(m, summary, rows, axis, (figure, *get));
            figures.iter().flat_map(of).collect::<Vec<_>>()
        });
        let charts: Vec<Chart> = charts.collect();
        Self {
            name,
            hollow: !charts.is_empty() && rows.iter().any(|row| row.verdict == Verdict::Invalid),
            charts,
            grid: table(m, summary, rows).to_grid(m, rows),
        }
    }
}
