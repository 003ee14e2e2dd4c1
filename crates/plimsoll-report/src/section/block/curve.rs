//! Latency against throughput: a job at full speed, then at shares of what it reached.

use plimsoll_analysis::summary::{FigureId, Verdict};

use super::BlockStep;
use crate::block::{Across, OnMedium, medium_name};
use crate::chart::rounding::short;
use crate::chart::{ChartAxis, ChartLine, LineChart, LineDash, PointMark, ScriptChart, is_wide};
use crate::number::three;

pub(super) fn charts(of: &BlockStep<'_>) -> Vec<ScriptChart> {
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

/// A medium's curve.
struct Curve<'a> {
    on: &'a OnMedium<'a>,
    points: Vec<CurvePoint>,
    full: Option<CurvePoint>,
}

fn chart(of: &BlockStep<'_>, across: &Across<'_>) -> ScriptChart {
    let mut streams = across.on.iter().flat_map(|on| &on.job.streams).peekable();
    // MB/s where every request follows the one before.
    let is_sequential =
        streams.peek().is_some() && streams.all(|stream| stream.random_percent == 0);
    let unit = of.m.text(match is_sequential {
        true => "chart-block-mb",
        false => "chart-block-iops",
    });
    let curves: Vec<Curve<'_>> = across
        .on
        .iter()
        .map(|on| Curve::of(on, is_sequential))
        .collect();
    // Media far apart would leave the slow ones at the edge.
    let speeds = curves.iter().map(|curve| {
        let points = curve.points.iter().chain(&curve.full);
        points.map(|point| point.x).reduce(f64::max)
    });
    let lines = curves.iter().flat_map(|curve| {
        [
            curve.line(of, &unit, Latency::Mean),
            curve.full(of, &unit, Latency::Mean),
            curve.line(of, &unit, Latency::P99),
            curve.full(of, &unit, Latency::P99),
        ]
    });
    let mut chart = LineChart {
        lines: lines.collect(),
        y: ChartAxis {
            name: of.m.text("chart-block-us"),
            ..ChartAxis::default()
        },
        x: ChartAxis {
            is_log: is_wide(speeds),
            name: unit.clone(),
            ..ChartAxis::default()
        },
        ..LineChart::default()
    };
    chart.y.is_log = chart.is_wide();
    ScriptChart::lines("block-curve", across.job.to_owned(), chart)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Latency {
    Mean,
    P99,
}

impl Latency {
    fn of(self, point: &CurvePoint) -> Option<f64> {
        match self {
            Self::Mean => point.mean,
            Self::P99 => point.p99,
        }
    }
}

impl<'a> Curve<'a> {
    fn of(on: &'a OnMedium<'a>, is_mb: bool) -> Self {
        let rate = match is_mb {
            true => FigureId::MbPerSecond,
            false => FigureId::Iops,
        };
        let points = on.job.curve.iter().map(|at| {
            let micros = |figure| at.figures.value(figure).map(|ms| short(ms * 1e3));
            CurvePoint {
                share: Some(short(at.share_percent)),
                x: at.figures.value(rate).map_or(0.0, short),
                mean: micros(FigureId::Mean),
                p99: micros(FigureId::P99),
                is_usable: at.verdict < Verdict::Invalid,
            }
        });
        Self {
            on,
            points: points.collect(),
            full: full(on, is_mb),
        }
    }

    fn line(&self, of: &BlockStep<'_>, unit: &str, latency: Latency) -> ChartLine {
        let points: Vec<&CurvePoint> = self.points.iter().collect();
        ChartLine {
            width: 1.8,
            dash: match latency {
                Latency::Mean => LineDash::Solid,
                Latency::P99 => LineDash::Dashed,
            },
            symbol_size: 6.0,
            ..self.marks(of, unit, latency, &points)
        }
    }

    /// A large mark beneath the curve, whose own marks may be hollow.
    fn full(&self, of: &BlockStep<'_>, unit: &str, latency: Latency) -> ChartLine {
        let points: Vec<&CurvePoint> = self.full.iter().collect();
        let line = self.marks(of, unit, latency, &points);
        let marks = line.marks.iter().map(|mark| match mark {
            PointMark::Full => PointMark::Rimmed,
            other => *other,
        });
        ChartLine {
            symbol_size: 13.0,
            marks: marks.collect(),
            is_unlisted: true,
            ..line
        }
    }

    fn marks(
        &self,
        of: &BlockStep<'_>,
        unit: &str,
        latency: Latency,
        points: &[&CurvePoint],
    ) -> ChartLine {
        let usable = points
            .iter()
            .map(|point| PointMark::usable(point.is_usable));
        let tips = points
            .iter()
            .map(|point| self.tip(of, unit, latency, point));
        ChartLine {
            name: medium_name(of.m, self.on.medium),
            color: of.color(self.on.place),
            symbol: Some(self.on.place),
            x: points.iter().map(|point| point.x).collect(),
            y: points.iter().map(|point| latency.of(point)).collect(),
            marks: usable.collect(),
            tips: tips.collect(),
            ..ChartLine::default()
        }
    }

    fn tip(&self, of: &BlockStep<'_>, unit: &str, latency: Latency, point: &CurvePoint) -> String {
        let offered = match point.share {
            None => of.m.text("chart-block-full"),
            Some(share) => format!("{} % {}", three(share), of.m.text("chart-block-offered")),
        };
        let figure = of.m.text(match latency {
            Latency::Mean => "chart-block-mean",
            Latency::P99 => "chart-block-p99",
        });
        let us = latency.of(point).map(three).unwrap_or_default();
        let lines = [
            format!("{} {offered}", medium_name(of.m, self.on.medium)),
            format!("{} {unit}", three(point.x)),
            format!("{figure}: {us} µs"),
        ];
        lines.join("\n")
    }
}

fn full(on: &OnMedium<'_>, is_mb: bool) -> Option<CurvePoint> {
    let rate = match is_mb {
        true => FigureId::MbPerSecond,
        false => FigureId::Iops,
    };
    let shown = |figure, factor| Some(short(on.job.figure(figure)?.value * factor));
    Some(CurvePoint {
        share: None,
        x: shown(rate, 1.0)?,
        mean: shown(FigureId::Mean, 1e3),
        p99: shown(FigureId::P99, 1e3),
        is_usable: on.job.verdict < Verdict::Invalid,
    })
}
