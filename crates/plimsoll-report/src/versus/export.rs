//! A comparison as CSV: a row for each load and figure.

use plimsoll_analysis::compare::{Against, PointComparison, RunComparison};
use plimsoll_analysis::summary::Interval;
use plimsoll_record::OfferedLoad;
use plimsoll_stats::RankTest;

use super::words::SideNames;
use crate::table::Table;

pub(crate) struct ComparisonRow<'a> {
    sides: SideNames<'a>,
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

impl ComparisonRow<'_> {
    fn load(&self) -> &OfferedLoad {
        &self.point.place.load
    }

    fn ranks(&self) -> Option<RankTest> {
        self.point.ranks.filter(|_| self.is_rate)
    }
}

pub(crate) fn table<'a>() -> Table<'a, ComparisonRow<'a>> {
    Table::<ComparisonRow<'_>>::new("comparison")
        .field("first", |r| r.sides.first)
        .field("second", |r| r.sides.second)
        .field("step", |r| r.point.place.step.clone())
        .field("medium", |r| r.point.place.medium.clone())
        .field("second_medium", |r| r.point.second_place.medium.clone())
        .field("job", |r| r.point.place.job.clone())
        .field("users", |r| r.load().users)
        .field("offered_per_second", |r| r.load().offered_per_second)
        .field("share_percent", |r| r.load().share_percent)
        .field("scene", |r| r.point.place.scene.name())
        .field("figure", |r| r.figure.clone())
        .field("first_value", |r| r.first)
        .field("second_value", |r| r.second)
        .field("ratio", |r| r.ratio)
        .interval_fields("ratio", |r| r.interval)
        .field("effect", |r| r.effect)
        .field("p", |r| Some(r.ranks()?.p))
        .field("cliffs_delta", |r| Some(r.ranks()?.cliffs_delta))
        .field("first_repeats", |r| r.point.first.repeats)
        .field("second_repeats", |r| r.point.second.repeats)
        .field("forbidden", |r| r.against.forbidden())
        .field("unlike", |r| !r.point.unlike.is_empty())
}

pub fn comparison_csv(comparison: &RunComparison) -> String {
    let mut rows = Vec::new();
    for against in &comparison.others {
        let sides = SideNames::of(comparison, against);
        for point in &against.points {
            rows.extend(rows_of(sides, against, point));
        }
    }
    table().to_csv(rows)
}

/// The rate, then the quantiles of the response times.
fn rows_of<'a>(
    sides: SideNames<'a>,
    against: &'a Against,
    point: &'a PointComparison,
) -> Vec<ComparisonRow<'a>> {
    let rate = ComparisonRow {
        sides,
        against,
        point,
        figure: point.figure.info().name.to_owned(),
        first: point.first.rate,
        second: point.second.rate,
        ratio: point.ratio,
        interval: point.interval,
        effect: point.effect.name(),
        is_rate: true,
    };
    let mut rows = vec![rate];
    rows.extend(point.latencies.iter().map(|own| ComparisonRow {
        sides,
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
