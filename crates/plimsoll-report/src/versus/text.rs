//! A comparison on the terminal.

use plimsoll_analysis::compare::{
    Against, Gate, GateOutcome, GatedPoint, RoundedRatio, RunComparison,
};

use super::{
    alone, by_chance, differences_of, forbidden, latency_rows, mark, names, place, range, sentence,
};
use crate::message::Messages;
use crate::table::Unit::{Plain, Three, Words};
use crate::table::{Cell, Table};

/// All sides against the first.
pub fn comparison_text(comparison: &RunComparison) -> String {
    let m = Messages::english();
    comparison
        .others
        .iter()
        .map(|against| section(&m, comparison, against))
        .collect::<Vec<_>>()
        .join("\n")
}

fn section(m: &Messages, comparison: &RunComparison, against: &Against) -> String {
    let names = names(comparison, against);
    let heading = m.text_with(
        "versus-heading",
        &[
            ("first", names.0.to_owned()),
            ("second", names.1.to_owned()),
        ],
    );
    let mut out = format!("{heading}\n");
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    forbidden(m, against).into_iter().for_each(&mut line);
    for point in &against.points {
        let text = sentence(m, names, comparison.ask.minimum_effect, point);
        line(format!(
            "{}: {text}",
            place(m, &point.place, Some(&point.second_place))
        ));
    }
    if against.points.is_empty() {
        line(m.text("versus-nothing"));
    }
    line(String::new());
    let rates: Vec<_> = against.points.iter().collect();
    let latencies = latency_rows(&against.points);
    let differences = differences_of(m, names, &against.differences);
    if !rates.is_empty() {
        let table = super::rates(m).to_text(m, &rates);
        line(format!("{}\n{table}\n", m.text("versus-rates")));
    }
    if !latencies.is_empty() {
        let table = super::latencies(m).to_text(m, &latencies);
        line(format!("{}\n{table}\n", m.text("versus-latencies")));
    }
    if !differences.shown.is_empty() {
        let table = super::differences(m).to_text(m, &differences.shown);
        line(format!("{}\n{table}\n", m.text("versus-differences")));
    }
    if !differences.folded.is_empty() {
        line(m.text_with("versus-folded-where", &[("what", differences.summary)]));
    }
    by_chance(m, against).into_iter().for_each(&mut line);
    alone(m, names, against).into_iter().for_each(&mut line);
    for own in &against.marks {
        line(format!(
            "{}: {}",
            m.text(&format!("severity-{}", own.severity.name())),
            mark(m, own)
        ));
    }
    out
}

fn gated(m: &Messages) -> Table<'_, &GatedPoint> {
    Table::<&GatedPoint>::with_prefix("versus-column-")
        .column("load", Words, |point| place(m, &point.place, None))
        .column("figure", Words, |point| match point.latency {
            true => m.text("versus-gate-p99"),
            false => super::unit(m, point.figure),
        })
        .column("ratio", Plain, |point| {
            Some(RoundedRatio::of(point.ratio?.mean).ratio_text())
        })
        .column("interval", Plain, |point| {
            let ratio = point.ratio?;
            Some(range(m, ratio, &RoundedRatio::of(ratio.mean)))
        })
        .column("limit", Three, |point| point.limit)
        .column("outcome", Words, |point| {
            Cell::word("versus-gate-", point.outcome.name())
        })
}

/// The result of a gate, figure by figure.
pub fn gate_text(gate: &Gate) -> String {
    let m = Messages::english();
    let outcome = match gate.outcome {
        GateOutcome::Inconclusive if gate.unlike => m.text("versus-gate-is-unlike"),
        outcome => m.text(&format!("versus-gate-is-{}", outcome.name())),
    };
    let forbidden: Vec<&str> = gate.forbidden_by.iter().map(|rule| rule.code()).collect();
    let table = gated(&m).to_text(&m, &gate.points.iter().collect::<Vec<_>>());
    let mut out = format!("{table}\n\n");
    if !forbidden.is_empty() {
        out.push_str(&m.text_with("versus-gate-forbidden", &[("rules", forbidden.join(", "))]));
        out.push('\n');
    }
    out + &outcome + "\n"
}
