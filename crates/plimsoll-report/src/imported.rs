//! What other tools measured, as text: figures with the names and digits of the tool, and what is missing in its output.

use plimsoll_analysis::summary::{ImportSummary, ReportedFigure, ReportedPoint, Summary};

use crate::message::Messages;
use crate::number::{NONE, three};

/// One import as text.
pub(crate) struct ImportText {
    /// `Reported by sysbench 1.0.20`.
    pub heading: String,
    pub files: String,
    /// What is not known, and what follows.
    pub unknown: Vec<(String, String)>,
    pub known: Vec<(String, String)>,
    /// Cells in the order of [`COLUMNS`].
    pub figures: Vec<[String; 4]>,
    /// With the part of the time before them.
    pub parts: Vec<[String; 5]>,
}

pub(crate) const COLUMNS: [&str; 4] = [
    "reported-load",
    "reported-part",
    "reported-figure",
    "reported-value",
];
pub(crate) const PART_COLUMNS: [&str; 5] = [
    "reported-time",
    "reported-load",
    "reported-part",
    "reported-figure",
    "reported-value",
];

pub(crate) fn describe(m: &Messages, summary: &Summary) -> Vec<ImportText> {
    summary.imports.iter().map(|import| of(m, import)).collect()
}

fn of(m: &Messages, import: &ImportSummary) -> ImportText {
    let pairs = |entries: &[plimsoll_analysis::summary::Unknown]| {
        entries
            .iter()
            .map(|entry| (entry.what.replace('_', " "), entry.text.clone()))
            .collect()
    };
    let rows = |of: fn(&ReportedPoint) -> &Vec<ReportedFigure>| {
        import
            .points
            .iter()
            .flat_map(move |point| of(point).iter().map(move |figure| (point, figure)))
    };
    let cells = |point: &ReportedPoint, figure: &ReportedFigure| {
        let txn = if figure.txn.is_empty() {
            m.text("chart-all")
        } else {
            figure.txn.clone()
        };
        [
            load(m, point),
            txn,
            figure.name.clone(),
            format!("{} {}", figure.printed, figure.unit)
                .trim_end()
                .to_owned(),
        ]
    };
    let part = |(point, figure): (&ReportedPoint, &ReportedFigure)| {
        let [load, txn, name, value] = cells(point, figure);
        let span = figure.from_s.zip(figure.to_s);
        let time = span.map_or_else(
            || NONE.to_owned(),
            |(from, to)| format!("{} – {} s", three(from), three(to)),
        );
        [time, load, txn, name, value]
    };
    ImportText {
        heading: m.text_with("reported-by", &[("source", import.source.clone())]),
        files: m.text_with("reported-files", &[("files", import.files.clone())]),
        unknown: pairs(&import.unknown),
        known: pairs(&import.known),
        figures: rows(|point| &point.figures)
            .map(|(point, figure)| cells(point, figure))
            .collect(),
        parts: rows(|point| &point.parts).map(part).collect(),
    }
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
