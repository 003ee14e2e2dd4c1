//! One row for each figure that another tool printed.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{ReportedFigure, ReportedPoint};

use crate::table::Table;

struct Row<'a> {
    source: &'a str,
    point: &'a ReportedPoint,
    figure: &'a ReportedFigure,
}

pub(super) fn csv(summary: &Summary) -> String {
    let points = summary.imports.iter().flat_map(|import| {
        let points = import.points.iter();
        points.map(|point| (import.source.as_str(), point))
    });
    let rows = points.flat_map(|(source, point)| {
        let figures = point.figures.iter().chain(&point.parts);
        figures.map(move |figure| Row {
            source,
            point,
            figure,
        })
    });
    Table::new()
        .field("source", |r: &Row<'_>| r.source.to_owned())
        .field("step", |r| r.point.step.clone())
        .field("medium", |r| r.point.medium.clone())
        .field("workload", |r| r.point.workload.clone())
        // Unknown where the source does not report them.
        .field("users", |r| Some(r.point.users).filter(|users| *users > 0))
        .field("offered_per_second", |r| r.point.offered_per_second)
        .field("repeat", |r| r.point.repeat)
        .field("part", |r| r.figure.txn.clone())
        .field("figure", |r| r.figure.name.clone())
        .field("value", |r| r.figure.value)
        .field("printed", |r| r.figure.printed.clone())
        .field("unit", |r| r.figure.unit.clone())
        .field("from_s", |r| r.figure.from_s)
        .field("to_s", |r| r.figure.to_s)
        .to_csv(rows)
}
