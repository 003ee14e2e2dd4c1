//! A comparison as CSV: a row for each load and figure.

use plimsoll_analysis::compare::{Against, PointComparison, RunComparison};
use plimsoll_analysis::summary::Interval;

use super::names;
use crate::table::Table;

struct Row<'a> {
    names: (&'a str, &'a str),
    against: &'a Against,
    point: &'a PointComparison,
    figure: String,
    first: Option<f64>,
    second: Option<f64>,
    ratio: Option<f64>,
    interval: Option<Interval>,
    effect: &'static str,
    /// Response times have no test of ranks.
    is_rate: bool,
}

pub fn comparison_csv(comparison: &RunComparison) -> String {
    let mut rows = Vec::new();
    for against in &comparison.others {
        let names = names(comparison, against);
        for point in &against.points {
            rows.extend(rows_of(names, against, point));
        }
    }
    Table::new()
        .field("first", |r: &Row<'_>| r.names.0.to_owned())
        .field("second", |r| r.names.1.to_owned())
        .field("step", |r| r.point.place.step.clone())
        .field("medium", |r| r.point.place.medium.clone())
        .field("second_medium", |r| r.point.second_place.medium.clone())
        .field("job", |r| r.point.place.load.job.clone())
        .field("users", |r| r.point.place.load.users)
        .field("offered_per_second", |r| {
            r.point.place.load.offered_per_second
        })
        .field("share_percent", |r| r.point.place.load.share_percent)
        .field("scene", |r| r.point.place.scene.name())
        .field("figure", |r| r.figure.clone())
        .field("first_value", |r| r.first)
        .field("second_value", |r| r.second)
        .field("ratio", |r| r.ratio)
        .interval_fields("ratio", |r| r.interval)
        .field("effect", |r| r.effect)
        .field("p", |r| Some(r.point.ranks.filter(|_| r.is_rate)?.p))
        .field("cliffs_delta", |r| {
            Some(r.point.ranks.filter(|_| r.is_rate)?.cliffs_delta)
        })
        .field("first_repeats", |r| r.point.first.repeats)
        .field("second_repeats", |r| r.point.second.repeats)
        .field("forbidden", |r| r.against.forbidden())
        .field("unlike", |r| !r.point.unlike.is_empty())
        .to_csv(rows)
}

/// The rate, then the quantiles of the response times.
fn rows_of<'a>(
    names: (&'a str, &'a str),
    against: &'a Against,
    point: &'a PointComparison,
) -> Vec<Row<'a>> {
    let rate = Row {
        names,
        against,
        point,
        figure: point.figure.name().to_owned(),
        first: point.first.rate,
        second: point.second.rate,
        ratio: point.ratio,
        interval: point.interval,
        effect: point.effect.name(),
        is_rate: true,
    };
    let mut rows = vec![rate];
    rows.extend(point.latencies.iter().map(|own| Row {
        names,
        against,
        point,
        figure: format!("p{}_ms", (own.quantile * 1000.0).round() / 10.0),
        first: Some(own.first_ms),
        second: Some(own.second_ms),
        ratio: (own.first_ms > 0.0).then(|| own.second_ms / own.first_ms),
        interval: own.ratio,
        effect: own.effect.name(),
        is_rate: false,
    }));
    rows
}
