//! A set of runs on the terminal and as CSV.

use plimsoll_analysis::set::{Crossover, CrossoverFound, SetSummary};

use super::rows::{SetRowGroup, crossed, crossed_rows, group_name, groups, loads, table};
use crate::message::Messages;
use crate::number;
use crate::number::three;

/// All tables of a set.
pub fn set_table(summary: &SetSummary) -> String {
    let m = Messages::english();
    let args = [
        ("title", summary.title.clone()),
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let mut out = format!("{}\n\n", m.text_with("set-heading", &args));
    let table = table(&summary.axes);
    for group in groups(&m, summary) {
        let text = table.to_text(&m, &group.rows);
        out.push_str(&format!("{}\n{text}\n\n", group.name));
        out.push_str(&by_both(&m, summary, &group));
    }
    for crossover in &summary.crossovers {
        out.push_str(&format!("{}\n", describe(&m, crossover)));
    }
    out
}

/// The rate by the values of both axes, for each load; empty without two axes.
fn by_both(m: &Messages, summary: &SetSummary, group: &SetRowGroup<'_>) -> String {
    let mut out = String::new();
    for of in loads(&group.rows) {
        if let Some(rows) = crossed_rows(&summary.axes, &group.rows, &of) {
            let heading = m.text_with("set-crossed", &[("load", of)]);
            let table = crossed(&summary.axes).to_text(m, &rows);
            out.push_str(&format!("{heading}\n{table}\n\n"));
        }
    }
    out
}

/// From how much memory on more of it changes nothing.
pub(super) fn describe(m: &Messages, crossover: &Crossover) -> String {
    let mut args = vec![
        ("group", group_name(m, &crossover.step, &crossover.system)),
        ("load", number::load_or_rate(crossover.load)),
    ];
    let place = if crossover.others.is_empty() {
        m.text_with("set-crossover-place", &args)
    } else {
        args.push(("on", crossover.others.join(", ")));
        m.text_with("set-crossover-place-on", &args)
    };
    let place = m.in_scene(place, crossover.scene);
    format!("{place}: {}", found(m, &crossover.axis, &crossover.found))
}

fn found(m: &Messages, axis: &str, found: &CrossoverFound) -> String {
    let mut args = vec![("axis", axis.to_owned())];
    let id = match found {
        CrossoverFound::From {
            size,
            largest,
            ratio,
        } => {
            args.push(("size", size.clone()));
            args.push(("largest", largest.clone()));
            args.push(("ratio", three(*ratio)));
            "set-crossover-from"
        }
        CrossoverFound::NotReached {
            before,
            largest,
            ratio,
        } => {
            args.extend(last_step(before, largest, *ratio));
            "set-crossover-beyond"
        }
        CrossoverFound::NotDistinguished {
            before,
            largest,
            ratio,
            noise_percent,
        } => {
            args.extend(last_step(before, largest, *ratio));
            args.extend(noise_percent.map(|noise| ("noise", three(noise))));
            match noise_percent {
                Some(_) => "set-crossover-scatter",
                None => "set-crossover-scatter-unknown",
            }
        }
        CrossoverFound::NotEvaluated => "set-crossover-not-evaluated",
    };
    m.text_with(id, &args)
}

fn last_step(before: &str, largest: &str, ratio: f64) -> [(&'static str, String); 3] {
    [
        ("before", before.to_owned()),
        ("largest", largest.to_owned()),
        ("ratio", three(ratio)),
    ]
}

/// One line for each row; figures without their intervals have the median alone.
pub fn set_csv(summary: &SetSummary) -> String {
    table(&summary.axes).to_csv(&summary.rows)
}
