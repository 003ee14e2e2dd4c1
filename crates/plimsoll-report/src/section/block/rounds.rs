//! Rounds until the figures are steady: the criterion, and the plot of convergence.

use std::rc::Rc;

use plimsoll_analysis::summary::{BlockSummary, FigureId};
use plimsoll_stats::rounds::Fit;

use super::step::StepOnMedia;
use crate::block::tables::RoundsRow;
use crate::block::{limit, medium_name};
use crate::chart::rounding::short;
use crate::chart::{
    ChartArea, ChartAxis, ChartGround, ChartLine, LineChart, LineColor, LineDash, ScriptChart,
};
use crate::message::Messages;

/// The criterion; `None` where rounds were not to go on until they are steady.
pub(super) fn note(m: &Messages, step: &BlockSummary) -> Option<String> {
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

pub(super) fn charts(of: &StepOnMedia<'_>, rows: &[RoundsRow<'_>]) -> Vec<ScriptChart> {
    let charts = rows.iter().map(|row| {
        let title = chart_title(of.m, row);
        ScriptChart::lines("block-rounds", title, chart(of, row))
    });
    charts.collect()
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

/// IOPS by round; the last window shaded, with the line through it and the range allowed.
fn chart(of: &StepOnMedia<'_>, row: &RoundsRow<'_>) -> LineChart {
    let iops: Vec<f64> = row.own.iops.iter().copied().map(short).collect();
    if iops.is_empty() {
        return LineChart::default();
    }
    let round = of.m.text("chart-block-round");
    let name = of.m.figure_on_page(FigureId::Iops);
    let mut lines = vec![ChartLine {
        name: name.clone(),
        color: of.color(row.on.place),
        width: 1.8,
        symbol: Some(row.on.place),
        symbol_size: 7.0,
        x: (1..=iops.len()).map(|round| round as f64).collect(),
        y: iops.iter().copied().map(Some).collect(),
        is_unlisted: true,
        ..ChartLine::default()
    }];
    let mut ground = ChartGround::default();
    if let Some(fit) = &row.own.fit {
        // From 1, as they are counted on the axis.
        let window = [f64::from(fit.from + 1), iops.len() as f64];
        lines.extend(fit_lines(row, fit, window));
        ground.areas.push(ChartArea {
            from: window[0],
            to: window[1],
            is_shaded: true,
            ..ChartArea::default()
        });
    }
    LineChart {
        x: ChartAxis {
            tip: format!("{round} {{}}"),
            name: round,
            min: Some(1.0),
            max: Some(iops.len().max(2) as f64),
            is_whole: true,
            ..ChartAxis::default()
        },
        // From zero: the criterion is a share of the mean, and no scatter may appear larger than it is.
        y: ChartAxis {
            name,
            ..ChartAxis::default()
        },
        lines,
        ground: Rc::new(ground),
        ..LineChart::default()
    }
}

/// The line through the window, and half the range allowed below and above its mean.
fn fit_lines(row: &RoundsRow<'_>, fit: &Fit, window: [f64; 2]) -> [ChartLine; 3] {
    let half = row.rounds.range_percent_limit / 200.0;
    let [low, high] = [1.0 - half, 1.0 + half].map(|share| fit.mean * share);
    [
        ([fit.line_from, fit.line_to], LineDash::Solid),
        ([low, low], LineDash::Dotted),
        ([high, high], LineDash::Dotted),
    ]
    .map(|(ends, dash)| ChartLine {
        color: LineColor::Text,
        dash,
        width: 1.4,
        x: window.into(),
        y: ends.map(|y| Some(short(y))).into(),
        is_silent: true,
        is_unlisted: true,
        ..ChartLine::default()
    })
}
