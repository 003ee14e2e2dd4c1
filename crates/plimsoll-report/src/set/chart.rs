//! What one axis of a set does to a figure, drawn without a script: a line for each combination of everything else.

use plimsoll_analysis::set::{SetAxisSummary, SetRow};
use plimsoll_analysis::summary::{self, Verdict};

use super::rows::{load, loads, value};
use crate::message::Messages;
use crate::number::three;
use crate::svg::{Drawing, round_step};

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;
/// Distinguishable colors.
const COLORS: usize = 7;

/// What a chart shows.
pub(super) struct ChartFigure {
    pub name: String,
    pub of: fn(&SetRow) -> Option<summary::RepeatedFigure>,
}

pub(super) struct Chart {
    pub heading: String,
    pub svg: String,
    /// Of each line; empty where there is one.
    pub keys: Vec<Key>,
}

/// Number of a color and name of a line.
pub(super) struct Key {
    pub color: usize,
    pub name: String,
}

struct ChartLine<'a> {
    name: String,
    /// In the axis's order.
    points: Vec<ChartPoint<'a>>,
}

struct ChartPoint<'a> {
    /// On the axis.
    place: usize,
    row: &'a SetRow,
}

/// Charts of one figure by one axis: all loads in one where nothing else varies, else one for each load.
pub(super) fn by_axis(
    m: &Messages,
    axes: &[SetAxisSummary],
    rows: &[&SetRow],
    axis: usize,
    figure: &ChartFigure,
) -> Vec<Chart> {
    let args = [
        ("figure", figure.name.clone()),
        ("axis", axes[axis].name.clone()),
    ];
    let heading = m.text_with("set-chart", &args);
    let loads = loads(rows);
    if axes.len() == 1 || loads.len() == 1 {
        return chart(m, axes, rows, axis, figure, heading)
            .into_iter()
            .collect();
    }
    let mut charts = Vec::new();
    for of in loads {
        let rows = rows.iter().copied();
        let rows: Vec<&SetRow> = rows.filter(|row| load(row) == of).collect();
        let args = [("chart", heading.clone()), ("load", of)];
        let heading = m.text_with("set-chart-at", &args);
        charts.extend(chart(m, axes, &rows, axis, figure, heading));
    }
    charts
}

fn chart(
    m: &Messages,
    axes: &[SetAxisSummary],
    rows: &[&SetRow],
    axis: usize,
    figure: &ChartFigure,
    heading: String,
) -> Option<Chart> {
    let lines = lines(m, axes, rows, axis);
    let svg = drawn(&heading, &axes[axis].values, &lines, figure)?;
    let named = lines.iter().enumerate().filter(|_| lines.len() > 1);
    let keys = named.map(|(i, line)| Key {
        color: color(i),
        name: line.name.clone(),
    });
    Some(Chart {
        heading,
        svg,
        keys: keys.collect(),
    })
}

fn color(line: usize) -> usize {
    line % COLORS + 1
}

/// Named by what differs between them.
fn lines<'a>(
    m: &Messages,
    axes: &[SetAxisSummary],
    rows: &[&'a SetRow],
    axis: usize,
) -> Vec<ChartLine<'a>> {
    let mut lines: Vec<ChartLine<'_>> = Vec::new();
    for row in rows {
        let Some(place) = row.choice.get(axis).copied() else {
            continue;
        };
        let point = ChartPoint { place, row };
        let name = line_name(m, axes, row, axis);
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(ChartLine {
                name,
                points: vec![point],
            }),
        }
    }
    for line in &mut lines {
        line.points.sort_by_key(|point| point.place);
    }
    lines
}

/// The load where nothing else varies, else the values of the other axes.
fn line_name(m: &Messages, axes: &[SetAxisSummary], row: &SetRow, axis: usize) -> String {
    if axes.len() == 1 {
        return m.text_with("set-at-load", &[("load", load(row))]);
    }
    let others = (0..axes.len()).filter(|other| *other != axis);
    let values = others.map(|other| value(axes, row, other));
    values.collect::<Vec<_>>().join(", ")
}

/// Ends of a bar.
struct BarRange {
    low: f64,
    high: f64,
}

impl BarRange {
    /// What repeats or the window's own parts give as an interval, else the range of the repeats.
    fn of(figure: summary::RepeatedFigure) -> Self {
        match figure.interval {
            Some(own) => Self {
                low: own.low.max(0.0),
                high: own.high,
            },
            None => Self {
                low: figure.min,
                high: figure.max,
            },
        }
    }
}

/// Where values stand.
struct Axes {
    /// Distance of the ticks, and how many there are above 0.
    step: f64,
    ticks: f64,
    /// Places on the horizontal axis.
    places: usize,
}

impl Axes {
    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / (self.ticks * self.step) * (HEIGHT - TOP - BOTTOM)
    }

    fn x(&self, place: usize) -> f64 {
        LEFT + (place as f64 + 0.5) / self.places.max(1) as f64 * (WIDTH - LEFT - RIGHT)
    }
}

/// From 0 on; `None` where nothing is above it.
fn drawn(
    title: &str,
    values: &[String],
    lines: &[ChartLine<'_>],
    figure: &ChartFigure,
) -> Option<String> {
    let points = lines.iter().flat_map(|line| &line.points);
    let figures = points.filter_map(|point| (figure.of)(point.row));
    let most = figures
        .map(|own| BarRange::of(own).high.max(own.median))
        .filter(|value| *value > 0.0)
        .reduce(f64::max)?;
    let step = round_step(most / 4.0);
    let axes = Axes {
        step,
        ticks: (most / step).ceil(),
        places: values.len(),
    };
    let mut drawing = Drawing::default();
    for tick in 0..=axes.ticks as u32 {
        let value = f64::from(tick) * step;
        let at = axes.y(value);
        drawing.line("grid", [LEFT, at], [WIDTH - RIGHT, at]);
        drawing.write("tick", [LEFT - 8.0, at + 4.0], &three(value));
    }
    for (place, value) in values.iter().enumerate() {
        drawing.write("value", [axes.x(place), HEIGHT - 8.0], value);
    }
    for (i, line) in lines.iter().enumerate() {
        // Side by side, so that intervals of lines at the same place can be distinguished.
        let shift = (i as f64 - (lines.len() as f64 - 1.0) / 2.0) * 4.0;
        draw_line(&mut drawing, &axes, line, figure, color(i), shift);
    }
    Some(drawing.framed("set", WIDTH, HEIGHT, title))
}

fn draw_line(
    drawing: &mut Drawing,
    axes: &Axes,
    line: &ChartLine<'_>,
    figure: &ChartFigure,
    color: usize,
    shift: f64,
) {
    let known = line.points.iter();
    let known: Vec<(&ChartPoint<'_>, summary::RepeatedFigure)> = known
        .filter_map(|point| Some((point, (figure.of)(point.row)?)))
        .collect();
    let path = known
        .iter()
        .map(|(point, own)| [axes.x(point.place) + shift, axes.y(own.median)]);
    drawing.path(&format!("line s{color}"), path);
    for (point, own) in known {
        let x = axes.x(point.place) + shift;
        let range = BarRange::of(own);
        let bar = format!("bar s{color}");
        drawing.line(&bar, [x, axes.y(range.low)], [x, axes.y(range.high)]);
        let weak = if point.row.verdict == Verdict::Invalid {
            " hollow"
        } else {
            ""
        };
        let dot = format!("dot s{color}{weak}");
        drawing.circle(&dot, [x, axes.y(own.median)], 4.5);
    }
}
