//! What other tools measured, as text: figures with the names and digits of the tool, and what is missing in its output.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{ImportSummary, ReportedFigure, ReportedPoint, Unknown};

use crate::message::Messages;
use crate::number::three;
use crate::table::Table;
use crate::table::Unit::{Plain, Words};

/// One import as text.
pub(crate) struct ImportText<'a> {
    /// `Reported by sysbench 1.0.20`.
    pub heading: String,
    pub files: String,
    /// What is not known, and what follows.
    pub unknown: Vec<(String, String)>,
    pub known: Vec<(String, String)>,
    pub figures: Vec<FigureRow<'a>>,
    /// Of parts of the time.
    pub parts: Vec<FigureRow<'a>>,
}

/// A figure that a tool printed.
pub(crate) struct FigureRow<'a> {
    load: String,
    figure: &'a ReportedFigure,
}

pub(crate) fn table(m: &Messages, of_parts: bool) -> Table<'_, FigureRow<'_>> {
    Table::<FigureRow<'_>>::with_prefix("reported-")
        .column("time", Words, |r| {
            let (from, to) = r.figure.from_s.zip(r.figure.to_s)?;
            Some(format!("{} – {} s", three(from), three(to)))
        })
        .when(of_parts)
        .column("load", Words, |r| r.load.clone())
        .column("part", Words, |r| match r.figure.txn.as_str() {
            "" => m.text("chart-all"),
            txn => txn.to_owned(),
        })
        .column("figure", Words, |r| r.figure.name.clone())
        .column("value", Plain, |r| {
            let value = format!("{} {}", r.figure.printed, r.figure.unit);
            value.trim_end().to_owned()
        })
}

pub(crate) fn describe<'a>(m: &Messages, summary: &'a Summary) -> Vec<ImportText<'a>> {
    let imports = summary.imports.iter();
    imports.map(|import| import_text(m, import)).collect()
}

fn import_text<'a>(m: &Messages, import: &'a ImportSummary) -> ImportText<'a> {
    ImportText {
        heading: m.text_with("reported-by", &[("source", import.source.clone())]),
        files: m.text_with("reported-files", &[("files", import.files.clone())]),
        unknown: pairs(&import.unknown),
        known: pairs(&import.known),
        figures: rows(m, import, |point| &point.figures),
        parts: rows(m, import, |point| &point.parts),
    }
}

fn pairs(entries: &[Unknown]) -> Vec<(String, String)> {
    let pair = |entry: &Unknown| (entry.what.replace('_', " "), entry.text.clone());
    entries.iter().map(pair).collect()
}

fn rows<'a>(
    m: &Messages,
    import: &'a ImportSummary,
    figures: fn(&ReportedPoint) -> &Vec<ReportedFigure>,
) -> Vec<FigureRow<'a>> {
    let rows_of = |point: &'a ReportedPoint| {
        let load = load(m, point);
        figures(point).iter().map(move |figure| FigureRow {
            load: load.clone(),
            figure,
        })
    };
    import.points.iter().flat_map(rows_of).collect()
}

/// `4 users, oltp`, with the repeat.
fn load(m: &Messages, point: &ReportedPoint) -> String {
    let users = match point.users {
        0 => m.text("reported-users-unknown"),
        1 => m.text("reported-one-user"),
        n => m.text_with("reported-users", &[("users", n.to_string())]),
    };
    let offered = point
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
