//! What other tools printed, below the tables of what was computed.

use plimsoll_model::summary::Summary;

use super::columns::lined;
use crate::imported::{COLUMNS, told};
use crate::message::Messages;

pub(super) fn section(m: &Messages, summary: &Summary) -> String {
    let mut out = String::new();
    for import in told(m, summary) {
        out.push_str(&format!("{}. {} {}\n", import.heading, import.files, m.say("reported-note")));
        if import.figures.is_empty() {
            out.push_str(&format!("{}\n", m.say("reported-none")));
        } else {
            let header = COLUMNS.map(|id| m.say(id));
            let rows: Vec<Vec<String>> = import.figures.into_iter().map(Vec::from).collect();
            out.push_str(&format!("{}\n", lined(&header, &rows, 3)));
        }
        if !import.parts.is_empty() {
            out.push_str(&m.say_with("reported-parts", &[("n", import.parts.len().to_string())]));
            out.push('\n');
        }
        out.push_str(&format!("{}\n", m.say("reported-unknown")));
        for (what, text) in import.unknown {
            out.push_str(&format!("  {what}: {text}\n"));
        }
        out.push('\n');
    }
    out
}
