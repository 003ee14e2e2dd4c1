//! A catalogue of runs, and how figures went from run to run.

use plimsoll_analysis::compare::{Figure, RoundedRatio};
use plimsoll_analysis::history::{Change, FigureSeries, SeriesPoint};
use plimsoll_plan::units::Nanos;
use plimsoll_record::RunStatus;
use plimsoll_stats::Trend;

use crate::message::Messages;
use crate::number::{three, whole};
use crate::table::Unit::{Plain, Words};
use crate::table::{Cell, Table};
use crate::versus::place;

/// What a list shows of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    pub file: String,
    pub title: String,
    pub started_at: String,
    pub lasted: Nanos,
    pub status: RunStatus,
    pub label: String,
    pub commit: String,
    pub systems: String,
    pub media: String,
    pub points: usize,
}

/// A row for each run.
fn table<'a>() -> Table<'a, &'a ListedRun> {
    Table::<&ListedRun>::with_prefix("list-")
        .column("started-at", Words, |run| run.started_at.clone())
        .column("file", Words, |run| run.file.clone())
        .column("title", Words, |run| run.title.clone())
        .column("status", Words, |run| {
            Cell::word("status-", run.status.name())
        })
        .column("label", Words, |run| run.label.clone())
        .field("commit", |run| run.commit.clone())
        .column("systems", Words, |run| run.systems.clone())
        .column("media", Words, |run| run.media.clone())
        .column("points", Plain, |run| run.points)
        .field("lasted_s", |run| run.lasted.as_secs_f64())
        .with_keys()
}

pub fn list_table(runs: &[ListedRun]) -> String {
    let m = Messages::english();
    if runs.is_empty() {
        return m.text("list-none");
    }
    table().to_text(&m, &runs.iter().collect::<Vec<_>>())
}

pub fn list_csv(runs: &[ListedRun]) -> String {
    table().to_csv(runs)
}

/// Each load: its level, and where it changed.
pub fn courses_text(courses: &[FigureSeries]) -> String {
    let m = Messages::english();
    if courses.is_empty() {
        return m.text("history-none");
    }
    let mut lines = Vec::new();
    for course in courses {
        let args = [
            ("load", place(&m, &course.place, None)),
            ("runs", course.points.len().to_string()),
        ];
        let heading = m.text_with("history-load", &args);
        if course.changes.is_empty() {
            lines.push(format!("{heading} {}", m.text("history-steady")));
        } else {
            lines.push(heading);
        }
        lines.extend(
            course
                .changes
                .iter()
                .map(|change| format!("  {}", describe(&m, course, change))),
        );
        lines.extend(course.trend.map(|trend| format!("  {}", drift(&m, trend))));
    }
    lines.join("\n")
}

fn describe(m: &Messages, course: &FigureSeries, change: &Change) -> String {
    let rounded = RoundedRatio::of(change.ratio);
    let point = &course.points[change.at.min(course.points.len() - 1)];
    let shown = |rate: f64| {
        if course.figure == Figure::Nopm {
            whole(rate)
        } else {
            three(rate)
        }
    };
    let name = if point.label.is_empty() {
        &point.commit
    } else {
        &point.label
    };
    let args = [
        ("file", point.file.clone()),
        ("name", name.clone()),
        ("started", point.started_at.clone()),
        ("before", shown(change.before)),
        ("after", shown(change.after)),
        (
            "unit",
            m.text(&format!("versus-unit-{}", course.figure.name())),
        ),
        ("percent", rounded.percent_text()),
        (
            "way",
            m.text(if rounded.more {
                "versus-more"
            } else {
                "versus-less"
            }),
        ),
    ];
    m.text_with("history-change", &args)
}

fn drift(m: &Messages, trend: Trend) -> String {
    let way = m.text(if trend.percent_in_all < 0.0 {
        "history-falls"
    } else {
        "history-rises"
    });
    let (all, each) = (
        three(trend.percent_in_all.abs()),
        three(trend.percent_per_value.abs()),
    );
    m.text_with(
        "history-drift",
        &[("way", way), ("percent", all), ("slope", each)],
    )
}

/// A load in one run.
struct CourseRow<'a> {
    course: &'a FigureSeries,
    place: usize,
    point: &'a SeriesPoint,
}

/// A row for each load and run.
pub fn course_csv(courses: &[FigureSeries]) -> String {
    let m = Messages::english();
    let rows = courses.iter().flat_map(|course| {
        let points = course.points.iter().enumerate();
        points.map(move |(place, point)| CourseRow {
            course,
            place,
            point,
        })
    });
    Table::new()
        .field("load", |r: &CourseRow<'_>| place(&m, &r.course.place, None))
        .field("figure", |r| r.course.figure.name())
        .field("started_at", |r| r.point.started_at.clone())
        .field("file", |r| r.point.file.clone())
        .field("commit", |r| r.point.commit.clone())
        .field("label", |r| r.point.label.clone())
        .field("rate", |r| r.point.rate)
        .field("changed", |r| {
            let mut changes = r.course.changes.iter();
            changes.any(|change| change.at == r.place)
        })
        .to_csv(rows)
}
