//! Ladders: their tables, how they scale, and the latencies and resources behind them.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::LadderSummary;

use super::{fleet, scaling, waits};
use crate::document::{ReportBlock, ReportSection};
use crate::ladder;
use crate::load_summary::views;
use crate::message::Messages;

/// A row for each load. On a terminal with all that is known of the ladder. `None` without ladders.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let mut section = ReportSection::new("ladder", m.text("ladder-title")).listed();
    section.page(ReportBlock::note(m.text("ladder-caption")));
    for ladder in &summary.figures.ladders {
        add(m, ladder, &mut section);
        fleet::add_lines(m, ladder, &mut section);
        scaling::add(m, ladder, &mut section);
        waits::add_lines(m, ladder, &mut section);
    }
    section.if_filled()
}

fn add(m: &Messages, ladder: &LadderSummary, section: &mut ReportSection) {
    let heading = ladder::heading(m, ladder);
    let latency_of = ladder::latency_of(m, ladder);
    section.gap();
    section.line(format!("{heading}. {latency_of}"));
    section.page(ReportBlock::heading(&heading));
    section.both(ReportBlock::styled("emulated", ladder::emulated(m, ladder)));
    section.lines(ladder.data.as_ref().map(|data| m.data_state(data)));
    section.both(ReportBlock::table(
        m,
        &heading,
        &ladder::table(),
        &views(ladder),
    ));
    section.page(ReportBlock::note(latency_of));
}

/// Means of resources under each load.
pub(crate) fn resources(m: &Messages, summary: &Summary) -> ReportSection {
    let mut section = ReportSection::new("resources", m.text("resource-title"));
    for ladder in &summary.figures.ladders {
        let heading = ladder::heading(m, ladder);
        let table = ReportBlock::grid(m, &heading, &ladder::resources(), &views(ladder));
        section.page(ReportBlock::heading(heading));
        section.page(table);
        // The system runs inside of the generator.
        let mut points = ladder.points.iter();
        if points.any(|point| point.resources.generator_cpu_withheld.is_some()) {
            section.page(ReportBlock::note(m.text("resource-embedded")));
        }
    }
    section
}

/// Latencies by transaction type, the first ladder unfolded.
pub(crate) fn latencies(m: &Messages, summary: &Summary) -> ReportSection {
    let mut section = ReportSection::new("latencies", m.text("detail-title"));
    section.page(ReportBlock::note(m.text("detail-note")));
    for (place, ladder) in summary.figures.ladders.iter().enumerate() {
        let heading = ladder::heading(m, ladder);
        let views = views(ladder);
        let times = ladder::txn_times(&views);
        section.page(ReportBlock::Details {
            blocks: vec![ReportBlock::grid(m, &heading, &ladder::latency(), &times)],
            summary: heading,
            is_open: place == 0,
        });
    }
    section
}
