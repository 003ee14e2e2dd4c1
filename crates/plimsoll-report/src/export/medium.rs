//! Shared media second by second.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{MediumFigures, StepTimeline};

use crate::medium;
use crate::table::Table;

/// A second of a medium, of systems together, or of growing files.
pub(crate) struct MediumSecondRow<'a> {
    timeline: &'a StepTimeline,
    at_s: f64,
    medium: &'a str,
    what: &'static str,
    per_second: Option<f64>,
    figures: Option<MediumFigures>,
    p99_ms: Option<f64>,
    grown_mb_per_second: Option<f64>,
}

impl<'a> MediumSecondRow<'a> {
    /// Without figures.
    fn new(timeline: &'a StepTimeline, at_s: f64, what: &'static str) -> Self {
        Self {
            timeline,
            at_s,
            medium: "",
            what,
            per_second: None,
            figures: None,
            p99_ms: None,
            grown_mb_per_second: None,
        }
    }
}

pub(super) fn rows(summary: &Summary) -> impl Iterator<Item = MediumSecondRow<'_>> {
    summary.figures.timelines.iter().flat_map(seconds)
}

/// One row for each second of each medium, of the systems that are measured, of neighbours, and of growing files.
pub(crate) fn table<'a>() -> Table<'a, MediumSecondRow<'a>> {
    let table = Table::<MediumSecondRow<'_>>::new("medium")
        .field("at_s", |r| r.at_s)
        .field("step", |r| r.timeline.step.clone())
        .field("data_medium", |r| r.timeline.medium.clone())
        .field("medium", |r| r.medium)
        .field("what", |r| r.what)
        .field("per_second", |r| r.per_second)
        .field("iops", |r| Some(r.figures?.iops));
    medium::fields(table, "", |r| r.figures)
        .field("ms", |r| r.figures?.ms)
        .field("p99_ms", |r| r.p99_ms)
        .field("grown_mb_per_second", |r| r.grown_mb_per_second)
}

fn seconds(timeline: &StepTimeline) -> Vec<MediumSecondRow<'_>> {
    let mut all = Vec::new();
    for medium in &timeline.media {
        let what = if medium.target { "target" } else { "data" };
        all.extend(medium.seconds.iter().map(|second| MediumSecondRow {
            medium: &medium.medium,
            figures: Some(second.figures),
            ..MediumSecondRow::new(timeline, second.at_s, what)
        }));
    }
    for (what, seconds) in [
        ("measured", &timeline.transactions),
        ("neighbours", &timeline.neighbours),
    ] {
        all.extend(seconds.iter().map(|second| MediumSecondRow {
            per_second: Some(second.per_second),
            p99_ms: second.p99_ms,
            ..MediumSecondRow::new(timeline, second.at_s, what)
        }));
    }
    all.extend(timeline.written.iter().map(|second| MediumSecondRow {
        grown_mb_per_second: Some(second.mb_per_second),
        ..MediumSecondRow::new(timeline, second.at_s, "files")
    }));
    all
}
