//! What other tools measured: figures with the names and digits of the tool, and what is missing in its output.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{ImportSummary, ReportedFigure, ReportedPoint, Unknown};

use crate::document::{ReportBlock, ReportSection};
use crate::message::Messages;
use crate::number::three;
use crate::table::Table;
use crate::table::Unit::{Plain, Words};

/// A figure that a tool printed.
pub(crate) struct FigureRow<'a> {
    source: &'a str,
    point: &'a ReportedPoint,
    figure: &'a ReportedFigure,
    is_part: bool,
}

pub(crate) fn table<'a>() -> Table<'a, FigureRow<'a>> {
    Table::<FigureRow<'_>>::new("reported")
        .prefix("reported-")
        .field("source", |r| r.source)
        .field("step", |r| r.point.step.clone())
        .field("medium", |r| r.point.medium.clone())
        .field("workload", |r| r.point.workload.clone())
        // Unknown where the source does not report them.
        .field("users", |r| {
            Some(r.point.load.users).filter(|users| *users > 0)
        })
        .field("offered_per_second", |r| r.point.load.offered_per_second)
        .field("repeat", |r| r.point.repeat)
        .column("time", Words, |r| {
            let (from, to) = r.figure.from_s.zip(r.figure.to_s)?;
            Some(format!("{} – {} s", three(from), three(to)))
        })
        .if_any(|r| r.is_part)
        .message("load", Words, |r, m| load(m, r.point))
        .field("part", |r| r.figure.txn.clone())
        .message("part", Words, |r, m| match r.figure.txn.as_str() {
            "" => m.text("chart-all"),
            txn => txn.to_owned(),
        })
        .column("figure", Words, |r| r.figure.name.clone())
        .key("figure")
        .field("value", |r| r.figure.value)
        .column("value", Plain, |r| {
            let value = format!("{} {}", r.figure.printed, r.figure.unit);
            value.trim_end().to_owned()
        })
        .field("printed", |r| r.figure.printed.clone())
        .field("unit", |r| r.figure.unit.clone())
        .field("from_s", |r| r.figure.from_s)
        .field("to_s", |r| r.figure.to_s)
}

/// All figures, point by point.
pub(crate) fn rows(summary: &Summary) -> Vec<FigureRow<'_>> {
    let mut rows = Vec::new();
    for import in &summary.figures.imports {
        for point in &import.points {
            rows.extend(rows_of(import, point, false));
            rows.extend(rows_of(import, point, true));
        }
    }
    rows
}

fn rows_of<'a>(
    import: &'a ImportSummary,
    point: &'a ReportedPoint,
    is_part: bool,
) -> impl Iterator<Item = FigureRow<'a>> {
    let figures = if is_part {
        &point.parts
    } else {
        &point.figures
    };
    figures.iter().map(move |figure| FigureRow {
        source: &import.source,
        point,
        figure,
        is_part,
    })
}

/// One for each import.
pub(crate) fn sections(m: &Messages, summary: &Summary) -> Vec<ReportSection> {
    let imports = summary.figures.imports.iter();
    imports.map(|import| section(m, import)).collect()
}

fn section(m: &Messages, import: &ImportSummary) -> ReportSection {
    let rows = |is_part| {
        let points = import.points.iter();
        points.flat_map(move |point| rows_of(import, point, is_part))
    };
    let figures: Vec<FigureRow<'_>> = rows(false).collect();
    let parts: Vec<FigureRow<'_>> = rows(true).collect();
    // `Reported by sysbench 1.0.20`.
    let heading = m.text_with("reported-by", &[("source", import.source.clone())]);
    let files = m.text_with("reported-files", &[("files", import.files.clone())]);
    let note = format!("{files} {}", m.text("reported-note"));
    let mut section = ReportSection::new("imported", &heading).styled("imported");
    section.line(format!("{heading}. {note}"));
    section.page(ReportBlock::note(note));
    if figures.is_empty() {
        section.both(ReportBlock::text(m.text("reported-none")));
    }
    section.both(ReportBlock::table(m, &heading, &table(), &figures));
    if !parts.is_empty() {
        section.line(m.text_with("reported-parts", &[("n", parts.len().to_string())]));
    }
    let title = m.text("reported-parts-title");
    let parts = ReportBlock::grid(m, &title, &table(), &parts);
    section.page(ReportBlock::folded(title, [parts]));
    section.both(ReportBlock::heading(m.text("reported-unknown")));
    section.both(ReportBlock::facts(pairs(m, &import.unknown)));
    let known = ReportBlock::facts(pairs(m, &import.known));
    section.page_under(m.text("reported-known"), String::new(), [known]);
    section
}

fn pairs(m: &Messages, entries: &[Unknown]) -> Vec<(String, String)> {
    let entries = entries.iter();
    entries
        .map(|entry| (entry.what.replace('_', " "), text(m, entry)))
        .collect()
}

fn text(m: &Messages, entry: &Unknown) -> String {
    let stored = entry.text.clone();
    stored.unwrap_or_else(|| m.import_notes(&entry.notes))
}

/// `4 users, oltp`, with the repeat.
fn load(m: &Messages, point: &ReportedPoint) -> String {
    let users = match point.load.users {
        0 => m.text("reported-users-unknown"),
        1 => m.text("reported-one-user"),
        n => m.text_with("reported-users", &[("users", n.to_string())]),
    };
    let offered = point
        .load
        .offered_per_second
        .map(|rate| m.text_with("reported-offered", &[("rate", three(rate))]));
    let repeat = (point.repeat > 0).then(|| {
        m.text_with(
            "reported-repeat",
            &[("repeat", (point.repeat + 1).to_string())],
        )
    });
    let words = [
        Some(point.workload.clone()),
        offered,
        Some(users),
        point.medium.clone(),
        repeat,
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
