//! What one axis of a set does to a figure, drawn without a script: a line for each combination of everything else.

use plimsoll_analysis::set::{SetAxisSummary, SetRow};
use plimsoll_analysis::summary::{self, Verdict};

use super::rows::{load, loads, value};
use crate::message::Messages;
use crate::svg::chart::{self, Chart, PlotLine, PlotMark};
use crate::svg::color::ChartColor;

/// What a chart shows.
pub(super) struct ChartFigure {
    pub name: String,
    pub of: fn(&SetRow) -> Option<summary::Estimate>,
}

struct SetLine<'a> {
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
        return of_axis(m, axes, rows, axis, figure, heading)
            .into_iter()
            .collect();
    }
    let mut charts = Vec::new();
    for of in loads {
        let rows = rows.iter().copied();
        let rows: Vec<&SetRow> = rows.filter(|row| load(row) == of).collect();
        let args = [("chart", heading.clone()), ("load", of)];
        let heading = m.text_with("set-chart-at", &args);
        charts.extend(of_axis(m, axes, &rows, axis, figure, heading));
    }
    charts
}

fn of_axis(
    m: &Messages,
    axes: &[SetAxisSummary],
    rows: &[&SetRow],
    axis: usize,
    figure: &ChartFigure,
    heading: String,
) -> Option<Chart> {
    let lines = lines(m, axes, rows, axis);
    let is_ordered = is_ordered(&axes[axis].values);
    let lines: Vec<PlotLine> = lines
        .into_iter()
        .enumerate()
        .map(|(color, line)| line.drawn(color, figure, is_ordered))
        .collect();
    chart::lines(heading, &axes[axis].values, &lines)
}

impl SetLine<'_> {
    fn drawn(self, color: usize, figure: &ChartFigure, is_connected: bool) -> PlotLine {
        let marks = self.points.iter().filter_map(|point| {
            let own = (figure.of)(point.row)?;
            Some(PlotMark {
                place: point.place,
                value: own.value,
                range: Some(range(own)),
                is_invalid: point.row.verdict == Verdict::Invalid,
            })
        });
        PlotLine {
            color: ChartColor(Some(color)),
            marks: marks.collect(),
            is_connected,
            name: self.name,
        }
    }
}

/// Whether values are amounts, as those of memory are, and not names, as those of drives are.
fn is_ordered(values: &[String]) -> bool {
    let begins_with_digit = |value: &String| {
        let value = value.trim_start_matches(['[', '-', '+', '.']);
        value.starts_with(|first: char| first.is_ascii_digit())
    };
    values.iter().all(begins_with_digit)
}

/// Named by what differs between them.
fn lines<'a>(
    m: &Messages,
    axes: &[SetAxisSummary],
    rows: &[&'a SetRow],
    axis: usize,
) -> Vec<SetLine<'a>> {
    let mut lines: Vec<SetLine<'_>> = Vec::new();
    for row in rows {
        let Some(place) = row.choice.get(axis).copied() else {
            continue;
        };
        let point = ChartPoint { place, row };
        let name = line_name(m, axes, row, axis);
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(SetLine {
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
    let values = others.map(|other| value(&axes[other], row, other));
    values.collect::<Vec<_>>().join(", ")
}

/// What repeats or the window's own parts give as an interval, else the range of the repeats.
fn range(figure: summary::Estimate) -> [f64; 2] {
    match figure.interval {
        Some(own) => [own.low, own.high],
        None => [figure.min, figure.max],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_an_order_and_names_have_none() {
        let is = |values: &[&str]| {
            is_ordered(&values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>())
        };
        assert!(is(&["512MiB", "4GiB"]) && is(&["[1, 8]", "[32]"]) && is(&["-2000", "0.5"]));
        assert!(!is(&["nvme", "sata"]) && !is(&["1GiB", "unlimited"]));
    }
}
