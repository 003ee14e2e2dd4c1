//! A catalog of runs, and how figures went from run to run.

use plimsoll_analysis::ListedLoad;
pub use plimsoll_analysis::ListedResult;
use plimsoll_analysis::compare::RoundedRatio;
use plimsoll_analysis::history::{Change, FigureSeries, SeriesPoint, fewest_runs};
use plimsoll_analysis::summary::FigureId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::RunStatus;
use plimsoll_record::runfile::Head;
use plimsoll_stats::Trend;

use crate::document::ReportSection;
use crate::message::{Messages, unit_id};
use crate::number::{three, whole};
use crate::render;
use crate::table::Unit::{Plain, Sentences, Words};
use crate::table::{CellValue, PageCell, RowChoice, Table, TableCell};
use crate::versus::place;

/// What a list shows of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    pub file: String,
    /// Of its page, where it has one.
    pub address: String,
    /// Whether it goes on: `unfinished` is also one that was killed.
    pub is_live: bool,
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
            address: String::new(),
            is_live: false,
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
    fn rate(&self, m: &Messages) -> String {
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

    fn load(&self) -> Option<ListedLoad> {
        self.result.and_then(|result| result.load)
    }

    /// To the minute.
    fn began(&self) -> String {
        self.started_at
            .chars()
            .take(16)
            .collect::<String>()
            .replace('T', " ")
    }

    fn status(&self) -> TableCell {
        match self.is_live {
            true => CellValue::Word {
                name: self.status.name(),
                id: "runs-live".to_owned(),
            }
            .into(),
            false => TableCell::word("status-", self.status.name()),
        }
    }

    fn title_on_page(&self) -> TableCell {
        TableCell::from(&self.title).on_page(PageCell {
            link: self.address.clone(),
            below: self.file.clone(),
            choice: None,
        })
    }

    /// One that goes on is not compared.
    fn choice(&self, m: &Messages) -> TableCell {
        TableCell::from("").on_page(PageCell {
            choice: Some(RowChoice {
                name: "run",
                value: self.file.clone(),
                label: format!("{}: {}", m.text("list-compare"), self.file),
                is_offered: !self.is_live,
            }),
            ..PageCell::default()
        })
    }
}

/// A row for each run.
pub(crate) fn list<'a>() -> Table<'a, &'a ListedRun> {
    Table::<&ListedRun>::new("list")
        .prefix("list-")
        .page_message("compare", Words, |run, m| run.choice(m))
        .page_column("title", Sentences, |run| run.title_on_page())
        .text_column("started-at", Words, |run| run.started_at.clone())
        .key("started_at")
        .text_column("file", Words, |run| run.file.clone())
        .key("file")
        .text_column("title", Words, |run| run.title.clone())
        .key("title")
        .column("status", Words, |run| run.status())
        .key("status")
        .page_column("began", Words, |run| run.began())
        .column("label", Words, |run| run.label.clone())
        .key("label")
        .field("commit", |run| run.commit.clone())
        .column("systems", Sentences, |run| run.systems.clone())
        .key("systems")
        .column("media", Sentences, |run| run.media.clone())
        .key("media")
        .column("points", Plain, |run| run.points)
        .key("points")
        .field("lasted_s", |run| run.lasted.as_secs_f64())
        .message("rate-shown", Plain, |run, m| run.rate(m))
        .field("rate", |run| run.load().map(|load| load.rate))
        .field("rate_kind", |run| {
            run.load().map(|load| load.rate_kind.info().name)
        })
        .figure(FigureId::P99, |run| run.load().and_then(|load| load.p99_ms))
        .key("p99_ms")
        .column("verdict", Plain, |run| Some(run.result?.verdict))
        .key("verdict")
        .row_class(|run| if run.is_live { "live" } else { "" })
}

/// The runs, and how their figures went.
pub fn list_text(runs: &[ListedRun], courses: Option<&[FigureSeries]>) -> String {
    let m = Messages::english();
    let mut listed = ReportSection::bare("list");
    let rows: Vec<&ListedRun> = runs.iter().collect();
    let lines = list().to_lines(&m, &rows);
    listed.line(lines.unwrap_or_else(|| m.text("list-none")));
    let mut changes = ReportSection::bare("changes");
    changes.lines(
        courses
            .into_iter()
            .flat_map(|courses| course_lines(&m, courses)),
    );
    render::text::sections([&listed, &changes])
}

pub fn list_csv(runs: &[ListedRun]) -> String {
    list().to_csv(runs)
}

/// Each load: its level, and where it changed.
fn course_lines(m: &Messages, courses: &[FigureSeries]) -> Vec<String> {
    if courses.is_empty() {
        return vec![m.text("history-none")];
    }
    let mut lines = Vec::new();
    for course in courses {
        let args = [
            ("load", place(m, &course.place, None)),
            ("runs", course.points.len().to_string()),
        ];
        let heading = m.text_with("history-load", &args);
        if course.changes.is_empty() {
            lines.push(format!("{heading} {}", without_change(m, course)));
        } else {
            lines.push(heading);
        }
        let changes = course.changes.iter();
        lines.extend(changes.map(|change| format!("  {}", describe(m, course, change))));
        lines.extend(course.trend.map(|trend| format!("  {}", drift(m, trend))));
    }
    lines
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
