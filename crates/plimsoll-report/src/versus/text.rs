//! A comparison on the terminal.

use plimsoll_analysis::compare::{Against, RunComparison};

use super::differences::Differences;
use super::marks::{alone, by_chance, forbidden, marks};
use super::tables;
use super::words::{SideNames, cause, place_of, sentence, simulated};
use crate::message::Messages;

/// All sides against the first.
pub fn comparison_text(comparison: &RunComparison) -> String {
    let m = Messages::english();
    let others = comparison.others.iter();
    let sections = others.map(|against| section(&m, comparison, against));
    sections.collect::<Vec<_>>().join("\n")
}

fn section(m: &Messages, comparison: &RunComparison, against: &Against) -> String {
    let sides = SideNames::of(comparison, against);
    let ask = comparison.ask.minimum_effect;
    let mut lines = vec![m.text_with("versus-heading", &sides.args())];
    lines.extend(forbidden(m, against));
    for point in &against.points {
        let text = sentence(m, sides, ask, point);
        lines.push(format!("{}: {text}", place_of(m, point)));
    }
    if against.points.is_empty() {
        lines.push(m.text("versus-nothing"));
    }
    lines.extend(simulated(m, sides, against));
    lines.extend(cause(m, against));
    lines.push(String::new());
    let differences = Differences::of(m, sides, &against.differences);
    let rates: Vec<_> = against.points.iter().collect();
    if !rates.is_empty() {
        let table = tables::rates().to_text(m, &rates);
        lines.push(format!("{}\n{table}\n", m.text("versus-rates")));
    }
    let latencies = tables::latency_rows(&against.points);
    if !latencies.is_empty() {
        let table = tables::latencies().to_text(m, &latencies);
        lines.push(format!("{}\n{table}\n", m.text("versus-latencies")));
    }
    if !differences.shown.is_empty() {
        let table = tables::differences().to_text(m, &differences.shown);
        lines.push(format!("{}\n{table}\n", m.text("versus-differences")));
    }
    if !differences.folded.is_empty() {
        let args = [("what", differences.summary)];
        lines.push(m.text_with("versus-folded-where", &args));
    }
    lines.extend(by_chance(m, against));
    lines.extend(alone(m, sides, against));
    lines.extend(marks(m, against).iter().map(|mark| mark.line()));
    lines.join("\n") + "\n"
}
