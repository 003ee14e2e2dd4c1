//! A comparison on the terminal.

use plimsoll_analysis::compare::{
    Against, Gate, GateOutcome, GatedPoint, RoundedRatio, RunComparison,
};

use super::{
    alone, by_chance, difference_rows, forbidden, latency_row, mark, names, place, range, rate_row,
    sentence,
};
use crate::message::Messages;
use crate::number::{NONE, three};
use crate::text::aligned;

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
    let rates: Vec<Vec<String>> = against
        .points
        .iter()
        .map(|point| rate_row(m, point).into())
        .collect();
    let latencies = against.points.iter().flat_map(|point| {
        let row = |latency| Vec::from(latency_row(m, point, latency));
        point.latencies.iter().map(row).collect::<Vec<_>>()
    });
    let latencies: Vec<Vec<String>> = latencies.collect();
    let differences = difference_rows(m, names, &against.differences);
    let header = |ids: &[&str]| {
        ids.iter()
            .map(|id| m.text(&format!("versus-column-{id}")))
            .collect::<Vec<_>>()
    };
    for (title, ids, rows) in [
        ("versus-rates", super::RATES.as_slice(), rates),
        ("versus-latencies", super::LATENCIES.as_slice(), latencies),
        (
            "versus-differences",
            super::DIFFERENCES.as_slice(),
            differences.shown,
        ),
    ] {
        if !rows.is_empty() {
            line(format!(
                "{}\n{}\n",
                m.text(title),
                aligned(&header(ids), &rows)
            ));
        }
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

/// The result of a gate, figure by figure.
pub fn gate_text(gate: &Gate) -> String {
    let m = Messages::english();
    let row = |point: &GatedPoint| {
        let rounded = point.ratio.map(|ratio| RoundedRatio::of(ratio.mean));
        let what = if point.latency {
            m.text("versus-gate-p99")
        } else {
            super::unit(&m, point.figure)
        };
        vec![
            place(&m, &point.place, None),
            what,
            rounded.map_or_else(|| NONE.to_owned(), |rounded| rounded.ratio_text()),
            rounded.zip(point.ratio).map_or_else(
                || NONE.to_owned(),
                |(rounded, own)| range(&m, own, &rounded),
            ),
            three(point.limit),
            m.text(&format!("versus-gate-{}", point.outcome.name())),
        ]
    };
    let header = ["load", "figure", "ratio", "interval", "limit", "outcome"]
        .map(|id| m.text(&format!("versus-column-{id}")));
    let rows: Vec<Vec<String>> = gate.points.iter().map(row).collect();
    let outcome = match gate.outcome {
        GateOutcome::Inconclusive if gate.unlike => m.text("versus-gate-is-unlike"),
        outcome => m.text(&format!("versus-gate-is-{}", outcome.name())),
    };
    let forbidden: Vec<&str> = gate.forbidden_by.iter().map(|rule| rule.code()).collect();
    let mut out = format!("{}\n\n", aligned(&header, &rows));
    if !forbidden.is_empty() {
        out.push_str(&m.text_with("versus-gate-forbidden", &[("rules", forbidden.join(", "))]));
        out.push('\n');
    }
    out + &outcome + "\n"
}
