//! Whether the numbers can be trusted: conservation of counts, and findings.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::Conservation;

use crate::finding_view::FindingView;
use crate::findings;
use crate::message::Messages;
use crate::number::whole;

pub(super) fn findings(m: &Messages, summary: &Summary) -> Vec<FindingView> {
    let all = findings::describe(m, summary).into_iter();
    all.map(|line| line.view(m)).collect()
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

pub(super) fn conservation(m: &Messages, summary: &Summary) -> String {
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
