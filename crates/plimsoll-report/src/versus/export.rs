//! A comparison as CSV: a row for each load and figure.

use plimsoll_analysis::compare::{Against, FigureComparison, PointComparison, RunComparison};
use plimsoll_record::OfferedLoad;
use plimsoll_stats::RankTest;

use super::words::SideNames;
use crate::table::Table;

pub(crate) struct ComparisonRow<'a> {
    sides: SideNames<'a>,
    against: &'a Against,
    point: &'a PointComparison,
    own: &'a FigureComparison,
}

impl ComparisonRow<'_> {
    fn load(&self) -> &OfferedLoad {
        &self.point.place.load
    }

    /// Response times have no test of ranks.
    fn ranks(&self) -> Option<RankTest> {
        self.point.ranks.filter(|_| !self.own.figure.is_time())
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
        .field("figure", |r| r.own.figure.key())
        .field("first_value", |r| Some(r.own.first?.value))
        .field("second_value", |r| Some(r.own.second?.value))
        .field("ratio", |r| Some(r.own.ratio?.ratio))
        .interval_fields("ratio", |r| r.own.interval())
        .field("effect", |r| r.own.effect.name())
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
            let figures = std::iter::once(&point.rate).chain(&point.times);
            rows.extend(figures.map(|own| ComparisonRow {
                sides,
                against,
                point,
                own,
            }));
        }
    }
    table().to_csv(rows)
}
