//! A set of runs as text, CSV and a page: one row for each load under each combination, and what two axes do to the rate
//! as a table of their own.

mod chart;
mod html;

use std::fmt::Write as _;

use plimsoll_analysis::set::{Crossover, CrossoverFound, SetRow, SetSummary};
use plimsoll_analysis::summary::Figure;

use crate::message::Messages;
use crate::number::{NONE, three, whole};
use crate::text::aligned;

pub use html::set_page;

/// All tables of a set.
pub fn set_table(summary: &SetSummary) -> String {
    let m = Messages::english();
    let args = [
        ("title", summary.title.clone()),
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let mut out = format!("{}\n\n", m.text_with("set-heading", &args));
    for (name, rows) in groups(&m, summary) {
        out.push_str(&format!("{name}\n{}\n\n", flat(&m, summary, &rows)));
        if let [_, _] = summary.axes.as_slice() {
            out.push_str(&crossed(&m, summary, &rows));
        }
    }
    for crossover in &summary.crossovers {
        out.push_str(&format!("{}\n", describe(&m, crossover)));
    }
    out
}

/// Rows by step, system and scene, which are the name.
fn groups<'a>(m: &Messages, summary: &'a SetSummary) -> Vec<(String, Vec<&'a SetRow>)> {
    let mut groups: Vec<(String, Vec<&SetRow>)> = Vec::new();
    for row in &summary.rows {
        let name = m.text_with(
            "set-group",
            &[("step", row.step.clone()), ("system", row.system.clone())],
        );
        let name = m.in_scene(name, row.scene);
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    groups
}

/// From how much memory on more of it changes nothing.
fn describe(m: &Messages, crossover: &Crossover) -> String {
    let name = m.text_with(
        "set-group",
        &[
            ("step", crossover.step.clone()),
            ("system", crossover.system.clone()),
        ],
    );
    let load = load_of(crossover.users, crossover.offered_per_second);
    let on = crossover.others.join(", ");
    let place = if on.is_empty() {
        m.text_with("set-crossover-place", &[("group", name), ("load", load)])
    } else {
        m.text_with(
            "set-crossover-place-on",
            &[("group", name), ("load", load), ("on", on)],
        )
    };
    let place = m.in_scene(place, crossover.scene);
    let axis = ("axis", crossover.axis.clone());
    let found = match &crossover.found {
        CrossoverFound::From {
            size,
            largest,
            ratio,
        } => m.text_with(
            "set-crossover-from",
            &[
                axis,
                ("size", size.clone()),
                ("largest", largest.clone()),
                ("ratio", three(*ratio)),
            ],
        ),
        CrossoverFound::NotReached {
            before,
            largest,
            ratio,
        } => m.text_with(
            "set-crossover-beyond",
            &[
                axis,
                ("before", before.clone()),
                ("largest", largest.clone()),
                ("ratio", three(*ratio)),
            ],
        ),
        CrossoverFound::NotToldApart {
            before,
            largest,
            ratio,
            noise_percent,
        } => {
            let mut args = vec![
                axis,
                ("before", before.clone()),
                ("largest", largest.clone()),
                ("ratio", three(*ratio)),
            ];
            args.extend(noise_percent.map(|noise| ("noise", three(noise))));
            let known = noise_percent.is_some();
            m.text_with(
                if known {
                    "set-crossover-scatter"
                } else {
                    "set-crossover-scatter-unknown"
                },
                &args,
            )
        }
        CrossoverFound::NotEvaluated => m.text_with("set-crossover-unjudged", &[axis]),
    };
    format!("{place}: {found}")
}

fn load(row: &SetRow) -> String {
    load_of(row.users, row.offered_per_second)
}

fn load_of(users: u32, offered_per_second: Option<f64>) -> String {
    offered_per_second.map_or_else(|| users.to_string(), |rate| format!("{}/s", three(rate)))
}

fn value<'a>(summary: &'a SetSummary, row: &SetRow, axis: usize) -> &'a str {
    let place = row.choice.get(axis).copied().unwrap_or(usize::MAX);
    summary.axes[axis]
        .values
        .get(place)
        .map_or(NONE, String::as_str)
}

/// NOPM where the workload has it.
fn rate(row: &SetRow) -> Option<Figure> {
    row.nopm.or(row.completed_per_second)
}

fn shown(figure: Option<Figure>, format: fn(f64) -> String) -> String {
    figure.map_or_else(|| NONE.to_owned(), |figure| format(figure.median))
}

/// Half of the interval, in percent of the figure.
fn spread(figure: Option<Figure>) -> String {
    let relative = figure
        .and_then(|figure| figure.interval)
        .and_then(|interval| interval.relative());
    relative.map_or_else(|| NONE.to_owned(), |share| format!("{:.1}", share * 100.0))
}

fn rate_name(m: &Messages, rows: &[&SetRow]) -> String {
    m.text(if rows.iter().all(|row| row.nopm.is_some()) {
        "text-nopm"
    } else {
        "set-rate"
    })
}

fn flat(m: &Messages, summary: &SetSummary, rows: &[&SetRow]) -> String {
    let (header, rows) = cells(m, summary, rows);
    aligned(&header, &rows)
}

