//! Rounds until the figures are steady: what came of it, the window's fit, and the plot of convergence.

use plimsoll_analysis::summary::BlockSummary;
use plimsoll_stats::rounds::Fit;
use serde::Serialize;

use super::super::rounding::short;
use super::chart::ChartView;
use crate::block::tables::{RoundsRow, rounds_rows};
use crate::block::{Across, limit, medium_name};
use crate::document::ReportBlock;
use crate::message::Messages;

/// The criterion; `None` where rounds were not to go on until they are steady.
pub(crate) fn note(m: &Messages, step: &BlockSummary) -> Option<String> {
    let mut media = step.media.iter();
    let first = media.find_map(|medium| medium.rounds.as_ref())?;
    let args = [
        ("window", first.window.to_string()),
        ("range", limit(first.range_percent_limit)),
        ("slope", limit(first.slope_percent_limit)),
        ("most", first.most_rounds.to_string()),
    ];
    Some(m.text_with("block-rounds-rule", &args))
}

pub(crate) fn charts(m: &Messages, block: usize, rows: &[RoundsRow<'_>]) -> Vec<ReportBlock> {
    let charts = rows.iter().enumerate().map(|(place, row)| ChartView {
        kind: "block-rounds",
        block,
        place,
        medium: row.on.place,
        title: chart_title(m, row),
    });
    charts.map(ReportBlock::from).collect()
}

fn chart_title(m: &Messages, row: &RoundsRow<'_>) -> String {
    let job = &row.on.job.job;
    let title = if row.on.several {
        format!("{job} · {}", medium_name(m, row.on.medium))
    } else {
        job.clone()
    };
    let steady = row.own.fit.is_some_and(|fit| fit.steady);
    let id = if steady {
        "block-rounds-chart"
    } else {
        "block-rounds-chart-not"
    };
    m.text_with(id, &[("title", title)])
}

/// What a plot of convergence is drawn from.
#[derive(Serialize)]
pub(super) struct RoundsData {
    iops: Vec<f64>,
    fit: Option<FitData>,
}

#[derive(Serialize)]
struct FitData {
    /// From 1, as they are counted on the axis.
    first: u32,
    last: usize,
    line: [f64; 2],
    /// Half the range allowed below and above the mean.
    limits: [f64; 2],
    steady: bool,
}

pub(super) fn data(all: &[Across<'_>]) -> Vec<RoundsData> {
    rounds_rows(all).iter().map(of_row).collect()
}

fn of_row(row: &RoundsRow<'_>) -> RoundsData {
    RoundsData {
        iops: row.own.iops.iter().copied().map(short).collect(),
        fit: row.own.fit.map(|fit| fit_data(row, fit)),
    }
}

fn fit_data(row: &RoundsRow<'_>, fit: Fit) -> FitData {
    let half = row.rounds.range_percent_limit / 200.0;
    FitData {
        first: fit.from + 1,
        last: row.own.iops.len(),
        line: [fit.line_from, fit.line_to].map(short),
        limits: [fit.mean * (1.0 - half), fit.mean * (1.0 + half)].map(short),
        steady: fit.steady,
    }
}
