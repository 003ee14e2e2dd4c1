//! A catalog of runs, and how figures went from run to run.

use plimsoll_analysis::ListedLoad;
pub use plimsoll_analysis::ListedResult;
use plimsoll_analysis::compare::RoundedRatio;
use plimsoll_analysis::history::{Change, FigureSeries, SeriesPoint, fewest_runs};
use plimsoll_analysis::summary::{FigureId, Verdict};
use plimsoll_plan::units::Nanos;
use plimsoll_record::RunStatus;
use plimsoll_record::runfile::Head;
use plimsoll_stats::Trend;

use crate::message::{Messages, unit_id};
use crate::number::{three, whole};
use crate::table::Unit::{Plain, Three, Words};
use crate::table::{Table, TableCell};
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
    /// `None` of a run that goes on or cannot be read.
    pub result: Option<ListedResult>,
}

impl ListedRun {
    /// The run of this head, under the name that its file is shown by.
    pub fn of(file: String, head: &Head) -> Self {
        Self {
            file,
            title: head.run.title.clone(),
            started_at: head.run.started_at.clone(),
            lasted: head.run.lasted,
            status: head.run.status,
            label: head.label.clone(),
            commit: head.run.plimsoll_commit.clone(),
            systems: head.systems.join(", "),
            media: head.media.join(", "),
            points: head.points,
            result: None,
        }
    }

    /// `12,460 orders/min`; empty where nothing was measured.
    pub fn rate(&self, m: &Messages) -> String {
        let Some(load) = self.load() else {
            return String::new();
        };
        let rate = match load.rate_kind {
            FigureId::Nopm => whole(load.rate),
            _ => three(load.rate),
        };
        let unit = m.text(&unit_id("list-unit", &load.rate_kind));
        format!("{rate} {unit}")
    }

    pub fn p99_ms(&self) -> Option<f64> {
        self.load().and_then(|load| load.p99_ms)
    }

    pub fn verdict(&self) -> Option<Verdict> {
        self.result.map(|result| result.verdict)
    }

    fn load(&self) -> Option<ListedLoad> {
        self.result.and_then(|result| result.load)
    }
}

/// A row for each run.
pub(crate) fn list<'a>() -> Table<'a, &'a ListedRun> {
    Table::<&ListedRun>::new("list")
        .prefix("list-")
        .column("started-at", Words, |run| run.started_at.clone())
        .column("file", Words, |run| run.file.clone())
        .column("title", Words, |run| run.title.clone())
        .column("status", Words, |run| {
            TableCell::word("status-", run.status.name())
        })
        .column("label", Words, |run| run.label.clone())
        .field("commit", |run| run.commit.clone())
        .column("systems", Words, |run| run.systems.clone())
        .column("media", Words, |run| run.media.clone())
        .column("points", Plain, |run| run.points)
        .field("lasted_s", |run| run.lasted.as_secs_f64())
        .with_keys()
        .message("rate-shown", Words, |run, m| run.rate(m))
        .field("rate", |run| run.load().map(|load| load.rate))
        .field("rate_kind", |run| {
            run.load().map(|load| load.rate_kind.info().name)
        })
        .column("p99-ms", Three, |run| run.p99_ms())
        .key("p99_ms")
        .column("verdict", Plain, |run| run.verdict())
        .key("verdict")
}

pub fn list_table(runs: &[ListedRun]) -> String {
    let m = Messages::english();
    if runs.is_empty() {
        return m.text("list-none");
    }
    list().to_text(&m, &runs.iter().collect::<Vec<_>>())
}

pub fn list_csv(runs: &[ListedRun]) -> String {
    list().to_csv(runs)
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
            lines.push(format!("{heading} {}", without_change(&m, course)));
        } else {
            lines.push(heading);
        }
        let changes = course.changes.iter();
        lines.extend(changes.map(|change| format!("  {}", describe(&m, course, change))));
        lines.extend(course.trend.map(|trend| format!("  {}", drift(&m, trend))));
    }
    lines.join("\n")
}

/// No change found, or too few runs for one.
fn without_change(m: &Messages, course: &FigureSeries) -> String {
    let fewest = fewest_runs();
    if course.points.len() >= fewest {
        return m.text("history-steady");
    }
    let args = [
        ("fewest", fewest.to_string()),
        ("half", (fewest / 2).to_string()),
    ];
    m.text_with("history-too-few", &args)
}

fn describe(m: &Messages, course: &FigureSeries, change: &Change) -> String {
    let rounded = RoundedRatio::of(change.ratio);
    let point = &course.points[change.at.min(course.points.len() - 1)];
    let shown = if course.figure == FigureId::Nopm {
        whole
    } else {
        three
    };
    let name = if point.label.is_empty() {
        &point.commit
    } else {
        &point.label
    };
    let unit = unit_id("versus-unit", &course.figure);
    let way = if rounded.more {
        "versus-more"
    } else {
        "versus-less"
    };
    let args = [
        ("file", point.file.clone()),
        ("name", name.clone()),
        ("started", point.started_at.clone()),
        ("before", shown(change.before)),
        ("after", shown(change.after)),
        ("unit", m.text(&unit)),
        ("percent", rounded.percent_text()),
        ("way", m.text(way)),
    ];
    m.text_with("history-change", &args)
}

fn drift(m: &Messages, trend: Trend) -> String {
    let way = m.text(if trend.percent_in_all < 0.0 {
        "history-falls"
    } else {
        "history-rises"
    });
    let args = [
        ("way", way),
        ("percent", three(trend.percent_in_all.abs())),
        ("slope", three(trend.percent_per_value.abs())),
    ];
    m.text_with("history-drift", &args)
}

/// A load in one run.
pub(crate) struct CourseRow<'a> {
    course: &'a FigureSeries,
    load: String,
    point: &'a SeriesPoint,
    /// Whether the rate changed with this run.
    changed: bool,
}

pub(crate) fn courses<'a>() -> Table<'a, CourseRow<'a>> {
    Table::<CourseRow<'_>>::new("history")
        .field("load", |r| r.load.clone())
        .field("figure", |r| r.course.figure.info().name)
        .field("started_at", |r| r.point.started_at.clone())
        .field("file", |r| r.point.file.clone())
        .field("commit", |r| r.point.commit.clone())
        .field("label", |r| r.point.label.clone())
        .field("rate", |r| r.point.rate)
        .field("changed", |r| r.changed)
}

/// A row for each load and run.
pub fn course_csv(all: &[FigureSeries]) -> String {
    let m = Messages::english();
    let mut rows = Vec::new();
    for course in all {
        for (at, point) in course.points.iter().enumerate() {
            rows.push(CourseRow {
                course,
                load: place(&m, &course.place, None),
                point,
                changed: course.changes.iter().any(|change| change.at == at),
            });
        }
    }
    courses().to_csv(rows)
}
