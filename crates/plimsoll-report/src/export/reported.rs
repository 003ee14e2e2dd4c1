//! One row for each figure that another tool printed.

use plimsoll_analysis::summary::{ReportedFigure, ReportedPoint, Summary};

use super::quoted;

pub(super) fn csv(summary: &Summary) -> String {
    let mut out = String::from(
        "source,step,medium,workload,users,offered_per_second,repeat,part,figure,value,printed,unit,from_s,to_s\n",
    );
    for import in &summary.imports {
        for point in &import.points {
            for figure in point.figures.iter().chain(&point.parts) {
                out.push_str(&row(&import.source, point, figure));
                out.push('\n');
            }
        }
    }
    out
}

fn row(source: &str, point: &ReportedPoint, figure: &ReportedFigure) -> String {
    let ReportedPoint {
        point: _,
        step,
        medium,
        workload,
        users,
        offered_per_second,
        repeat,
        figures: _,
        parts: _,
    } = point;
    let ReportedFigure {
        txn,
        name,
        value,
        printed,
        unit,
        from_s,
        to_s,
    } = figure;
    let number = |value: &Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    // Unknown where the source does not report them.
    let users = if *users == 0 {
        String::new()
    } else {
        users.to_string()
    };
    [
        quoted(source),
        quoted(step),
        quoted(medium.as_deref().unwrap_or_default()),
        quoted(workload),
        users,
        number(offered_per_second),
        repeat.to_string(),
        quoted(txn),
        quoted(name),
        value.to_string(),
        quoted(printed),
        quoted(unit),
        number(from_s),
        number(to_s),
    ]
    .join(",")
}
