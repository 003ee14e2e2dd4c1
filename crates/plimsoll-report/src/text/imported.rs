//! What other tools printed, below the tables of what was computed.

use plimsoll_analysis::Summary;

use crate::imported::{describe, table};
use crate::message::Messages;

pub(super) fn section(m: &Messages, summary: &Summary) -> String {
    let mut out = String::new();
    for import in describe(m, summary) {
        out.push_str(&format!(
            "{}. {} {}\n",
            import.heading,
            import.files,
            m.text("reported-note")
        ));
        if import.figures.is_empty() {
            out.push_str(&format!("{}\n", m.text("reported-none")));
        } else {
            let table = table().to_text(m, &import.figures);
            out.push_str(&format!("{table}\n"));
        }
        if !import.parts.is_empty() {
            out.push_str(&m.text_with("reported-parts", &[("n", import.parts.len().to_string())]));
            out.push('\n');
        }
        out.push_str(&format!("{}\n", m.text("reported-unknown")));
        for (what, text) in import.unknown {
            out.push_str(&format!("  {what}: {text}\n"));
        }
        out.push('\n');
    }
    out
}
