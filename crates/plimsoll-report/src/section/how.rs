//! How each number is computed, as far as the run has such numbers.

use plimsoll_analysis::Summary;

use super::tpc::has_tpcc;
use crate::document::{ReportBlock, ReportSection};
use crate::message::Messages;

pub(crate) fn section(m: &Messages, summary: &Summary) -> ReportSection {
    let mut section = ReportSection::new("how", m.text("how-title")).listed();
    let terms = terms(summary).into_iter();
    let facts = terms.map(|term| (m.text(term), m.text(&format!("{term}-text"))));
    section.page(ReportBlock::Facts {
        class: "how",
        facts: facts.collect(),
    });
    section.page(ReportBlock::note(m.text("how-more")));
    section
}

/// Ids of terms. The explanation of each has the id with `-text`.
fn terms(summary: &Summary) -> Vec<&'static str> {
    let block = !summary.figures.blocks.is_empty();
    let load = !block || !summary.figures.ladders.is_empty();
    let tpcc = load && has_tpcc(summary);
    let sections: [(bool, &[&str]); 8] = [
        (tpcc, &["how-nopm", "how-tpm"]),
        (true, &["how-time"]),
        (load, &["how-response"]),
        (true, &["how-percentile", "how-interval"]),
        (load, &["how-repeats", "how-steady", "how-line"]),
        (
            block,
            &["how-iops", "how-block-latency", "how-curve", "how-rounds"],
        ),
        (true, &["how-resource"]),
        (load, &["how-waits"]),
    ];
    let shown = sections.into_iter().filter(|(is_shown, _)| *is_shown);
    shown.flat_map(|(_, terms)| terms).copied().collect()
}
