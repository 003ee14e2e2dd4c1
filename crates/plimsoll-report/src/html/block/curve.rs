//! Latency against throughput: a job at full speed, then at shares of what it reached.

use plimsoll_analysis::summary::{BlockCurvePoint, FigureId, Verdict};
use serde::Serialize;

use super::super::rounding::short;
use super::chart::ChartView;
use crate::block::{Across, OnMedium};
use crate::document::ReportBlock;

fn curved<'b, 'a>(all: &'b [Across<'a>]) -> impl Iterator<Item = &'b Across<'a>> {
    all.iter()
        .filter(|across| across.on.iter().any(|on| !on.job.curve.is_empty()))
}

pub(crate) fn charts(block: usize, all: &[Across<'_>]) -> Vec<ReportBlock> {
    let jobs = curved(all).enumerate();
    jobs.map(|(place, across)| {
        let chart = ChartView {
            kind: "block-curve",
            block,
            place,
            medium: 0,
            title: across.job.to_owned(),
        };
        chart.into()
    })
    .collect()
}

/// What a chart of latency against throughput is drawn from.
#[derive(Serialize)]
pub(super) struct CurveData {
    /// Id of the label of the horizontal axis: MB/s where every request follows the one before.
    unit: &'static str,
    lines: Vec<CurveLineData>,
}

#[derive(Serialize)]
struct CurveLineData {
    medium: usize,
    points: Vec<PointData>,
    full: Option<PointData>,
}

#[derive(Serialize)]
struct PointData {
    /// Offered, in percent of full speed; `None`: full speed itself.
    share: Option<f64>,
    x: f64,
    mean: Option<f64>,
    p99: Option<f64>,
    usable: bool,
}

pub(super) fn data(all: &[Across<'_>]) -> Vec<CurveData> {
    curved(all).map(curve).collect()
}

fn curve(across: &Across<'_>) -> CurveData {
    let mut streams = across.on.iter().flat_map(|on| &on.job.streams).peekable();
    let sequential = streams.peek().is_some() && streams.all(|stream| stream.random_percent == 0);
    CurveData {
        unit: if sequential {
            "chart-block-mb"
        } else {
            "chart-block-iops"
        },
        lines: across.on.iter().map(|on| line(on, sequential)).collect(),
    }
}

fn line(on: &OnMedium<'_>, mb: bool) -> CurveLineData {
    CurveLineData {
        medium: on.place,
        points: on.job.curve.iter().map(|at| point(at, mb)).collect(),
        full: full(on, mb),
    }
}

fn full(on: &OnMedium<'_>, mb: bool) -> Option<PointData> {
    let rate = if mb {
        FigureId::MbPerSecond
    } else {
        FigureId::Iops
    };
    let shown = |figure, factor| Some(short(on.job.figure(figure)?.value * factor));
    Some(PointData {
        share: None,
        x: shown(rate, 1.0)?,
        mean: shown(FigureId::Mean, 1e3),
        p99: shown(FigureId::P99, 1e3),
        usable: on.job.verdict < Verdict::Invalid,
    })
}

fn point(at: &BlockCurvePoint, mb: bool) -> PointData {
    let rate = match mb {
        true => FigureId::MbPerSecond,
        false => FigureId::Iops,
    };
    let micros = |figure| at.figures.value(figure).map(|ms| short(ms * 1e3));
    PointData {
        share: Some(short(at.share_percent)),
        x: at.figures.value(rate).map_or(0.0, short),
        mean: micros(FigureId::Mean),
        p99: micros(FigureId::P99),
        usable: at.verdict < Verdict::Invalid,
    }
}
