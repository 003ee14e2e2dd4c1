//! The rows of a set of runs, and their tables.

use plimsoll_analysis::set::{SetAxisSummary, SetRow, SetSummary};
use plimsoll_analysis::summary::{Estimate, FigureId};

use crate::load_summary::half;
use crate::message::Messages;
use crate::number::{self, NONE};
use crate::table::Table;
use crate::table::Unit::{Plain, Sentences, Three};

/// Rows of one step, system and scene.
pub(super) struct SetRowGroup<'a> {
    pub name: String,
    pub rows: Vec<&'a SetRow>,
}

pub(super) fn groups<'a>(m: &Messages, summary: &'a SetSummary) -> Vec<SetRowGroup<'a>> {
    let mut groups: Vec<SetRowGroup<'a>> = Vec::new();
    for row in &summary.rows {
        let name = m.in_scene(group_name(m, &row.step, &row.system), row.scene);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.rows.push(row),
            None => groups.push(SetRowGroup {
                name,
                rows: vec![row],
            }),
        }
    }
    groups
}

pub(super) fn group_name(m: &Messages, step: &str, system: &str) -> String {
    let args = [("step", step.to_owned()), ("system", system.to_owned())];
    m.text_with("set-group", &args)
}

pub(super) fn load(row: &SetRow) -> String {
    number::load_or_rate(row.load)
}

/// Each load once, in the order of the plan.
pub(super) fn loads(rows: &[&SetRow]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for of in rows.iter().map(|row| load(row)) {
        if !all.contains(&of) {
            all.push(of);
        }
    }
    all
}

/// The value of the axis at this place in the row's combination.
pub(super) fn value<'a>(axis: &'a SetAxisSummary, row: &SetRow, place: usize) -> &'a str {
    let chosen = row.choice.get(place).and_then(|at| axis.values.get(*at));
    chosen.map_or(NONE, String::as_str)
}

/// NOPM where the workload has it.
pub(super) fn rate(row: &SetRow) -> Option<Estimate> {
    row.figures
        .get(FigureId::Nopm)
        .or(row.figures.get(FigureId::Transactions))
}

pub(super) fn rate_name(m: &Messages, rows: &[&SetRow]) -> String {
    let nopm = |row: &&SetRow| row.figures.get(FigureId::Nopm).is_some();
    m.figure(FigureId::transactions(rows.iter().all(nopm)))
}

/// Why the row is doubtful or invalid: each finding once.
fn because(row: &SetRow, m: &Messages) -> String {
    let findings = row.because.iter();
    let sentences: Vec<String> = findings.map(|finding| m.finding(&finding.kind)).collect();
    sentences.join(" ")
}

/// One row for each load under each combination, with a column for each axis.
pub(crate) fn table(axes: &[SetAxisSummary]) -> Table<'_, &SetRow> {
    let table = Table::<&SetRow>::new("set").prefix("set-");
    let table = axes.iter().enumerate().fold(table, |table, (place, axis)| {
        table
            .column("axis", Plain, move |row| value(axis, row, place))
            .named(&axis.name)
            .key(&axis.name)
    });
    table
        .field("step", |row| row.step.clone())
        .field("system", |row| row.system.clone())
        .field("scene", |row| row.scene.name())
        .field("users", |row| row.load.users)
        .field("offered_per_second", |row| row.load.offered_per_second)
        .field("runs", |row| row.runs)
        .column("load", Plain, |row| load(row))
        .figure(FigureId::Nopm, |row| rate(row))
        .digits(Three)
        .unless_any(|row| row.figures.get(FigureId::Nopm).is_none())
        .figure(FigureId::Transactions, |row| rate(row))
        .if_any(|row| row.figures.get(FigureId::Nopm).is_none())
        .figure(FigureId::IntervalPercent, |row| half(rate(row)))
        .field("completed_per_second", |row| {
            row.figures.get(FigureId::Transactions)
        })
        .interval_fields("completed", |row| {
            row.figures.get(FigureId::Transactions)?.interval
        })
        .field("nopm", |row| row.figures.get(FigureId::Nopm))
        .figure(FigureId::P99, |row| row.figures.get(FigureId::P99))
        .key("p99_ms")
        .figure(FigureId::DeviceReads, |row| {
            row.figures.get(FigureId::DeviceReads)
        })
        .key("device_reads_per_txn")
        .page_column("drive", Sentences, |row| row.drive.clone())
        .if_any(|row| row.drive.is_some())
        .column("runs", Plain, |row| row.runs)
        .column("verdict", Plain, |row| row.verdict)
        .headed("text-verdict")
        .key("verdict")
        .page_message("because", Sentences, |row, m| because(row, m))
        .if_any(|row| !row.because.is_empty())
}

/// The rate at a value of one axis, by the values of another.
pub(crate) struct CrossedRow<'a> {
    value: &'a str,
    rates: Vec<Option<Estimate>>,
}

/// `None` of a set that does not have two axes.
pub(super) fn crossed_rows<'a>(
    axes: &'a [SetAxisSummary],
    rows: &[&SetRow],
    of: &str,
) -> Option<Vec<CrossedRow<'a>>> {
    let [down, across] = axes else {
        return None;
    };
    let rows: Vec<&&SetRow> = rows.iter().filter(|row| load(row) == of).collect();
    let lines = down.values.iter().enumerate().map(|(line, value)| {
        let rates = (0..across.values.len()).map(|place| {
            let row = rows.iter().find(|row| row.choice == [line, place]);
            row.and_then(|row| rate(row))
        });
        CrossedRow {
            value,
            rates: rates.collect(),
        }
    });
    Some(lines.collect())
}

pub(crate) fn crossed<'a>(axes: &'a [SetAxisSummary]) -> Table<'a, CrossedRow<'a>> {
    let table = Table::<CrossedRow<'_>>::new("set-crossed");
    let [down, across] = axes else {
        return table;
    };
    let table = table
        .column("axis", Plain, |row| row.value)
        .named(&down.name);
    let values = across.values.iter().enumerate();
    values.fold(table, |table, (place, value)| {
        table
            .column("rate", Three, move |row| row.rates[place])
            .named(format!("{}={value}", across.name))
    })
}
