//! A catalogue of runs, and how figures went from run to run.

use std::fmt::Write as _;

use plimsoll_analysis::compare::{Figure, RoundedRatio};
use plimsoll_analysis::history::{Change, FigureSeries};
use plimsoll_plan::units::Nanos;
use plimsoll_record::RunStatus;
use plimsoll_stats::Trend;

use crate::message::Messages;
use crate::number::{three, whole};
use crate::set::quoted;
use crate::text::aligned;
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

const COLUMNS: [&str; 8] = [
    "started", "file", "title", "status", "label", "systems", "media", "points",
];

pub fn list_table(runs: &[ListedRun]) -> String {
    let m = Messages::english();
    if runs.is_empty() {
        return m.text("list-none");
    }
    let header = COLUMNS.map(|id| m.text(&format!("list-{id}")));
    let row = |run: &ListedRun| {
        vec![
            run.started_at.clone(),
            run.file.clone(),
            run.title.clone(),
            m.text(&format!("status-{}", run.status.name())),
            run.label.clone(),
            run.systems.clone(),
            run.media.clone(),
            run.points.to_string(),
        ]
    };
    aligned(&header, &runs.iter().map(row).collect::<Vec<_>>())
}

pub fn list_csv(runs: &[ListedRun]) -> String {
    let mut out =
        String::from("started_at,file,title,status,label,commit,systems,media,points,lasted_s\n");
    for run in runs {
        let texts = [&run.started_at, &run.file, &run.title]
            .map(|text| quoted(text))
            .join(",");
        let more = [&run.label, &run.commit, &run.systems, &run.media]
            .map(|text| quoted(text))
            .join(",");
        let (status, seconds) = (run.status.name(), run.lasted.as_secs_f64());
        let _ = writeln!(out, "{texts},{status},{more},{},{seconds}", run.points);
    }
    out
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

/// A row for each load and run.
pub fn course_csv(courses: &[FigureSeries]) -> String {
    let mut out = String::from("load,figure,started_at,file,commit,label,rate,changed\n");
    let m = Messages::english();
    for course in courses {
        let load = quoted(&place(&m, &course.place, None));
        for (i, point) in course.points.iter().enumerate() {
            let texts = [&point.started_at, &point.file, &point.commit, &point.label]
                .map(|text| quoted(text))
                .join(",");
            let changed = course.changes.iter().any(|change| change.at == i);
            let _ = writeln!(
                out,
                "{load},{},{texts},{},{changed}",
                course.figure.name(),
                point.rate
            );
        }
    }
    out
}
