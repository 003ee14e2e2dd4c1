//! What one axis of a set does to a figure, drawn without a script: a line for each combination of everything else.

use std::fmt::Write as _;

use plimsoll_analysis::set::{SetRow, SetSummary};
use plimsoll_analysis::summary::{Figure, Verdict};

use super::{load, loads, value};
use crate::message::Messages;
use crate::number::three;
use crate::svg::{escaped, round_step};

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;
/// Distinguishable colors.
const COLOURS: usize = 7;

pub(super) type Get = fn(&SetRow) -> Option<Figure>;

pub(super) struct Chart {
    pub heading: String,
    pub svg: String,
    /// Colour and name of each line; empty where there is one.
    pub keys: Vec<(usize, String)>,
}

struct Line<'a> {
    name: String,
    /// Place on the axis and row, in the axis's order.
    points: Vec<(usize, &'a SetRow)>,
}

/// Charts of one figure by one axis: all loads in one where nothing else varies, else one for each load.
pub(super) fn by_axis(
    m: &Messages,
    summary: &SetSummary,
    rows: &[&SetRow],
    axis: usize,
    (figure, get): (&str, Get),
) -> Vec<Chart> {
    let alone = summary.axes.len() == 1;
    let of = loads(rows);
    // `None`: all that there are.
    let charts: Vec<Option<&String>> = if alone || of.len() == 1 {
        vec![None]
    } else {
        of.iter().map(Some).collect()
    };
    let chart = |of: Option<&String>| {
        let is_own = |row: &&SetRow| of.is_none_or(|of| load(row) == *of);
        let rows: Vec<&SetRow> = rows.iter().copied().filter(is_own).collect();
        let lines = lines(m, summary, &rows, axis);
        let name = &summary.axes[axis].name;
        let words = [("figure", figure.to_owned()), ("axis", name.clone())];
        let heading = m.text_with("set-chart", &words);
        let heading = match of {
            Some(of) => m.text_with("set-chart-at", &[("chart", heading), ("load", of.clone())]),
            None => heading,
        };
        let svg = drawn(&heading, &summary.axes[axis].values, &lines, get)?;
        let keys = lines
            .iter()
            .enumerate()
            .map(|(i, line)| (i % COLOURS + 1, line.name.clone()));
        Some(Chart {
            heading,
            svg,
            keys: if lines.len() > 1 {
                keys.collect()
            } else {
                Vec::new()
            },
        })
    };
    charts.into_iter().filter_map(chart).collect()
}

/// Named by what differs between them.
fn lines<'a>(
    m: &Messages,
    summary: &SetSummary,
    rows: &[&'a SetRow],
    axis: usize,
) -> Vec<Line<'a>> {
    let by_load = summary.axes.len() == 1;
    let name = |row: &SetRow| {
        if by_load {
            return m.text_with("set-at-load", &[("load", load(row))]);
        }
        let others = (0..summary.axes.len()).filter(|other| *other != axis);
        others
            .map(|other| value(summary, row, other).to_owned())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in rows {
        let Some(place) = row.choice.get(axis).copied() else {
            continue;
        };
        let own = name(row);
        match lines.iter_mut().find(|line| line.name == own) {
            Some(line) => line.points.push((place, row)),
            None => lines.push(Line {
                name: own,
                points: vec![(place, row)],
            }),
        }
    }
    lines
        .iter_mut()
        .for_each(|line| line.points.sort_by_key(|(place, _)| *place));
    lines
}

/// What repeats or the window's own parts give as an interval, else the range of the repeats.
fn ends(figure: Figure) -> (f64, f64) {
    figure
        .interval
        .map_or((figure.min, figure.max), |own| (own.low.max(0.0), own.high))
}

/// From 0 on; `None` where nothing is above it.
fn drawn(title: &str, values: &[String], lines: &[Line<'_>], get: Get) -> Option<String> {
    let all = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|(_, row)| get(row));
    let most = all
        .map(|figure| ends(figure).1.max(figure.median))
        .filter(|value| *value > 0.0)
        .reduce(f64::max)?;
    let step = round_step(most / 4.0);
    let ticks = (most / step).ceil();
    let y = |value: f64| HEIGHT - BOTTOM - value / (ticks * step) * (HEIGHT - TOP - BOTTOM);
    let x = |place: usize| {
        LEFT + (place as f64 + 0.5) / values.len().max(1) as f64 * (WIDTH - LEFT - RIGHT)
    };
    let mut body = String::new();
    for tick in 0..=ticks as u32 {
        let value = f64::from(tick) * step;
        let (at, right) = (y(value), WIDTH - RIGHT);
        let _ = write!(
            body,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
        );
        let label = three(value);
        let _ = write!(
            body,
            "<text class=\"tick\" x=\"{}\" y=\"{:.1}\">{label}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for (place, value) in values.iter().enumerate() {
        let _ = write!(
            body,
            "<text class=\"value\" x=\"{:.1}\" y=\"{}\">{}</text>",
            x(place),
            HEIGHT - 8.0,
            escaped(value)
        );
    }
    for (i, line) in lines.iter().enumerate() {
        let colour = i % COLOURS + 1;
        // Side by side, so that intervals of lines at the same place can be distinguished.
        let shift = (i as f64 - (lines.len() as f64 - 1.0) / 2.0) * 4.0;
        let points: Vec<(f64, Figure, Verdict)> = line
            .points
            .iter()
            .filter_map(|(place, row)| Some((x(*place) + shift, get(row)?, row.verdict)))
            .collect();
        let path: Vec<String> = points
            .iter()
            .map(|(x, own, _)| format!("{x:.1},{:.1}", y(own.median)))
            .collect();
        let _ = write!(
            body,
            "<polyline class=\"line s{colour}\" points=\"{}\"/>",
            path.join(" ")
        );
        for (x, own, verdict) in points {
            let (low, high) = ends(own);
            let (from, to, at) = (y(low), y(high), y(own.median));
            let _ = write!(
                body,
                "<line class=\"bar s{colour}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from:.1}\" y2=\"{to:.1}\"/>"
            );
            let weak = if verdict == Verdict::Invalid {
                " hollow"
            } else {
                ""
            };
            let _ = write!(
                body,
                "<circle class=\"dot s{colour}{weak}\" cx=\"{x:.1}\" cy=\"{at:.1}\" r=\"4.5\"/>"
            );
        }
    }
    let title = escaped(title);
    Some(format!(
        "<svg class=\"set\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">{body}</svg>"
    ))
}
