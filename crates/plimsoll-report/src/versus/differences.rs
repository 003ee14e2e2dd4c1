//! In what two sides differ.

use plimsoll_analysis::compare::Difference;
use plimsoll_record::import_facts::TOOL_FACT;

use super::words::SideNames;
use crate::message::Messages;
use crate::number::whole;

/// Groups that are factors first, then what differs by itself.
pub(super) struct Differences<'a> {
    pub shown: Vec<&'a Difference>,
    /// Differences known of one side only: the other was imported, and a tool's output has little about its machine.
    pub folded: Vec<&'a Difference>,
    /// How much that is, in words.
    pub summary: String,
}

impl<'a> Differences<'a> {
    pub fn of(m: &Messages, sides: SideNames<'_>, differences: &'a [Difference]) -> Self {
        let tools = differences.iter().filter(|found| found.key == TOOL_FACT);
        let first = tools.clone().any(|found| found.first.is_some());
        let second = tools.clone().any(|found| found.second.is_some());
        let mut shown = Vec::new();
        let mut folded = Vec::new();
        for found in differences {
            let is_folded = match (&found.first, &found.second) {
                (None, Some(_)) => first && !second,
                (Some(_), None) => second && !first,
                _ => false,
            };
            if is_folded {
                folded.push(found);
            } else {
                shown.push(found);
            }
        }
        let known = if first { sides.second } else { sides.first };
        let args = [
            ("n", whole(folded.len() as f64)),
            ("side", known.to_owned()),
        ];
        Self {
            shown,
            folded,
            summary: m.text_with("versus-folded", &args),
        }
    }
}
