//! Whether the numbers can be trusted: conservation of counts, consistency, and findings.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::Conservation;

use super::tpc::is_without_transactions;
use crate::document::{BlockHeading, HeadingAside, ReportBlock, ReportSection};
use crate::finding_view::FindingView;
use crate::findings;
use crate::message::Messages;
use crate::number::whole;

pub(crate) fn section(m: &Messages, summary: &Summary) -> ReportSection {
    let verdict = summary.verdict.name();
    let badge = HeadingAside::Badge {
        verdict,
        word: m.text(&format!("verdict-{verdict}")),
    };
    let heading = BlockHeading::section(m.text("trust-title")).beside(badge);
    let mut section = ReportSection::headed("trust", heading)
        .styled(format!("trust {verdict}"))
        .listed();
    section.page(ReportBlock::text(m.text(&format!("trust-{verdict}"))));
    if has_nothing(summary) {
        section.line(m.text("text-no-points"));
    }
    if !is_without_transactions(summary) {
        let consistency = consistency(m, summary);
        section.line(consistency.clone());
        let counts = [conservation(m, summary), consistency];
        section.page(ReportBlock::list(counts));
    }
    let found = findings::describe(m, summary).into_iter();
    let found: Vec<FindingView> = found.map(|line| line.view(m)).collect();
    if !found.is_empty() {
        section.page(ReportBlock::heading(m.text("trust-findings")));
    }
    section.both(ReportBlock::Findings(found));
    section
}

fn has_nothing(summary: &Summary) -> bool {
    let figures = &summary.figures;
    figures.ladders.is_empty() && figures.blocks.is_empty() && figures.backups.is_empty()
}

/// The verified conditions of the whole run.
fn consistency(m: &Messages, summary: &Summary) -> String {
    let found = &summary.figures.consistency;
    if found.verified == 0 {
        return m.text("consistency-none");
    }
    let verified = ("verified", whole(f64::from(found.verified)));
    if found.holds() {
        return m.text_with("consistency-holds", &[verified]);
    }
    let mut failed = found.failed.clone();
    failed.dedup();
    m.text_with(
        "consistency-fails",
        &[verified, ("failed", failed.join(", "))],
    )
}

/// Points whose counts add up, and those whose do not.
#[derive(Default)]
struct Conserved {
    seconds: u64,
    /// To the end.
    holds: u64,
    /// As far as was recorded.
    open: u64,
    broken: u64,
}

fn conservation(m: &Messages, summary: &Summary) -> String {
    let mut own = Conserved::default();
    for point in summary.figures.points() {
        match point.conservation {
            Conservation::Holds { seconds } => {
                own.seconds += seconds;
                own.holds += 1;
            }
            Conservation::Open { seconds, .. } => {
                own.seconds += seconds;
                own.open += 1;
            }
            Conservation::Broken { .. } => own.broken += 1,
            Conservation::Unknown => {}
        }
    }
    let points = own.holds + own.open;
    if own.broken > 0 {
        let args = [("broken", whole(own.broken as f64))];
        return m.text_with("trust-conserved-broken", &args);
    }
    if points > 0 {
        let args = [
            ("seconds", whole(own.seconds as f64)),
            ("holds", whole(own.holds as f64)),
            ("points", whole(points as f64)),
        ];
        return m.text_with("trust-conserved", &args);
    }
    let mut all = summary.figures.points().peekable();
    if all.peek().is_some() && all.all(|point| point.imported.is_some()) {
        m.text("trust-conserved-imported")
    } else {
        m.text("trust-conserved-none")
    }
}
