//! Latency against throughput: a job at full speed, then at shares of what it reached.

use plimsoll_analysis::summary::{FigureId, FigureSet, Verdict};

use super::step::StepOnMedia;
use crate::block::{Across, OnMedium, medium_name};
use crate::chart::rounding::short;
use crate::chart::{ChartAxis, ChartLine, LineChart, LineDash, PointMark, ScriptChart, is_wide};
use crate::number::three;

pub(super) fn charts(of: &StepOnMedia<'_>) -> Vec<ScriptChart> {
    let jobs = of.all.iter();
    let curved = jobs.filter(|across| across.on.iter().any(|on| !on.job.curve.is_empty()));
    curved.map(|across| chart(of, across)).collect()
}

/// A rate and its latencies, in µs.
struct CurvePoint {
    /// Offered, in percent of full speed; `None`: full speed itself.
    share: Option<f64>,
    x: f64,
    mean: Option<f64>,
    p99: Option<f64>,
    is_usable: bool,
}

/// A figure of the points, drawn as a line.
struct CurveLatency {
    name: &'static str,
    of: fn(&CurvePoint) -> Option<f64>,
    dash: LineDash,
}

const LATENCIES: [CurveLatency; 2] = [
    CurveLatency {
        name: "chart-block-mean",
        of: |point| point.mean,
        dash: LineDash::Solid,
    },
    CurveLatency {
        name: "chart-block-p99",
        of: |point| point.p99,
        dash: LineDash::Dashed,
    },
];

fn chart(of: &StepOnMedia<'_>, across: &Across<'_>) -> ScriptChart {
    let mut streams = across.on.iter().flat_map(|on| &on.job.streams).peekable();
    // MB/s where every request follows the one before.
    let is_mb = streams.peek().is_some() && streams.all(|stream| stream.random_percent == 0);
    let unit = of.m.figure_on_page(match is_mb {
        true => FigureId::MbPerSecond,
        false => FigureId::Iops,
    });
    let mut lines = Vec::new();
    let mut speeds = Vec::new();
    for on in &across.on {
        let curve = curve(on, is_mb);
        let full: Vec<CurvePoint> = full(on, is_mb).into_iter().collect();
        let points = curve.iter().chain(&full);
        speeds.push(points.map(|point| point.x).reduce(f64::max));
        for latency in &LATENCIES {
            lines.push(ChartLine {
                width: 1.8,
                dash: latency.dash,
                symbol_size: 6.0,
                ..line(of, on, &unit, latency, &curve)
            });
            // A large mark beneath the curve, whose own marks may be hollow.
            lines.push(ChartLine {
                symbol_size: 13.0,
                is_unlisted: true,
                ..line(of, on, &unit, latency, &full)
            });
        }
    }
    let mut chart = LineChart {
        lines,
        // Media far apart would leave the slow ones at the edge.
        x: ChartAxis {
            is_log: is_wide(speeds.into_iter()),
            name: unit,
            ..ChartAxis::default()
        },
        y: ChartAxis {
            name: of.m.text("chart-block-us"),
            ..ChartAxis::default()
        },
        ..LineChart::default()
    };
    chart.y.is_log = chart.is_wide();
    ScriptChart::lines("block-curve", across.job.to_owned(), chart)
}

fn curve(on: &OnMedium<'_>, is_mb: bool) -> Vec<CurvePoint> {
    let curve = on.job.curve.iter();
    let points = curve.filter_map(|at| {
        let share = Some(short(at.share_percent));
        point(&at.figures, share, at.verdict, is_mb)
    });
    points.collect()
}

fn full(on: &OnMedium<'_>, is_mb: bool) -> Option<CurvePoint> {
    point(
        &on.job.figures.as_ref()?.figures,
        None,
        on.job.verdict,
        is_mb,
    )
}

fn point(
    figures: &FigureSet,
    share: Option<f64>,
    verdict: Verdict,
    is_mb: bool,
) -> Option<CurvePoint> {
    let rate = match is_mb {
        true => FigureId::MbPerSecond,
        false => FigureId::Iops,
    };
    let micros = |figure| Some(short(figures.value(figure)? * 1e3));
    Some(CurvePoint {
        share,
        x: short(figures.value(rate)?),
        mean: micros(FigureId::Mean),
        p99: micros(FigureId::P99),
        is_usable: verdict < Verdict::Invalid,
    })
}

fn line(
    of: &StepOnMedia<'_>,
    on: &OnMedium<'_>,
    unit: &str,
    latency: &CurveLatency,
    points: &[CurvePoint],
) -> ChartLine {
    let medium = medium_name(of.m, on.medium);
    let mark = |point: &CurvePoint| match point.share {
        None if point.is_usable => PointMark::Rimmed,
        _ => PointMark::usable(point.is_usable),
    };
    let tip = |point: &CurvePoint| {
        let offered = match point.share {
            None => of.m.text("chart-block-full"),
            Some(share) => format!("{} % {}", three(share), of.m.text("chart-block-offered")),
        };
        let us = (latency.of)(point).map(three).unwrap_or_default();
        let name = of.m.text(latency.name);
        let rate = three(point.x);
        format!("{medium} {offered}\n{rate} {unit}\n{name}: {us} µs")
    };
    ChartLine {
        color: of.color(on.place),
        symbol: Some(on.place),
        x: points.iter().map(|point| point.x).collect(),
        y: points.iter().map(latency.of).collect(),
        marks: points.iter().map(mark).collect(),
        tips: points.iter().map(tip).collect(),
        name: medium.clone(),
        ..ChartLine::default()
    }
}