fn cells(m: &Messages, summary: &SetSummary, rows: &[&SetRow]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> = summary.axes.iter().map(|axis| axis.name.clone()).collect();
    header.push(m.text("set-load"));
    header.push(rate_name(m, rows));
    header.extend(
        [
            "text-interval",
            "text-p99",
            "set-reads",
            "set-runs",
            "text-verdict",
        ]
        .map(|id| m.text(id)),
    );
    let cells = |row: &&SetRow| {
        let mut cells: Vec<String> = (0..summary.axes.len())
            .map(|axis| value(summary, row, axis).to_owned())
            .collect();
        cells.extend([
            load(row),
            shown(rate(row), whole),
            spread(rate(row)),
            shown(row.p99_ms, three),
            shown(row.device_reads_per_txn, three),
            row.runs.to_string(),
            m.text(&format!("verdict-{}", row.verdict.name())),
        ]);
        cells
    };
    (header, rows.iter().map(cells).collect())
}

/// Each load once, in the order of the plan.
fn loads(rows: &[&SetRow]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for of in rows.iter().map(|row| load(row)) {
        if !all.contains(&of) {
            all.push(of);
        }
    }
    all
}

/// The rate by the values of both axes, for each load.
fn crossed(m: &Messages, summary: &SetSummary, rows: &[&SetRow]) -> String {
    let mut out = String::new();
    for of in loads(rows) {
        let rows: Vec<&&SetRow> = rows.iter().filter(|row| load(row) == of).collect();
        let [down, across] = [&summary.axes[0], &summary.axes[1]];
        let mut header = vec![down.name.clone()];
        header.extend(
            across
                .values
                .iter()
                .map(|value| format!("{}={value}", across.name)),
        );
        let cell = |i: usize, j: usize| {
            let row = rows.iter().find(|row| row.choice == [i, j]);
            row.map_or_else(|| NONE.to_owned(), |row| shown(rate(row), whole))
        };
        let line = |(i, value): (usize, &String)| {
            let cells = (0..across.values.len()).map(|j| cell(i, j));
            std::iter::once(value.clone())
                .chain(cells)
                .collect::<Vec<_>>()
        };
        let lines: Vec<Vec<String>> = down.values.iter().enumerate().map(line).collect();
        let table = aligned(&header, &lines);
        let heading = m.text_with("set-crossed", &[("load", of.clone())]);
        out.push_str(&format!("{heading}\n{table}\n\n"));
    }
    out
}

/// One line for each row; figures without their intervals have the median alone.
pub fn set_csv(summary: &SetSummary) -> String {
    let mut out = String::new();
    let names = summary.axes.iter().map(|axis| quoted(&axis.name));
    let fixed = "step,system,scene,users,offered_per_second,runs,completed_per_second,completed_low,completed_high,nopm,p99_ms,\
                 device_reads_per_txn,verdict";
    let _ = writeln!(
        out,
        "{}",
        names
            .chain(std::iter::once(fixed.to_owned()))
            .collect::<Vec<_>>()
            .join(",")
    );
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in &summary.rows {
        let interval = row.completed_per_second.and_then(|figure| figure.interval);
        let mut cells: Vec<String> = (0..summary.axes.len())
            .map(|axis| quoted(value(summary, row, axis)))
            .collect();
        cells.extend([
            quoted(&row.step),
            quoted(&row.system),
            row.scene.name().to_owned(),
            row.users.to_string(),
            number(row.offered_per_second),
            row.runs.to_string(),
            number(row.completed_per_second.map(|figure| figure.median)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            number(row.nopm.map(|figure| figure.median)),
            number(row.p99_ms.map(|figure| figure.median)),
            number(row.device_reads_per_txn.map(|figure| figure.median)),
            row.verdict.name().to_owned(),
        ]);
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

/// A cell of CSV (RFC 4180).
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use plimsoll_analysis::fixture;
    use plimsoll_analysis::set::{SetAxisSummary, SetRun, summarise_set};
    use plimsoll_analysis::summary::summarise;

    use super::*;

    /// Four combinations, one of them twice; rates differ in all.
    fn set() -> SetSummary {
        let axis = |name: &str, values: [&str; 2]| SetAxisSummary {
            name: name.to_owned(),
            key: format!("system.db.{name}"),
            values: values.map(str::to_owned).into(),
        };
        let run = |choice: [usize; 2], repeat: u32, factor: u64| {
            let mut record = fixture::single_point();
            for second in &mut record.seconds {
                second.counts.committed *= factor;
            }
            SetRun {
                choice: choice.into(),
                repeat,
                summary: summarise(&record),
            }
        };
        let runs = [
            run([0, 0], 0, 2),
            run([0, 1], 0, 3),
            run([1, 0], 0, 5),
            run([1, 1], 0, 7),
            run([1, 1], 1, 9),
        ];
        summarise_set(
            "What memory replaces",
            vec![
                axis("memory", ["1GiB", "4GiB"]),
                axis("drive", ["a", "b,c"]),
            ],
            8,
            &runs,
        )
    }

    #[test]
    fn a_set_as_text() {
        assert_snapshot!(set_table(&set()));
    }

    #[test]
    fn a_set_as_csv() {
        assert_snapshot!(set_csv(&set()));
    }

    #[test]
    fn a_set_as_a_page() {
        let page = set_page(&set());
        assert_snapshot!(page.split_once("</style>").unwrap().1);
        assert!(
            !page.contains("<script") && !page.contains("http://") && !page.contains("https://"),
            "one file"
        );
    }
}
