//! A set of runs as text, CSV and a page: one row for each load under each combination, and what two axes do to the rate
//! as a table of their own.

mod chart;
mod html;

use plimsoll_analysis::set::{Crossover, CrossoverFound, SetRow, SetSummary};
use plimsoll_analysis::summary::Figure;

use crate::load_summary::half;
use crate::message::Messages;
use crate::number::{NONE, three};
use crate::table::Table;
use crate::table::Unit::{Decimals, Plain, Three, Whole};

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
        out.push_str(&format!(
            "{name}\n{}\n\n",
            table(&m, summary, &rows).to_text(&m, &rows)
        ));
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
        CrossoverFound::NotDistinguished {
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

fn rate_name(m: &Messages, rows: &[&SetRow]) -> String {
    m.text(if rows.iter().all(|row| row.nopm.is_some()) {
        "text-nopm"
    } else {
        "set-rate"
    })
}

fn table<'a>(m: &Messages, summary: &'a SetSummary, rows: &[&'a SetRow]) -> Table<'a, &'a SetRow> {
    let axes = summary.axes.iter().enumerate();
    let table = axes.fold(
        Table::<&SetRow>::with_prefix("text-"),
        |table, (place, axis)| {
            let value = move |row: &&SetRow| value(summary, row, place);
            table.column(&axis.name, Plain, value).named(&axis.name)
        },
    );
    table
        .column("load", Plain, |row| load(row))
        .named(m.text("set-load"))
        .column("rate", Whole, |row| rate(row))
        .named(rate_name(m, rows))
        .column("interval", Decimals(1), |row| half(rate(row)))
        .column("p99", Three, |row| row.p99_ms)
        .column("reads", Three, |row| row.device_reads_per_txn)
        .named(m.text("set-reads"))
        .column("runs", Plain, |row| row.runs)
        .named(m.text("set-runs"))
        .column("verdict", Plain, |row| row.verdict)
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
    let [down, across] = [&summary.axes[0], &summary.axes[1]];
    let mut out = String::new();
    for of in loads(rows) {
        let rows: Vec<&&SetRow> = rows.iter().filter(|row| load(row) == of).collect();
        let table = Table::<(usize, &String)>::new()
            .column(&down.name, Plain, |(_, value)| value.as_str())
            .named(&down.name);
        let columns = across.values.iter().enumerate();
        let table = columns.fold(table, |table, (place, value)| {
            let rows = &rows;
            let rate_at = move |own: &(usize, &String)| {
                let row = rows.iter().find(|row| row.choice == [own.0, place])?;
                rate(row)
            };
            let name = format!("{}={value}", across.name);
            table.column(value, Whole, rate_at).named(name)
        });
        let lines: Vec<(usize, &String)> = down.values.iter().enumerate().collect();
        let heading = m.text_with("set-crossed", &[("load", of.clone())]);
        out.push_str(&format!("{heading}\n{}\n\n", table.to_text(m, &lines)));
    }
    out
}

/// One line for each row; figures without their intervals have the median alone.
pub fn set_csv(summary: &SetSummary) -> String {
    let axes = summary.axes.iter().enumerate();
    let table = axes.fold(Table::<&SetRow>::new(), |table, (place, axis)| {
        table.field(&axis.name, move |row| value(summary, row, place))
    });
    table
        .field("step", |row| row.step.clone())
        .field("system", |row| row.system.clone())
        .field("scene", |row| row.scene.name())
        .field("users", |row| row.users)
        .field("offered_per_second", |row| row.offered_per_second)
        .field("runs", |row| row.runs)
        .field("completed_per_second", |row| row.completed_per_second)
        .interval_fields("completed", |row| row.completed_per_second?.interval)
        .field("nopm", |row| row.nopm)
        .field("p99_ms", |row| row.p99_ms)
        .field("device_reads_per_txn", |row| row.device_reads_per_txn)
        .field("verdict", |row| row.verdict)
        .to_csv(&summary.rows)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use plimsoll_analysis::set::{SetAxisSummary, SetRun, summarise_set};
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

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
